/* SPDX-License-Identifier: BSD-3-Clause
 * memory - the tracer's own memory
 *
 * A mapping begins with its size; its address is in no heap.
 */
#include "preload/own/memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/own/heap.h"
#include "trace/base/limits.h"

#define HEAP_MORE (UINT64_C(64) << 20) /* bytes of a heap that is made while the system may be asked */
#define LARGE     (128u << 10)         /* pieces from here on are mappings then */
/* The reserve: at least so much, and of what the process may still map at most this part. */
#define HEAP_LEAST (UINT64_C(1) << 20)
#define HEAP_LEFT  64
#define HEAP_MOST  (UINT64_C(1) << 30)
/* Times that the reserve is asked while another thread is in it: less than 1 ms. */
#define BUSY_TRIES 256

struct mapping {
	size_t size; /* all of it */
	struct mapping *next;
} __attribute__((aligned(64)));

static bool is_reserved;               /* all of it */
static bool is_quiet;                  /* atomic */
static struct mapping *unmapped_later; /* atomic */

/* ---- mappings ---- */

static void *mapping_make(size_t n)
{
	struct mapping *m = n < SIZE_MAX / 2 ? heap_map(n + sizeof *m) : NULL;

	if (!m)
		return NULL;
	m->size = n + sizeof *m;
	return m + 1;
}

static void mapping_free(struct mapping *m)
{
	if (!__atomic_load_n(&is_quiet, __ATOMIC_RELAXED)) {
		munmap(m, m->size);
		return;
	}
	struct mapping *next = __atomic_load_n(&unmapped_later, __ATOMIC_RELAXED);
	do
		m->next = next;
	while (!__atomic_compare_exchange_n(&unmapped_later, &next, m, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* ---- malloc and its kin ---- */

/* *zero: it is all zero. */
static void *get(size_t n, bool *zero)
{
	bool quiet = __atomic_load_n(&is_quiet, __ATOMIC_RELAXED), busy;
	void *p;
	int tries = 0;

	if (n >= LARGE && !quiet) {
		*zero = true;
		return mapping_make(n);
	}
	do
		p = heap_take(n, zero, &busy);
	while (!p && quiet && busy && ++tries < BUSY_TRIES);
	if (!p && !quiet && heap_make(HEAP_MORE))
		p = heap_take(n, zero, &busy);
	if (!p && !quiet) {
		*zero = true;
		p = mapping_make(n);
	}
	return p;
}

void *malloc(size_t n)
{
	bool zero;

	return get(n, &zero);
}

void free(void *p)
{
	struct heap *h = p ? heap_of(p) : NULL;

	if (!h) {
		if (p)
			mapping_free((struct mapping *)p - 1);
		return;
	}
	heap_give(h, p);
}

void *calloc(size_t count, size_t size)
{
	bool zero;
	size_t n;
	void *p = __builtin_mul_overflow(count, size, &n) ? NULL : get(n, &zero);

	return p && !zero ? memset(p, 0, n) : p;
}

size_t malloc_usable_size(void *p)
{
	const struct heap *h = p ? heap_of(p) : NULL;

	if (!h)
		return p ? ((struct mapping *)p - 1)->size - sizeof(struct mapping) : 0;
	return heap_room(h, p);
}

static void *mapping_resize(struct mapping *m, size_t n)
{
	m = mremap(m, m->size, n + sizeof *m, MREMAP_MAYMOVE);
	if (m == MAP_FAILED)
		return NULL;
	m->size = n + sizeof *m;
	return m + 1;
}

void *realloc(void *old, size_t n)
{
	size_t has = malloc_usable_size(old);
	bool mapped = old && !heap_of(old);
	void *p;

	if (mapped && n >= LARGE && n < SIZE_MAX / 2 && !__atomic_load_n(&is_quiet, __ATOMIC_RELAXED))
		return mapping_resize((struct mapping *)old - 1, n);
	if (old && n <= has && n >= has / 2)
		return old;
	p = malloc(n);
	if (p && old) {
		memcpy(p, old, n < has ? n : has);
		free(old);
	}
	return p;
}

/* What has more than a slab gives is aligned to a page. */
void *aligned_alloc(size_t alignment, size_t n)
{
	return malloc(alignment > 16 && n <= HEAP_SMALL ? HEAP_SMALL + 1 : n);
}

/* ---- the reserve ---- */

/* Is memory locked, and so made, as soon as it is mapped (mlockall)? */
static bool is_locked_at_once(void)
{
	unsigned char there = 1;
	void *p = heap_map(HEAP_PAGE);

	if (!p)
		return true;
	if (mincore(p, HEAP_PAGE, &there))
		there = 1;
	munmap(p, HEAP_PAGE);
	return there & 1;
}

/* Is each mapping counted as if it were used (vm.overcommit_memory 2)? */
static bool is_counted_at_once(void)
{
	char mode = '2';
	int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, &mode, 1) != 1)
		mode = '2';
	close(fd);
	return mode == '2';
}

void memory_reserve(uint64_t arena)
{
	struct limits limits;
	uint64_t part = HEAP_LEAST, most;

	limits_read(&limits);
	most = limits.memory / HEAP_LEFT;
	if (most > HEAP_LEAST && (limits.filtered || is_counted_at_once() || is_locked_at_once()))
		most = HEAP_LEAST;
	while (part < MEMORY_RESERVE * arena && part < HEAP_MOST)
		part *= 2;
	is_reserved = part <= most;
	while (part > most && part > HEAP_LEAST)
		part /= 2;
	is_reserved = part <= most && heap_make(part) && is_reserved;
}

void memory_quiet(bool quiet)
{
	struct mapping *m, *next;

	__atomic_store_n(&is_quiet, quiet && is_reserved, __ATOMIC_RELAXED);
	if (quiet)
		return;
	for (m = __atomic_exchange_n(&unmapped_later, NULL, __ATOMIC_ACQUIRE); m; m = next) {
		next = m->next;
		munmap(m, m->size);
	}
}

void memory_rest(void)
{
	heap_rest();
}
