/* SPDX-License-Identifier: BSD-3-Clause
 * activity - how much one call passes on, from the values of its parameters, and from what its handles stand for
 */
#include "trace/read/activity.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/stream.h"
#include "trace/model/value.h"
#include "trace/read/call_fields.h"
#include "trace/read/datatype.h"
#include "trace/read/visits.h"

/* --- functions --- */

enum activity_kind activity_kind(const struct schema *s)
{
	const struct mpi_function *f = s->mpi;
	if (s->at[PARAMETER_ERROR] >= 0) /* what failed did nothing */
		return ACTIVITY_NONE;
	if (f->base == FN_MPI_Start || f->base == FN_MPI_Startall)
		return s->at[PARAMETER_REQUEST] < 0 ? ACTIVITY_UNKNOWN : ACTIVITY_START;
	if (f->each == EACH_NEIGHBOUR)
		return ACTIVITY_UNKNOWN;
	if (s->at[PARAMETER_TYPE] < 0)
		return ACTIVITY_NONE;
	switch (f->class) {
	case MPI_CLASS_POINT_TO_POINT:
		return s->at[PARAMETER_DEST] >= 0 ? ACTIVITY_MESSAGE : ACTIVITY_NONE;
	case MPI_CLASS_COLLECTIVE:
	case MPI_CLASS_ONE_SIDED:
		return ACTIVITY_DATA;
	case MPI_CLASS_FILE: /* the data of a split pair are at its begin, which has the count */
		return s->at[PARAMETER_COUNT] >= 0 ? ACTIVITY_DATA : ACTIVITY_NONE;
	default:
		return ACTIVITY_NONE;
	}
}

bool activity_is_persistent(const struct schema *s)
{
	return s->mpi->form == FORM_PERSISTENT && s->at[PARAMETER_REQUEST] >= 0;
}

/* Columns of what is passed on in place; the first ones are `-` then. */
static bool has_second(const struct schema *s)
{
	return s->mpi->in_place >= IN_PLACE_SAME && s->at[PARAMETER_RECV_COUNT] >= 0 && s->at[PARAMETER_RECV_TYPE] >= 0;
}

bool activity_needs(const struct schema *s, size_t column)
{
	enum activity_kind kind = activity_kind(s);
	int k = (int)column;
	if (s->object || datatype_makes(s) || activity_is_persistent(s) || kind == ACTIVITY_START)
		return true;
	return kind != ACTIVITY_NONE &&
	       (k == s->at[PARAMETER_COUNT] || k == s->at[PARAMETER_TYPE] || k == s->at[PARAMETER_DEST] ||
	        k == s->at[PARAMETER_COMM] || k == s->at[PARAMETER_PARTITIONS] ||
	        (k == s->at[PARAMETER_STATUS_COUNT] && s->mpi->class == MPI_CLASS_FILE));
}

unsigned activity_class(uint64_t bytes)
{
	unsigned class = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
	return class < ACTIVITY_SIZES ? class : ACTIVITY_SIZES - 1;
}

/* --- one call --- */

static int64_t element(const struct pool_item *list, size_t i)
{
	int64_t v;
	memcpy(&v, list->bytes + i * sizeof v, sizeof v);
	return v;
}

enum handle_answer activity_elements(struct handles *h, const struct schema *s, uint32_t stream, const int64_t *values,
                                     int counts, int types, int64_t only, uint64_t *bytes)
{
	int64_t count = counts >= 0 ? values[counts] : 1, type = types >= 0 ? values[types] : VALUE_LOSSY;
	bool many_types = types >= 0 && s->column[types].vector && !value_is_constant(type);
	uint64_t size = 0;
	*bytes = 0;
	if (count == VALUE_LOSSY || type == VALUE_LOSSY)
		return HANDLE_UNKNOWN;
	enum handle_answer answer = many_types ? HANDLE_KNOWN : handles_type_size(h, stream, type, &size);
	if (value_is_constant(count))
		return trace_is_constant(handles_trace(h), count, CONST_ABSENT) ? HANDLE_NOT_SIGNIFICANT
		                                                                : HANDLE_UNKNOWN;
	if (answer != HANDLE_KNOWN)
		return answer;
	if (counts < 0 || !s->column[counts].vector) {
		*bytes = (uint64_t)count * size;
		return count < 0 ? HANDLE_UNKNOWN : HANDLE_KNOWN;
	}
	const struct pool_item *list = handles_array(h, count), *each = many_types ? handles_array(h, type) : NULL;
	size_t n = list->size / sizeof count;
	if (each && each->size < list->size)
		return HANDLE_UNKNOWN;
	for (size_t i = 0; i < n; i++) {
		int64_t v = element(list, i);
		if ((only >= 0 && (size_t)only != i) || v <= 0)
			continue;
		if (each && handles_type_size(h, stream, element(each, i), &size) != HANDLE_KNOWN)
			return HANDLE_UNKNOWN;
		*bytes += (uint64_t)v * size;
	}
	return handles_are_in_order(h) || handles_afford(h, 1, n / 8) ? HANDLE_KNOWN : HANDLE_UNKNOWN;
}

