/* SPDX-License-Identifier: BSD-3-Clause
 * amount - how much one call passes on
 */
#include "trace/read/amount.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/model/cursor.h"
#include "trace/read/datatype.h"
#include "trace/base/index.h"
#include "trace/model/pattern.h"
#include "trace/model/stream.h"

/* --- functions --- */

enum in_place { PLACE_NONE, PLACE_SAME, PLACE_OWN };

static const struct function {
	const char *name; /* behind MPI_, and without _c, _init and I */
	enum amount_kind kind;
	enum in_place in_place; /* what the arguments of the receiving side say then */
} functions[] = {
	{"Send", AMOUNT_MESSAGE, 0},
	{"Bsend", AMOUNT_MESSAGE, 0},
	{"Ssend", AMOUNT_MESSAGE, 0},
	{"Rsend", AMOUNT_MESSAGE, 0},
	{"Sendrecv", AMOUNT_MESSAGE, 0},
	{"Sendrecv_replace", AMOUNT_MESSAGE, 0},
	{"Psend", AMOUNT_MESSAGE, 0},
	{"Start", AMOUNT_START, 0},
	{"Startall", AMOUNT_START, 0},
	{"Bcast", AMOUNT_COLLECTIVE, 0},
	{"Reduce", AMOUNT_COLLECTIVE, 0},
	{"Allreduce", AMOUNT_COLLECTIVE, 0},
	{"Scan", AMOUNT_COLLECTIVE, 0},
	{"Exscan", AMOUNT_COLLECTIVE, 0},
	{"Gather", AMOUNT_COLLECTIVE, 0},
	{"Gatherv", AMOUNT_COLLECTIVE, 0},
	{"Scatter", AMOUNT_ALL, 0},
	{"Scatterv", AMOUNT_COLLECTIVE, 0},
	{"Allgather", AMOUNT_COLLECTIVE, PLACE_SAME},
	{"Allgatherv", AMOUNT_COLLECTIVE, PLACE_OWN},
	{"Alltoall", AMOUNT_ALL, PLACE_SAME},
	{"Alltoallv", AMOUNT_COLLECTIVE, PLACE_SAME},
	{"Alltoallw", AMOUNT_COLLECTIVE, PLACE_SAME},
	{"Reduce_scatter", AMOUNT_COLLECTIVE, 0},
	{"Reduce_scatter_block", AMOUNT_ALL, 0},
	{"Neighbor_allgather", AMOUNT_COLLECTIVE, 0},
	{"Neighbor_allgatherv", AMOUNT_COLLECTIVE, 0},
	{"Neighbor_alltoall", AMOUNT_UNKNOWN, 0},
	{"Neighbor_alltoallv", AMOUNT_COLLECTIVE, 0},
	{"Neighbor_alltoallw", AMOUNT_COLLECTIVE, 0},
	{"Put", AMOUNT_ONESIDED, 0},
	{"Rput", AMOUNT_ONESIDED, 0},
	{"Get", AMOUNT_ONESIDED, 0},
	{"Rget", AMOUNT_ONESIDED, 0},
	{"Accumulate", AMOUNT_ONESIDED, 0},
	{"Raccumulate", AMOUNT_ONESIDED, 0},
	{"Get_accumulate", AMOUNT_ONESIDED, 0},
	{"Rget_accumulate", AMOUNT_ONESIDED, 0},
};

static const struct function *find(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	/* the data of a split pair are at its begin, which has the count */
	static const struct function file = {"File", AMOUNT_FILE, 0};
	static const char *const files[] = {"File_read", "File_write", "File_iread", "File_iwrite"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (strncmp(name, files[i], strlen(files[i])) == 0)
			return &file;
	return NULL;
}

static bool cut(char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);
	bool found = n > k && strcmp(name + n - k, end) == 0;
	name[found ? n - k : n] = '\0';
	return found;
}

/* The first of these columns that is there. */
static int8_t column_of(const struct schema *s, const char *const *names)
{
	for (; *names; names++)
		for (size_t i = 0; i < s->count; i++)
			if (s->column[i].length == strlen(*names) &&
			    memcmp(s->column[i].name, *names, s->column[i].length) == 0)
				return (int8_t)i;
	return -1;
}
#define COLUMN(s, ...) column_of(s, (const char *const[]){__VA_ARGS__, NULL})

