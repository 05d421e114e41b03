/* SPDX-License-Identifier: BSD-3-Clause
 * life_fortran - the functions with which MPI begins and ends in Fortran; included by life.c, once for mpif.h and once
 * for mpi_f08
 */
FORTRAN(mpi_init, (int *ierror))
{
	OWN_IERROR();
	NEXT_FORTRAN(mpi_init, (int *));
	struct line l;
	bool said = line_begin(&l, "MPI_Init", __builtin_return_address(0));

	next(ierror);
	if (!said)
		return;
	if (line_end(&l, *ierror))
		flatlog_open();
	line_write(&l);
}

FORTRAN(mpi_init_thread, (int *required, int *provided, int *ierror))
{
	OWN_IERROR();
	NEXT_FORTRAN(mpi_init_thread, (int *, int *, int *));
	struct line l;
	bool said = line_begin(&l, "MPI_Init_thread", __builtin_return_address(0));

	next(required, provided, ierror);
	if (!said)
		return;
	line_put(&l, 2, "required", say_thread(*required));
	line_absent(&l, 3, "provided");
	if (line_end(&l, *ierror)) {
		line_put(&l, 3, "provided", say_thread(*provided));
		flatlog_open();
	}
	line_write(&l);
}

FORTRAN(mpi_finalize, (int *ierror))
{
	NEXT_FORTRAN(mpi_finalize, (int *));
	say_finalize(__builtin_return_address(0));
	next(ierror);
}

FORTRAN(mpi_abort, (int *comm, int *errorcode, int *ierror))
{
	NEXT_FORTRAN(mpi_abort, (int *, int *, int *));
	say_abort(PMPI_Comm_f2c(*comm), *errorcode, __builtin_return_address(0));
	next(comm, errorcode, ierror);
}

/* MPICH's mpi_f08 has an ierror here; for others it is no argument, and is not looked at. */
FORTRAN(mpi_pcontrol, (int *level, int *ierror))
{
	NEXT_FORTRAN(mpi_pcontrol, (int *, int *));
	next(level, ierror);
	say_pcontrol(*level, __builtin_return_address(0));
}