static enum activity_answer unsized(uint64_t *bytes)
{
	*bytes = 0;
	return ACTIVITY_UNSIZED;
}

/* The column of what a file call moved, which may be less than it was asked for; -1: it is not known. */
static int moved_column(const struct schema *s, const int64_t *values)
{
	int count = s->at[PARAMETER_STATUS_COUNT];
	return count >= 0 && s->mpi->class == MPI_CLASS_FILE && values[count] >= 0 && !value_is_constant(values[count])
	               ? count
	               : -1;
}

enum activity_answer activity_bytes(struct handles *h, const struct schema *s, uint32_t stream, const int64_t *values,
                                    uint64_t *bytes)
{
	int dest = s->at[PARAMETER_DEST], partitions = s->at[PARAMETER_PARTITIONS], comm = s->at[PARAMETER_COMM];
	bool own = s->mpi->in_place == IN_PLACE_OWN;
	uint64_t size, rank = 0;
	*bytes = 0;
	if (activity_kind(s) == ACTIVITY_UNKNOWN)
		return ACTIVITY_UNSIZED;
	if (dest >= 0 && value_is_constant(values[dest]))
		return trace_is_constant(handles_trace(h), values[dest], CONST_MPI_PROC_NULL) ? ACTIVITY_NOBODY
		                                                                              : ACTIVITY_UNSIZED;
	int moved = moved_column(s, values);
	enum handle_answer answer = activity_elements(h, s, stream, values, moved >= 0 ? moved : s->at[PARAMETER_COUNT],
	                                              s->at[PARAMETER_TYPE], -1, bytes);
	if (answer == HANDLE_NOT_SIGNIFICANT && has_second(s)) {
		if (own && (comm < 0 || handles_comm_rank(h, stream, values[comm], &rank) != HANDLE_KNOWN))
			return unsized(bytes);
		answer = activity_elements(h, s, stream, values, s->at[PARAMETER_RECV_COUNT],
		                           s->at[PARAMETER_RECV_TYPE], own ? (int64_t)rank : -1, bytes);
	}
	if (answer == HANDLE_UNKNOWN)
		return unsized(bytes);
	if (s->mpi->each == EACH_PROCESS && *bytes) {
		if (comm < 0 || handles_comm_size(h, stream, values[comm], &size) != HANDLE_KNOWN)
			return unsized(bytes);
		*bytes *= size;
	}
	if (partitions >= 0 && values[partitions] < 0) /* not known, or no number */
		return unsized(bytes);
	*bytes *= partitions >= 0 ? (uint64_t)values[partitions] : 1;
	return ACTIVITY_SIZED;
}

static void add_one(struct activity *sum, uint64_t *sizes, enum activity_kind kind, enum activity_answer answer,
                    uint64_t bytes, uint64_t times)
{
	if (answer == ACTIVITY_NOBODY || kind == ACTIVITY_NONE)
		return;
	sum->messages += kind == ACTIVITY_MESSAGE ? times : 0;
	if (answer == ACTIVITY_UNSIZED) {
		sum->unsized += times;
		return;
	}
	sum->bytes += bytes * times;
	if (kind == ACTIVITY_MESSAGE) {
		sum->message_bytes += bytes * times;
		sizes[activity_class(bytes)] += times;
	}
}

/* --- requests --- */

/* Where nothing goes to anybody, or is received, a start does nothing. */
static void make_request(struct handles *h, const struct schema *s, uint32_t stream, const int64_t *values)
{
	uint64_t bytes = 0;
	enum activity_kind kind = activity_kind(s);
	enum activity_answer answer =
		kind == ACTIVITY_NONE ? ACTIVITY_NOBODY : activity_bytes(h, s, stream, values, &bytes);
	int64_t number = values[s->at[PARAMETER_REQUEST]];
	if (number >= 0 && number < STREAM_FOREIGN)
		handles_put_request(h, stream, (uint32_t)number, answer == ACTIVITY_UNSIZED ? UINT64_MAX : bytes,
		                    answer == ACTIVITY_NOBODY ? ACTIVITY_NONE : (int)kind);
}

/* The columns of a site that activity_add looks at; those of what is in place only where something is. */
static void add_columns(struct visits *v, const struct schema *s, const struct trace_site *site)
{
	enum activity_kind kind = activity_kind(s);
	if (kind == ACTIVITY_START || activity_is_persistent(s))
		visits_add(v, s->at[PARAMETER_REQUEST]);
	if (kind != ACTIVITY_MESSAGE && kind != ACTIVITY_DATA)
		return;
	visits_add(v, s->at[PARAMETER_COUNT]);
	visits_add(v, s->at[PARAMETER_TYPE]);
	if (s->at[PARAMETER_COUNT] >= 0 && has_second(s) && column_has_names(&site->columns[s->at[PARAMETER_COUNT]])) {
		visits_add(v, s->at[PARAMETER_RECV_COUNT]);
		visits_add(v, s->at[PARAMETER_RECV_TYPE]);
	}
	visits_add(v, s->at[PARAMETER_PARTITIONS]);
	visits_add(v, s->at[PARAMETER_DEST]);
	if (s->mpi->each == EACH_PROCESS || s->mpi->in_place == IN_PLACE_OWN)
		visits_add(v, s->at[PARAMETER_COMM]);
	if (s->mpi->class == MPI_CLASS_FILE)
		visits_add(v, s->at[PARAMETER_STATUS_COUNT]);
}

