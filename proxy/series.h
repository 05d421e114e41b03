/* SPDX-License-Identifier: BSD-3-Clause
 * series - the values that something has at its visits, one after the other, as the shortest list of runs
 *
 *     7 7 7 7          (7, 0, forever)
 *     0 1 2 3          (0, 1, forever)
 *     9 5 5 6 5 5 6    lead (9, 0, 1), then again and again: (5, 0, 2) (6, 0, 1)
 *
 * The last run of a series that does not repeat goes on for ever, so that its length says nothing of how often it is
 * asked.
 */
#ifndef SPOOR_PROXY_SERIES_H
#define SPOOR_PROXY_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run {
	int64_t start, stride;
	int64_t count; /* 0: forever */
};

struct runs {
	int64_t count, lead; /* what follows the first `lead` runs is repeated; lead == count: nothing is */
	/* Values of the last run, where it goes on for ever and they are not equal; of all, where they are repeated. */
	int64_t rest;
	struct run each[];
};

/* Values as they come, in parts. Those of a part that have a period are only counted, so that a loop takes as much
 * memory as one of its turns. Zero-initialised is empty. */
struct series {
	uint64_t count;
	int64_t *values; /* what is kept of all parts */
	uint64_t kept, capacity;
	struct series_part {
		uint64_t first;  /* which value of the series is its first one */
		uint64_t at;     /* where that is in `values` */
		uint64_t kept;   /* so many are there */
		uint64_t period; /* and those behind them are as those so many before; 0: there are none */
	} * parts;
	uint32_t part_count, part_capacity;
};

/* Returns 0, or -1: no memory. */
int series_append(struct series *s, int64_t value);
/* The values from number `since` on come so many times again. Takes as long as they are many, whatever `turns` is. */
int series_repeat(struct series *s, uint64_t since, uint64_t turns);
void series_free(struct series *s);
/* Makes the runs of a series that is not empty; budget_malloc'ed, *bytes of them. numbers: values can be counted with;
 * else all strides are 0. NULL: no memory. */
struct runs *series_runs(const struct series *s, bool numbers, size_t *bytes);
/* Where somebody is who takes the values that runs describe from the first one on. Begins as {runs}. */
struct runs_walk {
	const struct runs *runs;
	int64_t run;
	uint64_t visit; /* of that run */
};

/* The value of the next visit. */
int64_t runs_next(struct runs_walk *w);
/* Bytes of a struct runs of so many runs. */
static inline size_t runs_size(size_t count)
{
	return sizeof(struct runs) + count * sizeof(struct run);
}

/* The first `lead` values, and then `period` again and again. False: they are more than `most`. */
bool runs_length(const struct runs *r, uint64_t most, uint64_t *lead, uint64_t *period);
/* Are the values the same again each `turns` of them? */
bool runs_are_periodic(const struct runs *r, uint64_t turns);

#endif
