/* SPDX-License-Identifier: BSD-3-Clause
 * spawn_fortran - wrappers of MPI_Comm_spawn and MPI_Comm_spawn_multiple in Fortran
 */
#include "preload/fortran.h"
#include "preload/spawn.h"

void FORTRAN_NAME(mpi_comm_spawn)(char *command, char *argv, MPI_Fint *maxprocs, MPI_Fint *info, MPI_Fint *root,
                                  MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror,
                                  size_t command_n, size_t argv_n)
{
	struct call c;
	struct spawn s;
	MPI_Comm new_comm;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Comm_spawn)) {
		FORTRAN_NEXT.mpi_comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes,
		                            ierror, command_n, argv_n);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes, ierror,
	                            command_n, argv_n);
	ok = wrap_end(&c, *ierror);
	new_comm = ok ? f2c_comm(*intercomm) : MPI_COMM_NULL;
	s = (struct spawn){.command = text_fortran(command, command_n),
	                   .argv = {NULL, argv, (unsigned)argv_n, 1},
	                   .maxprocs = *maxprocs,
	                   .info = f2c_info(*info),
	                   .root = *root,
	                   .comm = f2c_comm(*comm),
	                   .intercomm = &new_comm,
	                   .errcodes = array_of_errcodes};
	if (real_is_sentinel(SENTINEL_ARGV_NULL, argv))
		s.argv.fortran = NULL;
	if (real_is_sentinel(SENTINEL_ERRCODES_IGNORE, array_of_errcodes))
		s.errcodes = NULL;
	record_MPI_Comm_spawn(&c, ok, *ierror, &s);
}

void FORTRAN_NAME(mpi_comm_spawn_multiple)(MPI_Fint *count, char *array_of_commands, char *array_of_argv,
                                           MPI_Fint *array_of_maxprocs, MPI_Fint *array_of_info, MPI_Fint *root,
                                           MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes,
                                           MPI_Fint *ierror, size_t array_of_commands_n, size_t array_of_argv_n)
{
	struct call c;
	struct spawn s;
	MPI_Comm new_comm;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Comm_spawn_multiple)) {
		FORTRAN_NEXT.mpi_comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
		                                     array_of_info, root, comm, intercomm, array_of_errcodes, ierror,
		                                     array_of_commands_n, array_of_argv_n);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	FORTRAN_NEXT.mpi_comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info,
	                                     root, comm, intercomm, array_of_errcodes, ierror, array_of_commands_n,
	                                     array_of_argv_n);
	ok = wrap_end(&c, *ierror);
	new_comm = ok ? f2c_comm(*intercomm) : MPI_COMM_NULL;
	s = (struct spawn){.commands = {NULL, array_of_commands, (unsigned)array_of_commands_n, 1},
	                   .argv = {NULL, array_of_argv, (unsigned)array_of_argv_n, (size_t)*count},
	                   .no_argvs = real_is_sentinel(SENTINEL_ARGVS_NULL, array_of_argv),
	                   .count = *count,
	                   .array_of_maxprocs = array_of_maxprocs,
	                   .infos = {NULL, array_of_info},
	                   .root = *root,
	                   .comm = f2c_comm(*comm),
	                   .intercomm = &new_comm,
	                   .errcodes = array_of_errcodes};
	if (real_is_sentinel(SENTINEL_ERRCODES_IGNORE, array_of_errcodes))
		s.errcodes = NULL;
	record_MPI_Comm_spawn_multiple(&c, ok, *ierror, &s);
}