/* Learns the requests of all sites, before the first one is asked for. */
static void need_requests(struct handles *h)
{
	const struct trace *t = handles_trace(h);
	int64_t unused, values[SCHEMA_MAX];
	if (!handles_first_request(h))
		return;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *s = trace_schema(t, site);
		for (uint64_t r = 0; activity_is_persistent(s) && rankmap_next(&site->visits, &r, &unused); r++) {
			struct visits v = {.count = 0};
			uint64_t times;
			bool poor = false;
			add_columns(&v, s, site);
			int rv = visits_open(&v, t, site, (uint32_t)r, handles_patterns(h), handles_pool(h));
			while (rv == 0 && (rv = visits_next(&v, values, &times)) == 0) {
				make_request(h, s, (uint32_t)r, values);
				poor |= !handles_afford(h, 1, 1);
			}
			if (poor || v.left > 0)
				handles_lose_requests(h);
			visits_close(&v);
		}
	}
}

bool activity_request(struct handles *h, uint32_t stream, int64_t value, enum activity_kind *kind, uint64_t *bytes)
{
	const struct trace *t = handles_trace(h);
	uint32_t thread, number;
	int made;
	need_requests(h);
	if (stream_foreign(value, &thread, &number)) {
		stream = thread * t->size + stream_rank(t, stream);
		value = number;
	}
	if (value < 0 || !handles_get_request(h, stream, (uint64_t)value, bytes, &made))
		return false;
	*kind = (enum activity_kind)made;
	return *bytes != UINT64_MAX;
}

static void add_start(struct activity *sum, uint64_t *sizes, struct handles *h, uint32_t stream, int64_t request,
                      uint64_t times)
{
	enum activity_kind kind = ACTIVITY_MESSAGE;
	uint64_t bytes = 0;
	enum activity_answer answer = value_is_constant(request)                            ? ACTIVITY_NOBODY
	                              : activity_request(h, stream, request, &kind, &bytes) ? ACTIVITY_SIZED
	                                                                                    : ACTIVITY_UNSIZED;
	add_one(sum, sizes, kind, answer, bytes, times);
}

/* --- sums --- */

void activity_add(struct activity *sum, uint64_t *sizes, struct handles *h, const struct schema *s, uint32_t stream,
                  const int64_t *values, uint64_t times)
{
	enum activity_kind kind = activity_kind(s);
	uint64_t bytes;
	if (activity_is_persistent(s) || kind == ACTIVITY_NONE)
		return;
	if (kind != ACTIVITY_START) {
		enum activity_answer answer = activity_bytes(h, s, stream, values, &bytes);
		add_one(sum, sizes, kind, answer, bytes, times);
		return;
	}
	int request = s->at[PARAMETER_REQUEST];
	if (!s->column[request].vector || value_is_constant(values[request])) {
		add_start(sum, sizes, h, stream, values[request], times);
		return;
	}
	const struct pool_item *list = handles_array(h, values[request]);
	for (size_t i = 0; i < list->size / sizeof(int64_t); i++)
		add_start(sum, sizes, h, stream, element(list, i), times);
}

void activity_add_event(struct activity *sum, uint64_t *sizes, struct handles *h, uint32_t stream,
                        const struct event *e)
{
	handles_event(h, stream, e);
	if (activity_is_persistent(e->schema))
		make_request(h, e->schema, stream, e->values);
	activity_add(sum, sizes, h, e->schema, stream, e->values, 1);
}

int activity_add_visits(struct activity *sum, uint64_t *sizes, struct handles *h, const struct trace_site *site,
                        uint32_t stream)
{
	const struct trace *t = handles_trace(h);
	const struct schema *s = trace_schema(t, site);
	int64_t values[SCHEMA_MAX];
	uint64_t times;
	struct visits v = {.count = 0};
	add_columns(&v, s, site);
	int rv = visits_open(&v, t, site, stream, handles_patterns(h), handles_pool(h));
	while (rv == 0 && (rv = visits_next(&v, values, &times)) == 0) {
		activity_add(sum, sizes, h, s, stream, values, times);
		if (!handles_afford(h, 1, 1))
			break;
	}
	int left = rv == 1 && v.left == 0 ? 0 : rv < 0 ? -1 : 1;
	visits_close(&v);
	return left;
}
