/* SPDX-License-Identifier: BSD-3-Clause
 * hung - programs that can never end, each wrong in its own way: hung CASE SECONDS (at least four ranks)
 *
 * All ranks work together for some turns, then do what CASE says, then meet in MPI_Barrier. An alarm kills them SECONDS
 * after these turns. `hung list` names the cases.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (1 << 20) /* over the eager limit */

static int rank, size, last, value[4];
static char *large;
static char **arguments;
static MPI_Comm world = MPI_COMM_WORLD;

static void receive(int source, int tag)
{
	MPI_Recv(value, 1, MPI_INT, source, tag, world, MPI_STATUS_IGNORE);
}

static void deliver(int dest, int tag)
{
	MPI_Send(value, 1, MPI_INT, dest, tag, world);
}

static void turn(void)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Sendrecv(value, 1, MPI_INT, right, 1, value + 1, 1, MPI_INT, left, 1, world, MPI_STATUS_IGNORE);
	MPI_Allreduce(value, value + 2, 1, MPI_INT, MPI_SUM, world);
}

/* --- point to point --- */

static void cycle(void)
{
	receive((rank + size - 1) % size, 3);
	deliver((rank + 1) % size, 3);
}

static void pair(void)
{
	if (rank < 2) {
		receive(1 - rank, 3);
		deliver(1 - rank, 3);
	}
}

static void wrong_tag(void)
{
	if (rank == 1)
		deliver(0, 8);
	if (rank == 0)
		receive(1, 7);
}

static void wrong_comm(void)
{
	MPI_Comm other;
	MPI_Comm_dup(world, &other);
	if (rank == 1)
		MPI_Send(value, 1, MPI_INT, 0, 7, other);
	if (rank == 0)
		receive(1, 7);
}

static void ssend(void)
{
	MPI_Ssend(value, 1, MPI_INT, rank ^ 1, 3, world);
	receive(rank ^ 1, 3);
}

static void large_send(void)
{
	MPI_Send(large, LARGE, MPI_CHAR, rank ^ 1, 3, world);
	MPI_Recv(large, LARGE, MPI_CHAR, rank ^ 1, 3, world, MPI_STATUS_IGNORE);
}

static void to_itself(void)
{
	if (rank == 0)
		MPI_Ssend(value, 1, MPI_INT, 0, 3, world);
}

static void sendrecv_ring(void)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	if (rank != last)
		MPI_Sendrecv(large, LARGE, MPI_CHAR, right, 4, large, LARGE, MPI_CHAR, left, 4, world,
		             MPI_STATUS_IGNORE);
}

static void any_source(void)
{
	if (rank > 0)
		deliver(0, 5);
	for (int i = 0; rank == 0 && i < size; i++)
		receive(MPI_ANY_SOURCE, 5);
}

static void probe(void)
{
	MPI_Status status;
	if (rank == 1)
		deliver(0, 5);
	if (rank == 0)
		MPI_Probe(1, 6, world, &status);
}

static void mprobe(void)
{
	MPI_Message message;
	MPI_Status status;
	if (rank == 0)
		MPI_Mprobe(1, 6, world, &message, &status);
}

static void one_stop_less(void)
{
	for (int i = 1; rank == 0 && i < last; i++)
		deliver(i, 9);
	if (rank > 0)
		receive(0, 9);
}

/* More events than anybody would look at one by one. */
static void hours(void)
{
	alarm(0);
	for (int i = 0; i < 200000; i++) {
		for (int k = 0; k < 20; k++)
			MPI_Comm_size(world, value);
		if (i % 500 == 499)
			turn();
	}
	alarm((unsigned)atoi(arguments[2]));
	pair();
}

/* --- requests --- */

static void two_receives(MPI_Request *requests)
{
	for (int i = 0; i < 2; i++)
		MPI_Irecv(value + i, 1, MPI_INT, i + 1, 3, world, &requests[i]);
}

