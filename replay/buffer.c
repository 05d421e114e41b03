/* SPDX-License-Identifier: BSD-3-Clause
 * buffer - the memory that replayed calls send from and receive into, and the application's functions (play.h)
 */
#include "replay/play.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Numbers of every type that are neither huge nor tiny, so that operations on them cost what they usually do. */
#define FILL 0x3f

static void ask_type(struct object *type)
{
	MPI_Aint lb;

	if (type->handle != MPI_DATATYPE_NULL) {
		PMPI_Type_get_extent(type->handle, &lb, &type->type.extent);
		PMPI_Type_get_true_extent(type->handle, &type->type.true_lb, &type->type.true_extent);
		PMPI_Type_size_x(type->handle, &type->type.size);
	}
	type->asked = true;
}

MPI_Count play_type_size(struct object *type)
{
	if (!type->asked)
		ask_type(type);
	return type->type.size;
}

/* ---- buffers that the trace tells from each other ---- */

#define REGION  ((size_t)1 << 40) /* of addresses; memory is what is used of it */
#define LEAST   ((size_t)1 << 30) /* where there is a limit to addresses */
#define MARGIN  ((size_t)1 << 20) /* before the first buffer: for types with a negative lower bound */
#define ALIGNED 64

static bool region_begin(struct play_region *r)
{
	for (size_t size = REGION; size >= LEAST && !r->at; size /= 4) {
		void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			continue;
		r->at = at;
		r->size = size;
		r->used = r->filled = MARGIN;
	}
	return r->at != NULL;
}

/* The address of a buffer with data from low to high, relative to that; NULL if there is no room. What is larger than
 * when it was seen first reaches into the next ones: their contents do not matter. */