struct amount_plan amount_plan(const struct schema *s)
{
	char name[64];
	struct amount_plan p = {.kind = AMOUNT_NONE, .second_count = -1, .second_type = -1};
	snprintf(name, sizeof name, "%.*s", (int)s->function_length, s->function);
	size_t skip = strncmp(name, "MPI_", 4) == 0 ? 4 : strncmp(name, "MPIX_", 5) == 0 ? 5 : 0;
	if (skip == 0 || s->object || COLUMN(s, "error") >= 0) /* what failed did nothing */
		return p;
	memmove(name, name + skip, strlen(name + skip) + 1);
	cut(name, "_c");
	p.request = COLUMN(s, "request", "requests");
	p.persistent = cut(name, "_init") && p.request >= 0;
	const struct function *f = find(name);
	if (!f && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z') {
		name[1] = (char)(name[1] - 'a' + 'A');
		f = find(name + 1);
	}
	if (!f)
		return p;
	p.kind = f->kind;
	p.count = COLUMN(s, "sendcounts", "sendcount", "origin_count", "count", "recvcounts", "recvcount");
	p.type = COLUMN(s, "sendtypes", "sendtype", "origin_datatype", "datatype");
	if (f->in_place) {
		p.second_count = COLUMN(s, "recvcounts", "recvcount");
		p.second_type = COLUMN(s, "recvtypes", "recvtype");
		p.own = f->in_place == PLACE_OWN;
	}
	p.partitions = COLUMN(s, "partitions");
	p.peer = COLUMN(s, "dest", "target_rank");
	p.comm = COLUMN(s, "comm");
	if (p.kind == AMOUNT_FILE && p.count < 0)
		p.kind = AMOUNT_NONE;
	if (p.kind == AMOUNT_START ? p.request < 0 : p.count < 0 || p.type < 0)
		p.kind = AMOUNT_UNKNOWN;
	if (p.kind == AMOUNT_START)
		p.count = p.type = p.peer = p.comm = p.partitions = -1;
	return p;
}

bool amount_needs(const struct schema *s, size_t column)
{
	struct amount_plan p = amount_plan(s);
	int k = (int)column;
	if (s->object || datatype_makes(s) || p.persistent || p.kind == AMOUNT_START)
		return true;
	return p.kind != AMOUNT_NONE &&
	       (k == p.count || k == p.type || k == p.peer || k == p.comm || k == p.partitions);
}

unsigned amount_class(uint64_t bytes)
{
	unsigned class = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
	return class < AMOUNT_SIZES ? class : AMOUNT_SIZES - 1;
}

/* --- handles --- */

enum handle { HANDLE_TYPE, HANDLE_REQUEST, HANDLE_COMM_SIZE, HANDLE_COMM_RANK, HANDLES };

struct known {
	uint64_t key; /* stream and number; + 1, 0 is free */
	uint64_t value;
	enum amount_kind kind; /* of a request */
	bool ambiguous;
};

struct table {
	struct known *slots;
	size_t mask, count;
};

struct amounts {
	const struct trace *trace;
	struct table tables[HANDLES];
	bool ordered, failed, ambiguous;
	bool has_types, settled, has_requests, lost_requests;
	bool *has_comms; /* by stream */
	uint64_t streams, work;
	struct pattern *patterns;  /* parsed when first used */
	struct pool own;           /* arrays of single ranks */
	const struct pool *arrays; /* these, or those of a walk */
	struct {
		int64_t value;
		uint64_t size;
	} last; /* name of a datatype that was looked up */
};

struct amounts *amounts_create(const struct trace *t)
{
	struct amounts *a = budget_calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->trace = t;
	a->arrays = &a->own;
	a->streams = rankmap_empty(&t->events) ? 0 : rankmap_last(&t->events) + UINT64_C(1);
	a->patterns = budget_calloc((size_t)t->patterns.count + 1, sizeof *a->patterns);
	if (!a->patterns) {
		budget_free(a);
		return NULL;
	}
	return a;
}

