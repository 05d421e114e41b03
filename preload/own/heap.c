/* SPDX-License-Identifier: BSD-3-Clause
 * heap - ranges of memory from which the tracer's pieces are cut
 *
 * A page's entry in its heap's map says what begins there: a run of 2^k pages that is free or taken, or a slab. Only
 * the owner of a run reads the entry of its first page without the heap's lock.
 *
 *     map  [taken 1][..][slab 2][..][..][..][free 0][free 0] ...
 */
#include "preload/own/heap.h"

#include <sys/mman.h>

#define FIRST  64u /* pages of the heap that is in the library */
#define HEAPS  64  /* at a time */
#define ORDERS 20
#define TRIES  64 /* to get a heap that somebody has, before another one is taken */

/* Slabs: 4 pages; sizes in steps of 16 to 128 bytes, and then four steps for each doubling, to 2048. */
#define SLAB_ORDER 2
#define SLAB_SIZE  (HEAP_PAGE << SLAB_ORDER)
#define CLASSES    24

enum { MAP_INSIDE, MAP_FREE = 0x20, MAP_TAKEN = 0x40, MAP_SLAB = 0x60, MAP_KIND = 0x60, MAP_ORDER = 0x1f };

struct piece {
	struct piece *next;
};

struct free_run { /* a free one */
	struct free_run *next, *before;
};

struct slab {                       /* its head; pieces follow */
	struct slab *next, *before; /* those of its size that have room */
	struct piece *free;
	uint32_t size, used, cut; /* bytes of a piece; pieces taken; bytes that were cut into pieces so far */
};
#define SLAB_HEAD 64u
_Static_assert(sizeof(struct slab) <= SLAB_HEAD, "pieces are aligned to 16");

struct heap {
	bool locked;         /* atomic */
	struct piece *aside; /* atomic: what was freed while somebody had the heap */
	uint8_t *base, *map;
	uint32_t pages, fresh; /* from this one on, none was ever taken: it is zero */
	struct free_run *runs[ORDERS];
	struct slab *slabs[CLASSES];
};

static uint8_t first_pages[FIRST * HEAP_PAGE] __attribute__((aligned(SLAB_SIZE)));
static uint8_t first_map[FIRST];
static struct heap heaps[HEAPS] = {{.base = first_pages, .map = first_map, .pages = FIRST}};
static unsigned heap_count = 1; /* atomic */
static bool making;             /* atomic: somebody makes a heap */

/* ---- runs ---- */

static void run_put(struct heap *h, uint32_t page, unsigned order)
{
	struct free_run *r = (struct free_run *)(void *)(h->base + (size_t)page * HEAP_PAGE);

	h->map[page] = (uint8_t)(MAP_FREE | order);
	*r = (struct free_run){.next = h->runs[order]};
	if (r->next)
		r->next->before = r;
	h->runs[order] = r;
}

static void run_drop(struct heap *h, struct free_run *r, unsigned order)
{
	if (r->next)
		r->next->before = r->before;
	if (r->before)
		r->before->next = r->next;
	else
		h->runs[order] = r->next;
}

static uint32_t page_of(const struct heap *h, const void *p)
{
	return (uint32_t)((size_t)((const uint8_t *)p - h->base) / HEAP_PAGE);
}

/* Behind what was ever taken, as far as there is room, runs of this order begin where they must be. */
static bool run_fresh(struct heap *h, unsigned order)
{
	uint32_t size = UINT32_C(1) << order, at = (h->fresh + size - 1) & -size;

	if (size > h->pages || at > h->pages - size)
		return false;
	for (; h->fresh < at; h->fresh += UINT32_C(1) << __builtin_ctz(h->fresh))
		run_put(h, h->fresh, (unsigned)__builtin_ctz(h->fresh));
	h->fresh = at + size;
	return true;
}