static void waitall(void)
{
	MPI_Request requests[2];
	if (rank == 1)
		deliver(0, 3);
	if (rank > 0)
		return;
	two_receives(requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
	MPI_Request requests[2];
	int index;
	if (rank > 0)
		return;
	two_receives(requests);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void waitsome(void)
{
	MPI_Request requests[2];
	int count, indices[2];
	if (rank > 0)
		return;
	two_receives(requests);
	MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void test_loop(void)
{
	MPI_Request request;
	int flag = 0;
	if (rank > 1)
		return;
	MPI_Irecv(value, 1, MPI_INT, 1 - rank, 3, world, &request);
	while (!flag) {
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		usleep(100);
	}
	deliver(1 - rank, 3);
}

static void persistent(void)
{
	MPI_Request request;
	if (rank == 1)
		MPI_Send_init(value, 1, MPI_INT, 0, 3, world, &request);
	if (rank > 0)
		return;
	MPI_Recv_init(value, 1, MPI_INT, 1, 3, world, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void isend_wait(void)
{
	MPI_Request request;
	if (rank > 0)
		return;
	MPI_Issend(value, 1, MPI_INT, 1, 3, world, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
	MPI_Request request;
	if (rank == 0)
		MPI_Psend_init(value, 2, 1, MPI_INT, 1, 3, world, MPI_INFO_NULL, &request);
	if (rank == 1)
		MPI_Precv_init(value, 2, 1, MPI_INT, 0, 3, world, MPI_INFO_NULL, &request);
	if (rank > 1)
		return;
	MPI_Start(&request);
	if (rank == 0)
		MPI_Pready(1, request);
	else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

/* --- collectives --- */

static void missing(void)
{
	if (rank == last)
		receive(0, 3);
	else
		MPI_Bcast(value, 1, MPI_INT, last, world);
	if (rank == 0)
		deliver(last, 3);
}

static void ibarrier(void)
{
	MPI_Request request;
	if (rank == last) {
		receive(0, 3);
		return;
	}
	MPI_Ibarrier(world, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 0)
		deliver(last, 3);
}

static void different(void)
{
	if (rank == 0)
		MPI_Gather(value, 1, MPI_INT, large, 1, MPI_INT, 0, world);
	else
		MPI_Allreduce(value, value + 1, 1, MPI_INT, MPI_SUM, world);
}

static void roots(void)
{
	MPI_Reduce(value, value + 1, 1, MPI_INT, MPI_SUM, rank == 1, world);
}

static MPI_Comm half(void)
{
	MPI_Comm comm;
	MPI_Comm_split(world, rank % 2, rank, &comm);
	return comm;
}

static void sub_barrier(void)
{
	MPI_Comm comm = half();
	if (rank != 1)
		MPI_Barrier(comm);
}

static void two_comms(void)
{
	MPI_Comm a, b;
	MPI_Comm_dup(world, &a);
	MPI_Comm_dup(world, &b);
	MPI_Barrier(rank ? a : b);
	MPI_Barrier(rank ? b : a);
}

static void split(void)
{
	if (rank == last)
		receive(0, 3);
	half();
}

static void intercomm(void)
{
	MPI_Comm comm = half(), inter;
	MPI_Intercomm_create(comm, 0, world, rank % 2 ? 0 : 1, 11, &inter);
	if (rank == 0)
		MPI_Recv(value, 1, MPI_INT, 1, 3, inter, MPI_STATUS_IGNORE);
}

static void finalize(void)
{
	if (rank == last)
		receive(0, 3);
	MPI_Finalize();
	exit(0);
}

/* --- one-sided --- */

static MPI_Win window(void)
{
	MPI_Win win;
	static int memory[16];
	MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
	MPI_Win_fence(0, win);
	return win;
}

static void lock(void)
{
	MPI_Win win = window();
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
	}
	MPI_Barrier(world);
	if (rank == 2) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Put(value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
	}
}

static void fence(void)
{
	MPI_Win win = window();
	if (rank != last)
		MPI_Win_fence(0, win);
}

static MPI_Group one(int which)
{
	MPI_Group all, group;
	MPI_Comm_group(world, &all);
	MPI_Group_incl(all, 1, &which, &group);
	return group;
}

static void start_alone(void)
{
	MPI_Win win = window();
	MPI_Group group = one(1);
	if (rank > 0)
		return;
	MPI_Win_start(group, 0, win);
	MPI_Put(value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
	MPI_Win_complete(win);
}

static void post_alone(void)
{
	MPI_Win win = window();
	MPI_Group group = one(1);
	if (rank > 0)
		return;
	MPI_Win_post(group, 0, win);
	MPI_Win_wait(win);
}

/* --- processes and threads --- */

static void endless(void)
{
	for (volatile unsigned i = 0; rank == last;)
		i++;
}

static void stopped(void)
{
	while (rank == last) /* the launcher continues it before it kills it */
		raise(SIGSTOP);
}

static void replaced(void)
{
	if (rank == last)
		execlp("sleep", "sleep", "1000", (char *)NULL);
}

static void exited(void)
{
	if (rank == last)
		_exit(0);
}

static void *one_thread(void *which)
{
	int mine = which != NULL;
	receive(rank, 1 + mine);
	deliver(rank, 2 - mine);
	return NULL;
}

static void threads(void)
{
	pthread_t thread;
	if (rank > 0 || pthread_create(&thread, NULL, one_thread, value) != 0)
		return;
	one_thread(NULL);
	pthread_join(thread, NULL);
}

static void spawned(void)
{
	MPI_Comm inter;
	char *further[] = {(char *)"child", arguments[2], NULL};
	MPI_Comm_spawn(arguments[0], further, 1, MPI_INFO_NULL, 0, world, &inter, MPI_ERRCODES_IGNORE);
	if (rank == 0)
		MPI_Recv(value, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE);
}

static void child(void)
{
	MPI_Comm parent;
	MPI_Comm_get_parent(&parent);
	MPI_Recv(value, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
}

#define CASE(name)          \
	{                   \
#name, name \
	}
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {CASE(cycle),       CASE(pair),          CASE(wrong_tag),     CASE(wrong_comm), CASE(ssend),
             CASE(large_send),  CASE(to_itself),     CASE(sendrecv_ring), CASE(any_source), CASE(probe),
             CASE(mprobe),      CASE(one_stop_less), CASE(waitall),       CASE(waitany),    CASE(waitsome),
             CASE(test_loop),   CASE(persistent),    CASE(isend_wait),    CASE(missing),    CASE(ibarrier),
#if MPI_VERSION >= 4
             CASE(partitioned),
#endif
             CASE(different),   CASE(roots),         CASE(sub_barrier),   CASE(two_comms),  CASE(split),
             CASE(intercomm),   CASE(finalize),      CASE(lock),          CASE(fence),      CASE(start_alone),
             CASE(post_alone),  CASE(hours),         CASE(endless),       CASE(stopped),    CASE(replaced),
             CASE(exited),      CASE(threads),       CASE(spawned)};

int main(int argc, char **argv)
{
	int provided, is_child = argc > 1 && !strcmp(argv[1], "child");
	if (argc < 2 || !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			puts(cases[i].name);
		return 0;
	}
	arguments = argv;
	MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	last = size - 1;
	large = calloc(1, LARGE);
	for (int i = 0; i < 10 && !is_child; i++)
		turn();
	alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
	if (is_child)
		child();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(argv[1], cases[i].name))
			cases[i].run();
	MPI_Barrier(world);
	MPI_Finalize();
	return 0;
}
