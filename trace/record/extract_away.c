/* SPDX-License-Identifier: BSD-3-Clause
 * extract_away - what an arena knows of its process besides calls: time off the processor, and before MPI_Init
 */
#include "trace/model/away.h"
#include "trace/record/extraction.h"

#define BEFORE_LEAST 100 /* ms */
#define QUEUED_LEAST 10

/* Nothing that is little. Of threads but the first nothing is known of the process. */
static int away_ms(struct rankmap *to, uint32_t rank, uint64_t ns, uint64_t least)
{
	const uint64_t ms = away_round(ns / 1000000);
	return ms < least || ms >= AWAY_SANE ? 0 : rankmap_single(to, rank, (int64_t)ms, false);
}

int extraction_away(struct extraction *x)
{
	const struct record *r = x->record;
	for (unsigned i = 0; i < RECORD_AWAYS; i++) {
		const struct record_away *a = &r->away[i];
		const struct trace_away one = {extraction_site(x, a->from), extraction_site(x, a->to), x->rank,
		                               away_round(a->ns / 1000)};
		if (one.from != UINT32_MAX && one.to != UINT32_MAX && one.us >= AWAY_LEAST && one.us < AWAY_SANE &&
		    away_add(x->trace, &one) != 0)
			return -1;
	}
	away_order(x->trace);
	if (r->thread > 0)
		return 0;
	return away_ms(&x->trace->before, x->rank, r->before_ns, BEFORE_LEAST) == 0 &&
	                       away_ms(&x->trace->queued, x->rank, r->queue_ns, QUEUED_LEAST) == 0
	               ? 0
	               : -1;
}