void amounts_destroy(struct amounts *a)
{
	if (!a)
		return;
	for (int h = 0; h < HANDLES; h++)
		budget_free(a->tables[h].slots);
	for (uint32_t i = 0; i < a->trace->patterns.count; i++)
		pattern_free(&a->patterns[i]);
	budget_free(a->patterns);
	budget_free(a->has_comms);
	pool_free(&a->own);
	budget_free(a);
}

bool amounts_ambiguous(const struct amounts *a)
{
	return a->ambiguous;
}

bool amounts_afford(struct amounts *a, uint64_t ranks, uint64_t values)
{
	if (a->work > AMOUNT_WORK || values > AMOUNT_WORK || ranks > (AMOUNT_WORK - a->work) / (values ? values : 1))
		return false;
	a->work += ranks * values;
	return true;
}

static struct known *place(const struct table *t, uint64_t key)
{
	size_t i = (size_t)hash_mix(7, key) & t->mask;
	while (t->slots[i].key && t->slots[i].key != key)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static void put(struct amounts *a, enum handle h, uint32_t stream, uint32_t number, uint64_t value,
                enum amount_kind kind)
{
	struct table *t = &a->tables[h];
	uint64_t key = ((uint64_t)stream << 32 | number) + 1;
	if (!t->slots || (t->count + 1) * 2 > t->mask) {
		struct table bigger = {.mask = t->slots ? 2 * t->mask + 1 : 63, .count = t->count};
		if (!(bigger.slots = budget_calloc(bigger.mask + 1, sizeof *bigger.slots))) {
			a->failed = true; /* then it is not known */
			return;
		}
		for (size_t i = 0; t->slots && i <= t->mask; i++)
			if (t->slots[i].key)
				*place(&bigger, t->slots[i].key) = t->slots[i];
		budget_free(t->slots);
		*t = bigger;
	}
	struct known *k = place(t, key);
	if (!k->key) {
		*k = (struct known){key, value, kind, false};
		t->count++;
	} else if (a->ordered) {
		*k = (struct known){key, value, kind, false};
	} else if (k->value != value || k->kind != kind) {
		k->ambiguous = true;
	}
}

static const struct known *get(struct amounts *a, enum handle h, uint32_t stream, uint64_t number)
{
	const struct table *t = &a->tables[h];
	const struct known *k =
		t->slots && number <= UINT32_MAX ? place(t, ((uint64_t)stream << 32 | number) + 1) : NULL;
	if (!k || !k->key || a->failed)
		return NULL;
	a->ambiguous |= k->ambiguous;
	return k->ambiguous ? NULL : k;
}

static const char *constant_name(const struct amounts *a, int64_t value)
{
	return (const char *)a->trace->strings.items[(uint64_t)value - (uint64_t)VALUE_CONSTANT].bytes;
}

static const struct pool_item *vector(const struct amounts *a, int64_t value)
{
	uint64_t number = (uint64_t)value, pool = a->trace->vector_pool.count;
	return number < pool ? &a->trace->vector_pool.items[number] : &a->arrays->items[number - pool];
}

/* --- visits, column by column in step --- */

struct steps {
	struct column_cursor cursors[SCHEMA_MAX];
	uint8_t columns[SCHEMA_MAX];
	size_t count;
	uint64_t left;
};

/* Returns 0; 1: a column has no order, or nothing for this rank. The caller closes it in any case. */
static int steps_open(struct steps *s, struct amounts *a, const struct trace_site *site, uint32_t stream)
{
	int64_t visits;
	s->left = 0;
	if (!rankmap_get(&site->visits, stream, &visits) || visits <= 0) {
		s->count = 0;
		return 1;
	}
	s->left = (uint64_t)visits;
	for (size_t i = 0; i < s->count; i++) {
		s->cursors[i] = (struct column_cursor){0};
		int rv = column_cursor_open(&s->cursors[i], a->trace, &site->columns[s->columns[i]], stream,
		                            a->patterns, &a->own);
		if (rv != 0) {
			s->count = i + 1;
			return rv;
		}
		if (s->cursors[i].constant && s->cursors[i].dict[0].start == VALUE_LOSSY) {
			s->count = i + 1;
			return 1;
		}
	}
	return 0;
}

static void steps_close(struct steps *s)
{
	for (size_t i = 0; i < s->count; i++)
		column_cursor_close(&s->cursors[i]);
}

/* The values of the next visits that are all alike, and how many. Returns 0; 1 at the end, or -1. */
static int steps_next(struct steps *s, int64_t *values, uint64_t *times)
{
	uint64_t more = s->left - 1;
	if (s->left == 0)
		return 1;
	if (!budget_step(1))
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		struct column_cursor *c = &s->cursors[i];
		if (column_cursor_next(c, &values[s->columns[i]]) != 0)
			return -1;
		uint64_t same = c->constant ? more : c->token == PATTERN_NEW ? 0 : c->left;
		more = same < more ? same : more;
	}
	for (size_t i = 0; i < s->count; i++)
		if (!s->cursors[i].constant)
			s->cursors[i].left -= more;
	*times = more + 1;
	s->left -= *times;
	return 0;
}

