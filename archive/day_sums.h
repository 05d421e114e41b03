/* SPDX-License-Identifier: BSD-3-Clause
 * day_sums - sums of whole days, kept in the index: what `spoor aggregate` would otherwise add up again each time
 *
 * A day is that of a trace's start, UTC. Its sums are one aggregate for each question of DAY_SUMS, as bytes. A job
 * counts once, in whatever days it ran: so traces of jobs of several days are in no sum, but in the day's rest.
 *
 *     day_sum     day, question -> bytes        days that are over, of many traces, all of them with their digests
 *     day_rest    day -> traces                 that its sums leave out
 *
 * A question for all traces, or for those of some time, takes the sums of the days that are wholly in it; the days at
 * its ends, those without sums, and the rests are gone through trace by trace. Whatever changes in a day removes its
 * sums (tables.c).
 */
#ifndef SPOOR_DAY_SUMS_H
#define SPOOR_DAY_SUMS_H

#include "archive/aggregate.h"
#include "archive/query.h"

/* Days with fewer traces have no sums: to go through them is cheap, and sums would be larger than the traces. */
#define DAY_SUMS_LEAST 1000

struct day_sums_update {
	uint64_t least; /* DAY_SUMS_LEAST */
	int64_t now;    /* seconds since 1970; sums are made of days that ended a day ago */
	int wait;       /* milliseconds to wait for the lock of the index; negative: for ever */
	void (*progress)(void *context, uint64_t done, uint64_t all); /* is told of days; may be NULL */
	void *context;
	uint64_t made; /* gets: days */
};
/* Makes the sums that are missing. All digests should be there. The catalog must not be locked. Returns 0; 1 if the
 * index cannot be changed (by us, or now); -1 with error set. */
int day_sums_update(struct catalog *c, struct day_sums_update *u, struct error *error);

/* The days whose sums were taken: what is to be gone through is all else. */
struct day_rest {
	int64_t *days; /* in order */
	size_t count, room;
	int64_t first_ns, past_ns; /* of what is asked for, as far as that is said */
};

/* Adds the sums that answer part of the question to a, and says in *rest of which days. None are there for some
 * questions: then rest is empty, as it must be before. The catalog must be locked. Returns 0, or -1 with error set. */
int day_sums_take(struct aggregate *a, struct catalog *c, const struct catalog_filter *filter, struct day_rest *rest,
                  struct error *error);
void day_rest_free(struct day_rest *rest);
/* Tells a connection of these days, for day_sums_ask_rest. Returns 0, or -1 with error set. */
int day_rest_prepare(const struct day_rest *rest, struct catalog *c, struct error *error);

/* Conditions of a query: traces of a day without its rest; all but what the sums had that were taken. */
void day_sums_ask_day(struct query *q, int64_t day);
void day_sums_ask_rest(struct query *q);

#endif
