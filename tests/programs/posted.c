/* SPDX-License-Identifier: BSD-3-Clause
 * posted - receives that are much longer than what comes: 256 MB are posted, 1 KB is sent
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

#define POSTED (256 << 20)
#define SENT   1024
#define TIMES  3

int main(int argc, char **argv)
{
	int rank, size, before, after;
	MPI_Request requests[TIMES], again;
	char *room, sent[SENT] = {1}, *gathered;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	before = (rank + size - 1) % size;
	after = (rank + 1) % size;
	room = mmap(NULL, (size_t)TIMES * POSTED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	            -1, 0);
	if (room == MAP_FAILED)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < TIMES; i++)
		MPI_Irecv(room + (size_t)i * POSTED, POSTED, MPI_CHAR, before, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < TIMES; i++)
		MPI_Send(sent, SENT, MPI_CHAR, after, i, MPI_COMM_WORLD);
	MPI_Waitall(TIMES, requests, MPI_STATUSES_IGNORE);
	MPI_Recv_init(room, POSTED / 4, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &again);
	for (int i = 0; i < TIMES; i++) {
		MPI_Start(&again);
		MPI_Send(sent, SENT, MPI_CHAR, after, 7, MPI_COMM_WORLD);
		MPI_Wait(&again, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&again);
	gathered = room + POSTED;
	MPI_Allgather(sent, 16, MPI_CHAR, gathered, 16, MPI_CHAR, MPI_COMM_WORLD);
	if (rank == 0)
		puts("posted: done");
	munmap(room, (size_t)TIMES * POSTED);
	MPI_Finalize();
	return 0;
}
