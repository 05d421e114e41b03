/* SPDX-License-Identifier: BSD-3-Clause
 * derive - unit test of trace/file/derive.c: what is refused as damage; what follows from a group, and what does not;
 * which groups of a trace are found to follow
 */
#include "trace/file/derive.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

enum { RANKS = 3, NAMED = 1 };
#define CONSTANT (VALUE_CONSTANT + NAMED)

static const int64_t rows[RANKS][RANKS] = {{3, 1, 4}, {1, 5, 9}, {2, 6, 5}},
		     sums[RANKS][RANKS] = {{0, 3, 4}, {0, 1, 6}, {0, 2, 8}};

static struct rankmap map_from(uint32_t first, uint32_t n, const int64_t *values, bool references)
{
	struct rankmap_builder b = {.references = references};
	struct rankmap m;
	for (uint32_t r = 0; r < n; r++)
		rankmap_add(&b, (struct rank_piece){first + r, 1, 1, values ? values[r] : 0, 0});
	if (rankmap_take(&b, &m) != 0)
		abort();
	return m;
}

static struct trace_group group_from(uint32_t first, uint32_t n, const int64_t *values, bool references)
{
	struct trace_group g = {.count = 1, .dict = calloc(1, sizeof *g.dict)};
	if (!g.dict)
		abort();
	g.dict[0] = (struct trace_stretch){.count = 1, .start = map_from(first, n, values, references)};
	return g;
}

/* Arrays, as numbers in the pool. */
static struct trace_group arrays_from(struct trace *t, const int64_t arrays[][RANKS], size_t width)
{
	int64_t numbers[RANKS];
	for (int r = 0; r < RANKS; r++)
		numbers[r] = pool_intern(&t->vector_pool, arrays[r], width * sizeof *arrays[r]);
	return group_from(0, RANKS, numbers, true);
}

/* A new site, or a row of an object table. */
static struct trace_site *site_from(struct trace *t, const char *schema, bool object)
{
	uint32_t f = trace_function(t, pool_intern(&t->strings, schema, strlen(schema))),
		 i = trace_site(t, f, 0, object);
	if (f == UINT32_MAX || i == UINT32_MAX)
		abort();
	return object ? &t->objects[i] : &t->sites[i];
}

static void put_in_column(struct trace_site *s, uint32_t column, struct trace_group g)
{
	if (trace_add_group_take(&s->columns[column], &g) != 0)
		abort();
}