static void steps_add(struct steps *s, int8_t column)
{
	if (column >= 0)
		s->columns[s->count++] = (uint8_t)column;
}

/* Is a column a name in some calls? What is not significant is `-`. */
static bool has_names(const struct trace_column *c)
{
	for (uint32_t g = 0; g < c->count; g++)
		for (uint32_t i = 0; i < c->groups[g].count; i++) {
			const struct rankmap *m = &c->groups[g].dict[i].start;
			for (uint32_t n = 0; n < m->node_count; n++)
				if (m->nodes[n].low == DIAGRAM_LEAF && value_is_constant(m->nodes[n].delta))
					return true;
		}
	return false;
}

/* Without what is not significant anywhere. */
static struct amount_plan plan_here(struct amount_plan p, const struct trace_site *site)
{
	if (p.second_count >= 0 && p.count >= 0 && !has_names(&site->columns[p.count]))
		p.second_count = p.second_type = -1;
	return p;
}

static void steps_plan(struct steps *s, const struct amount_plan *p)
{
	s->count = 0;
	if (p->kind == AMOUNT_START || p->persistent)
		steps_add(s, p->request);
	if (p->kind == AMOUNT_NONE || p->kind == AMOUNT_UNKNOWN || p->kind == AMOUNT_START)
		return;
	steps_add(s, p->count);
	steps_add(s, p->type);
	steps_add(s, p->second_count);
	steps_add(s, p->second_type);
	steps_add(s, p->partitions);
	steps_add(s, p->peer);
	if (p->kind == AMOUNT_ALL || p->own)
		steps_add(s, p->comm);
}

/* --- what handles stand for --- */

static bool type_size(void *context, int64_t value, uint64_t *size)
{
	const struct {
		struct amounts *a;
		uint32_t stream;
	} *c = context;
	return amounts_type_size(c->a, c->stream, value, size) == 0;
}

static bool make_type(struct amounts *a, uint32_t stream, const struct event *e)
{
	struct {
		struct amounts *a;
		uint32_t stream;
	} context = {a, stream};
	uint32_t number;
	uint64_t size;
	if (!datatype_made(a->trace, e, type_size, &context, &number, &size))
		return true;
	if (size == UINT64_MAX && !a->ordered && !a->settled)
		return false;
	put(a, HANDLE_TYPE, stream_rank(a->trace, stream), number, size, AMOUNT_NONE);
	return true;
}

/* One rank's visits to a site that makes datatypes. Returns how many of them are not known (yet). */
static uint64_t make_types(struct amounts *a, const struct trace_site *site, uint32_t stream)
{
	struct steps s = {.count = 0};
	struct event e = {.site = 0, .schema = trace_schema(a->trace, site), .own = &a->own};
	uint64_t times, unknown = 0;
	for (size_t i = 0; i < e.schema->count; i++)
		s.columns[s.count++] = (uint8_t)i;
	int rv = steps_open(&s, a, site, stream);
	while (rv == 0 && (rv = steps_next(&s, e.values, &times)) == 0) {
		unknown += !make_type(a, stream, &e);
		if (!amounts_afford(a, 1, 1))
			a->failed = true;
	}
	steps_close(&s);
	return unknown;
}

#define NESTING 8 /* of datatypes that are made of each other, in an order that call sites do not tell */

