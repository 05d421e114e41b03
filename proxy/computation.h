/* SPDX-License-Identifier: BSD-3-Clause
 * computation - what ranks compute on an edge of a trace, in a form that a person can read
 *
 * Ranks that do the same are one kind. What a kind does is the same each time, or a few things in turn, or things that
 * are drawn because they follow each other without order:
 *
 *     ranks 1 to 3: 1 ms; rank 0: 4 ms             two kinds, one part each
 *     9 times 1 ms and then 10 ms, and so on       one kind, parts (9, 1 ms) (1, 10 ms), in turn
 */
#ifndef SPOOR_COMPUTATION_H
#define SPOOR_COMPUTATION_H

#include "proxy/rank_rule.h"
#include "trace/model/pattern.h"
#include "trace/model/trace.h"

#define COMPUTATION_PARTS  32
#define COMPUTATION_VISITS (1 << 15) /* from so many on, what is drawn comes again */

struct computation {
	bool drawn;     /* else in turn */
	uint32_t count; /* of parts */
	uint32_t again; /* in turn: behind the last one comes this one */
	/* In which order values are drawn, so many as there are visits (computation_order.h). */
	uint32_t visits;
	unsigned apart, seed;
	struct computation_part {
		uint64_t times; /* in a row; drawn: how often in all */
		double ns;
		double width; /* ns: of the interval in which times lie evenly; 0: they are all the same */
		double counts[TRACE_COUNTERS]; /* by the counters of the trace */
		uint32_t key;                  /* of the class */
	} parts[COMPUTATION_PARTS];
};

/* Of one edge. kind: of each rank, RANK_ANY if it does not come there; malloc'ed. */
struct computation_kinds {
	uint8_t *kind;
	uint32_t count;
	struct computation *each; /* malloc'ed */
};

/* by_counts: what was counted matters, not the time. patterns: one for each of the trace's, parsed when first used. The
 * caller frees `kinds` in any case. Returns 0, or -1 on no memory. */
int computation_kinds(const struct trace *t, const struct trace_site *from, const struct trace_edge *e, bool by_counts,
                      struct pattern *patterns, struct computation_kinds *kinds);
void computation_kinds_free(struct computation_kinds *kinds);
/* The width of all parts, as a part of their time; 0 if that is next to nothing. */
double computation_width(const struct computation *c);

#endif
