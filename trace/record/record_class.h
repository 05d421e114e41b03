/* SPDX-License-Identifier: BSD-3-Clause
 * record_class - the computations of an edge, sorted into few classes by how long they took
 *
 * The first values of an edge are kept one by one (time_cell.h). When they become a histogram they are sorted into
 * classes: groups with gaps between them. A later value that is far from every class begins another one. As long as
 * there is one class, the edge has its histogram and nothing more:
 *
 *     compute.full    the histogram
 *     compute.list    0
 *     compute.few[0]  how many computations the edge has
 *
 * With the second class, the order of the classes becomes a column of the edge (trace/record/column.h), in a struct
 * record_classes, to which compute.list refers then:
 *
 *     1 1 1 10 1 1 1 10    classes 0 0 0 1 0 0 0 1: the pattern of a loop, and two histograms
 *
 * `compute.at`, which the recorder compares with, is the histogram of the class that the column expects: a value that
 * is plain in it needs no more than counting. Where no class is expected it is record.never, for which no value is
 * plain.
 *
 * Classes that follow each other without order are noise. When the pattern has more tokens than the order is worth, the
 * classes are *mixed*: all values are counted in class 0 from then on, and a reader adds up all histograms.
 *
 * That is whole before the edge refers to it, and then has all values of the edge. compute.full is the histogram of
 * class 0. A reader of a crashed arena takes as many values of the column as few[0] says. There may be one more than
 * the site has successors. Where the process died just when the histogram was made, it is no number, and the column
 * cannot be read.
 */
#ifndef SPOOR_RECORD_CLASS_H
#define SPOOR_RECORD_CLASS_H

#include "trace/record/record.h"

#define RECORD_CLASSES 8 /* of an edge; what comes after the eighth is in the nearest one */

struct record_class {
	ref time;        /* struct record_time */
	ref counts;      /* struct record_time for each of record.counters, of those that were counted since; 0: none */
	uint64_t center; /* ticks: values nearer to this than to the other classes belong to it */
};

struct record_classes {
	struct cell column; /* the class of each visit of the edge, while not mixed */
	uint32_t count, mixed;
	uint64_t last, runs; /* the class of the last visit that was looked at, and how often another one came */
	struct record_class each[RECORD_CLASSES];
};

/* What the edge refers to; 0: it has one class. */
static inline ref record_edge_classes(const struct record_edge *e, struct time_none none)
{
	return e->compute.full != none.never && e->compute.full != none.poor ? e->compute.list : 0;
}

/* Adds a computation, of which `visit` is the visit of the site behind it: the next visit of the edge. With room as for
 * record_time_add, and for a put. */
void record_edge_add(struct columns *x, struct record_edge *e, uint64_t ticks, uint64_t visit);

/* What is counted in the class of the computation that was added last: histograms of so many counters, made if they are
 * not there. NULL: it has no classes, or there is no room. */
struct record_time *record_edge_counts(struct columns *x, const struct record_edge *e, unsigned counters);

/* Empties the words of the edge's histograms that are full (record_time_empty). */
void record_edge_empty(struct arena *a, const struct record_edge *e);

#endif
