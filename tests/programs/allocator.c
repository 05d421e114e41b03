/* SPDX-License-Identifier: BSD-3-Clause
 * allocator - brings its own malloc, of which libc's malloc_usable_size knows nothing, and looks for overruns
 *
 * Before each block stands what libc takes for a block of 40 bytes, whatever its size is. Behind each block stands a
 * word that nobody may write to.
 */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define POOL  (UINT64_C(4) << 30)
#define GUARD UINT64_C(0x5ca1ab1e0ddba115)

struct head {
	uint64_t size, guard, before, lie;
};

static char *pool;
static uint64_t used;

static void check(const struct head *h)
{
	uint64_t after;
	memcpy(&after, (const char *)(h + 1) + h->size, sizeof after);
	if (h->guard != GUARD || after != GUARD) {
		static const char text[] = "allocator: a block was overrun\n";
		_exit(write(2, text, sizeof text - 1) < 0 ? 98 : 99);
	}
}

static void *get(size_t alignment, size_t n)
{
	const uint64_t guard = GUARD;
	if (!__atomic_load_n(&pool, __ATOMIC_ACQUIRE)) {
		char *p = mmap(NULL, POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
		     *none = NULL;
		if (!__atomic_compare_exchange_n(&pool, &none, p, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			munmap(p, POOL);
	}
	alignment = alignment < 16 ? 16 : alignment;
	uint64_t at =
		__atomic_fetch_add(&used, sizeof(struct head) + n + sizeof guard + 2 * alignment, __ATOMIC_RELAXED);
	at = (at + sizeof(struct head) + alignment - 1) & ~(uint64_t)(alignment - 1);
	if (at + n + sizeof guard > POOL) {
		errno = ENOMEM;
		return NULL;
	}
	struct head *h = (struct head *)(void *)(pool + at) - 1;
	*h = (struct head){.size = n, .guard = GUARD, .lie = 0x3a};
	memcpy(pool + at + n, &guard, sizeof guard);
	return h + 1;
}

void *malloc(size_t n)
{
	return get(16, n);
}

void *calloc(size_t n, size_t size)
{
	return get(16, n * size); /* never used before: zeroes */
}

void free(void *p)
{
	if (p)
		check((struct head *)p - 1);
}

void *realloc(void *p, size_t n)
{
	void *more = get(16, n);
	if (p && more) {
		uint64_t size = ((struct head *)p - 1)->size;
		memcpy(more, p, size < n ? size : n);
		free(p);
	}
	return more;
}

void *memalign(size_t alignment, size_t n)
{
	return get(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return get(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
	*p = get(alignment, n);
	return *p ? 0 : ENOMEM;
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 40; i++) {
		int x[40] = {i}, y[40];
		MPI_Sendrecv(x, i, MPI_INT, (rank + 1) % size, i % 7, y, 40, MPI_INT, (rank + size - 1) % size, i % 7,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Bcast(x, i + rank % 1, MPI_INT, i % size, MPI_COMM_WORLD);
		if (i % 3 == rank % 3)
			MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &y[0], MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	if (rank == 0)
		printf("all blocks are whole\n");
	return 0;
}
