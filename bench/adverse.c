/* SPDX-License-Identifier: BSD-3-Clause
 * adverse - programs that a tracer has a hard time with, each one generator: adverse KIND EVENTS [N]
 *
 * A process talks to itself, but for `farm`. What is drawn is the same in each run. It prints how many calls it made,
 * the CPU time of its loop, and a checksum of what it received: traced, it must be the same one.
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MOST 20000
static MPI_Request request[MOST];
static MPI_Status status[MOST];
static int in[MOST], indices[MOST], order[MOST];
static uint64_t state = UINT64_C(88172645463325252), calls, checksum;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * UINT64_C(0x2545f4914f6cdd1d) >> 20) % below;
}

static void note(int64_t value)
{
	checksum = checksum * 31 + (uint64_t)value;
}

static void post(int i)
{
	MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
	calls++;
}

static void post_all(int n)
{
	for (int i = 0; i < n; i++)
		post(i);
}

static void say(int tag)
{
	MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
	calls++;
}

/* A permutation of what is outstanding. */
static void shuffle(int n, int random)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; random && i > 0; i--) {
		int k = (int)draw((uint64_t)i + 1), t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
}

static void waitany(int n)
{
	int i;
	MPI_Waitany(n, request, &i, &status[0]);
	calls++;
	note(i);
	note(status[0].MPI_TAG);
}

/* n outstanding ones, of which one is complete; it is posted again, or not until all are. */
static void any(uint64_t events, int n, int random, int again)
{
	post_all(n);
	for (int k = 0; calls < events; k++) {
		if (k % n == 0)
			shuffle(n, random);
		if (k % n == 0 && k && !again)
			post_all(n);
		int tag = random && again ? (int)draw((uint64_t)n) : order[k % n];
		say(tag);
		waitany(n);
		if (again)
			post(tag);
	}
}

/* A few of them are complete; polls find nothing now and then. */
static void some(uint64_t events, int n, int random, int test)
{
	post_all(n);
	for (int k = 0; calls < events;) {
		int m = random ? (int)draw(4) : 1, done = 0;
		for (int i = 0; i < m; i++, k++)
			say(random ? (int)draw((uint64_t)n) : k % n);
		if (!test && m == 0)
			continue;
		if (test)
			MPI_Testsome(n, request, &done, indices, status);
		else
			MPI_Waitsome(n, request, &done, indices, status);
		calls++;
		for (int i = 0; i < done; i++) {
			note(indices[i]);
			note(status[i].MPI_TAG);
			post(indices[i]);
		}
	}
}

static void tags(uint64_t events, int n, int random)
{
	int out = 0, back;
	for (int k = 0; calls < events; k++, calls++) {
		int tag = random ? (int)draw((uint64_t)n) : k % n;
		MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &back, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &status[0]);
		note(status[0].MPI_TAG);
	}
}

static void put(uint64_t events, int n)
{
	MPI_Win win;
	char *memory;
	MPI_Win_allocate(n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	memset(memory, 0, (size_t)n);
	MPI_Win_fence(0, win);
	for (int k = 1; calls < events; k++, calls++) {
		char byte = (char)k;
		int size = 1 + (int)draw(64);
		char bytes[64];
		memset(bytes, byte, sizeof bytes);
		MPI_Put(bytes, size, MPI_CHAR, 0, (MPI_Aint)draw((uint64_t)n - 64), size, MPI_CHAR, win);
		if (k % 64 == 0) {
			MPI_Win_fence(0, win);
			calls++;
		}
	}
	for (int i = 0; i < n; i++)
		note(memory[i]);
	MPI_Win_free(&win);
}

static void types(uint64_t events, int live)
{
	static MPI_Datatype kept[100000];
	uint64_t made = 0;
	for (; calls < events; made++) {
		int lengths[4], n = 1 + (int)draw(4);
		MPI_Aint at[4];
		MPI_Datatype fields[4], type;
		for (int i = 0; i < n; i++) {
			lengths[i] = 1 + (int)draw(9);
			at[i] = (MPI_Aint)(128 * i + (int)draw(16));
			fields[i] = draw(2) ? MPI_INT : MPI_CHAR;
		}
		MPI_Type_create_struct(n, lengths, at, fields, &type);
		MPI_Type_commit(&type);
		calls += 2;
		MPI_Datatype *place = &kept[made % (uint64_t)live];
		if (made >= (uint64_t)live) {
			MPI_Type_free(place);
			calls++;
		}
		*place = type;
	}
}

static void comms(uint64_t events, int n)
{
	MPI_Comm *comm = malloc((size_t)n * sizeof *comm);
	int one = 1, sum;
	for (int i = 0; i < n; i++, calls++)
		MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
	for (; calls < events; calls++) {
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm[draw((uint64_t)n)]);
		note(sum);
	}
	for (int i = 0; i < n; i++)
		MPI_Comm_free(&comm[i]);
	free(comm);
}

static void many(uint64_t events, int n)
{
	while (calls < events) {
		post_all(n);
		shuffle(n, 1);
		for (int i = 0; i < n; i++)
			say(order[i]);
		MPI_Waitall(n, request, status);
		calls++;
		for (int i = 0; i < n; i++)
			note(status[i].MPI_TAG);
	}
}

/* A master answers whoever asks. */
static void farm(uint64_t events)
{
	int rank, size, work = 0, answer;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int left = size - 1; rank == 0 && left > 0; calls += 2) {
		MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status[0]);
		work = calls < events ? 1 + (int)draw(1000) : 0;
		left -= work == 0;
		MPI_Send(&work, 1, MPI_INT, status[0].MPI_SOURCE, 1, MPI_COMM_WORLD);
	}
	for (work = 1; rank > 0 && work > 0;) {
		MPI_Send(&rank, 1, MPI_INT, 0, work % 7, MPI_COMM_WORLD);
		MPI_Recv(&work, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	uint64_t events = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	int n = argc > 3 ? atoi(argv[3]) : 32, rank;
	struct rusage before, after;
	n = n < 1 ? 1 : n;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	n = n > MOST && strcmp(kind, "put") != 0 && strcmp(kind, "types") != 0 ? MOST : n;
	getrusage(RUSAGE_SELF, &before);
	if (strncmp(kind, "any", 3) == 0) /* any, any-random, any-drain, any-drain-random */
		any(events, n, strstr(kind, "random") != NULL, strstr(kind, "drain") == NULL);
	else if (strncmp(kind, "waitsome", 8) == 0)
		some(events, n, strstr(kind, "random") != NULL, 0);
	else if (strncmp(kind, "testsome", 8) == 0)
		some(events, n, strstr(kind, "random") != NULL, 1);
	else if (strncmp(kind, "tags", 4) == 0)
		tags(events, n, strstr(kind, "random") != NULL);
	else if (strcmp(kind, "put") == 0)
		put(events, n < 128 ? 1 << 20 : n);
	else if (strcmp(kind, "types") == 0)
		types(events, n > 100000 ? 100000 : n);
	else if (strcmp(kind, "comms") == 0)
		comms(events, n);
	else if (strcmp(kind, "many") == 0)
		many(events, n);
	else if (strcmp(kind, "farm") == 0)
		farm(events);
	else if (rank == 0)
		fprintf(stderr, "adverse: no such kind: %s\n", kind);
	getrusage(RUSAGE_SELF, &after);
	if (rank == 0)
		printf("%llu calls, %.3f s, checksum %016llx\n", (unsigned long long)calls,
		       (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
		               (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
		               1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
		                               after.ru_stime.tv_usec - before.ru_stime.tv_usec),
		       (unsigned long long)checksum);
	MPI_Finalize();
	return 0;
}
