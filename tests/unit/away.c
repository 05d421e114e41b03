/* SPDX-License-Identifier: BSD-3-Clause
 * away - time off the processor: the chunk AWAY, what is refused of it; numbers rounded; rows together, in order
 */
#include "trace/model/away.h"

#include "tests/unit/chunk.h"

/* Of all three ranks the same number. */
#define EDGE(from, to, us) from, to, 0, 0, us
#define NONE               0, 0

static void test_refused(void)
{
	struct chunk_test x;
	chunk_test_begin(&x, "AWAY", 3, SAMPLE_AWAY);
	ok(chunk_look(&x, "", 0) && !chunk_numbers(&x, NUMBERS(0, NONE)) && chunk_numbers(&x, NUMBERS(0)) &&
	           chunk_numbers(&x, NUMBERS(0, NONE, 0)),
	   "no edges; refused: nothing, too few, bytes behind them");
	ok(!chunk_numbers(&x, NUMBERS(2, EDGE(1, 2, 2000), EDGE(2, 1, 4000), NONE)), "two edges");
	ok(!chunk_numbers(&x, NUMBERS(0, 1, 0, 0, 200, 1, 0, 0, 300)), "before MPI_Init, and without a core");
	ok(chunk_numbers(&x, NUMBERS(1, EDGE(99, 2, 2000), NONE)) &&
	           chunk_numbers(&x, NUMBERS(1, EDGE(2, 99, 2000), NONE)),
	   "refused: sites that there are not");
	ok(chunk_numbers(&x, NUMBERS(1, EDGE(1, 2, 1), NONE)) && chunk_numbers(&x, NUMBERS(0, 1, 0, 0, 1, 0)),
	   "refused: numbers below 0");
	ok(chunk_numbers(&x, NUMBERS(1, EDGE(1, 2, AWAY_SANE << 3), NONE)), "refused: more than of any day");
	ok(chunk_numbers(&x, NUMBERS(0, 2, 0, 0, 200, 0)), "refused: neither there nor not");
	ok(chunk_numbers(&x, NUMBERS(2, EDGE(1, 2, 2000), NONE)), "refused: too few edges");
	chunk_damage(&x, "AWAY");
	ok(fails_well(chunk_decode_again, &x), "no memory");
	chunk_test_end(&x);
}

static void test_rounded(void)
{
	ok(away_round(0) == 0 && away_round(31) == 31 && away_round(33) == 32 && away_round(1000) == 992 &&
	           away_round(UINT64_MAX) == UINT64_C(31) << 59,
	   "rounded down to five bits");
}

static void test_together(void)
{
	struct trace t, other;
	const uint32_t moved[] = {3, 1, 0, 0};
	const struct trace_away rows[] = {{2, 1, 5, 100}, {0, 1, 7, 40}, {0, 1, 6, 30}},
				more[] = {{2, 1, 4, 8}, {3, 1, 4, 2}};
	if (trace_init(&t) != 0 || trace_init(&other) != 0)
		abort();
	ok(away_between(&t, 0, 1, 5) == 0, "nothing is known");
	for (unsigned i = 0; i < 3; i++)
		ok(away_add(&t, &rows[i]) == 0, "row %u", i);
	ok(away_add(&other, &more[0]) == 0 && away_add(&other, &more[1]) == 0 && away_merge(&t, &other, moved) == 0,
	   "those of another trace, two of whose sites are one here");
	away_order(&t);
	ok(t.away_count == 4 && t.away[0].rank == 4 && t.away[1].rank == 6 && t.away[3].from == 2,
	   "in order of the edge and the rank, each once");
	ok(away_between(&t, 0, 1, 4) == 10 && away_between(&t, 0, 1, 7) == 40 && away_between(&t, 2, 1, 5) == 100 &&
	           away_between(&t, 2, 1, 6) == 0 && away_between(&t, 1, 1, 5) == 0,
	   "found, and added up");
	trace_free(&other);
	trace_free(&t);
}

/* What an arena says of a rank. */
static void test_sample(void)
{
	struct trace t;
	int64_t ms;
	sample_trace(&t, 2, 3, SAMPLE_AWAY);
	ok(t.away_count == 1 && away_between(&t, 0, 1, 2) == 2176, "an edge; not what is little, or damaged");
	ok(rankmap_get(&t.before, 2, &ms) && ms == 2944 && rankmap_get(&t.queued, 2, &ms) && ms == 100,
	   "before MPI_Init, and without a core");
	trace_free(&t);
	sample_trace(&t, 0, 3, SAMPLE_AWAY);
	ok(rankmap_empty(&t.queued), "nothing where it is little");
	trace_free(&t);
}

int main(void)
{
	test_sample();
	test_rounded();
	test_refused();
	test_together();
	return tap_end();
}
