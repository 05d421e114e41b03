/* SPDX-License-Identifier: BSD-3-Clause
 * pieces - requests of MPI 4: partitioned, persistent, both ways at once (tests/cases.t)
 */
/* clang-format off */
#define CASES(X) \
	X(copies, MPI_Comm_idup_with_info) \
	X(both_ways, MPI_Isendrecv) \
	X(replaced, MPI_Isendrecv_replace) \
	X(with_nobody, MPI_Isendrecv) \
	X(collectives, MPI_Allreduce_init) \
	X(together, MPI_Allreduce_init) \
	X(some, MPI_Allreduce_init) \
	X(neighbours, MPI_Neighbor_alltoall_init) \
	X(never_started, MPI_Barrier_init) \
	X(parts, MPI_Psend_init) \
	X(ranges, MPI_Pready_range) \
	X(polled, MPI_Parrived) \
	X(by_threads, MPI_Psend_init) \
	X(mixed, MPI_Psend_init) \
	X(never_ready, MPI_Psend_init) \
	X(one_is_ahead, MPI_Psend_init) \
	X(hardware, MPI_Comm_idup_with_info)
/* clang-format on */
#include "tests/programs/cases.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#define PARTS 4
static MPI_Request r[8];

static void __attribute__((unused)) free_all(int n)
{
	for (int i = 0; i < n; i++)
		MPI_Request_free(&r[i]);
}

#if HAS_MPI_Comm_idup_with_info
void copies(void)
{
	MPI_Comm copy[2];
	MPI_Info info;
	int sum = 0;

	begin();
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
	MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy[0], &r[0]);
	MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy[1], &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	MPI_Info_free(&info);
	for (int i = 0; i < 2; i++) {
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy[i]);
		check(sum == size * (size - 1) / 2, "the sum over a copy");
		MPI_Comm_free(&copy[i]);
	}
	end();
}

void hardware(void)
{
#if defined(MPI_COMM_TYPE_HW_UNGUIDED)
	MPI_Comm comm = MPI_COMM_NULL, node;
	MPI_Info info;

	begin();
	MPI_Info_create(&info);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, &node);
	MPI_Comm_split_type(node, MPI_COMM_TYPE_HW_UNGUIDED, rank, info, &comm);
	printf("rank %d: %s\n", rank, comm == MPI_COMM_NULL ? "no part" : "a part");
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
	MPI_Comm_free(&node);
	MPI_Info_free(&info);
	end();
#else
	puts("MPI_COMM_TYPE_HW_UNGUIDED");
	exit(LACKING);
#endif
}
#endif

#if HAS_MPI_Isendrecv
void both_ways(void)
{
	int out[3] = {0}, in[3] = {-1, -1, -1};
	MPI_Status status[3];

	begin();
	for (int i = 0; i < 3; i++) {
		out[i] = rank * 10 + i;
		MPI_Isendrecv(&out[i], 1, MPI_INT, right, i, &in[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left,
		              i == 2 ? MPI_ANY_TAG : i, MPI_COMM_WORLD, &r[i]);
	}
	MPI_Waitall(3, r, status);
	for (int i = 0; i < 3; i++) {
		check(in[i] == left * 10 + i, "what came");
		printf("rank %d: %d from %d with %d\n", rank, i, status[i].MPI_SOURCE, status[i].MPI_TAG);
	}
	end();
}

void with_nobody(void)
{
	int flag = 0, out = 1, in = -1;

	begin();
	MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]);
	while (!flag)
		MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
	check(in == -1, "what nobody sends");
	MPI_Isendrecv(&rank, 1, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 1, &in, 1, MPI_INT,
	              rank > 0 ? rank - 1 : MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	check(in == rank - 1, "what the lower one sends");
	end();
}
#endif

#if HAS_MPI_Isendrecv_replace
void replaced(void)
{
	int both[2] = {0, 1}, index = -1;

	begin();
	both[0] = rank;
	MPI_Isendrecv_replace(both, 2, MPI_INT, left, 2, right, 2, MPI_COMM_WORLD, &r[0]);
	MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
	check(both[0] == right && both[1] == 1 && index == 0, "what was replaced");
	end();
}
#endif

