/* SPDX-License-Identifier: BSD-3-Clause
 * trends - what `spoor trend` and the page of an archive say of applications and nodes that became slower
 */
#ifndef SPOOR_TRENDS_H
#define SPOOR_TRENDS_H

#include "archive/history.h"

#define TRENDS_MOST  20000                  /* histories that are kept if nobody says so */
#define TRENDS_CAUSE 15                     /* runs of each side that are looked at for a cause */
#define TRENDS_SPAN  (180 * INT64_C(86400)) /* s: that are looked at if nobody says since when */

struct trend_line {
	char application[METADATA_APPLICATION], at[200]; /* at: where the cause is; "": not known */
	int64_t ranks, since_ns, last_ns;
	size_t runs;
	double median, last, change; /* s, s, the last change: -0.3 is 30 % less; 0: there is none */
	struct history_run before[TRENDS_CAUSE], after[TRENDS_CAUSE];
	size_t before_count, after_count;
	struct history_cause cause;
};

/* filter, last and top are set, the rest is zero. */
struct trends {
	const struct catalog_filter *filter;
	size_t last, top;         /* medians are of so many runs; of so many applications the cause is looked for */
	uint32_t most;            /* histories that are kept; of more, the better half stays. 0: TRENDS_MOST */
	struct trend_line *lines; /* what became slower, by what it costs; then the others, the latest first */
	uint32_t count, room;
	size_t all, slower;         /* how many applications there are, and how many of them became slower */
	struct history_node *nodes; /* the least likely first */
	size_t node_count;
};

/* The catalog is up to date, with its digests, and locked. Returns 0, or -1 with error set; trends_free in both cases.
 */
int trends_read(struct trends *t, struct catalog *c, struct error *error);
/* Where the call sites are in the source. Traces are opened: without the lock of the index. */
void trends_find_places(struct trends *t, struct catalog *c);
/* How many of the nodes are slow; they are the first ones. */
size_t trends_slow_nodes(const struct trends *t);
void trends_free(struct trends *t);

#endif
