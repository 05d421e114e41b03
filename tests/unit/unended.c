/* SPDX-License-Identifier: BSD-3-Clause
 * unended - what killed ranks were doing: the chunk OPEN, what is refused of it; ranks together; canonical order
 */
#include "trace/model/unended.h"

#include "tests/unit/chunk.h"
#include "insight/hang.h"

/* Of all three ranks: site, what, ranks, sum, least, most - least, and who has them. */
#define COMPUTES(site, sum, least, range, low, high)        site, 1, 0, sum, least, range, low, high
#define CALL(site, sum, least, range, low, high, arguments) site, 0, 0, sum, least, range, low, high, arguments

/* One argument of all three ranks, the same number in all. */
#define ONE(column, element, value) column, element, 0, 0, value

static void test_arguments_refused(struct chunk_test *x)
{
#define GATHER(n, ...) NUMBERS(1, CALL(2, 60, 10, 20, 0, 2, n), __VA_ARGS__)
	ok(!chunk_numbers(x, GATHER(2, ONE(0, 0, 14), ONE(1, 0, 4))), "two arguments");
	ok(chunk_numbers(x, GATHER(2, ONE(1, 0, 4), ONE(0, 0, 14))) &&
	           chunk_numbers(x, GATHER(2, ONE(0, 0, 4), ONE(0, 0, 14))),
	   "refused: arguments in disorder, or twice");
	ok(chunk_numbers(x, GATHER(1, ONE(9, 0, 4))), "refused: a parameter that the function does not have");
	ok(chunk_numbers(x, GATHER(1, ONE(1, 1, 4))), "refused: an element of what is no array");
	ok(chunk_numbers(x, GATHER(1, 0, 0, 1, 0)) && chunk_numbers(x, GATHER(3, ONE(0, 0, 14))),
	   "refused: of no rank; too few");
}

