/* SPDX-License-Identifier: BSD-3-Clause
 * extraction - strings, vectors and columns of an arena, as a trace has them: a part of trace_extract (model/trace.h)
 *
 * The arena may be damaged, or made up: each function checks what it follows, and returns -1, or what it says, if that
 * is wrong or there is no memory. The trace is then to be freed.
 */
#ifndef SPOOR_EXTRACTION_H
#define SPOOR_EXTRACTION_H

#include "trace/model/trace.h"
#include "trace/record/record.h"

struct extraction {
	struct arena *arena;
	struct record *record;
	struct columns columns;
	struct trace *trace;
	uint32_t rank; /* the stream (stream.h) */
	double ns_per_tick;
	uint64_t compute, communicate; /* ns, of the sites that were extracted */
	/* numbers in the arena -> numbers in the trace */
	uint32_t *strings, *vectors, *modules, *nodes, *functions;
	/* refs of sites are in record.sites, whose index is site.id */
	/* classes of an edge in the arena -> their keys in the trace, while that edge is extracted */
	const int64_t *keys;
	uint32_t key_count;
};

/* To be called before site i is looked at, for each in turn: the process' own arena (arena_open_own) is in memory only
 * as far as some hundred sites need it. Returns 0 or -1. */
int extraction_renew(struct extraction *x, uint32_t i);

/* The reference in element i of a table, if n bytes are valid there; else 0. */
ref extraction_ref(const struct extraction *x, const struct table *t, uint32_t i, uint64_t n);

/* Check all strings and vectors, which get their numbers in the trace when something refers to them. */
int extraction_strings(struct extraction *x);
int extraction_vectors(struct extraction *x);

/* String i of the arena; it must have been checked. */
const struct record_string *extraction_string(const struct extraction *x, uint32_t i);
/* Its number in the trace. UINT32_MAX: no memory. */
uint32_t extraction_string_number(const struct extraction *x, uint32_t i);

/* The rank's host and CPUs. Returns 0 or -1. */
int extraction_place(struct extraction *x);

/* The number of a site of which the record has that + 1; UINT32_MAX: there is none. */
uint32_t extraction_site(const struct extraction *x, uint32_t number);
/* What a killed rank was in, and for how long (model/unended.h). The sites are there already. Returns 0 or -1. */
int extraction_unended(struct extraction *x);

/* The first `visits` values of a column. Nothing is added to `out` if there are none. */
int extraction_column(struct extraction *x, const struct cell *cell, uint64_t visits, enum reference reference,
                      struct trace_column *out);
/* The n values that a brief site has of a column (at most BRIEF_VISITS). */
int extraction_values(struct extraction *x, const int64_t *values, size_t n, enum reference reference,
                      struct trace_column *out);
/* A column of which only is known how many values it had. */
int extraction_unknown(struct extraction *x, uint64_t count, enum reference reference, struct trace_column *out);
/* For how long the rank was off the processor (trace/model/away.h). The sites are there already. Returns 0 or -1. */
int extraction_away(struct extraction *x);
/* What was counted: a struct record_time for each counter, or nothing (0). Damage is left out. Returns 0, or -1 on no
 * memory. */
int extraction_counts(const struct extraction *x, ref at, struct histogram **counts);
/* What the rank spent in a site's calls, if they matter (trace/model/means.h). Returns 0, or -1 on no memory. */
int extraction_means(const struct extraction *x, struct trace_site *s);
/* The computations of an edge, which has none yet, but what was counted. Returns 0, or -1 on no memory. */
int extraction_edge(struct extraction *x, const struct record_edge *e, struct trace_edge *edge);
/* That all computations of an edge are of one class, if they matter. Returns 0, or -1 on no memory. */
int extraction_brief(const struct extraction *x, struct trace_edge *edge);

#endif
