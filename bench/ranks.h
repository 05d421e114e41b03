/* SPDX-License-Identifier: BSD-3-Clause
 * ranks - the traces of synthetic ranks, which stand in a grid of up to three dimensions and all run one program
 */
#ifndef SPOOR_BENCH_RANKS_H
#define SPOOR_BENCH_RANKS_H

#include "trace/model/trace.h"

struct grid {
	uint32_t n, size[3];
	uint32_t per_host; /* ranks; 0: all are on one */
};

struct rank;

struct workload {
	const char *name;
	void (*make)(struct rank *r);
	int most; /* 2^most ranks, unless told otherwise: what differs in all ranks grows with them */
};
#define WORKLOADS 5
extern const struct workload workloads[WORKLOADS];

/* Of 2^k ranks. */
struct grid grid_of(int k, uint32_t per_host);
/* The trace of one rank, malloc'ed. Ends the program if there is no memory. */
struct trace *ranks_make(const struct workload *w, const struct grid *grid, uint32_t rank);

#endif
