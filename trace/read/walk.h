/* SPDX-License-Identifier: BSD-3-Clause
 * walk - the events of one stream of a trace (a rank, or a further thread of one: stream.h), in order: follows the
 * successor columns from the first site
 *
 * The trace must have passed trace_check. A walk expands nothing: its memory depends on the size of the trace, not on
 * the number of events.
 */
#ifndef SPOOR_WALK_H
#define SPOOR_WALK_H

#include "trace/model/trace.h"

struct walk;

/* What a walk costs before its first event, in steps of the budget (trace/base/budget.h); each event is one more. */
#define WALK_STEPS 32
/* What the walks of all streams of a trace cost: for those who want to know before they begin. */
uint64_t walk_cost(const struct trace *t);
/* What they cost at least, if they leave out whatever walk_leap can. */
uint64_t walk_cost_least(const struct trace *t);

struct event {
	uint64_t number; /* from 0 */
	uint32_t site;
	const struct schema *schema;
	int64_t base;                   /* what `p` values are relative to */
	const struct pool *own;         /* arrays that are functions of the rank: see event_vector */
	const struct pool_item *edited; /* arrays that were made of edits, by column: the same */
	/* one for each column of the schema, as recorded (doc/events.md, "Kinds"); VALUE_LOSSY: not known */
	int64_t values[SCHEMA_MAX];
};

/* From here on a number is that of an array of edits: no two of them are the same number. */
#define EVENT_EDITED (UINT64_C(1) << 40)

/* The elements (int64_t, not aligned) of an array value of an event that is no named constant. Valid until the next
 * walk_next. */
static inline const struct pool_item *event_vector(const struct trace *t, const struct event *e, int64_t value)
{
	uint64_t number = (uint64_t)value;
	if (number >= EVENT_EDITED)
		return &e->edited[(number - EVENT_EDITED) % SCHEMA_MAX];
	return number < t->vector_pool.count ? &t->vector_pool.items[number]
	                                     : &e->own->items[number - t->vector_pool.count];
}

/* Is it a poll (MPI_Test, MPI_Iprobe, ...) that found nothing? */
static inline bool event_is_vain(const struct event *e)
{
	int flag = e->schema->at[PARAMETER_FLAG], count = e->schema->at[PARAMETER_OUTCOUNT];
	return e->schema->mpi->class == MPI_CLASS_COMPLETION &&
	       ((flag >= 0 && e->values[flag] == 0) || (count >= 0 && e->values[count] == 0));
}

/* Returns 0; or -1 with error set: the stream is not in the trace, or no memory. The trace must outlive the walk. */
int walk_begin(struct walk **out, const struct trace *t, uint32_t stream, struct error *error);
void walk_end(struct walk *w);
/* Before the first walk_next: has the walk begin with this event instead (search.h), which is at `site`; visits: how
 * often the rank was at each site before. Returns 0, or -1 on no memory. */
int walk_seek(struct walk *w, uint64_t number, uint32_t site, const uint64_t *visits);
/* The next event. Returns 0, 1 at the end, -1 with error set if the trace contradicts itself. */
int walk_next(struct walk *w, struct event *e, struct error *error);
/* For a reader that counts, and need not see each turn of a loop. To be called after each event: how many turns more of
 * what came since the last mark will come next, exactly alike but for the event's number; 0: that is not known, or
 * too few to be worth it. *marked: a new mark was made behind the event. At least WALK_TURNS are not counted: they are
 * walked. */
#define WALK_TURNS 4
uint64_t walk_repeats(struct walk *w, bool *marked);
/* Leaves so many turns out, at most as many as walk_repeats just said, and makes a new mark. */
void walk_leap(struct walk *w, uint64_t turns);
/* True if the walk came to its end early: which event comes next is not known, because the successors of the last one's
 * site are a tally. */
bool walk_unordered(const struct walk *w);

/* The rows of a column of an object table (`@comm`, "size") of one stream. *values is malloc'ed; *n is 0 if there is no
 * such table. Returns 0 or -1 with error set. */
int walk_object(const struct trace *t, uint32_t stream, const char *table, const char *column, int64_t **values,
                size_t *n, struct error *error);

#endif
