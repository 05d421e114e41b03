/* SPDX-License-Identifier: BSD-3-Clause
 * unended - what ranks were doing when they were killed, and for how long
 *
 * A rank was in a call that did not return, or it computed and never came to its next call. That time is in no
 * histogram and in no total of the trace: there is no event that it belongs to.
 *
 *     ranks 0, 1, 3    in MPI_Bcast (site 4)                72.7 s each
 *     rank 2           computed, after MPI_Barrier (site 3)  72.7 s
 *
 * It is known where whoever made the trace knew when the processes ended (deliver/salvage.h).
 */
#ifndef SPOOR_UNENDED_H
#define SPOOR_UNENDED_H

#include "trace/model/passed.h"
#include "trace/model/trace.h"

struct trace_unended {
	uint32_t site;          /* of the call; of a computation: of the call before it */
	bool call;              /* else it is a computation */
	struct rankmap ranks;   /* streams, as a set; not empty */
	uint64_t sum, min, max; /* ns, of all of them; the least and the most */
	uint32_t min_rank, max_rank;
	struct passed passed; /* of a call: its arguments, of ranks that they are known of */
};

/* More than this of one rank is damage: a day times 2^11. */
#define UNENDED_SANE (UINT64_C(1) << 58)

/* Adds one rank. passed: its arguments, which are copied; NULL: not known. Returns 0 or -1. */
int unended_add(struct trace *t, uint32_t site, bool call, uint32_t rank, uint64_t ns, const struct passed *passed);
/* Adds what is read from a file, at the end; its ranks and arguments are the trace's then. Returns 0 or -1. */
int unended_add_take(struct trace *t, const struct trace_unended *u);
/* Adds all of another trace; sites, strings: their numbers here. Returns 0, or -1: no memory, or a rank is in both. */
int unended_merge(struct trace *into, const struct trace *from, const uint32_t *sites, const uint32_t *strings);
/* Canonical order: by site, calls first. */
void unended_order(struct trace *t);
/* The call that a rank was in, or the computation; NULL: that is not known. */
const struct trace_unended *unended_of(const struct trace *t, uint32_t rank);
/* What a rank passed to the call that it was in: unended_passed(t, u, PARAMETER_SOURCE, 0, rank, &value). element: of
 * an array (PARAMETER_REQUEST of MPI_Waitall: until one is not known, PASSED_ELEMENTS at most). False: that is not
 * known, or the function has no such parameter. */
bool unended_passed(const struct trace *t, const struct trace_unended *u, enum mpi_parameter p, uint32_t element,
                    uint32_t rank, int64_t *value);
/* The call that took most time of all ranks; NULL: none was in one for a known time. */
const struct trace_unended *unended_call(const struct trace *t);
/* Its function, not terminated, and how long that is; 0: there is none. The trace may be packed. */
const char *unended_function(const struct trace *t, size_t *length);
void unended_free(struct trace *t);

#endif