static void test_refused(void)
{
	struct chunk_test x;
	chunk_test_begin(&x, "OPEN", 3, SAMPLE_KILLED);
	ok(chunk_look(&x, "", 0) && !chunk_numbers(&x, NUMBERS(0)) && chunk_numbers(&x, NUMBERS(0, 0)),
	   "no entries; refused: nothing, bytes behind them");
	ok(!chunk_numbers(&x, NUMBERS(1, CALL(2, 60, 10, 20, 0, 2, 0))), "a call of three ranks");
	ok(!chunk_numbers(&x, NUMBERS(2, CALL(2, 60, 10, 20, 0, 2, 0), COMPUTES(2, 60, 20, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, COMPUTES(2, 60, 10, 20, 0, 2), CALL(2, 60, 20, 0, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, CALL(2, 60, 10, 20, 0, 2, 0), CALL(2, 60, 20, 0, 0, 0, 0))) &&
	           chunk_numbers(&x, NUMBERS(2, CALL(2, 60, 10, 20, 0, 2, 0), CALL(1, 60, 20, 0, 0, 0, 0))),
	   "refused: entries in disorder, or twice");
	ok(chunk_numbers(&x, NUMBERS(1, CALL(99, 60, 10, 20, 0, 2, 0))), "refused: a site that there is not");
	ok(chunk_numbers(&x, NUMBERS(1, 2, 2, 0, 60, 10, 20, 0, 2, 0)), "refused: neither call nor computation");
	ok(chunk_numbers(&x, NUMBERS(1, CALL(2, 29, 10, 20, 0, 2, 0))) &&
	           chunk_numbers(&x, NUMBERS(1, CALL(2, 93, 10, 20, 0, 2, 0))),
	   "refused: a mean that is not between the least and the most");
	ok(chunk_numbers(&x, NUMBERS(1, CALL(2, 60, 10, 20, 3, 2, 0))) &&
	           chunk_numbers(&x, NUMBERS(1, CALL(2, 60, 10, 20, 0, 3, 0))) &&
	           chunk_numbers(&x, NUMBERS(1, CALL(2, 60, 10, 20, UINT64_C(1) << 32, 2, 0))),
	   "refused: ranks that are not in it");
	ok(chunk_numbers(&x, NUMBERS(1, CALL(2, UINT64_MAX, 10, 20, 0, 2, 0))) &&
	           chunk_numbers(&x, NUMBERS(1, CALL(2, 60, 10, UINT64_MAX, 0, 2, 0))) &&
	           chunk_numbers(&x, NUMBERS(1, CALL(2, 3 * UNENDED_SANE + 6, UNENDED_SANE + 1, 2, 0, 2, 0))),
	   "refused: times of more than any day");
	chunk_damage(&x, "OPEN");
	test_arguments_refused(&x);
	ok(fails_well(chunk_decode_again, &x), "no memory");
	chunk_test_end(&x);
}

static void test_together(void)
{
	struct trace t, other;
	const uint32_t moved[] = {3, 1, 0, 2};
	char text[128];
	size_t length;
	if (trace_init(&t) != 0 || trace_init(&other) != 0)
		abort();
	t.size = 8;
	ok(unended_function(&t, &length)[0] == '\0' && length == 0 && !unended_of(&t, 0), "nothing is known");
	ok(unended_add(&t, 0, true, 5, 70, NULL) == 0 && unended_add(&t, 0, true, 1, 30, NULL) == 0 &&
	           unended_add(&t, 0, false, 2, 7, NULL) == 0 && unended_add(&t, 0, true, 7, 70, NULL) == 0 &&
	           t.unended_count == 2,
	   "calls of a site are one, computations another");
	ok(unended_add(&t, 0, true, 5, 1, NULL) == -1, "a rank twice");
	ok(unended_add(&other, 1, false, 3, 4, NULL) == 0 && unended_add(&other, 2, true, 0, 30, NULL) == 0 &&
	           unended_merge(&t, &other, moved, NULL) == 0 && t.unended_count == 3,
	   "those of another trace, whose sites have other numbers here");
	unended_order(&t);
	const struct trace_unended *u = t.unended;
	ok(u[0].site == 0 && u[0].call && u[0].sum == 200 && u[0].min == 30 && u[0].min_rank == 0 && u[0].max == 70 &&
	           u[0].max_rank == 5 && rankmap_size(&u[0].ranks) == 4,
	   "sum and extremes; of several ranks the lowest");
	ok(u[1].site == 0 && !u[1].call && u[1].sum == 7 && u[2].site == 1 && !u[2].call && u[2].sum == 4,
	   "in order of site, calls first");
	ok(unended_call(&t) == &u[0] && unended_of(&t, 2) == &u[1] && !unended_of(&t, 6), "what a rank was doing");
	ok(strcmp(hang_ranks(text, sizeof text, &t, &u[0].ranks), "0-1,5,7") == 0, "its ranks: %s", text);
	trace_free(&other);
	trace_free(&t);
}

static void test_passed(void)
{
	struct passed p = {.count = 0}, other = {.count = 0};
	const uint32_t strings[] = {0, 5};
	int64_t v;
	ok(passed_add(&p, 2, 0, 3, 7) == 0 && passed_add(&p, 1, 1, 3, 11) == 0 && passed_add(&p, 1, 0, 3, 10) == 0 &&
	           passed_add(&p, 2, 0, 4, 9) == 0 && p.count == 3 && p.each[0].element == 0 && p.each[2].column == 2,
	   "arguments in order, one map for all ranks");
	ok(passed_get(&p, 2, 0, 4, &v) && v == 9 && passed_get(&p, 1, 1, 3, &v) && v == 11, "found");
	ok(!passed_get(&p, 2, 0, 5, &v) && !passed_get(&p, 1, 2, 3, &v) && !passed_get(&p, -1, 0, 3, &v), "not there");
	ok(passed_add(&p, 2, 0, 3, 1) == -1, "a rank twice");
	ok(passed_add(&other, 2, 0, 0, VALUE_CONSTANT + 1) == 0 && passed_add(&other, 9, 0, 0, 1) == 0 &&
	           passed_join(&p, &other, strings) == 0 && passed_get(&p, 2, 0, 0, &v) && v == VALUE_CONSTANT + 5 &&
	           passed_get(&p, 9, 0, 0, &v) && v == 1,
	   "those of other ranks, whose strings have other numbers here");
	passed_free(&other);
	passed_free(&p);
}

/* The sample's calls: MPI_Gather recvcount=7 root=0 comm=MPI_COMM_WORLD. */
static void test_sample(void)
{
	struct trace t;
	int64_t count, root, comm;
	sample_trace(&t, 2, 3, SAMPLE_KILLED);
	const struct trace_unended *u = unended_of(&t, 2);
	ok(u && unended_passed(&t, u, PARAMETER_RECV_COUNT, 0, 2, &count) && count == 7 &&
	           unended_passed(&t, u, PARAMETER_COMM, 0, 2, &comm) &&
	           trace_is_constant(&t, comm, CONST_MPI_COMM_WORLD) &&
	           unended_passed(&t, u, PARAMETER_ROOT, 0, 2, &root) && root == -2,
	   "what a call was passed");
	ok(u && !unended_passed(&t, u, PARAMETER_TAG, 0, 2, &count) &&
	           !unended_passed(&t, u, PARAMETER_ROOT, 0, 1, &root),
	   "no such parameter, no such rank");
	trace_free(&t);
}

int main(void)
{
	test_passed();
	test_sample();
	test_refused();
	test_together();
	return tap_end();
}
