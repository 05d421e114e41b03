/* SPDX-License-Identifier: BSD-3-Clause
 * special_fortran - wrappers of the functions with which MPI ends, and of MPI_Pcontrol, in Fortran
 */
#include "preload/fortran.h"
#include "preload/session.h"
#include "preload/special.h"

void FORTRAN_NAME(mpi_finalize)(MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Finalize))
		record_finalize(&c);
	else
		session_finalize();
	FORTRAN_NEXT.mpi_finalize(ierror);
}

void FORTRAN_NAME(mpi_abort)(MPI_Fint *comm, MPI_Fint *errorcode, MPI_Fint *ierror)
{
	struct call c;

	if (wrap_begin(&c, FN_MPI_Abort))
		record_abort(&c, f2c_comm(*comm), *errorcode);
	FORTRAN_NEXT.mpi_abort(comm, errorcode, ierror);
}

/* The standard's has no ierror. MPICH's mpi_f08 has one: what came in its place is passed on, and not looked at. */
void FORTRAN_NAME(mpi_pcontrol)(MPI_Fint *level, MPI_Fint *ierror)
{
	struct call c;

	if (!wrap_begin(&c, FN_MPI_Pcontrol)) {
		FORTRAN_NEXT.mpi_pcontrol(level, ierror);
		return;
	}
	FORTRAN_NEXT.mpi_pcontrol(level, ierror);
	record_pcontrol(&c, MPI_SUCCESS, *level);
}