static void need_types(struct amounts *a)
{
	int64_t unused;
	uint64_t unknown = 1, before = 0;
	if (a->has_types || a->ordered)
		return;
	a->has_types = true;
	for (int turn = 0; turn < NESTING && unknown && !a->settled; turn++) {
		a->settled = unknown == before || turn + 1 == NESTING; /* whatever is not known now never will be */
		before = unknown;
		unknown = 0;
		for (uint32_t i = 0; i < a->trace->site_count; i++)
			if (datatype_makes(trace_schema(a->trace, &a->trace->sites[i])))
				for (uint64_t r = 0; rankmap_next(&a->trace->sites[i].visits, &r, &unused); r++)
					unknown += make_types(a, &a->trace->sites[i], (uint32_t)r);
	}
}

int amounts_type_size(struct amounts *a, uint32_t stream, int64_t value, uint64_t *size)
{
	if (value_is_constant(value)) {
		const char *name = constant_name(a, value);
		if (a->last.size && a->last.value == value) {
			*size = a->last.size;
			return 0;
		}
		if (!datatype_predefined(name, size))
			return strcmp(name, "-") == 0 ? 1 : 2;
		a->last.value = value;
		a->last.size = *size;
		return 0;
	}
	if (value < 0)
		return 2;
	need_types(a);
	const struct known *k = get(a, HANDLE_TYPE, stream_rank(a->trace, stream), (uint64_t)value);
	if (!k || k->value == UINT64_MAX)
		return 2;
	*size = k->value;
	return 0;
}

static const struct known *comm_row(struct amounts *a, enum handle h, uint32_t stream, int64_t value)
{
	if (value < 0 || stream >= a->streams ||
	    (!a->has_comms && !(a->has_comms = budget_calloc(a->streams, sizeof *a->has_comms))))
		return NULL;
	if (!a->has_comms[stream]) {
		static const char *const columns[] = {[HANDLE_COMM_SIZE] = "size", [HANDLE_COMM_RANK] = "rank"};
		struct error unused;
		a->has_comms[stream] = true;
		for (enum handle k = HANDLE_COMM_SIZE; k <= HANDLE_COMM_RANK; k++) {
			int64_t *rows;
			size_t n;
			if (walk_object(a->trace, stream, "@comm", columns[k], &rows, &n, &unused) != 0)
				continue;
			for (size_t i = 0; i < n; i++)
				if (!value_is_constant(rows[i]))
					put(a, k, stream, (uint32_t)i,
					    (uint64_t)rows[i] +
					            (k == HANDLE_COMM_RANK ? stream_rank(a->trace, stream) : 0),
					    AMOUNT_NONE);
			budget_free(rows);
		}
	}
	return get(a, h, stream, (uint64_t)value);
}

int amounts_comm_size(struct amounts *a, uint32_t stream, int64_t value, uint64_t *size)
{
	if (value_is_constant(value)) {
		const char *name = constant_name(a, value);
		*size = strcmp(name, "MPI_COMM_WORLD") == 0 ? a->trace->size : 1;
		return *size != 1 || strcmp(name, "MPI_COMM_SELF") == 0 || a->trace->size == 1 ? 0 : 2;
	}
	const struct known *k = comm_row(a, HANDLE_COMM_SIZE, stream, value);
	if (!k)
		return 2;
	*size = k->value;
	return 0;
}

static bool own_rank(struct amounts *a, uint32_t stream, int64_t value, uint64_t *rank)
{
	const struct known *k = value_is_constant(value) ? NULL : comm_row(a, HANDLE_COMM_RANK, stream, value);
	if (value_is_constant(value))
		*rank = strcmp(constant_name(a, value), "MPI_COMM_SELF") == 0 ? 0 : stream_rank(a->trace, stream);
	else if (k)
		*rank = k->value;
	return value_is_constant(value) || k;
}

/* --- amounts --- */

