/* SPDX-License-Identifier: BSD-3-Clause
 * algorithm - by which messages MPI libraries make collective operations, step by step
 *
 * The algorithms are those of Thakur, Rabenseifner and Gropp (Optimization of collective communication operations in
 * MPICH, IJHPCA 2005), and so is the choice by size. In a step a process sends a message, or receives one, or both at
 * once; the next step begins when both are over:
 *
 *     recursive doubling of 4 processes        step 0      step 1
 *     process 0                                with 1      with 2       each time the whole vector
 *     process 3                                with 2      with 1
 *
 * Where their number is no power of two, some processes hand their part to a neighbour first, and get the result back.
 * What reductions compute takes no time.
 */
#ifndef SPOOR_INSIGHT_ALGORITHM_H
#define SPOOR_INSIGHT_ALGORITHM_H

#include "trace/read/call_fields.h"

#define ALGORITHM_NOBODY UINT32_MAX

enum algorithm {
	ALGORITHM_IDEAL, /* no messages: who waits for whom is what the operation means; nothing takes time */
	ALGORITHM_BINOMIAL,
	ALGORITHM_LINEAR, /* the root, or each process, sends to all, or receives from all, one after another */
	ALGORITHM_SCATTER_ALLGATHER, /* binomial, and then a ring: van de Geijn's broadcast */
	ALGORITHM_RECURSIVE_DOUBLING,
	ALGORITHM_RABENSEIFNER, /* recursive halving, then doubling */
	ALGORITHM_RING,
	ALGORITHM_BRUCK,
	ALGORITHM_PAIRWISE,
	ALGORITHM_DISSEMINATION,
	ALGORITHMS
};

/* "recursive-doubling" */
const char *algorithm_name(enum algorithm a);
/* Can this operation be made by it? */
bool algorithm_fits(enum collective c, enum algorithm a);
/* What MPICH takes for so many processes and bytes (of a broadcast or reduction all; else what one process has for one
 * other). */
enum algorithm algorithm_usual(enum collective c, uint32_t size, uint64_t bytes);

/* An operation as one of its processes sees it. */
struct algorithm_call {
	enum collective collective;
	enum algorithm algorithm; /* one that fits */
	uint32_t size, self, root;
	uint64_t bytes; /* as above */
};

struct algorithm_step {
	uint32_t to, from; /* ALGORITHM_NOBODY: it does not send, or receive */
	uint64_t bytes;    /* that it sends */
	uint32_t tag;      /* tells messages of two processes apart, beside the phase */
};

/* Where a process is in it. Zero-initialised: at the beginning. */
struct algorithm_place {
	uint32_t phase, step;
};

/* The next step; false: that was all. */
bool algorithm_next(const struct algorithm_call *c, struct algorithm_place *at, struct algorithm_step *out);

#endif
