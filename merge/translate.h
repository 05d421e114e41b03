/* SPDX-License-Identifier: BSD-3-Clause
 * translate - the numbers that the things of one trace have in another
 *
 * Strings, modules, frames, functions and sites are taken over all at once, in this order; arrays and patterns when
 * something refers to them.
 */
#ifndef SPOOR_TRANSLATE_H
#define SPOOR_TRANSLATE_H

#include "trace/model/packed.h"
#include "trace/model/trace.h"

/* Numbers of things in `from` -> numbers in `into`; of arrays and patterns UINT32_MAX where that is not known yet. */
struct translation {
	struct trace *into;
	const struct trace *from;
	struct trace *take; /* NULL, or `from`, whose arrays may be moved and whose sites are dropped */
	packed_more *more;  /* NULL, or brings the sites of `take` */
	void *context;      /* its */
	uint32_t *strings, *vectors, *patterns, *modules, *nodes, *functions, *sites;
	uint32_t counters[TRACE_COUNTERS];
	/* merge/merge_packed.h: what it knows already (NULL: nothing yet); the columns of the site that is being
	 * merged, and the traits that they make */
	struct joined *joined;
	struct writer columns, key;
	unsigned traits;
};

/* Room for the numbers of n things; malloc'ed, NULL on no memory. */
uint32_t *translate_numbers(uint32_t n);

/* All of a kind, added to `into` where they are not there yet. Return 0, or -1 on no memory. */
int translate_strings(struct translation *x);
int translate_modules(struct translation *x);
int translate_paths(struct translation *x); /* modules and frames */
int translate_functions(struct translation *x);
int translate_sites(struct translation *x);

/* A value of a column that refers to such things. */
int64_t translate_value(const struct translation *x, int64_t v, enum reference reference);
/* The same of each value of a map. *out is overwritten. Returns 0, or -1 on no memory. */
int translate_map(const struct translation *x, const struct rankmap *m, enum reference reference, struct rankmap *out);
/* An array's values; malloc'ed, NULL on no memory. */
int64_t *translate_array(const struct translation *x, const struct pool_item *p);
/* Return the number in `into`, or UINT32_MAX on no memory. */
uint32_t translate_vector(const struct translation *x, uint32_t number);
uint32_t translate_pattern(struct translation *x, uint32_t number);

#endif
