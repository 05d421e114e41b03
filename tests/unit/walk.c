/* SPDX-License-Identifier: BSD-3-Clause
 * walk - what was recorded comes back in order, whatever fails on the way; successors: whether a walk will get through
 */
#include "trace/read/walk.h"

#include "tests/unit/fail.h"
#include "tests/unit/sample.h"
#include "tests/unit/tap.h"
#include "trace/read/successors.h"
#include "trace/model/value.h"

enum { RANKS = 3 };
static struct trace t;

/* Sites of the sample, in the order in which sample_record calls them. */
static size_t expected_sites(char *out)
{
	size_t n = 0;
	for (int i = 0; i < SAMPLE_STEPS; i++) {
		out[n++] = 'S';
		out[n++] = 'R';
		if (i % 4 == 3)
			out[n++] = 'G';
		if (i % 6 < 2)
			out[n++] = 'U';
	}
	return n;
}

static char letter(const struct event *e)
{
	return e->schema->function[0] == 'U' ? 'U' : e->schema->function[4];
}

/* Walks a rank. Returns 0 if all events came, in order. */
static int walk_rank(void *context)
{
	struct walk *w;
	struct event e;
	struct error error = {""};
	char sites[4 * SAMPLE_STEPS];
	size_t n = 0, all = expected_sites(sites);
	int rv = walk_begin(&w, &t, *(uint32_t *)context, &error), errors = rv < 0, step = 0;
	while (rv == 0 && !errors && n < all + 3 && (step = walk_next(w, &e, &error)) != 1) {
		errors += step < 0;
		if (step == 0 && !errors && (n >= all || letter(&e) != sites[n] || e.number != n))
			rv = -1;
		n += step == 0;
	}
	if ((errors > 0) != (error.text[0] != '\0'))
		abort();
	if (rv == 0 && !errors && walk_unordered(w))
		abort();
	walk_end(w);
	return rv == 0 && !errors && n == all ? 0 : -1;
}

static int check_successors(void *context)
{
	return successors_check(&t, *(uint32_t *)context, NULL);
}

/* Goes on after errors: they come again, and nothing is lost by that. */
static int walk_on(void *context)
{
	struct walk *w;
	struct event e;
	struct error error;
	int errors = walk_begin(&w, &t, *(uint32_t *)context, NULL) != 0;
	for (int i = 0; w && i < 5 * SAMPLE_STEPS; i++) {
		error.text[0] = '\0';
		errors += walk_next(w, &e, &error) < 0;
	}
	walk_end(w);
	return errors ? -1 : 0;
}

static void test_values(void)
{
	struct walk *w;
	struct event e;
	struct error error = {""};
	ok(walk_begin(&w, &t, RANKS, &error) == -1 && !w && error.text[0], "%s", error.text);
	walk_end(NULL);
	if (walk_begin(&w, &t, 1, NULL) != 0 || walk_next(w, &e, NULL) != 0)
		abort();
	ok(e.values[0] == 100 && e.values[2] + (e.schema->column[2].kind == 'p' ? e.base : 0) == 2, "the first call");
	for (int i = 0; i < 2; i++)
		walk_next(w, &e, NULL);
	const struct pool_item *v = event_vector(&t, &e, e.values[0]);
	int64_t array[3];
	memcpy(array, v->bytes, sizeof array);
	ok(letter(&e) == 'U' && v->size == sizeof array && array[0] == 0 && array[1] == 1 &&
	           value_is_constant(array[2]),
	   "an array");
	walk_end(w);
}

/* Changes a successor: the events do not follow on each other any more, and both say so. */
static void test_contradiction(void)
{
	struct rankmap saved = t.first;
	size_t noticed = 0, tried = 0, both = 0;
	t.first = (struct rankmap){.root = DIAGRAM_ABSENT};
	ok(successors_check(&t, 0, NULL) == -1 && walk_rank(&(uint32_t){0}) == -1, "no first site");
	t.first = saved;
	for (uint32_t i = 0; i < t.site_count; i++) {
		struct trace_column *c = &t.sites[i].columns[t.sites[i].column_count - 1];
		for (uint32_t g = 0; g < c->count; g++)
			for (uint32_t k = 0; k < c->groups[g].count; k++)
				for (int64_t to = 0; to < t.site_count; to++) {
					struct rankmap *m = &c->groups[g].dict[k].start, old = *m,
						       other = {.node_count = 0};
					if (rankmap_fill(&other, m, to, true) != 0)
						abort();
					bool same = rankmap_equal(&other, m);
					*m = other;
					for (uint32_t rank = 0; rank < RANKS; rank++) {
						bool good = successors_check(&t, rank, NULL) == 0,
						     walks = walk_rank(&rank) == 0;
						if (same && !(good && walks))
							abort();
						tried += !same;
						noticed += !same && !walks;
						both += !same && !walks && !good;
					}
					rankmap_free(&other);
					*m = old;
				}
	}
	ok(tried > 20 && noticed == tried && both >= tried / 2,
	   "%zu changed successors: the walk notices %zu, their counts %zu", tried, noticed, both);
}

/* How many events of a trace that kept only the first ones in order are those of `t`, all their values known; *ends:
 * how many there are. From `from` on. */
