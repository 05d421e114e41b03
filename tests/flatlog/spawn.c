/* SPDX-License-Identifier: BSD-3-Clause
 * spawn - MPI_Comm_spawn and MPI_Comm_spawn_multiple: lists of lists of strings, which only the root gives
 */
#include "tests/flatlog/flatlog.h"

/* ["a","b"] of a list that ends with NULL. */
static char *say_list(char **argv)
{
	int n = 0;

	while (argv != MPI_ARGV_NULL && argv[n])
		n++;
	return SAY_ARRAY(n, say_string(argv[i_], strlen(argv[i_])));
}

int MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm *intercomm, int codes[])
{
	NEXT(MPI_Comm_spawn, int, (const char *, char **, int, MPI_Info, int, MPI_Comm, MPI_Comm *, int *));
	static const char *const names[] = {"command", "argv", "maxprocs", "info"};
	struct line l;

	if (!line_begin(&l, "MPI_Comm_spawn", __builtin_return_address(0)))
		return next(command, argv, maxprocs, info, root, comm, intercomm, codes);
	for (int i = 0; i < 4; i++)
		line_absent(&l, i, names[i]);
	if (at_root(root, comm)) {
		line_put(&l, 0, "command", say_string(command, strlen(command)));
		line_put(&l, 1, "argv", say_list(argv));
		line_put(&l, 2, "maxprocs", say_int(maxprocs));
		line_put(&l, 3, "info", say_info(info));
	}
	line_put(&l, 4, "root", say_peer(root));
	line_put(&l, 5, "comm", say_comm(comm));
	line_absent(&l, 6, "intercomm");
	line_absent(&l, 7, "array_of_errcodes");
	int rc = next(command, argv, maxprocs, info, root, comm, intercomm, codes);
	if (line_end(&l, rc)) {
		line_put(&l, 6, "intercomm", say_comm(*intercomm));
		if (at_root(root, comm) && codes != MPI_ERRCODES_IGNORE)
			line_put(&l, 7, "array_of_errcodes", SAY_ARRAY(maxprocs, say_int(codes[i_])));
	}
	line_write(&l);
	return rc;
}

int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
                            int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[])
{
	NEXT(MPI_Comm_spawn_multiple, int,
	     (int, char **, char ***, const int *, const MPI_Info *, int, MPI_Comm, MPI_Comm *, int *));
	static const char *const names[] = {"count", "array_of_commands", "array_of_argv", "array_of_maxprocs",
	                                    "array_of_info"};
	struct line l;

	if (!line_begin(&l, "MPI_Comm_spawn_multiple", __builtin_return_address(0)))
		return next(count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes);
	for (int i = 0; i < 5; i++)
		line_absent(&l, i, names[i]);
	if (at_root(root, comm)) {
		line_put(&l, 0, names[0], say_int(count));
		line_put(&l, 1, names[1], SAY_ARRAY(count, say_string(commands[i_], strlen(commands[i_]))));
		line_put(&l, 2, names[2], SAY_ARRAY(argvs == MPI_ARGVS_NULL ? 0 : count, say_list(argvs[i_])));
		line_put(&l, 3, names[3], SAY_ARRAY(count, say_int(maxprocs[i_])));
		line_put(&l, 4, names[4], SAY_ARRAY(count, say_info(infos[i_])));
	}
	line_put(&l, 5, "root", say_peer(root));
	line_put(&l, 6, "comm", say_comm(comm));
	line_absent(&l, 7, "intercomm");
	line_absent(&l, 8, "array_of_errcodes");
	int rc = next(count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes);
	if (line_end(&l, rc)) {
		line_put(&l, 7, "intercomm", say_comm(*intercomm));
		if (at_root(root, comm) && codes != MPI_ERRCODES_IGNORE)
			line_put(&l, 8, "array_of_errcodes", SAY_ARRAY(sum(maxprocs, count), say_int(codes[i_])));
	}
	line_write(&l);
	return rc;
}
