/* SPDX-License-Identifier: BSD-3-Clause
 * hostile - a program that nothing about is regular: hostile [EVENTS [PATHS [SEED]]]
 *
 * Each call comes along one of PATHS call paths (a walk down a binary tree of functions), with another tag, size and
 * outcome; which call comes next is drawn as well. What it says is real: messages of up to 4 KiB to the process itself
 * and to a partner (rank xor 1), non-blocking ones in any number, collectives, probes. Any number of ranks will do; it
 * makes about EVENTS calls in each (default 20,000 along 1,000 paths).
 *
 * Prints how many calls it made, the CPU time between MPI_Init and MPI_Finalize (in system calls it mostly waits:
 * sched_yield), its largest resident set, and a checksum that tracing must not change.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
	SIZE = 4096,
	MOST = 4,
	TAGS = 16384,
	PARTNER_TAGS = 2 * TAGS
}; /* a partner's message is none from the process itself */

static uint64_t common, own; /* states: equal in all ranks, and not */
static char to[MOST][SIZE], from[MOST][SIZE];
static int rank, partner; /* the process itself if there is no other one */
static uint64_t calls, checksum;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static int size(void)
{
	return (int)(draw(&own) >> 40 & (SIZE - 1));
}

static void note(const MPI_Status *status)
{
	int n;
	MPI_Get_count(status, MPI_CHAR, &n);
	checksum = checksum * 31 + (uint64_t)n + (uint64_t)status->MPI_TAG + (uint64_t)status->MPI_SOURCE;
	calls++;
}

static void talk_to_self(uint64_t r)
{
	MPI_Request request[2 * MOST];
	MPI_Status status[2 * MOST];
	int n = 1 + (int)(r >> 10 & (MOST - 1)), tag = (int)(r >> 20 & (TAGS - 1)), left;
	for (int i = 0; i < n; i++) {
		int count = size();
		MPI_Irecv(from[i], SIZE, MPI_CHAR, r >> i & 1 ? rank : MPI_ANY_SOURCE, tag + i, MPI_COMM_WORLD,
		          &request[2 * i]);
		MPI_Isend(to[i], count, MPI_CHAR, rank, tag + i, MPI_COMM_WORLD, &request[2 * i + 1]);
	}
	calls += 2 * (uint64_t)n;
	switch (r >> 5 & 3) {
	case 0:
		MPI_Waitall(2 * n, request, status);
		calls++;
		break;
	case 1:
		for (left = 2 * n; left > 0; left--, calls++) {
			int which;
			MPI_Waitany(2 * n, request, &which, status);
		}
		break;
	default:
		for (left = 0; left < 2 * n; left++, calls++)
			MPI_Wait(&request[left], &status[0]);
		note(&status[0]);
	}
}

static void talk_to_partner(uint64_t r)
{
	MPI_Status status;
	int tag = PARTNER_TAGS + (int)(r >> 20 & (TAGS - 1));
	MPI_Sendrecv(to[0], size(), MPI_CHAR, partner, tag, from[0], SIZE, MPI_CHAR, partner, r & 1 ? tag : MPI_ANY_TAG,
	             MPI_COMM_WORLD, &status);
	calls++;
	note(&status);
}

static void look(uint64_t r)
{
	int flag;
	MPI_Iprobe(rank, (int)(r >> 20 & (TAGS - 1)), MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	calls++;
}

static void exchange(uint64_t r)
{
	int out[1] = {size()}, at[1] = {0};
	if (r & 1)
		MPI_Alltoallv(to[0], out, at, MPI_CHAR, from[0], out, at, MPI_CHAR, MPI_COMM_SELF);
	else
		MPI_Allreduce(to[0], from[0], 1 + size() / 8, r & 2 ? MPI_INT : MPI_FLOAT, r & 4 ? MPI_MAX : MPI_MIN,
		              MPI_COMM_SELF);
	calls++;
}

static void talk(void)
{
	uint64_t r = draw(&common) >> 1;
	switch (r >> 50 & 7) {
	case 0:
		look(r);
		break;
	case 1:
		exchange(r);
		break;
	case 2:
	case 3:
		talk_to_partner(r);
		break;
	default:
		talk_to_self(r);
	}
}

static __attribute__((noinline)) void right(unsigned path);

static __attribute__((noinline)) void left(unsigned path)
{
	if (path <= 1)
		talk();
	else if (path & 1)
		right(path >> 1);
	else
		left(path >> 1);
	__asm__ volatile("" ::: "memory"); /* no jump in place of the call */
}

static void right(unsigned path)
{
	if (path <= 1)
		talk();
	else if (path & 1)
		right(path >> 1);
	else
		left(path >> 1);
	__asm__ volatile("" ::: "memory");
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
	unsigned paths = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1000;
	int ranks;
	common = UINT64_C(88172645463325252) ^ (argc > 3 ? strtoull(argv[3], NULL, 10) << 20 : 0);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	own = common + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(rank + 1);
	partner = (rank ^ 1) < ranks ? rank ^ 1 : rank;
	calls = 3; /* with MPI_Finalize: 4 */
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	while (calls < events)
		left(1 + (unsigned)(draw(&common) >> 33) % paths);
	getrusage(RUSAGE_SELF, &after);
	printf("rank %d: %llu calls, %.3f s user, %.3f s system, %ld KiB, checksum %016llx\n", rank,
	       (unsigned long long)calls + 1, seconds(after.ru_utime) - seconds(before.ru_utime),
	       seconds(after.ru_stime) - seconds(before.ru_stime), after.ru_maxrss, (unsigned long long)checksum);
	MPI_Finalize();
	return 0;
}
