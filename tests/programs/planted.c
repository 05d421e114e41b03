/* SPDX-License-Identifier: BSD-3-Clause
 * planted - programs that each lose time for one known cause; computation is sleep, so that cores do not matter
 *
 *     planted KIND STEPS
 *
 * efficient    all compute alike, then reduce
 * imbalance    rank 2 computes two and a half times as long as the others; a ring, then a reduction
 * serial       rank 0 computes, then sends to all; they wait, then compute a little
 * small        messages of 8 bytes and nothing else
 * pipeline     one rank computes at a time, then sends to the next one
 * moving       another rank is slow in each step; over the run all are alike
 * transfer     messages of 4 MB between neighbours, hardly any computation
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE (4 << 20)

static int rank, size;
static char out[LARGE], in[LARGE];

static __attribute__((noinline)) void compute(double ms)
{
	usleep((useconds_t)(1000 * ms));
}

static void ring(int bytes)
{
	MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes, MPI_BYTE, (rank + size - 1) % size, 0,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reduce(void)
{
	double x = 1, y;
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void efficient(int step)
{
	(void)step;
	compute(5);
	reduce();
}

static void imbalance(int step)
{
	(void)step;
	compute(rank == 2 ? 10 : 4);
	ring(1024);
	reduce();
}

static void serial(int step)
{
	(void)step;
	if (rank == 0) {
		compute(10);
		for (int i = 1; i < size; i++)
			MPI_Send(out, 4096, MPI_BYTE, i, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(in, 4096, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		compute(1);
	}
}

static void small(int step)
{
	(void)step;
	for (int i = 0; i < 200; i++)
		ring(8);
}

static void pipeline(int step)
{
	if (rank > 0 || step > 0)
		MPI_Recv(in, 64, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	compute(3);
	MPI_Send(out, 64, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD);
}

static void moving(int step)
{
	compute(step % size == rank ? 9 : 3);
	reduce();
}

static void transfer(int step)
{
	(void)step;
	compute(0.1);
	ring(LARGE);
}

static const struct {
	const char *name;
	void (*step)(int step);
} kinds[] = {{"efficient", efficient}, {"imbalance", imbalance}, {"serial", serial},    {"small", small},
             {"pipeline", pipeline},   {"moving", moving},       {"transfer", transfer}};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t k = 0; argc > 2 && k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; strcmp(argv[1], kinds[k].name) == 0 && i < atoi(argv[2]); i++)
			kinds[k].step(i);
	MPI_Finalize();
	return 0;
}
