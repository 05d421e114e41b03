/* SPDX-License-Identifier: BSD-3-Clause
 * site_file - the chunk SITE: what is refused, damage, and what a reader leaves out
 *
 * Four ranks, two sites: MPI_Barrier, three times, and MPI_Alltoallv with counts 5, 7 and displacements 0, 5. The chunk
 * is a list of numbers here: V(n) is the value n, C(s) the constant of string s.
 */
#include "trace/file/site_file.h"

#include "tests/unit/chunk.h"
#include "trace/model/value.h"

#define V(n) UINT64_C(4) * (n)
#define C(s) UINT64_C(4) * (s) + 1

enum { RANKS = 4, BARRIER = 1, ALLTOALLV, WORLD, NO_SCHEMA, TABLE, STRINGS };
enum { FUNCTION_BARRIER, FUNCTION_ALLTOALLV, ALL = 0, FRAME = 1, LOSSY = 2, DERIVED = 3, ARRAY = 3 };
#define FUNCTIONS     2, BARRIER, ALLTOALLV
#define VISITS(n)     ALL, 0, V(n)
#define HEAD_BARRIER  FUNCTION_BARRIER, FRAME, VISITS(3)
#define HEAD_ALLTOALL FUNCTION_ALLTOALLV, FRAME, VISITS(1)
#define COMM          0, C(WORLD)
/* two times site 0, then site 1 */
#define NEXT 2, ALL, 1, 2, 0, 0, V(0), 0, 0, V(1)
#define NONE 1
/* 5, and one more that is 2 more */
#define COUNTS 2, ALL, 0, ARRAY, 2, 0, V(5), 3, 4
/* prefix sums of the column before, group 0 */
#define DISPLACEMENTS 2, ALL, DERIVED, 1, 0

/* What SITE refers to. */
static void prepare(struct trace *t)
{
	static const char *const strings[STRINGS] = {
		[BARRIER] = "MPI_Barrier comm:c", [ALLTOALLV] = "MPI_Alltoallv sendcounts:[i sdispls:[i comm:c",
		[WORLD] = "MPI_COMM_WORLD",       [NO_SCHEMA] = "MPI_Barrier comm",
		[TABLE] = "@comm size:i",
	};
	struct rankmap_builder b = {.references = false};
	bool good = trace_init(t) == 0;
	t->size = RANKS;
	rankmap_add(&b, (struct rank_piece){.count = RANKS, .step = 1, .value = 4});
	good &= rankmap_take(&b, &t->events) == 0;
	for (uint32_t i = 1; i < STRINGS; i++)
		good &= pool_intern(&t->strings, strings[i], strlen(strings[i])) == i;
	good &= trace_node(t, (struct trace_node){.module = UINT32_MAX, .offset = 1}) == FRAME;
	good &= pool_intern(&t->patterns, "\1\3\0\4\0", 5) == 0; /* new, value 0 again, new */
	if (!good)
		abort();
}

/* Returns whether the bytes are refused. */
static bool look(void *context, const void *bytes, size_t n)
{
	struct trace t;
	struct diagram_file none = {.height = NULL};
	struct reader r = reader_of(bytes, n);
	struct budget budget = {.memory = 1 << 24, .steps = 1 << 18};
	(void)context;
	prepare(&t);
	budget_begin(&budget);
	int rv = sites_get(&r, &none, &t, NULL, NULL) != 0 || trace_check(&t, NULL) != 0 || budget.spent;
	budget_end(&budget);
	if (rv == 0)
		chunk_taken(&t);
	trace_free(&t);
	return rv != 0;
}

static bool numbers(const uint64_t *list, size_t n, struct writer *w)
{
	*w = (struct writer){0};
	for (size_t i = 0; i < n; i++)
		writer_uint(w, list[i]);
	return look(NULL, w->data, w->size);
}

static void refused(const char *what, const uint64_t *list, size_t n)
{
	struct writer w;
	ok(numbers(list, n, &w), "refused: %s", what);
	writer_free(&w);
}

