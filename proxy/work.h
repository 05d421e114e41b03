/* SPDX-License-Identifier: BSD-3-Clause
 * work - what a proxy computes between its calls
 *
 * As it is written, a computation takes as long as it took: it spins until then, or sleeps, compiled with -DSLEEP, so
 * that more ranks than cores do not wait for each other. Where the trace has counters, and the blocks were measured
 * (proxy/calibration.h), it is so many turns of each block instead; then the machine says how long it takes. Compiled
 * with -DSCALE=0.5, it computes half as much.
 */
#ifndef SPOOR_PROXY_WORK_H
#define SPOOR_PROXY_WORK_H

#include <stdio.h>

#include "trace/model/trace.h"

struct calibration;
struct definitions;
struct detours;
struct tree;

struct work_options {
	double scale;                          /* what SCALE is unless the compiler is told */
	const struct calibration *calibration; /* NULL: times only */
	/* Of a program that makes fewer visits: how many of each edge, by all ranks, and how many times as much is
	 * computed in each; in the order of sites of the trace. NULL: all. */
	const struct work_left {
		uint32_t from, to;
		uint64_t count;
		double factor;
	} * left;
	size_t left_count;
	const struct detours *detours; /* around calls that it does not make; NULL: none */
};

/* For qsort. */
int work_left_compare(const void *a, const void *b);

/* Writes `static void work_begin(void)`, which is called before MPI_Init, and `static void compute(int site)`, with its
 * tables, which is called before each other MPI call of a call site. It keeps the last site itself. site_of[N]: the
 * trace's site of call site N of the program, each once; `rank` is a static variable of the program, and is set when
 * MPI_Init has returned. The program defines _POSIX_C_SOURCE 200809L. Returns 0, or -1 with error set. */
int work_write(FILE *out, struct definitions *tables, struct tree *tree, const struct trace *t, const uint32_t *site_of,
               uint32_t sites, const struct work_options *options, struct error *error);

#endif
