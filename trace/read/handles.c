/* SPDX-License-Identifier: BSD-3-Clause
 * handles - what the handles of a trace stand for
 *
 * One table for each kind, open addressing: (stream, number) -> value. Two calls that disagree leave `ambiguous`.
 */
#include "trace/read/handles.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"
#include "trace/model/value.h"
#include "trace/read/datatype.h"
#include "trace/read/visits.h"

enum known_kind { KNOWN_TYPE, KNOWN_REQUEST, KNOWN_COMM_SIZE, KNOWN_COMM_RANK, KNOWN_KINDS };

struct known {
	uint64_t key; /* stream and number; + 1, 0 is free */
	uint64_t value;
	int kind; /* of a request */
	bool ambiguous;
};

struct known_table {
	struct known *slots;
	size_t mask, count;
};

struct handles {
	const struct trace *trace;
	struct known_table tables[KNOWN_KINDS];
	bool ordered, failed, ambiguous;
	bool has_types, settled, has_requests, lost_requests;
	bool *has_comms; /* by stream */
	uint64_t streams, work;
	uint64_t state;            /* of the tables that events in order fill */
	struct pattern *patterns;  /* parsed when first used */
	struct pool own;           /* arrays of single ranks */
	const struct pool *arrays; /* these, or those of a walk */
	int64_t last_type;         /* a predefined datatype that was looked up, and its size */
	uint64_t last_size;
};

struct handles *handles_create(const struct trace *t)
{
	struct handles *h = budget_calloc(1, sizeof *h);
	if (!h)
		return NULL;
	h->trace = t;
	h->arrays = &h->own;
	h->streams = rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1);
	h->patterns = budget_calloc((size_t)t->patterns.count + 1, sizeof *h->patterns);
	if (!h->patterns) {
		budget_free(h);
		return NULL;
	}
	return h;
}

void handles_destroy(struct handles *h)
{
	if (!h)
		return;
	for (int k = 0; k < KNOWN_KINDS; k++)
		budget_free(h->tables[k].slots);
	for (uint32_t i = 0; i < h->trace->patterns.count; i++)
		pattern_free(&h->patterns[i]);
	budget_free(h->patterns);
	budget_free(h->has_comms);
	pool_free(&h->own);
	budget_free(h);
}

void handles_in_order(struct handles *h)
{
	for (int k = 0; k <= KNOWN_REQUEST; k++) {
		budget_free(h->tables[k].slots);
		h->tables[k] = (struct known_table){.slots = NULL};
	}
	h->ordered = true;
	h->failed = h->ambiguous = h->lost_requests = false;
	h->state = 0;
}

bool handles_are_in_order(const struct handles *h)
{
	return h->ordered;
}

uint64_t handles_state(const struct handles *h)
{
	return hash_mix(h->state, h->failed);
}

bool handles_ambiguous(const struct handles *h)
{
	return h->ambiguous;
}

bool handles_afford(struct handles *h, uint64_t ranks, uint64_t values)
{
	if (h->work > HANDLES_WORK || values > HANDLES_WORK || ranks > (HANDLES_WORK - h->work) / (values ? values : 1))
		return false;
	h->work += ranks * values;
	return true;
}

const struct trace *handles_trace(const struct handles *h)
{
	return h->trace;
}

struct pattern *handles_patterns(struct handles *h)
{
	return h->patterns;
}

struct pool *handles_pool(struct handles *h)
{
	return &h->own;
}

const struct pool_item *handles_array(const struct handles *h, int64_t value)
{
	uint64_t number = (uint64_t)value, pool = h->trace->vector_pool.count;
	return number < pool ? &h->trace->vector_pool.items[number] : &h->arrays->items[number - pool];
}

/* --- the tables --- */

static struct known *slot_of(const struct known_table *t, uint64_t key)
{
	size_t i = (size_t)hash_mix(7, key) & t->mask;
	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static int grow_table(struct known_table *t)
{
	struct known_table bigger = {.mask = t->slots ? 2 * t->mask + 1 : 63, .count = t->count};
	if (!(bigger.slots = budget_calloc(bigger.mask + 1, sizeof *bigger.slots)))
		return -1;
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].key)
			*slot_of(&bigger, t->slots[i].key) = t->slots[i];
	budget_free(t->slots);
	*t = bigger;
	return 0;
}