/* 2^order pages, NULL if there are none. *zero: they are zero. */
static void *run_take(struct heap *h, unsigned order, uint8_t kind, bool *zero)
{
	unsigned from = order;
	uint32_t page;

	while (from < ORDERS && !h->runs[from])
		from++;
	*zero = from >= ORDERS;
	if (from < ORDERS) {
		page = page_of(h, h->runs[from]);
		run_drop(h, h->runs[from], from);
	} else if (run_fresh(h, order)) {
		page = h->fresh - (UINT32_C(1) << order);
		from = order;
	} else {
		return NULL;
	}
	while (from > order) {
		from--;
		run_put(h, page + (UINT32_C(1) << from), from);
	}
	h->map[page] = (uint8_t)(kind | order);
	return h->base + (size_t)page * HEAP_PAGE;
}

static void run_give(struct heap *h, void *p)
{
	uint32_t page = page_of(h, p);
	unsigned order = h->map[page] & MAP_ORDER;

	h->map[page] = MAP_INSIDE;
	for (; order + 1 < ORDERS; order++) {
		uint32_t other = page ^ UINT32_C(1) << order;

		if (other >= h->fresh || h->map[other] != (MAP_FREE | order))
			break;
		run_drop(h, (struct free_run *)(void *)(h->base + (size_t)other * HEAP_PAGE), order);
		h->map[other] = MAP_INSIDE;
		page &= ~(UINT32_C(1) << order);
	}
	run_put(h, page, order);
}

/* ---- slabs ---- */

static unsigned slab_class(size_t n)
{
	if (n <= 128)
		return n <= 16 ? 0 : (unsigned)((n - 1) >> 4);
	unsigned log = 63 - (unsigned)__builtin_clzl(n - 1);
	return 8 + 4 * (log - 7) + (unsigned)((n - 1) >> (log - 2) & 3);
}

static uint32_t slab_piece(unsigned class)
{
	return class < 8 ? 16 * (class + 1) : (5 + (class & 3)) << ((class - 8) / 4 + 5);
}

static void slab_link(struct heap *h, struct slab *s)
{
	struct slab **list = &h->slabs[slab_class(s->size)];

	s->before = NULL;
	s->next = *list;
	if (s->next)
		s->next->before = s;
	*list = s;
}

static void slab_unlink(struct heap *h, struct slab *s)
{
	if (s->next)
		s->next->before = s->before;
	if (s->before)
		s->before->next = s->next;
	else
		h->slabs[slab_class(s->size)] = s->next;
}

static bool slab_is_full(const struct slab *s)
{
	return !s->free && s->cut + s->size > SLAB_SIZE;
}

static void *slab_take(struct heap *h, unsigned class)
{
	struct slab *s = h->slabs[class];
	struct piece *p;
	bool zero;

	if (!s) {
		s = run_take(h, SLAB_ORDER, MAP_SLAB, &zero);
		if (!s)
			return NULL;
		*s = (struct slab){.size = slab_piece(class), .cut = SLAB_HEAD};
		slab_link(h, s);
	}
	p = s->free;
	if (p) {
		s->free = p->next;
	} else {
		p = (struct piece *)(void *)((uint8_t *)s + s->cut);
		s->cut += s->size;
	}
	s->used++;
	if (slab_is_full(s))
		slab_unlink(h, s);
	return p;
}

static struct slab *slab_of(const struct heap *h, const void *p)
{
	return (struct slab *)(void *)(h->base + ((size_t)((const uint8_t *)p - h->base) & -(size_t)SLAB_SIZE));
}

/* The last one of its size is kept. */
static void slab_give(struct heap *h, void *piece)
{
	struct slab *s = slab_of(h, piece);
	struct piece *p = piece;

	if (slab_is_full(s))
		slab_link(h, s);
	p->next = s->free;
	s->free = p;
	s->used--;
	if (s->used == 0 && (s->next || s->before)) {
		slab_unlink(h, s);
		run_give(h, s);
	}
}

static bool is_slab(const struct heap *h, const void *p)
{
	size_t at = (size_t)((const uint8_t *)p - h->base) & -(size_t)SLAB_SIZE;

	return (h->map[at / HEAP_PAGE] & MAP_KIND) == MAP_SLAB;
}