static void test_sites(void)
{
	refused("nothing", NULL, 0);
	refused("bytes behind the end", NUMBERS(0, 0, 0, 0));
	refused("a function that is no string", NUMBERS(1, STRINGS, 0, 0));
	refused("a function that is no schema", NUMBERS(1, NO_SCHEMA, 0, 0));
	refused("a function twice", NUMBERS(2, BARRIER, BARRIER, 0, 0));
	refused("a site of no function", NUMBERS(FUNCTIONS, 1, 2, FRAME, VISITS(3), COMM, NONE, 0));
	refused("a site of no frame", NUMBERS(FUNCTIONS, 1, FUNCTION_BARRIER, 2, VISITS(3), COMM, NONE, 0));
	refused("a site twice", NUMBERS(FUNCTIONS, 2, HEAD_BARRIER, COMM, NONE, HEAD_BARRIER, COMM, NONE, 0));
	refused("visits of nobody", NUMBERS(FUNCTIONS, 1, FUNCTION_BARRIER, FRAME, 1, 0, 0, 0, V(3), COMM, NONE, 0));
	refused("visits by a diagram that is not there",
	        NUMBERS(FUNCTIONS, 1, FUNCTION_BARRIER, FRAME, ALL, 2, 2, COMM, NONE, 0));
	refused("a constant number of visits",
	        NUMBERS(FUNCTIONS, 1, FUNCTION_BARRIER, FRAME, ALL, 0, C(WORLD), COMM, NONE, 0));
	refused("a successor in a table of objects",
	        NUMBERS(2, BARRIER, TABLE, 1, HEAD_BARRIER, COMM, NONE, 1, 1, FRAME, VISITS(1), 0, V(1), NONE));
}

static void test_columns(void)
{
	refused("more groups than bytes", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 3, ALL));
	refused("a constant that is no string", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 0, C(STRINGS), NONE, 0));
	refused("a next site that is not there", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 0, V(1), 0));
	refused("a group of nobody", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, 1, 0, 0, 0, 0, V(0), 0));
	refused("a pattern that is not there",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, 4, 2, 0, 0, V(0), 0, 0, V(0), 0));
	refused("a pattern without values", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, 1, 0, 0));
	refused("a value too few", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, 1, 1, 0, 0, V(0), 0));
	refused("a stretch of sites", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, 1, 1, 1, 0, V(0), 0, V(0), 0));
	refused("2^63 values", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, 1, 1, INT64_MAX, 0, V(0), 0, V(1), NONE, 0));
	refused("more stretches than bytes", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, 1, 1 << 20, 0, 0, V(0)));
	refused("an array in a column of numbers",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, 0, ARRAY, 1, 0, V(5), 0, NONE, 0));
}

static void test_arrays(void)
{
	refused("an array that is too wide", NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, 2, ALL, 0, ARRAY, FAMILY_WIDTH + 1, 0,
	                                             V(5), FAMILY_WIDTH << 1, DISPLACEMENTS, COMM, NONE, 0));
	refused("a run behind the array's end",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, 2, ALL, 0, ARRAY, 2, 0, V(5), 5, 4, DISPLACEMENTS, COMM, NONE, 0));
	refused("a vector that is not there",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, 0, V(0), DISPLACEMENTS, COMM, NONE, 0));
	refused("what follows from nothing",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, DISPLACEMENTS, COUNTS, COMM, NONE, 0));
	refused("what follows from a group that is not there",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, COUNTS, 2, ALL, DERIVED, 1, 1, COMM, NONE, 0));
	refused("a communicator that follows from arrays",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, COUNTS, DISPLACEMENTS, 2, ALL, DERIVED, 0, 0, NONE, 0));
	refused("a successor that follows", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, DERIVED, 0, 0, 0));
	refused("columns of arrays of another size than there are ranks",
	        NUMBERS(FUNCTIONS, 1, HEAD_ALLTOALL, COUNTS, 2, ALL, DERIVED, 2, 0, COMM, NONE, 0));
}

static void test_lossy(void)
{
	refused("no order, for no reason that there is",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, LOSSY, 2 * (WHY_ALL + 1), 0, 1, V(1), 0, NONE, 0));
	refused("first values, but of nobody",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, LOSSY, WHY_ALL + 1, 0, 1, V(1), 0, 0, NONE, 0));
	refused("first values of a pattern that is not there",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, LOSSY, WHY_ALL + 1, 0, 1, V(1), 0, 1, ALL, 9, 1, 0, 0, V(1),
	                NONE, 0));
	refused("first values without order", NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, LOSSY, WHY_ALL + 1, 0, 1,
	                                              V(1), 0, 1, ALL, LOSSY, 1, 0, 1, V(1), 0, NONE, 0));
	refused("bins in disorder",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, 2, ALL, LOSSY, 1, 0, 2, V(1), 0, V(0), 0, NONE, 0));
	refused("a next site twice",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, LOSSY, 1, 0, 2, 0, 1, V(1), 0, 0, 1, V(1), 0, 0));
	refused("a run of no visits",
	        NUMBERS(FUNCTIONS, 1, HEAD_BARRIER, COMM, 2, ALL, LOSSY, 1, 0, 1, 0, 1, V(0), 0, 0));
}