static uint64_t known_hash(const struct known *k, enum known_kind which)
{
	return k->key ? hash_mix(hash_mix(hash_mix((uint64_t)which, k->key), k->value), (uint64_t)k->kind) : 0;
}

static void put_known(struct handles *h, enum known_kind which, uint32_t stream, uint32_t number, uint64_t value,
                      int kind)
{
	struct known_table *t = &h->tables[which];
	uint64_t key = ((uint64_t)stream << 32 | number) + 1;
	if ((!t->slots || (t->count + 1) * 2 > t->mask) && grow_table(t) != 0) {
		h->failed = true; /* then nothing is known */
		return;
	}
	struct known *k = slot_of(t, key);
	if (!k->key || h->ordered) {
		const struct known now = {key, value, kind, false};
		h->state += which <= KNOWN_REQUEST ? known_hash(&now, which) - known_hash(k, which) : 0;
		t->count += !k->key;
		*k = now;
	} else if (k->value != value || k->kind != kind) {
		k->ambiguous = true;
	}
}

static const struct known *get_known(struct handles *h, enum known_kind which, uint32_t stream, uint64_t number)
{
	const struct known_table *t = &h->tables[which];
	const struct known *k =
		t->slots && number <= UINT32_MAX ? slot_of(t, ((uint64_t)stream << 32 | number) + 1) : NULL;
	if (!k || !k->key || h->failed)
		return NULL;
	h->ambiguous |= k->ambiguous;
	return k->ambiguous ? NULL : k;
}

bool handles_first_request(struct handles *h)
{
	bool first = !h->has_requests && !h->ordered;
	h->has_requests = true;
	return first;
}

void handles_lose_requests(struct handles *h)
{
	h->lost_requests = true;
}

void handles_put_request(struct handles *h, uint32_t stream, uint32_t number, uint64_t bytes, int kind)
{
	put_known(h, KNOWN_REQUEST, stream, number, bytes, kind);
}

bool handles_get_request(struct handles *h, uint32_t stream, uint64_t number, uint64_t *bytes, int *kind)
{
	const struct known *k = h->lost_requests ? NULL : get_known(h, KNOWN_REQUEST, stream, number);
	if (!k)
		return false;
	*bytes = k->value;
	*kind = k->kind;
	return true;
}

/* --- datatypes --- */

struct type_context {
	struct handles *h;
	uint32_t stream;
};

static bool size_of_type(void *context, int64_t value, uint64_t *size)
{
	const struct type_context *c = context;
	return handles_type_size(c->h, c->stream, value, size) == HANDLE_KNOWN;
}

/* False if it makes a datatype whose size is not known yet. */
static bool make_type(struct handles *h, uint32_t stream, const struct event *e)
{
	struct type_context context = {h, stream};
	uint32_t number;
	uint64_t size;
	if (!datatype_made(h->trace, e, size_of_type, &context, &number, &size))
		return true;
	if (size == UINT64_MAX && !h->ordered && !h->settled)
		return false;
	put_known(h, KNOWN_TYPE, stream_rank(h->trace, stream), number, size, 0);
	return true;
}

void handles_event(struct handles *h, uint32_t stream, const struct event *e)
{
	h->arrays = e->own;
	make_type(h, stream, e);
}

/* One rank's visits to a site that makes datatypes. Returns how many of them are not known (yet). */
static uint64_t make_types(struct handles *h, const struct trace_site *site, uint32_t stream)
{
	struct visits v = {.count = 0};
	struct event e = {.site = 0, .schema = trace_schema(h->trace, site), .own = &h->own};
	uint64_t times, unknown = 0;
	for (size_t i = 0; i < e.schema->count; i++)
		visits_add(&v, (int)i);
	int rv = visits_open(&v, h->trace, site, stream, h->patterns, &h->own);
	while (rv == 0 && (rv = visits_next(&v, e.values, &times)) == 0) {
		unknown += !make_type(h, stream, &e);
		if (!handles_afford(h, 1, 1))
			h->failed = true;
	}
	visits_close(&v);
	return unknown;
}

#define NESTING 8 /* of datatypes that are made of each other, in an order that call sites do not tell */