static void test_how(void)
{
	static const struct {
		const char *title, *bytes;
		size_t n;
		uint32_t column;
		int rv;
		struct derivation want;
	} tries[] = {
		{"nothing to read", "", 0, 1, -1, {0}},
		{"cut off", "\1", 1, 1, -1, {0}},
		{"a number of 11 bytes", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1\0", 12, 1, -1, {0}},
		{"the first column", "\0\0", 2, 0, -1, {0}},
		{"before the first column", "\3\0", 2, 1, -1, {0}},
		{"far before it", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\0", 11, 1, -1, {0}},
		{"no such group", "\1\1", 2, 1, -1, {0}},
		{"group 2^32", "\1\x80\x80\x80\x80\x10", 6, 1, -1, {0}},
		{"a number from arrays", "\0\0", 2, 2, -1, {0}},
		{"an array from numbers", "\0\0", 2, 4, -1, {0}},
		{"the successor", "\0\0", 2, 5, -1, {0}},
		{"sums", "\1\0", 2, 1, 0, {.from = 0, .from_group = 0, .kind = DERIVE_PREFIX}},
		{"the same", "\0\1", 2, 3, 0, {.from = 2, .from_group = 1, .kind = DERIVE_SAME}},
		{"three columns before", "\13\0", 2, 4, 0, {.from = 0, .from_group = 0, .kind = DERIVE_TRANSPOSE}},
	};
	struct trace t;
	if (trace_init(&t) != 0)
		abort();
	struct trace_site *s = site_from(&t, "F a:[i b:[i c:i d:i e:[i", false);
	put_in_column(s, 0, arrays_from(&t, rows, RANKS));
	put_in_column(s, 2, group_from(0, 2, NULL, false));
	put_in_column(s, 2, group_from(2, 1, NULL, false));
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct derivation d = {.column = tries[i].column}, want = tries[i].want;
		struct reader r = reader_of(tries[i].bytes, tries[i].n);
		int rv = derive_get(&r, &d, trace_schema(&t, s), s);
		ok(rv == tries[i].rv && (rv != 0 || (d.from == want.from && d.from_group == want.from_group &&
		                                     d.kind == want.kind && r.at == r.end)),
		   "read: %s", tries[i].title);
		if (rv != 0)
			continue;
		struct writer w = {0};
		want.column = d.column;
		derive_put(&w, &want);
		ok(w.size == tries[i].n && memcmp(w.data, tries[i].bytes, w.size) == 0, "written: %s", tries[i].title);
		writer_free(&w);
	}
	trace_free(&t);
}

static void test_make_arrays(void)
{
	static const struct {
		const char *title;
		enum derive_kind kind;
		size_t width;
		int64_t in[RANKS][RANKS];
		int rv;
		int64_t out[RANKS][RANKS];
	} tries[] = {
		{"sums with a constant", DERIVE_PREFIX, 3, {{1, 1, CONSTANT}, {1}, {1}}, 1, {{0}}},
		{"a sum that is too large", DERIVE_PREFIX, 3, {{INT64_MAX, 1, 0}, {1}, {1}}, 1, {{0}}},
		{"transposed, of 2 columns", DERIVE_TRANSPOSE, 2, {{1, 2}, {3, 4}, {5, 6}}, 1, {{0}}},
		{"the same", DERIVE_SAME, 3, {{3, CONSTANT, 4}, {1}, {2}}, 0, {{3, CONSTANT, 4}, {1}, {2}}},
		{"sums", DERIVE_PREFIX, 3, {{3, 1, 4}, {1, 5, 9}, {-1, -2, 5}}, 0, {{0, 3, 4}, {0, 1, 6}, {0, -1, -3}}},
		{"transposed",
	         DERIVE_TRANSPOSE,
	         3,
	         {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}},
	         0,
	         {{1, 4, 7}, {2, 5, 8}, {3, 6, 9}}},
	};
	struct rankmap all = map_from(0, RANKS, NULL, false);
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		struct trace t;
		struct trace_group out;
		if (trace_init(&t) != 0)
			abort();
		struct trace_group from = arrays_from(&t, tries[i].in, tries[i].width);
		int rv = derive_make(&t, &from, REFERENCE_VECTOR, tries[i].kind, &all, &out), wrong = 0;
		for (uint32_t r = 0; rv == 0 && r < RANKS; r++) {
			int64_t v = 0;
			wrong += !rankmap_get(trace_group_ranks(&out), r, &v) || v >= t.vector_pool.count ||
			         t.vector_pool.items[v].size != sizeof tries[i].out[r] ||
			         memcmp(t.vector_pool.items[v].bytes, tries[i].out[r], sizeof tries[i].out[r]);
		}
		ok(rv == tries[i].rv && wrong == 0, "arrays: %s", tries[i].title);
		trace_group_free(&out);
		trace_group_free(&from);
		trace_free(&t);
	}
	rankmap_free(&all);
}

/* What derive_make returns for n ranks from `first` on; what it made is dropped. */
static int make_for(struct trace *t, struct trace_group *from, enum reference reference, enum derive_kind kind,
                    uint32_t first, uint32_t n)
{
	struct rankmap ranks = map_from(first, n, NULL, false);
	struct trace_group out;
	int rv = derive_make(t, from, reference, kind, &ranks, &out);
	trace_group_free(&out);
	rankmap_free(&ranks);
	return rv;
}

