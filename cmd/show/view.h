/* SPDX-License-Identifier: BSD-3-Clause
 * view - the views of `spoor show`: each prints one trace, as text or into a JSON object
 */
#ifndef SPOOR_SHOW_VIEW_H
#define SPOOR_SHOW_VIEW_H

#include <jansson.h>
#include <stdint.h>

#include "trace/file/container.h"
#include "trace/model/trace.h"

struct show {
	const char *name;
	const struct container *container;
	const struct trace *trace;
	json_t *meta; /* the META chunk; NULL if there is none */
	uint32_t rank, thread;
	double at;         /* ns, for show_last: at that time; negative: at the end */
	bool exact;        /* for show_loops: the grammar itself, not the skeleton */
	uint64_t lines;    /* of the skeleton; 0: no limit */
	uint64_t patience; /* ns: insight/verdict.h */
};

/* How long the run took by its metadata, in ns; 0: they do not say it. */
uint64_t show_wall_ns(const json_t *meta);
/* Each returns 0, or -1 after a message on stderr. With json not NULL nothing is printed, and the view becomes members
 * of that object. */
int show_summary(const struct show *s, json_t *json);
int show_sites(const struct show *s, json_t *json);
int show_loops(const struct show *s, json_t *json); /* of s->rank */
int show_matrix(const struct show *s, json_t *json);
int show_waits(const struct show *s, json_t *json);
int show_groups(const struct show *s, json_t *json);
/* The sequence of the sites of s->rank as a grammar: site number = token - 1. The caller frees the pattern. */
struct pattern;
int show_sequence(const struct show *s, struct pattern *out);
/* How many events follow on those in it: their order is lost. */
uint64_t show_unordered(const struct show *s, const struct pattern *p);
int show_last(const struct show *s, json_t *json);
/* Of a node of a skeleton: how often it comes, "3..17"; and in how many turns of what is around it,
 * " [in 12 % of them]", or "" if in all. */
struct skeleton;
struct range_text {
	char count[48], share[64];
};
void show_range(const struct skeleton *k, uint32_t node, struct range_text *text);

#endif
