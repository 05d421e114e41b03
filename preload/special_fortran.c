/* SPDX-License-Identifier: BSD-3-Clause
 * special_fortran - wrappers of the functions with which MPI ends, and of MPI_Pcontrol, in Fortran
 */
#include "preload/fortran.h"
#include "preload/session.h"
#include "preload/special.h"

MPI_WRAPPER void FORTRAN_NAME(mpi_finalize)(MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Finalize))
		record_finalize(&c);
	else
		session_finalize();
	FORTRAN_NEXT.mpi_finalize(ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_abort)(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Abort))
		record_abort(&c, real.MPI_Comm_f2c(*comm), *errorcode);
	FORTRAN_NEXT.mpi_abort(comm, errorcode, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_pcontrol)(MPI_Fint *level)
{
	struct call c;

	if (!wrap_begin(&c, FN_MPI_Pcontrol)) {
		FORTRAN_NEXT.mpi_pcontrol(level);
		return;
	}
	FORTRAN_NEXT.mpi_pcontrol(level);
	record_pcontrol(&c, MPI_SUCCESS, *level);
}
