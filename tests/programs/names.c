/* SPDX-License-Identifier: BSD-3-Clause
 * names - processes of one world that meet as strangers do: by a published name, and by a socket
 *
 *     names FOLDER     where the socket is made
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int rank, size;

/* Rank 0 publishes, all others look it up; then the others connect as one group. */
static void published(void)
{
	char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", service[64];
	MPI_Comm part, inter;
	int n = rank, sum = 0;

	snprintf(service, sizeof(service), "spoor-test-%d", size);
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part);
	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Publish_name(service, MPI_INFO_NULL, port);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Lookup_name(service, MPI_INFO_NULL, found);
	if (rank == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, part, &inter);
	else
		MPI_Comm_connect(found, MPI_INFO_NULL, 0, part, &inter);
	MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, inter);
	MPI_Comm_disconnect(&inter);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Unpublish_name(service, MPI_INFO_NULL, port);
		MPI_Close_port(port);
		printf("names: %d\n", sum);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (rank == 1)
		MPI_Lookup_name("spoor-test-nobody", MPI_INFO_NULL, found); /* an error */
	MPI_Comm_free(&part);
}

/* Ranks 0 and 1 join through a socket. */
static void joined(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener, fd = -1, n = rank, other = -1;
	MPI_Comm inter;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket-%d", folder, size);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (rank == 0) {
		unlink(address.sun_path);
		if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		fd = accept(listener, NULL, NULL);
	else if (rank == 1 && connect(listener, (struct sockaddr *)&address, sizeof(address)) == 0)
		fd = listener;
	if (rank < 2 && MPI_Comm_join(fd, &inter) == MPI_SUCCESS) {
		MPI_Sendrecv(&n, 1, MPI_INT, 0, 3, &other, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
		MPI_Comm_disconnect(&inter);
	}
	if (fd >= 0 && fd != listener)
		close(fd);
	close(listener);
	if (rank == 0) {
		unlink(address.sun_path);
		printf("names: met %d\n", other);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	published();
	joined(argc > 1 ? argv[1] : ".");
	MPI_Finalize();
	return 0;
}