/* The sums before the elements of an array of one element are 0, whatever it is: but of other ranks. */
static void test_ranks(void)
{
	struct trace t;
	struct rankmap all = {0};
	struct rankmap_builder b = {.references = false};
	struct trace_stretch array = {
		.count = 1, .vector = true, .width = 1, .elements = calloc(1, sizeof *array.elements)};
	struct trace_group from = {.count = 1, .dict = &array}, out;
	rankmap_add(&b, (struct rank_piece){.count = 2, .step = 1});
	if (trace_init(&t) != 0 || rankmap_take(&b, &all) != 0 || !array.elements ||
	    rankmap_single(&array.start, 0, 0, false) != 0 || rankmap_single(&array.elements[0], 0, 5, false) != 0)
		abort();
	ok(derive_make(&t, &from, REFERENCE_VECTOR, DERIVE_PREFIX, &all, &out) == 1, "nothing follows for other ranks");
	trace_group_free(&out);
	ok(derive_make(&t, &from, REFERENCE_VECTOR, DERIVE_PREFIX, &array.start, &out) == 0 && out.dict[0].width == 1,
	   "but for the same");
	trace_group_free(&out);
	rankmap_free(&array.start);
	rankmap_free(&array.elements[0]);
	free(array.elements);
	rankmap_free(&all);
	trace_free(&t);
}

static bool needs_no_displacements(const struct schema *s, size_t column)
{
	return s->count != 3 || column != 1;
}

/* Reads the good chunk. */
static int read_good(void *context)
{
	const struct writer *w = context;
	struct trace t;
	struct diagram_file none = {.height = NULL};
	struct reader r = reader_of(w->data, w->size);
	long left = fail_left;
	fail_left = 0;
	prepare(&t);
	fail_left = left;
	int rv = sites_get(&r, &none, &t, NULL, NULL) || trace_check(&t, NULL) ? -1 : 0;
	trace_free(&t);
	return rv;
}

static void test_good(void)
{
	struct writer w;
	size_t cut;
	struct trace t;
	struct diagram_file none = {.height = NULL};
	bool left_out = false;
	ok(!numbers(
		   NUMBERS(FUNCTIONS, 2, HEAD_BARRIER, COMM, NEXT, HEAD_ALLTOALL, COUNTS, DISPLACEMENTS, COMM, NONE, 0),
		   &w),
	   "two sites");
	struct writer empty;
	ok(!numbers(NUMBERS(2, BARRIER, TABLE, 1, HEAD_BARRIER, COMM, NONE, 1, 1, FRAME, VISITS(0), NONE), &empty),
	   "a table without rows is the last thing");
	writer_free(&empty);
	prepare(&t);
	struct reader r = reader_of(w.data, w.size);
	bool read = sites_get(&r, &none, &t, NULL, NULL) == 0;
	const struct trace_stretch *d = read ? &t.sites[1].columns[1].groups[0].dict[0] : NULL;
	int64_t first, second;
	ok(read && d->vector && d->width == 2 && rankmap_constant(&d->elements[0], &first) &&
	           rankmap_constant(&d->elements[1], &second) && first == 0 && second == 5,
	   "displacements follow from counts");
	trace_free(&t);
	prepare(&t);
	r = reader_of(w.data, w.size);
	ok(sites_get(&r, &none, &t, needs_no_displacements, &left_out) == 0 && left_out &&
	           t.sites[1].columns[1].groups[0].lossy && !t.sites[1].columns[0].groups[0].lossy,
	   "and are left out where nobody needs them");
	trace_free(&t);
	size_t taken = damage_each(look, NULL, w.data, w.size, &cut);
	ok(cut == 0 && taken < 8 * w.size, "cut short, or with flipped bits (%zu of %zu are good)", taken, 8 * w.size);
	ok(fails_well(read_good, &w), "no memory");
	writer_free(&w);
}

int main(void)
{
	test_sites();
	test_columns();
	test_arrays();
	test_lossy();
	test_ranks();
	test_good();
	return tap_end();
}
