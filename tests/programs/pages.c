/* SPDX-License-Identifier: BSD-3-Clause
 * pages - rank 1 sleeps 4 ms in each step and touches 400 new pages; the others 1 ms, and 100
 */
#include <mpi.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

static void touch(size_t pages)
{
	volatile char *p = mmap(NULL, pages << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	madvise((void *)p, pages << 12, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		p[i << 12] = 1;
	munmap((void *)p, pages << 12);
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100; i++) {
		nanosleep(&(struct timespec){.tv_nsec = rank == 1 ? 4000000 : 1000000}, NULL);
		touch(rank == 1 ? 400 : 100);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return MPI_Finalize();
}
