/* SPDX-License-Identifier: BSD-3-Clause
 * together - did the ranks compute for long in the same visits of an edge, or each in others?
 *
 * Histograms do not say it, but the time that ranks waited for each other afterwards does. In a program whose ranks
 * draw lengths from 0.2 to 1.8 ms before an MPI_Allreduce of four ranks, each waits for 0 ms if they all have the same
 * length, and for 0.48 ms in the mean if each has its own.
 *
 * Each way of drawing is tried for some ranks and visits. What comes nearest to the recorded wait, in the next call
 * that waits, is taken:
 *
 *     each rank for itself
 *     ranks draw at the same place of their histograms, each with its own classes
 *     ranks follow the classes of one of them: on a noisy machine, each rank sorted the same times in another way
 */
#ifndef SPOOR_TOGETHER_H
#define SPOOR_TOGETHER_H

#include "insight/class_times.h"

/* How a rank computes on an edge from a site. seed: of the replay. patterns: as for class_times_create. NULL on no
 * memory. */
struct class_times *together_times(const struct trace *t, const struct trace_site *from, const struct trace_edge *e,
                                   uint32_t rank, uint64_t seed, struct pattern *patterns);

/* A way of drawing. */
enum together { TOGETHER_NOT, TOGETHER_PLACE, TOGETHER_CLASSES, TOGETHER_WAYS };
/* The same. *way: how; it is found out, and set, if it is TOGETHER_WAYS: once for all ranks. */
struct class_times *together_drawn(const struct trace *t, const struct trace_site *from, const struct trace_edge *e,
                                   uint32_t rank, uint64_t seed, struct pattern *patterns, enum together *way);

#endif