static void test_make_refuses(void)
{
	struct trace t;
	int64_t v = 0;
	if (trace_init(&t) != 0)
		abort();
	struct trace_group from = arrays_from(&t, rows, RANKS),
			   absent = group_from(0, RANKS, (int64_t[]){70, 71, 72}, true),
			   numbers = group_from(0, RANKS, (int64_t[]){70, 80, 75}, false), lossy = {0},
			   wide = group_from(0, 2, (int64_t[]){0, 1}, true), out;
	struct rankmap two = map_from(1, 2, NULL, false);
	if (trace_group_lossy(&lossy, &two) != 0)
		abort();
	for (int kind = 0; kind < DERIVE_KINDS; kind++) {
		ok(make_for(&t, &from, REFERENCE_VECTOR, kind, 0, RANKS + 1) == 1, "kind %d: a rank too many", kind);
		ok(make_for(&t, &lossy, REFERENCE_NONE, kind, 1, 2) == 1, "kind %d: no order", kind);
		ok(make_for(&t, &numbers, REFERENCE_NONE, kind, 0, RANKS) == (kind != DERIVE_SAME), "kind %d: numbers",
		   kind);
		ok(make_for(&t, &absent, REFERENCE_VECTOR, kind, 0, RANKS) == (kind != DERIVE_SAME),
		   "kind %d: arrays that are not there", kind);
		ok(make_for(&t, &from, REFERENCE_VECTOR, kind, 0, 2) == (kind == DERIVE_TRANSPOSE), "kind %d: fewer",
		   kind);
		ok(make_for(&t, &from, REFERENCE_VECTOR, kind, 0, 1) == (kind == DERIVE_TRANSPOSE), "kind %d: one",
		   kind);
	}
	ok(make_for(&t, &wide, REFERENCE_VECTOR, DERIVE_TRANSPOSE, 0, 2) == 1, "more elements than ranks");
	int rv = derive_make(&t, &numbers, REFERENCE_NONE, DERIVE_SAME, &two, &out);
	ok(rv == 0 && rankmap_same_ranks(trace_group_ranks(&out), &two) && rankmap_get(&two, 2, &v) &&
	           rankmap_get(trace_group_ranks(&out), 2, &v) && v == 75,
	   "what two ranks have of a group");
	trace_group_free(&out);
	trace_group_free(&from);
	trace_group_free(&absent);
	trace_group_free(&numbers);
	trace_group_free(&lossy);
	trace_group_free(&wide);
	rankmap_free(&two);
	trace_free(&t);
}

/* Arrays of which each element is a function of the rank: column i of `elements` is that of rank i. */
static struct trace_group family_from(const int64_t elements[][RANKS], uint32_t width)
{
	struct trace_group g = group_from(0, RANKS, NULL, false);
	g.dict[0].vector = true;
	g.dict[0].width = width;
	g.dict[0].elements = calloc(width + 1, sizeof *g.dict[0].elements);
	for (uint32_t k = 0; g.dict[0].elements && k < width; k++)
		g.dict[0].elements[k] = map_from(0, RANKS, elements[k], false);
	return g;
}

static void test_make_elements(void)
{
	static const int64_t in[][RANKS] = {{1, 5, 2}, {10, 10, 10}, {7, 7, 8}},
			     want[][RANKS] = {{0}, {1, 5, 2}, {11, 15, 12}},
			     named[][RANKS] = {{CONSTANT, 1, 2}, {3, 4, 5}};
	struct trace t;
	if (trace_init(&t) != 0)
		abort();
	struct trace_group from = family_from(in, 3), good = family_from(want, 3), bad = family_from(named, 2),
			   none = family_from(NULL, 0), out;
	ok(make_for(&t, &from, REFERENCE_VECTOR, DERIVE_TRANSPOSE, 0, RANKS) == 1, "elements: not transposed");
	ok(make_for(&t, &from, REFERENCE_VECTOR, DERIVE_PREFIX, 0, RANKS + 1) == 1, "elements: a rank too many");
	ok(make_for(&t, &bad, REFERENCE_VECTOR, DERIVE_PREFIX, 0, RANKS) == 1, "elements: no sums of constants");
	ok(make_for(&t, &bad, REFERENCE_VECTOR, DERIVE_SAME, 0, RANKS) == 0, "elements: the same constants");
	ok(make_for(&t, &none, REFERENCE_VECTOR, DERIVE_PREFIX, 0, RANKS) == 0, "elements: there are none");
	int rv = derive_make(&t, &from, REFERENCE_VECTOR, DERIVE_PREFIX, trace_group_ranks(&from), &out);
	ok(rv == 0 && trace_group_equal(&out, &good), "elements: sums");
	trace_group_free(&out);
	trace_group_free(&from);
	trace_group_free(&good);
	trace_group_free(&bad);
	trace_group_free(&none);
	trace_free(&t);
}

