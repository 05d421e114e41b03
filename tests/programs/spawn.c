/* SPDX-License-Identifier: BSD-3-Clause
 * spawn - several worlds: MPI_Comm_spawn, MPI_Comm_spawn_multiple, MPI_Comm_accept and MPI_Comm_connect between worlds
 *
 *     spawn        the parents: spawn two children, then one and one of different commands
 *     spawn child  the children: talk to the parents, and connect to their port
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static void children(MPI_Comm inter)
{
	int n = 7, sum = 0, remote;
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm merged, joined;

	MPI_Comm_remote_size(inter, &remote);
	MPI_Bcast(&n, 1, MPI_INT, 0, inter);
	MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, inter);
	MPI_Intercomm_merge(inter, 1, &merged);
	MPI_Barrier(merged);
	MPI_Comm_free(&merged);
	if (n == 1) {
		if (rank == 0)
			MPI_Recv(port, sizeof(port), MPI_CHAR, 0, 5, inter, MPI_STATUS_IGNORE);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined);
		MPI_Barrier(joined);
		MPI_Comm_disconnect(&joined);
	}
	MPI_Comm_disconnect(&inter);
}

static void parents(MPI_Comm inter, int n)
{
	int sum = 0;
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm merged, joined;

	MPI_Bcast(&n, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
	MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, inter);
	MPI_Intercomm_merge(inter, 0, &merged);
	MPI_Barrier(merged);
	MPI_Comm_free(&merged);
	if (n == 1) {
		if (rank == 0) {
			MPI_Open_port(MPI_INFO_NULL, port);
			MPI_Send(port, sizeof(port), MPI_CHAR, 0, 5, inter);
		}
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined);
		MPI_Barrier(joined);
		MPI_Comm_disconnect(&joined);
		if (rank == 0)
			MPI_Close_port(port);
	}
	MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
	MPI_Comm parent, inter;
	int codes[2] = {0, 0}, counts[2] = {1, 1};
	char *child[] = {"child", NULL}, *other[] = {"child", "a \"quoted\" one", NULL}, **arguments[] = {child, other};
	char *commands[] = {argv[0], argv[0]};
	MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};

	(void)argc;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		children(parent);
	} else {
		MPI_Comm_spawn(argv[0], child, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		parents(inter, 1);
		MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &inter,
		                        MPI_ERRCODES_IGNORE);
		parents(inter, 2);
		if (rank == 0)
			printf("spawn: done\n");
	}
	MPI_Finalize();
	return 0;
}
