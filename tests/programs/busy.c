/* SPDX-License-Identifier: BSD-3-Clause
 * busy - programs that look as if they hung, and do not: busy CASE SECONDS (at least four ranks)
 *
 * Each works for ever, in turns of a fraction of a second up to the whole time, until an alarm kills it after
 * SECONDS. Nobody may call any of them a deadlock, whenever it is looked at. `busy list` names the cases.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (1 << 20)

static int rank, size, last, value[4];
static char *large;
static MPI_Comm world = MPI_COMM_WORLD;

static void receive(int source, int tag)
{
	MPI_Recv(value, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE);
}

static void deliver(int dest, int tag)
{
	MPI_Send(value, 1, MPI_INT, dest, tag, world);
}

/* Computation that needs no core; the last one takes 20 times as long. */
static void compute(int turns)
{
	usleep(20000U * (unsigned)turns);
}

static void forever(void)
{
	sleep(1000);
}

static void all_compute(void)
{
	forever();
}

static void spin(void)
{
	for (volatile unsigned i = 0; rank == last;)
		i++;
}

static void imbalanced(void)
{
	compute(rank == last ? 20 : 1);
	MPI_Allreduce(value, value + 1, 1, MPI_INT, MPI_SUM, world);
}

static void one_slow(void)
{
	if (rank == last)
		forever();
	MPI_Allreduce(value, value + 1, 1, MPI_INT, MPI_SUM, world);
}

static void slow_root(void)
{
	if (rank == 0)
		forever();
	MPI_Bcast(value, 1, MPI_INT, 0, world);
}

static void slow_gather(void)
{
	if (rank == 0)
		compute(5);
	MPI_Gather(value, 1, MPI_INT, large, 1, MPI_INT, 0, world);
}

static void polling(void)
{
	MPI_Request request;
	int flag = 0;
	if (rank == 1)
		forever();
	if (rank > 1)
		MPI_Barrier(world);
	MPI_Irecv(value, 1, MPI_INT, 1, 3, world, &request);
	while (!flag) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		usleep(1000);
	}
}

static void iprobe(void)
{
	int flag = 0;
	MPI_Status status;
	if (rank > 0) {
		compute(rank == last ? 30 : 2);
		deliver(0, 5);
		return;
	}
	while (!flag) {
		MPI_Iprobe(MPI_ANY_SOURCE, 5, world, &flag, &status);
		usleep(1000);
	}
	receive(status.MPI_SOURCE, 5);
}

/* Both wait for a message for some time only. */
static void impatient(void)
{
	MPI_Request request;
	int flag = 0;
	MPI_Irecv(value, 1, MPI_INT, rank ^ 1, 3, world, &request);
	for (int i = 0; i < 30 && !flag; i++) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		usleep(1000);
	}
	deliver(rank ^ 1, 3);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void files(void)
{
	if (rank == 0) {
		FILE *file = tmpfile();
		for (int i = 0; file && i < 20; i++) {
			fwrite(large, 1, LARGE / 16, file);
			compute(1);
		}
		if (file)
			fclose(file);
	}
	MPI_Barrier(world);
}

static void pipeline(void)
{
	if (rank > 0)
		receive(rank - 1, 3);
	compute(4);
	if (rank < last)
		deliver(rank + 1, 3);
}

static void token(void)
{
	static int turns;
	if (rank > 0 || turns++ > 0)
		receive((rank + size - 1) % size, 3);
	compute(10);
	deliver((rank + 1) % size, 3);
}

static void master(void)
{
	MPI_Status status;
	if (rank == 0) {
		MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, &status);
		deliver(status.MPI_SOURCE, 6);
		return;
	}
	compute(rank * 5);
	deliver(0, 5);
	receive(0, 6);
}

static void probing_master(void)
{
	MPI_Status status;
	if (rank == 0) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
		receive(status.MPI_SOURCE, status.MPI_TAG);
		return;
	}
	compute(rank * 10);
	MPI_Ssend(value, 1, MPI_INT, 0, rank, world);
}

static void ping_pong(void)
{
	if (rank % 2 == 0 && rank < last) {
		deliver(rank + 1, 3);
		receive(rank + 1, 3);
	} else if (rank % 2) {
		receive(rank - 1, 3);
		deliver(rank - 1, 3);
	} else {
		compute(1);
	}
}