/* Sums of arrays, the same numbers for two of the ranks, constants; an object. */
static void whole_trace(struct trace *t)
{
	static const int64_t few[RANKS] = {7, 8, 5}, same[RANKS] = {4, 4, 4};
	if (trace_init(t) != 0)
		abort();
	struct trace_site *o = site_from(t, "@comm size:i rank:i", true);
	put_in_column(o, 0, group_from(0, RANKS, few, false));
	put_in_column(o, 1, group_from(0, RANKS, few, false));
	struct trace_site *s = site_from(t, "F a:[i b:[i c:i d:i e:i f:i", false);
	put_in_column(s, 0, arrays_from(t, rows, RANKS));
	put_in_column(s, 1, arrays_from(t, sums, RANKS));
	put_in_column(s, 2, group_from(0, RANKS, few, false));
	put_in_column(s, 3, group_from(2, 1, few, false));
	put_in_column(s, 3, group_from(0, 2, few, false));
	put_in_column(s, 4, group_from(0, RANKS, same, false));
	put_in_column(s, 5, group_from(0, RANKS, same, false));
	put_in_column(s, 6, group_from(0, RANKS, few, true));
}

static void test_search_all(void)
{
	static const struct derivation want[] = {
		{.column = 1, .from = 0, .kind = DERIVE_PREFIX},
		{.column = 3, .group = 1, .from = 2},
		{.object = true, .column = 1, .from = 0},
	};
	struct trace t;
	struct derivations d;
	size_t wrong = 0;
	if (trace_init(&t) != 0)
		abort();
	struct trace_group g = arrays_from(&t, rows, RANKS);
	trace_group_free(&g);
	ok(derive_find(&d, &t) == 0 && d.count == 0 && !d.vectors && d.vector_count == RANKS, "nothing follows");
	derive_free(&d);
	trace_free(&t);
	whole_trace(&t);
	ok(derive_find(&d, &t) == 0 && d.count == 3, "%u groups follow", d.count);
	for (uint32_t i = 0; i < d.count && i < 3; i++)
		wrong += d.list[i].object != want[i].object || d.list[i].site || d.list[i].column != want[i].column ||
		         d.list[i].group != want[i].group || d.list[i].from != want[i].from || d.list[i].from_group ||
		         d.list[i].kind != want[i].kind;
	ok(wrong == 0, "of what, and how");
	for (uint32_t i = 0; d.vectors && i < 2 * RANKS; i++)
		wrong += d.vectors[i] != (i < RANKS ? i : UINT32_MAX);
	ok(wrong == 0 && d.vectors && d.vector_count == RANKS, "sums are not stored");
	derive_free(&d);
	ok(!d.list && !d.vectors && d.count == 0, "nothing is left");
	trace_free(&t);
}

static int search_again(void *context)
{
	struct derivations d;
	int rv = derive_find(&d, context);
	uint32_t count = d.count;
	derive_free(&d);
	return rv == 0 && count == 3 ? 0 : -1;
}

struct making {
	enum derive_kind kind;
	bool family;
	uint32_t wrong; /* a failure that was taken for "nothing follows", or for success */
};

static int make_again(void *context)
{
	struct making *m = context;
	struct trace t;
	struct trace_group out;
	long left = fail_left;
	fail_left = 0; /* the trace is not what is tested */
	if (trace_init(&t) != 0)
		abort();
	struct trace_group from = m->family ? family_from(rows, RANKS) : arrays_from(&t, rows, RANKS);
	fail_left = left;
	int rv = derive_make(&t, &from, REFERENCE_VECTOR, m->kind, trace_group_ranks(&from), &out);
	trace_group_free(&out);
	trace_group_free(&from);
	trace_free(&t);
	m->wrong += fail_happened && rv != -1;
	return rv;
}

static void test_make_memory(void)
{
	struct making tries[] = {
		{DERIVE_SAME, false, 0},      {DERIVE_PREFIX, false, 0}, {DERIVE_SAME, true, 0},
		{DERIVE_TRANSPOSE, false, 0}, {DERIVE_PREFIX, true, 0},
	};
	struct trace t;
	whole_trace(&t);
	ok(fails_well(search_again, &t), "no memory to look for what follows");
	trace_free(&t);
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		ok(fails_well(make_again, &tries[i]), "no memory for kind %d", (int)tries[i].kind);
		if (i < 3) /* others say in places that nothing follows */
			ok(tries[i].wrong == 0, "which is said");
	}
}

int main(void)
{
	test_how();
	test_make_arrays();
	test_make_refuses();
	test_make_elements();
	test_search_all();
	test_make_memory();
	return tap_end();
}