/* ---- heaps ---- */

static void give(struct heap *h, void *p)
{
	if (is_slab(h, p))
		slab_give(h, p);
	else
		run_give(h, p);
}

static bool heap_enter(struct heap *h)
{
	struct piece *p, *next;

	for (int i = 0; __atomic_exchange_n(&h->locked, true, __ATOMIC_ACQUIRE); i++)
		if (i == TRIES)
			return false;
	for (p = __atomic_exchange_n(&h->aside, NULL, __ATOMIC_ACQUIRE); p; p = next) {
		next = p->next;
		give(h, p);
	}
	return true;
}

static void heap_leave(struct heap *h)
{
	__atomic_store_n(&h->locked, false, __ATOMIC_RELEASE);
}

static unsigned order_of(size_t n)
{
	return n <= HEAP_PAGE ? 0 : 64 - (unsigned)__builtin_clzl((n - 1) / HEAP_PAGE);
}

static void *take_from(struct heap *h, size_t n, bool *zero, bool *busy)
{
	void *p = NULL;

	*zero = false;
	if (!heap_enter(h)) {
		*busy = true;
		return NULL;
	}
	if (n <= HEAP_SMALL)
		p = slab_take(h, slab_class(n));
	else if (order_of(n) < ORDERS)
		p = run_take(h, order_of(n), MAP_TAKEN, zero);
	heap_leave(h);
	return p;
}

void *heap_take(size_t n, bool *zero, bool *busy)
{
	void *p = NULL;

	*busy = false;
	for (unsigned i = __atomic_load_n(&heap_count, __ATOMIC_ACQUIRE); i-- > 0 && !p;)
		p = take_from(&heaps[i], n, zero, busy);
	return p;
}

void heap_give(struct heap *h, void *p)
{
	struct piece *piece = p;

	if (heap_enter(h)) {
		give(h, p);
		heap_leave(h);
		return;
	}
	piece->next = __atomic_load_n(&h->aside, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&h->aside, &piece->next, piece, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

size_t heap_room(const struct heap *h, const void *p)
{
	return is_slab(h, p) ? slab_of(h, p)->size : (size_t)HEAP_PAGE << (h->map[page_of(h, p)] & MAP_ORDER);
}

struct heap *heap_of(const void *p)
{
	for (unsigned i = __atomic_load_n(&heap_count, __ATOMIC_ACQUIRE); i-- > 0;)
		if ((size_t)((const uint8_t *)p - heaps[i].base) < (size_t)heaps[i].pages * HEAP_PAGE)
			return &heaps[i];
	return NULL;
}

void *heap_map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Its map is behind its pages. Somebody who comes meanwhile gets none. */
bool heap_make(uint64_t size)
{
	uint64_t pages = size / HEAP_PAGE, all = size + SLAB_SIZE + pages;
	bool made = false;

	if (__atomic_exchange_n(&making, true, __ATOMIC_ACQUIRE))
		return false;
	unsigned i = heap_count;
	uint8_t *p = i < HEAPS ? heap_map(all) : NULL;
	if (p) {
		p += -(uintptr_t)p & (SLAB_SIZE - 1);
		heaps[i] = (struct heap){.base = p, .map = p + size, .pages = (uint32_t)pages};
		__atomic_store_n(&heap_count, i + 1, __ATOMIC_RELEASE);
		made = true;
	}
	__atomic_store_n(&making, false, __ATOMIC_RELEASE);
	return made;
}

/* The first page of a free run is in use: it has its links. */
static void rest(struct heap *h)
{
	for (unsigned order = 4; order < ORDERS; order++)
		for (struct free_run *r = h->runs[order]; r; r = r->next)
			madvise((uint8_t *)r + HEAP_PAGE, ((size_t)HEAP_PAGE << order) - HEAP_PAGE, MADV_DONTNEED);
}

void heap_rest(void)
{
	for (unsigned i = heap_count; i-- > 0;)
		if (heap_enter(&heaps[i])) {
			rest(&heaps[i]);
			heap_leave(&heaps[i]);
		}
}