static void halo(void)
{
	MPI_Request requests[4];
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Irecv(value, 1, MPI_INT, left, 1, world, &requests[0]);
	MPI_Irecv(value + 1, 1, MPI_INT, right, 2, world, &requests[1]);
	MPI_Isend(value + 2, 1, MPI_INT, right, 1, world, &requests[2]);
	MPI_Isend(value + 3, 1, MPI_INT, left, 2, world, &requests[3]);
	compute(rank == last ? 10 : 1);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void)
{
	static MPI_Request requests[2];
	static int made;
	if (!made++) {
		MPI_Recv_init(value, 1, MPI_INT, (rank + size - 1) % size, 1, world, &requests[0]);
		MPI_Send_init(value + 1, 1, MPI_INT, (rank + 1) % size, 1, world, &requests[1]);
	}
	compute(rank == 1 ? 10 : 1);
	MPI_Startall(2, requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void collectives(void)
{
	MPI_Allreduce(value, value + 1, 1, MPI_INT, MPI_SUM, world);
	MPI_Bcast(value, 1, MPI_INT, 1, world);
	MPI_Barrier(world);
}

static void ssend(void)
{
	if (rank == 0)
		compute(10);
	for (int i = 1; rank == 0 && i < size; i++)
		receive(i, 3);
	if (rank > 0)
		MPI_Ssend(value, 1, MPI_INT, 0, 3, world);
}

static void large_send(void)
{
	if (rank == 0)
		forever();
	MPI_Send(large, LARGE, MPI_CHAR, 0, 3, world);
}

static void waitany(void)
{
	MPI_Request requests[2];
	int index;
	if (rank == 1 || rank == 2) {
		compute(rank * 5);
		deliver(0, 3);
	}
	if (rank > 0)
		return;
	for (int i = 0; i < 2; i++)
		MPI_Irecv(value + i, 1, MPI_INT, i + 1, 3, world, &requests[i]);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static MPI_Win window(void)
{
	static MPI_Win win;
	static int memory[16], made;
	if (!made++)
		MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
	return win;
}

static void lock(void)
{
	MPI_Win win = window();
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
	MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	compute(3);
	MPI_Win_unlock(0, win);
}

static void fence(void)
{
	MPI_Win win = window();
	if (rank == 2)
		compute(10);
	MPI_Win_fence(0, win);
}

static void *listen(void *unused)
{
	(void)unused;
	while (size > 0)
		receive(MPI_ANY_SOURCE, 5);
	return NULL;
}

static void threads(void)
{
	static pthread_t thread;
	if (!thread && pthread_create(&thread, NULL, listen, NULL) != 0)
		abort();
	compute(10);
	deliver((rank + 1) % size, 5);
}

static void rows(void)
{
	static MPI_Comm comm;
	if (!comm)
		MPI_Comm_split(world, rank % 2, rank, &comm);
	compute(rank % 2 ? 20 : 1);
	MPI_Barrier(comm);
}

static void ibarrier(void)
{
	MPI_Request request;
	int flag = 0;
	if (rank == 1)
		compute(20);
	MPI_Ibarrier(world, &request);
	while (!flag) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		usleep(1000);
	}
}

static void finalizing(void)
{
	if (rank == last)
		forever();
	MPI_Finalize();
	exit(0);
}

/* Messages that are received in another order than they are sent: while it waits for the last one, others are there.
 * */
static void another_order(void)
{
	for (int tag = 20; rank == 1 && tag > 0; tag--) {
		deliver(0, tag);
		compute(1);
	}
	for (int tag = 1; rank == 0 && tag <= 20; tag++)
		receive(1, tag);
}

static void split(void)
{
	MPI_Comm comm;
	if (rank == 1)
		compute(10);
	MPI_Comm_split(world, rank % 2, rank, &comm);
	MPI_Comm_free(&comm);
}

static void intercomm(void)
{
	static MPI_Comm comm, inter;
	if (!comm) {
		MPI_Comm_split(world, rank % 2, rank, &comm);
		MPI_Intercomm_create(comm, 0, world, rank % 2 ? 0 : 1, 11, &inter);
	}
	if (rank == 0)
		MPI_Recv(value, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
	if (rank == 1)
		compute(10);
	if (rank == 1)
		MPI_Send(value, 1, MPI_INT, 0, 3, inter);
}

static void alltoall(void)
{
	if (rank == 1)
		compute(10);
	MPI_Alltoall(large, 1, MPI_INT, large + LARGE / 2, 1, MPI_INT, world);
}

#define CASE(name)          \
	{                   \
#name, name \
	}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {CASE(all_compute), CASE(spin),       CASE(imbalanced),    CASE(one_slow),       CASE(slow_root),
             CASE(slow_gather), CASE(polling),    CASE(iprobe),        CASE(impatient),      CASE(files),
             CASE(pipeline),    CASE(token),      CASE(master),        CASE(probing_master), CASE(ping_pong),
             CASE(halo),        CASE(persistent), CASE(collectives),   CASE(ssend),          CASE(large_send),
             CASE(waitany),     CASE(lock),       CASE(fence),         CASE(threads),        CASE(rows),
             CASE(ibarrier),    CASE(finalizing), CASE(another_order), CASE(split),          CASE(intercomm),
             CASE(alltoall)};

int main(int argc, char **argv)
{
	int provided;
	if (argc < 2 || !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			puts(cases[i].name);
		return 0;
	}
	MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
	alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	last = size - 1;
	large = calloc(1, LARGE);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int done = strcmp(argv[1], cases[i].name); !done;)
			cases[i].run();
	MPI_Finalize();
	return 0;
}