/* Elements times their size. Returns as amounts_type_size. */
static int piece(struct amounts *a, uint32_t stream, int64_t count, int64_t type, bool counts, bool types, int64_t only,
                 uint64_t *bytes)
{
	uint64_t size = 0;
	int rv = types && !value_is_constant(type) ? 0 : amounts_type_size(a, stream, type, &size);
	*bytes = 0;
	if (value_is_constant(count))
		return strcmp(constant_name(a, count), "-") == 0 ? 1 : 2;
	if (rv != 0)
		return rv;
	if (!counts) {
		*bytes = (uint64_t)count * size;
		return count < 0 ? 2 : 0;
	}
	const struct pool_item *list = vector(a, count),
			       *each = types && !value_is_constant(type) ? vector(a, type) : NULL;
	size_t n = list->size / sizeof(int64_t);
	if (each && each->size < list->size)
		return 2;
	for (size_t i = 0; i < n; i++) {
		int64_t v, t;
		memcpy(&v, list->bytes + i * sizeof v, sizeof v);
		if (each)
			memcpy(&t, each->bytes + i * sizeof t, sizeof t);
		if ((only >= 0 && (size_t)only != i) || v <= 0)
			continue;
		if (each && amounts_type_size(a, stream, t, &size) != 0)
			return 2;
		*bytes += (uint64_t)v * size;
	}
	return amounts_afford(a, 1, n / 8) ? 0 : 2;
}

/* Returns 0; 2: not known; 3: it is for nobody. */
static int amount_of(struct amounts *a, const struct amount_plan *p, const struct schema *s, uint32_t stream,
                     const int64_t *values, uint64_t *bytes)
{
	*bytes = 0;
	if (p->kind == AMOUNT_UNKNOWN)
		return 2;
	if (p->peer >= 0 && value_is_constant(values[p->peer]))
		return strcmp(constant_name(a, values[p->peer]), "MPI_PROC_NULL") == 0 ? 3 : 2;
	int rv = piece(a, stream, values[p->count], values[p->type], s->column[p->count].vector,
	               s->column[p->type].vector, -1, bytes);
	if (rv == 1 && p->second_count >= 0 && p->second_type >= 0) {
		uint64_t rank = 0;
		if (p->own && !own_rank(a, stream, values[p->comm], &rank))
			return 2;
		rv = piece(a, stream, values[p->second_count], values[p->second_type],
		           s->column[p->second_count].vector, s->column[p->second_type].vector,
		           p->own ? (int64_t)rank : -1, bytes);
	}
	if (rv == 2)
		return 2;
	if (p->kind == AMOUNT_ALL && *bytes) {
		uint64_t size;
		if (p->comm < 0 || amounts_comm_size(a, stream, values[p->comm], &size) != 0)
			return 2;
		*bytes *= size;
	}
	if (p->partitions >= 0)
		*bytes *= (uint64_t)values[p->partitions];
	return 0;
}

static void add_one(enum amount_kind kind, int rv, uint64_t bytes, uint64_t times, struct amount *sum, uint64_t *sizes)
{
	if (rv == 3 || kind == AMOUNT_NONE)
		return;
	sum->messages += kind == AMOUNT_MESSAGE ? times : 0;
	if (rv != 0) {
		sum->unsized += times;
		return;
	}
	sum->bytes += bytes * times;
	if (kind == AMOUNT_MESSAGE) {
		sum->message_bytes += bytes * times;
		sizes[amount_class(bytes)] += times;
	}
}

/* --- requests --- */

/* Where nothing goes to anybody, or is received, a start does nothing. */
static void make_request(struct amounts *a, const struct amount_plan *p, const struct schema *s, uint32_t stream,
                         const int64_t *values)
{
	uint64_t bytes = 0;
	int rv = p->kind == AMOUNT_NONE ? 3 : amount_of(a, p, s, stream, values, &bytes);
	int64_t number = values[p->request];
	if (number >= 0 && number < STREAM_FOREIGN)
		put(a, HANDLE_REQUEST, stream, (uint32_t)number, rv == 2 ? UINT64_MAX : bytes,
		    rv == 3 ? AMOUNT_NONE : p->kind);
}

