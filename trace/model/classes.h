/* SPDX-License-Identifier: BSD-3-Clause
 * classes - the computations of an edge, sorted by how long they take
 *
 * A class has a key, which is the same on all ranks: the log-linear bin (histogram_index) of the mean that it has in a
 * rank. The class of each visit of the edge is a column like those of a site: "every tenth step is long" is a pattern
 * of two keys, "rank 0 works more" is a map from ranks to keys.
 *
 *     ranks 0..3, 1 ms each, but 4 ms in rank 0      one group, no pattern, one value: 178 in rank 0, 162 in the others
 *     all ranks, every tenth step 10 ms              one group, pattern `new 1^8 new`..., two values: 162, 189
 *
 * What is no part of it has one histogram, that of the edge, which always has all values:
 *
 *     - an edge that matters to no rank has no classes at all;
 *     - ranks to which it does not matter are in no group, and their values in the class CLASS_REST, if other ranks
 *       have classes;
 *     - ranks whose classes follow each other without order have the class CLASS_MIXED at all visits.
 *
 * What was counted in the computations of a class is with it: the vector of a computation is time and counters. The
 * first values of an edge, before it has classes, are not in it.
 *
 * The means of the ranks are a map, too: in a finished trace relative to what the classes say.
 */
#ifndef SPOOR_CLASSES_H
#define SPOOR_CLASSES_H

#include "trace/model/trace.h"

#define CLASS_REST  0
#define CLASS_MIXED 1
#define CLASS_FIRST 2
#define CLASS_KEYS  (CLASS_FIRST + 64 * HISTOGRAM_PER_OCTAVE)
/* A mean in a finished trace is so many parts more than what is expected, of what is expected. */
#define CLASS_PARTS 32

/* The key of a class of one rank, by its mean in ns. */
static inline uint32_t class_key(uint64_t mean)
{
	return CLASS_FIRST + histogram_index(mean);
}

/* The classes of an edge, made if there are none; NULL: no memory. */
struct trace_classes *classes_make(struct trace_edge *e);
void classes_free(struct trace_edge *e);
/* Takes the classes away, but not the column and the means. */
void classes_empty(struct trace_classes *c);
/* A class, added if it is not there; NULL: no memory. Valid until the next one is added. */
struct trace_class *classes_add(struct trace_classes *c, uint32_t key);
/* NULL: there is no such class. */
const struct trace_class *classes_find(const struct trace_classes *c, uint32_t key);
/* The ranks of `from`, which are others, and what they computed and counted. To be called before that is added to
 * into->compute and into->counts. Their columns are not looked at. counters: numbers of those of `from` in `into`.
 * Returns 0, or -1 on no memory. */
int classes_merge(struct trace_edge *into, const struct trace_edge *from, const uint32_t counters[TRACE_COUNTERS]);
/* Adds computations of a class, and what was counted in them. Returns 0, or -1 on no memory. */
int classes_add_times(struct trace_classes *c, uint32_t key, const struct histogram *compute,
                      const struct histogram *counts, const uint32_t counters[TRACE_COUNTERS]);
/* Adds a group of one rank that has the same key at all visits. Returns 0, or -1 on no memory. */
int classes_set_constant(struct trace_classes *c, uint32_t rank, uint32_t key);
/* How often a group of the class column has each value of its dictionary, in one rank: by its pattern, of which
 * *symbols gets the size added; without one `visits`. budget_malloc'ed; NULL: no memory, or no pattern of the group. */
uint64_t *classes_visits(const struct trace *t, const struct trace_group *g, uint64_t visits, uint64_t *symbols);

#endif