static void need_types(struct handles *h)
{
	int64_t unused;
	uint64_t unknown = 1, before = 0;
	if (h->has_types || h->ordered)
		return;
	h->has_types = true;
	for (int turn = 0; turn < NESTING && unknown && !h->settled; turn++) {
		h->settled = unknown == before || turn + 1 == NESTING; /* whatever is not known now never will be */
		before = unknown;
		unknown = 0;
		for (uint32_t i = 0; i < h->trace->site_count; i++)
			if (datatype_makes(trace_schema(h->trace, &h->trace->sites[i])))
				for (uint64_t r = 0; rankmap_next(&h->trace->sites[i].visits, &r, &unused); r++)
					unknown += make_types(h, &h->trace->sites[i], (uint32_t)r);
	}
}

enum handle_answer handles_type_size(struct handles *h, uint32_t stream, int64_t value, uint64_t *size)
{
	if (value_is_constant(value)) {
		if (h->last_size && h->last_type == value) {
			*size = h->last_size;
			return HANDLE_KNOWN;
		}
		if (!mpi_datatype_size(trace_constant_name(h->trace, value), size))
			return trace_is_constant(h->trace, value, CONST_ABSENT) ? HANDLE_NOT_SIGNIFICANT
			                                                        : HANDLE_UNKNOWN;
		h->last_type = value;
		h->last_size = *size;
		return HANDLE_KNOWN;
	}
	if (value < 0)
		return HANDLE_UNKNOWN;
	need_types(h);
	const struct known *k = get_known(h, KNOWN_TYPE, stream_rank(h->trace, stream), (uint64_t)value);
	if (!k || k->value == UINT64_MAX)
		return HANDLE_UNKNOWN;
	*size = k->value;
	return HANDLE_KNOWN;
}

/* --- communicators --- */

static const struct known *comm_row(struct handles *h, enum known_kind which, uint32_t stream, int64_t value)
{
	static const char *const columns[] = {[KNOWN_COMM_SIZE] = "size", [KNOWN_COMM_RANK] = "rank"};
	struct error unused;
	if (value < 0 || stream >= h->streams ||
	    (!h->has_comms && !(h->has_comms = budget_calloc(h->streams, sizeof *h->has_comms))))
		return NULL;
	for (enum known_kind k = KNOWN_COMM_SIZE; !h->has_comms[stream] && k <= KNOWN_COMM_RANK; k++) {
		uint64_t base = k == KNOWN_COMM_RANK ? stream_rank(h->trace, stream) : 0;
		int64_t *rows;
		size_t n;
		if (walk_object(h->trace, stream, "@comm", columns[k], &rows, &n, &unused) != 0)
			continue;
		for (size_t i = 0; i < n; i++)
			if (!value_is_constant(rows[i]))
				put_known(h, k, stream, (uint32_t)i, (uint64_t)rows[i] + base, 0);
		budget_free(rows);
	}
	h->has_comms[stream] = true;
	return get_known(h, which, stream, (uint64_t)value);
}

enum handle_answer handles_comm_size(struct handles *h, uint32_t stream, int64_t value, uint64_t *size)
{
	if (value_is_constant(value)) {
		*size = trace_is_constant(h->trace, value, CONST_MPI_COMM_WORLD) ? h->trace->size : 1;
		return *size != 1 || h->trace->size == 1 || trace_is_constant(h->trace, value, CONST_MPI_COMM_SELF)
		               ? HANDLE_KNOWN
		               : HANDLE_UNKNOWN;
	}
	const struct known *k = comm_row(h, KNOWN_COMM_SIZE, stream, value);
	*size = k ? k->value : 0;
	return k ? HANDLE_KNOWN : HANDLE_UNKNOWN;
}

enum handle_answer handles_comm_rank(struct handles *h, uint32_t stream, int64_t value, uint64_t *rank)
{
	if (value_is_constant(value)) {
		*rank = trace_is_constant(h->trace, value, CONST_MPI_COMM_SELF) ? 0 : stream_rank(h->trace, stream);
		return HANDLE_KNOWN;
	}
	const struct known *k = comm_row(h, KNOWN_COMM_RANK, stream, value);
	*rank = k ? k->value : 0;
	return k ? HANDLE_KNOWN : HANDLE_UNKNOWN;
}
