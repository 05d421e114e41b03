/* SPDX-License-Identifier: BSD-3-Clause
 * special_fortran - the functions with which MPI begins and ends, and those that are legal without it, in Fortran
 */
#include "preload/fortran.h"
#include "preload/session.h"
#include "preload/special.h"

MPI_WRAPPER void FORTRAN_NAME(mpi_init)(MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin(&c, FN_MPI_Init)) {
		FORTRAN_NEXT.mpi_init(ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_init(ierror);
	record_init(&c, *ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_init_thread)(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin(&c, FN_MPI_Init_thread)) {
		FORTRAN_NEXT.mpi_init_thread(required, provided, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_init_thread(required, provided, ierror);
	record_init_thread(&c, *ierror, *required, provided);
}

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

MPI_WRAPPER void FORTRAN_NAME(mpi_initialized)(MPI_Fint *flag, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin(&c, FN_MPI_Initialized)) {
		FORTRAN_NEXT.mpi_initialized(flag, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_initialized(flag, ierror);
	record_flag(&c, *ierror, flag);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_finalized)(MPI_Fint *flag, MPI_Fint *ierror)
{
	struct call c;
	MPI_Fint own_error;

	if (!wrap_begin(&c, FN_MPI_Finalized)) {
		FORTRAN_NEXT.mpi_finalized(flag, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_finalized(flag, ierror);
	record_flag(&c, *ierror, flag);
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
