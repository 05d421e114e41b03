/* SPDX-License-Identifier: BSD-3-Clause
 * brief - unit test of trace/record/brief.c: what is no list of values; a brief site is what a struct site would be
 */
#include "trace/record/brief.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/base/budget.h"

static size_t read_bytes(const char *bytes, size_t n, int64_t values[SCHEMA_MAX])
{
	struct record_string *s = malloc(sizeof *s + n);
	if (!s)
		abort();
	s->length = (uint32_t)n;
	memcpy(s->bytes, bytes, n);
	size_t count = brief_read(s, values);
	free(s);
	return count;
}

static void test_values(void)
{
	int64_t values[SCHEMA_MAX];
	char many[SCHEMA_MAX + 1] = {0};
	uint8_t bytes[BRIEF_BYTES];
	struct cell cells[SCHEMA_MAX];
	ok(read_bytes("\x80", 1, values) == SIZE_MAX, "a value that is cut off");
	ok(read_bytes("\3\xff\xff\xff\xff\x1f\x01", 7, values) != 1, "a long number that is none");
	ok(read_bytes(many, sizeof many, values) == SIZE_MAX, "more values than a function has parameters");
	ok(read_bytes("", 0, values) == 0, "no values");
	for (size_t i = 0; i < SCHEMA_MAX; i++)
		cells[i].expect = i == 0 ? VALUE_NONE : (int64_t)i;
	size_t n = brief_write(cells, 2, bytes);
	ok(read_bytes((char *)bytes, n, values) == SIZE_MAX, "no value, written as one");
	static const int64_t extremes[] = {0, -1, INT64_MAX, INT64_MIN, VALUE_CONSTANT + UINT32_MAX, VALUE_LOSSY + 1};
	for (size_t i = 0; i < SCHEMA_MAX; i++)
		cells[i].expect = extremes[i % (sizeof extremes / sizeof *extremes)];
	n = brief_write(cells, SCHEMA_MAX, bytes);
	bool same = n <= BRIEF_BYTES && read_bytes((char *)bytes, n, values) == SCHEMA_MAX;
	for (size_t i = 0; same && i < SCHEMA_MAX; i++)
		same = values[i] == cells[i].expect;
	ok(same, "as many as can be, the largest and the smallest");
}

/* Calls of functions 0 and 1 in turn, and of 2: 0 1 0 1 2. Of the first one visits differ in a value. */
static const int64_t send[2][5] = {{100, 1, 1, 7, 2}, {100, 1, 1, 9, 2}};

static void record_calls(struct arena *a)
{
	struct sample x;
	if (arena_create(a, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, a, 0, 1, 0);
	for (int i = 0; i < 2; i++) {
		sample_event(&x, 0, send[i]);
		sample_event(&x, 1, send[i]);
	}
	sample_event(&x, 2, (int64_t[]){1, 2, 3});
	columns_free(&x.columns);
}

/* The same, with a brief site in place of the one that is visited `visits` times, as sample_event has its times. */
static struct brief *make_brief(struct arena *a)
{
	struct record *r = arena_at(a, struct record, a->header->root);
	ref at = arena_alloc(a, sizeof(struct brief)), marked = at | BRIEF_MARK;
	struct brief *b = arena_at(a, struct brief, at);
	*b = (struct brief){.function = 0, .path = brief_not(a, r, 0)->path};
	for (unsigned v = 0; v < BRIEF_VISITS; v++) {
		uint8_t bytes[BRIEF_BYTES];
		struct cell cells[5];
		for (int k = 0; k < 5; k++)
			cells[k].expect = send[v][k];
		b->values[v] = record_add_string(a, r, bytes, brief_write(cells, 5, bytes));
		b->call[v] = 50 + v % 3 * 100;
		b->next[v] = 1;
		b->compute[v] = (uint64_t)v << BRIEF_TICKS_BITS | (1000 + 37 * v);
	}
	b->visits = BRIEF_VISITS;
	arena_commit(a);
	*(ref *)table_at(a, &r->sites, 0, sizeof(ref)) = marked;
	return b;
}

static struct arena copy_of(const struct arena *a)
{
	struct arena copy;
	if (arena_create(&copy, NULL, a->size, NULL) != 0)
		abort();
	memcpy(copy.base, a->base, a->header->used);
	return copy;
}

/* -1: it is refused. The bytes of the trace in *bytes, if that is not NULL. */
static int extract(const struct arena *from, uint8_t **bytes, size_t *n)
{
	struct arena a = copy_of(from);
	struct budget budget = {.memory = 1 << 23, .steps = 1 << 15};
	struct trace t, canonical;
	struct error error = {""};
	budget_begin(&budget);
	int rv = trace_extract(&t, &a, &error) || trace_check(&t, &error) ? -1 : 0;
	budget_end(&budget);
	if (rv == 0 && bytes) {
		if (merge_canonical(&canonical, &t, NULL) != 0 ||
		    trace_encode(&canonical, NULL, 0, NULL, bytes, n) != 0)
			abort();
		trace_free(&canonical);
	}
	trace_free(&t);
	arena_close(&a);
	return rv;
}

static void test_site(void)
{
	struct arena a;
	uint8_t *whole = NULL, *brief = NULL;
	size_t whole_size = 0, brief_size = 0, refused = 0;
	record_calls(&a);
	ok(extract(&a, &whole, &whole_size) == 0, "a site with columns");
	struct brief *b = make_brief(&a), good = *b;
	struct record *r = arena_at(&a, struct record, a.header->root);
	ok(extract(&a, &brief, &brief_size) == 0 && brief_size == whole_size && memcmp(brief, whole, whole_size) == 0,
	   "a brief site gives the same trace, with its edges and times");
	b->visits = BRIEF_VISITS + 1;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good, b->function = UINT16_MAX;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good, b->path = r->nodes.count;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good, b->values[1] = r->strings.count;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good, b->values[0] = 0;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good, b->next[0] = r->sites.count;
	refused += extract(&a, NULL, NULL) != 0;
	*b = good;
	*(ref *)table_at(&a, &r->sites, 0, sizeof(ref)) = (ref)a.header->used | BRIEF_MARK;
	refused += extract(&a, NULL, NULL) != 0;
	ok(refused == 7, "damaged ones are refused: %zu of 7", refused);
	free(whole);
	free(brief);
	arena_close(&a);
}

int main(void)
{
	test_values();
	test_site();
	return tap_end();
}
