/* SPDX-License-Identifier: BSD-3-Clause
 * histogram - one histogram in a file (doc/trace-format.md, "a time"): as it is, or compact; for times.c and counts.c
 */
#ifndef SPOOR_HISTOGRAM_H
#define SPOOR_HISTOGRAM_H

#include "trace/entropy.h"
#include "trace/trace.h"

#define HISTOGRAM_CONTEXTS 11
#define HISTOGRAM_DIGITS   63 /* of entropy_put_number: all */

/* As it is. */
void histogram_put_whole(struct writer *w, const struct trace_time *t);
/* Into a zeroed one. Returns 0, or -1: damaged, or no memory. */
int histogram_get_whole(struct reader *r, struct trace_time *t);
uint32_t histogram_get_rank(struct reader *r);

/* What SITE says of the visits of a site. */
struct histogram_visits {
	uint64_t sum, ranks;
	uint32_t first; /* rank */
};
struct histogram_visits histogram_visits(const struct trace_site *s);

/* What a reader knows of where a histogram belongs before it reads it. */
struct histogram_place {
	unsigned at;   /* the first context, of HISTOGRAM_CONTEXTS */
	uint32_t only; /* UINT32_MAX, or the rank that all values are of */
	unsigned rank_bits;
	bool once;     /* no rank was there twice */
	bool rounded;  /* counts of bins are; else it is a file of version 1.1 (only readers ask) */
	unsigned k;
	uint64_t all;  /* the sum of all histograms: those that are a small part of it get fewer bins */
};
/* from: of the site that it is of; of: of the site that its visits are numbered by. `all` is 0. */
struct histogram_place histogram_place(const struct trace *t, const struct histogram_visits *from, const struct histogram_visits *of, unsigned at);

/* Compact. expected: the count that the reader expects. */
void histogram_put(struct entropy_writer *e, const struct histogram_place *p, const struct trace_time *time, uint64_t expected);
int histogram_get(struct entropy_reader *e, const struct histogram_place *p, struct trace_time *t, uint64_t expected);

/* How many bits the numbers below `values` need. */
unsigned histogram_bits(uint64_t values);

#endif
