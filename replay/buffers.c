/* SPDX-License-Identifier: BSD-3-Clause
 * buffers - the memory that replayed calls send from and receive into
 */
#include "replay/buffers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/allowance.h"

/* Numbers of every type that are neither huge nor tiny, so that operations on them cost what they usually do. */
#define FILL 0x3f

/* What comes into the buffer of a receive was counted where it was sent. That of a collective operation may be many
 * times what each rank sends. */
static bool is_filled_by_others(const struct args *a)
{
	return a->event->schema->mpi->class != MPI_CLASS_POINT_TO_POINT;
}

/* Addresses, which take memory where they are written to; NULL: there are not so many. */
static void *fresh_pages(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* ---- buffers that the trace tells from each other ---- */

#define REGION  ((size_t)1 << 40) /* of addresses; memory is what is used of it */
#define LEAST   ((size_t)1 << 30) /* where there is a limit to addresses */
#define MARGIN  ((size_t)1 << 20) /* before the first buffer: for types with a negative lower bound */
#define ALIGNED 64

#define LEAST_POOL ((size_t)1 << 16)

static bool region_begin(struct buffer_region *r)
{
	for (size_t size = REGION; size >= LEAST && !r->at; size /= 4) {
		void *at = fresh_pages(size);
		if (!at)
			continue;
		r->at = at;
		r->size = size;
		r->used = MARGIN;
	}
	return r->at != NULL;
}

/* A buffer of the region. NULL: there is no room. */
static struct buffer_place *region_place(struct buffer_region *r, int64_t number, MPI_Aint low, MPI_Aint high)
{
	if (number < 0 || number > INT32_MAX || (!r->at && !region_begin(r)))
		return NULL;
	if ((uint64_t)number >= r->count) {
		size_t count = 2 * (size_t)number + 64;
		bool room = allowance_take((count - r->count) * sizeof *r->places);
		struct buffer_place *more = room ? realloc(r->places, count * sizeof *more) : NULL;
		if (!more)
			return NULL;
		memset(more + r->count, 0, (count - r->count) * sizeof *more);
		r->places = more;
		r->count = count;
	}
	struct buffer_place *p = &r->places[number];
	if (!p->offset) {
		size_t size = high > low ? (size_t)(high - low) : 1;
		if (size > r->size - r->used)
			return NULL;
		p->offset = (int64_t)r->used - (high > low ? low : 0);
		r->used += (size + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	}
	return p;
}

/* The address of a buffer with data from low to high, relative to that; NULL if there is no room. What is larger than
 * when it was seen first reaches into the next ones: their contents do not matter. */
static void *region_buffer(struct args *a, int64_t number, bool is_sent, MPI_Aint low, MPI_Aint high)
{
	struct buffer_region *r = &a->region;
	struct buffer_place *p = region_place(r, number, low, high);
	if (!p || p->offset + low < 0 || p->offset + high > (int64_t)r->size)
		return NULL;
	char *at = r->at + p->offset;
	uint64_t size = high > low ? (uint64_t)(high - low) : 0;
	if (size > p->taken && (is_sent || is_filled_by_others(a))) {
		args_take(a, size - p->taken);
		p->taken = size;
	}
	if (is_sent && (low < p->low || high > p->high)) {
		memset(at + low, FILL, (size_t)size);
		p->low = low < p->low ? low : p->low;
		p->high = high > p->high ? high : p->high;
	}
	r->last = number;
	return at;
}

/* The buffer that the trace says it was; NULL: it does not say. */
static bool known_buffer(struct args *a, int which, MPI_Aint low, MPI_Aint high, void **out)
{
	int number = (which >> 1) - 1;
	int64_t v = a->known_buffers && number >= 0 ? a->buffers[number] : VALUE_LOSSY;
	assert(number < ARGS_BUFFERS);
	if (v == VALUE_LOSSY)
		return false;
	if (value_is_constant(v)) {
		*out = NULL;
		if (high <= low) /* MPI_BOTTOM, or not significant */
			return true;
		v = a->region.last; /* absolute addresses: they are laid out anew */
	}
	*out = region_buffer(a, v, (which & 1) == BUFFER_OUT, low, high);
	return *out != NULL;
}

/* ---- others ---- */

/* A pool that is too small is left where it is - a request may be using it - and one of at least twice its size is
 * taken: all together have at most twice the size of the last. */
void *buffer_bytes(struct args *a, int which, int64_t bytes)
{
	size_t size = bytes > 0 ? (size_t)bytes : 0;
	void *own;
	if (__builtin_expect(a->known_buffers, 0) && known_buffer(a, which, 0, (MPI_Aint)size, &own))
		return own;
	struct buffer_pool *pool = &a->pools[which & 1];
	if (__builtin_expect(size > pool->size || !pool->at, 0)) {
		size_t more = 2 * pool->size > LEAST_POOL ? 2 * pool->size : LEAST_POOL;
		more = more < size ? size : more;
		char *at = fresh_pages(more);
		if (!at && more > size)
			at = fresh_pages(more = size);
		if (!at)
			args_fail(a, "no memory for a buffer of %zu bytes", size);
		*pool = (struct buffer_pool){at, more, 0};
	}
	if (__builtin_expect(size > pool->filled, 0) && ((which & 1) == BUFFER_OUT || is_filled_by_others(a))) {
		args_take(a, size - pool->filled);
		if ((which & 1) == BUFFER_OUT)
			memset(pool->at + pool->filled, FILL, size - pool->filled);
		pool->filled = size;
	}
	return pool->at;
}

/* The buffer for data that lies from low to high, relative to the address that MPI is given. */
static void *range_buffer(struct args *a, int which, MPI_Aint low, MPI_Aint high)
{
	void *own;
	if (high <= low)
		return buffer_bytes(a, which, 0);
	if (__builtin_expect(a->known_buffers, 0) && known_buffer(a, which, low, high, &own))
		return own;
	return (char *)buffer_bytes(a, which & 1, high - low) - low;
}

void *buffer_typed(struct args *a, int which, int64_t count, struct object *type)
{
	object_type(type);
	if (count <= 0 || type->type.true_extent <= 0)
		return buffer_bytes(a, which, 0);
	MPI_Aint low = type->type.true_lb, high = low + type->type.true_extent, more = (count - 1) * type->type.extent;
	return range_buffer(a, which, low + (more < 0 ? more : 0), high + (more > 0 ? more : 0));
}

static void *vector_buffer(struct args *a, int which, int64_t counts, int64_t displs, struct object *one, int64_t types)
{
	size_t unused;
	int n = args_length(a, counts);
	MPI_Aint low = 0, high = 0;
	int *c = args_ints(a, counts, 0);
	MPI_Aint *d = args_aints(a, displs, 0);
	if (args_length(a, displs) < n || (!one && args_length(a, types) < n))
		return buffer_bytes(a, which, 0);
	for (int i = 0; i < n; i++) {
		struct object *type = object_type(
			one ? one
			    : args_object(a, HANDLE_TYPE, args_element(args_elements(a, types, &unused), (size_t)i)));
		if (c[i] <= 0)
			continue;
		MPI_Aint more = (c[i] - 1) * type->type.extent, at = one ? d[i] * type->type.extent : d[i];
		MPI_Aint begin = at + type->type.true_lb + (more < 0 ? more : 0);
		MPI_Aint end = at + type->type.true_lb + type->type.true_extent + (more > 0 ? more : 0);
		low = begin < low || high <= low ? begin : low;
		high = end > high || high <= low ? end : high;
	}
	return range_buffer(a, which, low, high);
}

void *buffer_vector(struct args *a, int which, int64_t counts, int64_t displs, struct object *type)
{
	return vector_buffer(a, which, counts, displs, type, 0);
}

void *buffer_typed_vector(struct args *a, int which, int64_t counts, int64_t displs, int64_t types)
{
	return vector_buffer(a, which, counts, displs, NULL, types);
}

int64_t buffer_position(struct args *a, int64_t v, int64_t count, struct object *type, bool external)
{
	int64_t after = args_int(a, v), before;
	if (external) {
		MPI_Aint size = 0;
		PMPI_Pack_external_size("external32", (int)count, HANDLE_OF(MPI_Datatype, type->handle), &size);
		before = after - size;
	} else {
		before = after - count * object_type(type)->type.size;
	}
	return before > 0 ? before : 0;
}

/* ---- memory that the application gave to MPI ---- */

struct object *buffer_window(struct args *a, int64_t v)
{
	if (!value_is_constant(v))
		args_bind(a, HANDLE_WIN, v, NULL);
	return value_is_constant(v) ? NULL : handles_own_object(&a->handles, HANDLE_WIN, v);
}

void *buffer_memory(struct args *a, int which, struct object *win, int64_t size)
{
	void *own;
	if (a->known_buffers && known_buffer(a, which, 0, size > 0 ? size : 0, &own))
		return own;
	void *at = calloc(1, size > 0 ? (size_t)size : 1);
	if (!at)
		args_fail(a, "no memory for %lld bytes", (long long)size);
	if (win) {
		free(win->win.memory);
		win->win.memory = at;
	}
	return at;
}

struct memory {
	struct memory *next;
	void *base;
};

void buffer_allocated(struct args *a, void *base)
{
	struct memory *m = malloc(sizeof *m);
	if (!m)
		args_fail(a, "no memory");
	*m = (struct memory){a->memory, base};
	a->memory = m;
}

void *buffer_freed(struct args *a, int which)
{
	struct memory *m = a->memory;
	void *base = m ? m->base : NULL;
	if (m)
		a->memory = m->next;
	free(m);
	if (!a->known_buffers)
		return base;
	if (base)
		PMPI_Free_mem(base);
	return buffer_bytes(a, which, 0); /* which the layer below does not free */
}