static void *region_buffer(struct play *p, int64_t number, MPI_Aint low, MPI_Aint high)
{
	struct play_region *r = &p->region;

	if (number < 0 || number > INT32_MAX || (!r->at && !region_begin(r)))
		return NULL;
	if ((uint64_t)number >= r->count) {
		size_t count = 2 * (size_t)number + 64;
		int64_t *more = realloc(r->offsets, count * sizeof *more);

		if (!more)
			return NULL;
		memset(more + r->count, 0, (count - r->count) * sizeof *more);
		r->offsets = more;
		r->count = count;
	}
	if (!r->offsets[number]) {
		size_t size = high > low ? (size_t)(high - low) : 1;

		if (size > r->size - r->used)
			return NULL;
		r->offsets[number] = (int64_t)r->used - (high > low ? low : 0);
		r->used += (size + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
	}
	int64_t at = r->offsets[number];

	if (at + low < 0 || at + high > (int64_t)r->size)
		return NULL;
	if (at + high > (int64_t)r->filled) {
		memset(r->at + r->filled, FILL, (size_t)(at + high) - r->filled);
		r->filled = (size_t)(at + high);
	}
	r->last = number;
	return r->at + at;
}

/* The buffer that the trace says it was; NULL: it does not say. */
static bool placed(struct play *p, int pool, MPI_Aint low, MPI_Aint high, void **out)
{
	int place = (pool >> 1) - 1;
	int64_t v = p->placed && place >= 0 ? p->places[place] : VALUE_LOSSY;

	if (v == VALUE_LOSSY)
		return false;
	if (value_is_constant(v)) {
		*out = NULL;
		if (high <= low) /* MPI_BOTTOM, or not significant */
			return true;
		v = p->region.last; /* absolute addresses: they are laid out anew */
	}
	*out = region_buffer(p, v, low, high);
	return *out != NULL;
}

/* ---- others ---- */

/* A pool that is too small is left where it is - a request may be using it - and one of at least twice its size is
 * taken: all together have at most twice the size of the last. */
void *play_bytes(struct play *p, int pool, int64_t bytes)
{
	size_t size = bytes > 0 ? (size_t)bytes : 0;
	void *own;

	if (__builtin_expect(p->placed, 0) && placed(p, pool, 0, (MPI_Aint)size, &own))
		return own;
	pool &= 1;
	if (__builtin_expect(size > p->pools[pool].size || !p->pools[pool].at, 0)) {
		size_t more = 2 * p->pools[pool].size;
		char *at;

		more = more < size ? size : more;
		more = more < 1 << 16 ? 1 << 16 : more;
		at = malloc(more);
		if (!at && more > size)
			at = malloc(more = size);
		if (!at)
			play_fail(p, "no memory for a buffer of %zu bytes", size);
		memset(at, FILL, more);
		p->pools[pool].at = at;
		p->pools[pool].size = more;
	}
	return p->pools[pool].at;
}

/* The buffer for data that lies from low to high, relative to the address that MPI is given. */
static void *range(struct play *p, int pool, MPI_Aint low, MPI_Aint high)
{
	void *own;

	if (high <= low)
		return play_bytes(p, pool, 0);
	if (__builtin_expect(p->placed, 0) && placed(p, pool, low, high, &own))
		return own;
	return (char *)play_bytes(p, pool & 1, high - low) - low;
}

void *play_buffer(struct play *p, int pool, int64_t count, struct object *type)
{
	if (!type->asked)
		ask_type(type);
	if (count <= 0 || type->type.true_extent <= 0)
		return play_bytes(p, pool, 0);
	MPI_Aint low = type->type.true_lb, high = low + type->type.true_extent, more = (count - 1) * type->type.extent;

	return range(p, pool, low + (more < 0 ? more : 0), high + (more > 0 ? more : 0));
}

static void *vector(struct play *p, int pool, int64_t counts, int64_t displs, struct object *one, int64_t types)
{
	int n = play_length(p, counts);
	MPI_Aint low = 0, high = 0;
	int *c = play_ints(p, counts, 0);
	MPI_Aint *d = play_aints(p, displs, 0);

	if (play_length(p, displs) < n || (!one && play_length(p, types) < n))
		return play_bytes(p, pool, 0);
	for (int i = 0; i < n; i++) {
		struct object *type = one;

		if (!one) {
			int64_t v;

			memcpy(&v, play_vector(p, types)->bytes + (size_t)i * sizeof v, sizeof v);
			type = play_object(p, PLAY_TYPE, v);
		}
		if (c[i] <= 0)
			continue;
		if (!type->asked)
			ask_type(type);
		MPI_Aint more = (c[i] - 1) * type->type.extent, at = one ? d[i] * type->type.extent : d[i];
		MPI_Aint begin = at + type->type.true_lb + (more < 0 ? more : 0);
		MPI_Aint end = at + type->type.true_lb + type->type.true_extent + (more > 0 ? more : 0);

		low = begin < low || high <= low ? begin : low;
		high = end > high || high <= low ? end : high;
	}
	return range(p, pool, low, high);
}

void *play_buffer_v(struct play *p, int pool, int64_t counts, int64_t displs, struct object *type)
{
	return vector(p, pool, counts, displs, type, 0);
}

void *play_buffer_w(struct play *p, int pool, int64_t counts, int64_t displs, int64_t types)
{
	return vector(p, pool, counts, displs, NULL, types);
}

int64_t play_position(struct play *p, int64_t v, int64_t count, struct object *type, bool external)
{
	int64_t after = play_int(p, v), before;

	if (external) {
		MPI_Aint size = 0;

		PMPI_Pack_external_size("external32", (int)count, type->handle, &size);
		before = after - size;
	} else {
		before = after - count * play_type_size(type);
	}
	return before > 0 ? before : 0;
}

/* ---- memory that the application gave to MPI ---- */

struct object *play_window(struct play *p, int64_t v)
{
	if (!value_is_constant(v))
		play_bind(p, PLAY_WIN, v, NULL);
	return value_is_constant(v) ? NULL : p->tables[PLAY_WIN].items[v];
}

void *play_memory(struct play *p, int pool, struct object *win, int64_t size)
{
	void *own;

	if (p->placed && placed(p, pool, 0, size > 0 ? size : 0, &own))
		return own;
	void *at = malloc(size > 0 ? (size_t)size : 1);

	if (!at)
		play_fail(p, "no memory for %lld bytes", (long long)size);
	memset(at, FILL, size > 0 ? (size_t)size : 1);
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

void play_allocated(struct play *p, void *base)
{
	struct memory *m = malloc(sizeof *m);

	if (!m)
		play_fail(p, "no memory");
	*m = (struct memory){p->memory, base};
	p->memory = m;
}

void *play_freed(struct play *p, int pool)
{
	struct memory *m = p->memory;
	void *base = m ? m->base : NULL;

	if (m)
		p->memory = m->next;
	free(m);
	if (!p->placed)
		return base;
	if (base)
		PMPI_Free_mem(base);
	return play_bytes(p, pool, 0); /* which the layer below does not free */
}

void *play_attribute(void)
{
	static void *value[4];

	return value;
}

/* ---- functions of the application ---- */

void play_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

void play_comm_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
}

void play_win_error(MPI_Win *win, int *code, ...)
{
	(void)win, (void)code;
}

void play_file_error(MPI_File *file, int *code, ...)
{
	(void)file, (void)code;
}

int play_query(void *state, MPI_Status *status)
{
	(void)state;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

int play_free(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

int play_cancel(void *state, int complete)
{
	(void)state, (void)complete;
	return MPI_SUCCESS;
}

int play_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
	MPI_Aint lb;

	(void)state;
	return PMPI_Type_get_extent(type, &lb, extent);
}
