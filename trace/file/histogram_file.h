/* SPDX-License-Identifier: BSD-3-Clause
 * histogram_file - one histogram in a file of a complete trace (doc/trace-format.md, "a time"); for times_file.c and
 * counts_file.c
 */
#ifndef SPOOR_HISTOGRAM_FILE_H
#define SPOOR_HISTOGRAM_FILE_H

#include "trace/base/entropy.h"
#include "trace/model/ordinals.h"
#include "trace/model/trace.h"

#define HISTOGRAM_CONTEXTS 11
#define HISTOGRAM_DIGITS   63 /* of entropy_put_number: all */

/* What SITE says of the visits of a site. */
struct histogram_visits {
	uint64_t sum, ranks;
	uint32_t first; /* rank */
	struct ordinals order;
	struct rankmap room; /* of a packed trace: what `order` looks at */
};
/* Of all sites. NULL: no memory. */
struct histogram_visits *histogram_visits_new(const struct trace *t);
void histogram_visits_free(struct histogram_visits *visits, const struct trace *t);

/* What a reader knows of where a histogram belongs before it reads it. */
struct histogram_place {
	unsigned at;   /* the first context, of HISTOGRAM_CONTEXTS */
	uint32_t only; /* UINT32_MAX, or the rank that all values are of */
	unsigned rank_bits;
	const struct ordinals *order; /* what ranks are numbers in */
	bool once;                    /* no rank was there twice */
	unsigned k;
	uint64_t all; /* the sum of all histograms: those that are less than 1/share of it get fewer bins */
	unsigned share;
};
/* from: of the site that it is of; of: of the site that its visits are numbered by. `all` is 0. */
struct histogram_place histogram_place(const struct trace *t, const struct histogram_visits *from,
                                       const struct histogram_visits *of, unsigned at);
/* A rank that was at the site. */
void histogram_put_rank(struct entropy_writer *e, const struct histogram_place *p, uint32_t rank);
uint32_t histogram_rank(struct entropy_reader *e, const struct histogram_place *p);

/* The sum as a file has it: what is decided by it is decided alike when the file is written again. */
uint64_t histogram_sum(const struct histogram *t);
/* Compact. expected: the count that the reader expects. */
void histogram_put(struct entropy_writer *e, const struct histogram_place *p, const struct histogram *time,
                   uint64_t expected);
int histogram_get(struct entropy_reader *e, const struct histogram_place *p, struct histogram *t, uint64_t expected);

/* How many bits the numbers below `values` need. */
unsigned histogram_bits(uint64_t values);

#endif