static void need_requests(struct amounts *a)
{
	int64_t unused, values[SCHEMA_MAX];
	if (a->has_requests || a->ordered)
		return;
	a->has_requests = true;
	for (uint32_t i = 0; i < a->trace->site_count; i++) {
		const struct trace_site *site = &a->trace->sites[i];
		const struct schema *schema = trace_schema(a->trace, site);
		struct amount_plan p = plan_here(amount_plan(schema), site);
		for (uint64_t r = 0; p.persistent && rankmap_next(&site->visits, &r, &unused); r++) {
			struct steps s;
			uint64_t times;
			steps_plan(&s, &p);
			int rv = steps_open(&s, a, site, (uint32_t)r);
			while (rv == 0 && (rv = steps_next(&s, values, &times)) == 0) {
				make_request(a, &p, schema, (uint32_t)r, values);
				if (!amounts_afford(a, 1, 1))
					a->failed = true;
			}
			a->lost_requests |= s.count > 0 && s.left > 0;
			steps_close(&s);
		}
	}
}

int amounts_request(struct amounts *a, uint32_t stream, int64_t value, enum amount_kind *kind, uint64_t *bytes)
{
	uint32_t thread, number;
	need_requests(a);
	if (stream_foreign(value, &thread, &number)) {
		stream = thread * a->trace->size + stream_rank(a->trace, stream);
		value = number;
	}
	const struct known *k = value < 0 || a->lost_requests ? NULL : get(a, HANDLE_REQUEST, stream, (uint64_t)value);
	if (!k)
		return 2;
	*kind = k->kind;
	*bytes = k->value;
	return k->value == UINT64_MAX ? 2 : 0;
}

static void add_start(struct amounts *a, uint32_t stream, int64_t request, uint64_t times, struct amount *sum,
                      uint64_t *sizes)
{
	enum amount_kind kind = AMOUNT_MESSAGE;
	uint64_t bytes = 0;
	int rv = value_is_constant(request) ? 3 : amounts_request(a, stream, request, &kind, &bytes);
	add_one(kind, rv, bytes, times, sum, sizes);
}

/* --- one call --- */

void amount_add(struct amounts *a, const struct amount_plan *p, uint32_t stream, const struct schema *s,
                const int64_t *values, uint64_t times, struct amount *sum, uint64_t *sizes)
{
	uint64_t bytes;
	if (p->persistent || p->kind == AMOUNT_NONE)
		return;
	if (p->kind != AMOUNT_START) {
		int rv = amount_of(a, p, s, stream, values, &bytes);
		add_one(p->kind, rv, bytes, times, sum, sizes);
		return;
	}
	int64_t value = values[p->request], one;
	if (!s->column[p->request].vector || value_is_constant(value)) {
		add_start(a, stream, value, times, sum, sizes);
		return;
	}
	const struct pool_item *list = vector(a, value);
	for (size_t i = 0; i + sizeof one <= list->size; i += sizeof one) {
		memcpy(&one, list->bytes + i, sizeof one);
		add_start(a, stream, one, times, sum, sizes);
	}
}

int amount_add_visits(struct amounts *a, const struct amount_plan *p, const struct trace_site *site, uint32_t stream,
                      struct amount *sum, uint64_t *sizes)
{
	const struct schema *schema = trace_schema(a->trace, site);
	const struct amount_plan here = plan_here(*p, site);
	int64_t values[SCHEMA_MAX];
	uint64_t times;
	struct steps s;
	steps_plan(&s, &here);
	int rv = steps_open(&s, a, site, stream);
	while (rv == 0 && (rv = steps_next(&s, values, &times)) == 0) {
		amount_add(a, &here, stream, schema, values, times, sum, sizes);
		if (!amounts_afford(a, 1, 1))
			break;
	}
	int left = rv == 1 && s.left == 0 ? 0 : rv < 0 ? -1 : 1;
	steps_close(&s);
	return left;
}

void amounts_in_order(struct amounts *a)
{
	for (int h = 0; h <= HANDLE_REQUEST; h++) {
		budget_free(a->tables[h].slots);
		a->tables[h] = (struct table){.slots = NULL};
	}
	a->ordered = true;
	a->failed = a->ambiguous = a->lost_requests = false;
}

void amounts_event(struct amounts *a, const struct amount_plan *p, uint32_t stream, const struct event *e)
{
	a->arrays = e->own;
	make_type(a, stream, e);
	if (p->persistent)
		make_request(a, p, e->schema, stream, e->values);
}