#if HAS_MPI_Allreduce_init
void collectives(void)
{
	int out[2] = {0, 1}, in[2] = {0};

	begin();
	MPI_Allreduce_init(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	for (int i = 0; i < 5; i++) {
		out[0] = rank + i;
		MPI_Start(&r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		check(in[0] == size * (size - 1) / 2 + size * i && in[1] == size, "a sum");
	}
	free_all(1);
	end();
}

static int out_all[64], in_all[64], root;

static void init_three(void)
{
	begin();
	MPI_Allreduce_init(&rank, &in_all[0], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Bcast_init(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Alltoall_init(out_all, 1, MPI_INT, &in_all[1], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
}

void together(void)
{
	init_three();
	for (int turn = 0; turn < 3; turn++) {
		root = rank == 0 ? 7 + turn : 0;
		MPI_Startall(3, r);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		check(root == 7 + turn && in_all[0] == size - 1, "three together");
	}
	free_all(3);
	end();
}

void some(void)
{
	int n = 0, which[3];

	init_three();
	root = rank == 0 ? 7 : 0;
	MPI_Startall(3, r);
	for (int done = 0; done < 3; done += n) {
		MPI_Waitsome(3, r, &n, which, MPI_STATUSES_IGNORE);
		check(n > 0, "the number of those that are done");
	}
	check(root == 7 && in_all[0] == size - 1, "some by some");
	free_all(3);
	end();
}

void never_started(void)
{
	begin();
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&r[0]);
	end();
}
#endif

#if HAS_MPI_Neighbor_alltoall_init
void neighbours(void)
{
	MPI_Comm ring;
	int out[2], in[2] = {-1, -1};

	begin();
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
	MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &r[0]);
	for (int i = 0; i < 3; i++) {
		out[0] = out[1] = rank * 10 + i;
		MPI_Start(&r[0]);
		MPI_Wait(&r[0], MPI_STATUS_IGNORE);
		check(in[0] == left * 10 + i && in[1] == right * 10 + i, "what the neighbours sent");
	}
	free_all(1);
	MPI_Comm_free(&ring);
	end();
}
#endif

#if HAS_MPI_Psend_init
static double out[PARTS][5], in[PARTS][5];

static void open_parts(void)
{
	MPI_Psend_init(out, PARTS, 5, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, PARTS, 5, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
}

static void fill(int turn)
{
	for (int i = 0; i < PARTS * 5; i++)
		out[0][i] = rank * 1000 + turn * 100 + i;
}

static void look(int turn)
{
	bool good = true;

	for (int i = 0; i < PARTS * 5; i++)
		good = good && in[0][i] == left * 1000 + turn * 100 + i;
	check(good, "what came in parts");
}

void parts(void)
{
	begin();
	open_parts();
	for (int turn = 0; turn < 3; turn++) {
		MPI_Startall(2, r);
		fill(turn);
		for (int i = PARTS - 1; i >= 0; i--)
			MPI_Pready(i, r[0]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		look(turn);
	}
	free_all(2);
	end();
}

void ranges(void)
{
	begin();
	open_parts();
	MPI_Start(&r[1]);
	MPI_Start(&r[0]);
	fill(0);
	MPI_Pready_range(0, 1, r[0]);
	MPI_Pready_list(2, (int[]){3, 2}, r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	look(0);
	free_all(2);
	end();
}

/* How often it is asked depends on time: that is not for a comparison of two runs. */
void polled(void)
{
	int arrived = 0;

	begin();
	open_parts();
	for (int turn = 0; turn < 2; turn++) {
		MPI_Startall(2, r);
		fill(turn);
		MPI_Pready_range(0, PARTS - 1, r[0]);
		for (int i = 0; i < PARTS; i++)
			for (arrived = 0; !arrived;)
				MPI_Parrived(r[1], i, &arrived);
		look(turn);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	free_all(2);
	end();
}

static void *ready(void *part)
{
	MPI_Pready((int)(intptr_t)part, r[0]);
	return NULL;
}

void by_threads(void)
{
	pthread_t thread[PARTS];
	int provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE) {
		puts("MPI_THREAD_MULTIPLE");
		MPI_Finalize();
		exit(LACKING);
	}
	place(MPI_COMM_WORLD);
	open_parts();
	MPI_Startall(2, r);
	fill(0);
	for (intptr_t i = 0; i < PARTS; i++)
		pthread_create(&thread[i], NULL, ready, (void *)i);
	for (int i = 0; i < PARTS; i++)
		pthread_join(thread[i], NULL);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	look(0);
	free_all(2);
	end();
}

void mixed(void)
{
	int got = -1;

	begin();
	open_parts();
	MPI_Send_init(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &r[2]);
	MPI_Recv_init(&got, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &r[3]);
	for (int turn = 0; turn < 2; turn++) {
		MPI_Startall(4, r);
		fill(turn);
		MPI_Pready_range(0, PARTS - 1, r[0]);
		MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
		look(turn);
		check(got == left, "what came beside parts");
	}
	free_all(4);
	end();
}

void never_ready(void)
{
	begin();
	open_parts();
	free_all(2);
	end();
}

/* What a library sets up for parts when it is called the next time, it has set up on one rank alone. */
void one_is_ahead(void)
{
	int there;

	begin();
	open_parts();
	free_all(2);
	if (rank > 0)
		usleep(200000);
	for (int i = 0; i < 100 && rank == 0; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	MPI_Finalize();
}
#endif