static uint64_t known_events(const struct trace *prefix, uint32_t rank, uint64_t from, uint64_t *ends)
{
	struct walk *whole, *first;
	struct event a, b;
	uint64_t known = 0, visits[SAMPLE_SITES] = {0};
	bool same = true;
	*ends = 0;
	if (walk_begin(&whole, &t, rank, NULL) != 0 || walk_begin(&first, prefix, rank, NULL) != 0)
		abort();
	for (uint64_t i = 0; i < from && walk_next(whole, &a, NULL) == 0; i++)
		visits[a.site]++;
	if (from > 0 && (walk_next(whole, &a, NULL) != 0 || walk_seek(first, from, a.site, visits) != 0))
		abort();
	for (bool more = from > 0 || walk_next(whole, &a, NULL) == 0; more && walk_next(first, &b, NULL) == 0;
	     more = walk_next(whole, &a, NULL) == 0, ++*ends) {
		same = same && a.site == b.site;
		for (size_t k = 0; k < a.schema->count; k++) {
			same = same && b.values[k] != VALUE_LOSSY &&
			       (a.schema->column[k].vector || a.values[k] == b.values[k]);
			if (b.values[k] != VALUE_LOSSY && a.values[k] != b.values[k] && !a.schema->column[k].vector)
				abort(); /* wrong is worse than unknown */
		}
		known += same;
	}
	if (!walk_unordered(first))
		abort();
	walk_end(whole);
	walk_end(first);
	return known;
}

static void test_prefix(void)
{
	struct trace prefix;
	uint64_t ends, from_there;
	sample_merged(&prefix, RANKS, SAMPLE_PREFIX);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		char sites[4 * SAMPLE_STEPS];
		size_t marked = 0, steps = 0, all = expected_sites(sites);
		for (; marked < all && steps < SAMPLE_STEPS / 2 + rank + 1; marked++)
			steps += sites[marked] == 'S';
		marked--; /* the first call of the next step */
		uint64_t known = known_events(&prefix, rank, 0, &ends);
		ok(known >= marked && ends >= known && ends < all,
		   "rank %u: of %zu events %d are in order up to the mark, %zu", rank, all, (int)known, marked);
		ok(known_events(&prefix, rank, 5, &from_there) == known - 5 && from_there == ends - 5,
		   "and if the walk begins later");
		ok(successors_check(&prefix, rank, NULL) == 0, "and it gets through");
	}
	trace_forget_prefixes(&prefix);
	/* what follows on the first call is always the same */
	ok(known_events(&prefix, 1, 0, &ends) == 0 && ends == 2, "nothing in order when that is forgotten");
	trace_free(&prefix);
}

/* Nested loops, of which one turn in a thousand is another one. */
static void record_loops(struct trace *loops, int turns)
{
	struct arena a;
	struct sample x;
	struct error error;
	if (arena_create(&a, NULL, 8 * ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&x, &a, 0, 1, 0);
	int64_t type = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_INT", 7),
		world = VALUE_CONSTANT + record_add_string(&a, x.record, "MPI_COMM_WORLD", 14);
	for (int i = 0; i < turns; i++) {
		for (int k = 0; k < 7; k++)
			sample_event(&x, 0, (int64_t[]){100 + k % 3, type, 1, k % 4, world});
		sample_event(&x, 1, (int64_t[]){200, type, i % 5 ? -1 : 1, i % 2, world});
		if (i % 1000 == 777)
			sample_event(&x, 2, (int64_t[]){i, 0, world});
	}
	columns_free(&x.columns);
	if (trace_extract(loops, &a, &error) != 0)
		abort();
	arena_close(&a);
}

/* The sum of what all events of a rank are, without their order; *walked: how many were looked at. */
static uint64_t sum_of_events(const struct trace *loops, bool leap, uint64_t *walked)
{
	struct walk *w;
	struct event e;
	struct error error;
	uint64_t sum = 0, turn = 0, turns;
	int step;
	*walked = 0;
	if (walk_begin(&w, loops, 0, &error) != 0)
		abort();
	while ((step = walk_next(w, &e, &error)) == 0) {
		uint64_t h = hash_mix(11, e.site);
		bool marked;
		for (size_t k = 0; k < e.schema->count; k++)
			h = hash_mix(h, (uint64_t)e.values[k]);
		sum += h;
		turn += h;
		++*walked;
		if (!leap)
			continue;
		turns = walk_repeats(w, &marked);
		if (turns > 0) {
			walk_leap(w, turns);
			sum += turns * turn;
		}
		turn = marked || turns > 0 ? 0 : turn;
	}
	walk_end(w);
	return step > 0 ? sum : 0;
}

static void test_repeats(void)
{
	for (int turns = 100; turns <= 100000; turns *= 10) {
		struct trace loops;
		uint64_t all = 0, some = 0;
		record_loops(&loops, turns);
		uint64_t sum = sum_of_events(&loops, false, &all), same = sum_of_events(&loops, true, &some);
		ok(sum != 0 && same == sum && (turns < 10000 || some < all / 4),
		   "turns of loops that are left out: %d of %d events are looked at", (int)some, (int)all);
		trace_free(&loops);
	}
}

int main(void)
{
	size_t wrong = 0;
	sample_merged(&t, RANKS, 0);
	test_values();
	for (uint32_t rank = 0; rank < RANKS; rank++)
		wrong += walk_rank(&rank) != 0 || successors_check(&t, rank, NULL) != 0;
	ok(wrong == 0, "all events of %d ranks, in order", RANKS);
	test_contradiction();
	test_repeats();
	test_prefix();
	ok(fails_well(walk_rank, &(uint32_t){1}), "no memory to walk");
	ok(fails_well(walk_on, &(uint32_t){1}), "no memory for a moment");
	ok(fails_well(check_successors, &(uint32_t){1}), "no memory to look whether a walk gets through");
	trace_free(&t);
	return tap_end();
}
