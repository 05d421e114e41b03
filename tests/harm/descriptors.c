/* SPDX-License-Identifier: BSD-3-Clause
 * descriptors - an MPI program that is careless with descriptors; what it sees and does is in its file
 *
 *     descriptors list      which numbers are open, and which is free, before, between and after MPI_Init and
 *                           MPI_Finalize
 *     descriptors closefrom   closes all from 3 on before MPI_Init and after MPI_Finalize, as daemons do
 *     descriptors twice     closes each of its descriptors once too often, and opens files in between
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *said;

static void list(const char *when)
{
	int highest = -1;

	fprintf(said, "%s:", when);
	for (int fd = 0; fd < 100; fd++)
		if (fd != fileno(said) && fcntl(fd, F_GETFD) >= 0)
			fprintf(said, " %d", highest = fd);
	fprintf(said, ", next %d\n", highest + 1 ? dup(fileno(said)) : -1);
}

static void close_twice(void)
{
	for (int i = 0; i < 10; i++) {
		struct stat st;
		int one = 1, sum, fd = open("numbered", O_RDWR | O_CREAT | O_TRUNC, 0600);

		close(fd);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		close(fd); /* whoever's it is now */
		fd = open("numbered", O_RDWR | O_CREAT | O_TRUNC, 0600);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (write(fd, "seven\n", 6) != 6 || fstat(fd, &st))
			fprintf(said, "cannot write\n");
		else
			fprintf(said, "%d: %ld bytes, sum %d\n", i, (long)st.st_size, sum);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	int fd = -1;

	if (argc != 2)
		return 1;
	if (!strcmp(argv[1], "closefrom"))
		closefrom(3);
	fd = open("said", O_RDWR | O_CREAT, 0600);
	said = fdopen(fcntl(fd, F_DUPFD, 90), "w");
	close(fd);
	if (!said)
		return 2;
	list("before");
	MPI_Init(NULL, NULL);
	printf("this goes to stdout\n");
	fflush(stdout);
	if (!strcmp(argv[1], "list"))
		list("between");
	if (!strcmp(argv[1], "twice"))
		close_twice();
	MPI_Finalize();
	if (!strcmp(argv[1], "closefrom")) {
		closefrom(3);
		printf("closed\n");
		return 0;
	}
	list("after");
	printf("this, too\n");
	fprintf(stderr, "and this to stderr\n");
	return 0;
}
