/* SPDX-License-Identifier: BSD-3-Clause
 * manysites - a program with as many call paths as a large chemistry code
 *
 *     manysites SITES [ROUNDS [LEAVE]]
 *
 * Makes MPI calls from about SITES call paths, 10 to 40 frames deep. Paths are those of a walk: each shares all but
 * its last frames with the one before. Of 100 paths 65 are visited once or twice, the others 3 to about 4 * ROUNDS
 * times (default 64), half as many of them twice as often; in loops over 32 paths that follow each other. Of the
 * others one in three passes a count that changes.
 *
 * Any number of ranks; all make the same calls. What is sent goes to a neighbour in pairs; a last rank without one
 * sends to MPI_PROC_NULL. The same arguments make the same calls each time. Rank 0 prints how many events each rank
 * has (with MPI_Init, MPI_Comm_rank, MPI_Comm_size and MPI_Finalize):
 *
 *     events 12345
 *
 * LEAVE: before MPI_Finalize the process limits its address space to what it has and so many KiB.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { DEEP = 40, LEAST = 10, SPAN = DEEP - LEAST, LOOP = 32, KINDS = 6 };

struct path {
	uint8_t depth, kind, varies;
	uint32_t visits;
	uint8_t frames[DEEP]; /* which function is called next */
};

static int peer, visit, buffer[2][64];
static long events;

static uint64_t random_next(void)
{
	static uint64_t state = 1;
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return state >> 33;
}

/* The MPI call of a path: one place in the program for each function. */
static __attribute__((noinline)) void leaf(const struct path *p)
{
	int n = p->varies ? 1 + (int)((unsigned)visit * 7 % 50) : 8;
	MPI_Status status;
	events++;
	switch (p->kind) {
	case 0:
		MPI_Sendrecv(buffer[0], n, MPI_INT, peer, 1, buffer[1], 64, MPI_INT, peer, 1, MPI_COMM_WORLD, &status);
		break;
	case 1:
		MPI_Allreduce(buffer[0], buffer[1], n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 2:
		MPI_Bcast(buffer[0], n, MPI_INT, 0, MPI_COMM_WORLD);
		break;
	case 3:
		MPI_Sendrecv(buffer[0], n, MPI_BYTE, MPI_PROC_NULL, 2, buffer[1], n, MPI_BYTE, MPI_PROC_NULL, 2,
		             MPI_COMM_SELF, &status);
		break;
	case 4:
		MPI_Send(buffer[0], n, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
		break;
	default:
		MPI_Recv(buffer[1], n, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
	}
}

/* Functions that all call the next one of the path, so that where they return to says which they are. */
typedef void frame(const struct path *p, int depth);
static frame *const frames[];

#define FRAME(name)                                                                 \
	static __attribute__((noinline)) void name(const struct path *p, int depth) \
	{                                                                           \
		if (depth == p->depth)                                              \
			leaf(p);                                                    \
		else                                                                \
			frames[p->frames[depth]](p, depth + 1);                     \
		__asm__ volatile(""); /* no tail call */                            \
	}
FRAME(frame_0)
FRAME(frame_1)
FRAME(frame_2)
FRAME(frame_3)
FRAME(frame_4)
FRAME(frame_5)
FRAME(frame_6)
FRAME(frame_7)
static frame *const frames[] = {frame_0, frame_1, frame_2, frame_3, frame_4, frame_5, frame_6, frame_7};
enum { FRAMES = sizeof frames / sizeof frames[0] };

/* Paths are all different where the walk changes a frame that it has not left: the last frame counts up. */
static void make_path(struct path *p, const struct path *before, unsigned rounds)
{
	int keep = before->depth - 1 - (int)(random_next() % 4) -
	           (random_next() % 16 ? 0 : (int)(random_next() % LEAST)),
	    more = 1 + (int)(random_next() % 4);
	*p = *before;
	keep = keep < 2 ? 2 : keep;
	p->frames[keep] = (uint8_t)((p->frames[keep] + 1 + random_next() % (FRAMES - 1)) % FRAMES);
	p->depth = (uint8_t)(keep + more > DEEP ? DEEP : keep + more < LEAST ? LEAST : keep + more);
	for (int i = keep + 1; i < p->depth; i++)
		p->frames[i] = (uint8_t)(random_next() % FRAMES);
	p->kind = (uint8_t)(random_next() % KINDS);
	unsigned often = random_next() % 100;
	p->visits = often < 35 ? 1 : often < 65 ? 2 : 3;
	while (often >= 65 && p->visits < rounds && random_next() % 2)
		p->visits *= 2;
	p->visits += p->visits > 2 ? (uint32_t)(random_next() % p->visits) : 0;
	p->varies = p->visits > 2 && random_next() % 3 == 0;
}

static void limit_memory(unsigned leave)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(1);
	fclose(file);
	rlim_t most = pages * 4096 + (rlim_t)leave * 1024;
	if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	unsigned sites = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0,
		 rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 64,
		 leave = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	if (sites == 0 || sites > 1000000 || rounds == 0) {
		fprintf(stderr, "usage: manysites SITES [ROUNDS [LEAVE]]\n");
		return 2;
	}
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	peer = (rank ^ 1) < size ? rank ^ 1 : MPI_PROC_NULL;
	struct path loop[LOOP], before = {.depth = LEAST + SPAN / 2};
	for (unsigned done = 0; done < sites;) {
		unsigned n = 0, most = 0;
		for (; n < LOOP && done < sites; n++, done++) {
			make_path(&loop[n], n ? &loop[n - 1] : &before, rounds);
			most = loop[n].visits > most ? loop[n].visits : most;
		}
		for (unsigned round = 0; round < most; round++)
			for (unsigned i = 0; i < n; i++)
				if (round < loop[i].visits) {
					visit = (int)round;
					frames[loop[i].frames[0]](&loop[i], 1);
				}
		before = loop[n - 1];
	}
	if (rank == 0)
		printf("events %ld\n", events + 4);
	if (leave)
		limit_memory(leave);
	MPI_Finalize();
	return 0;
}
