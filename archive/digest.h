/* SPDX-License-Identifier: BSD-3-Clause
 * digest - what the index keeps of a trace, so that questions about many traces need not open them
 *
 * Numbers are those of trace/read/summary.h. Times are ns of all ranks together, unless they say otherwise; those that
 * are called `peak` are what the time would be if all ranks took as long as the one that took longest, so that ratios
 * of sums over traces are means weighted by time:
 *
 *     load balance              computed / compute_peak
 *     communication efficiency  compute_peak / run_peak
 *     parallel efficiency       computed / run_peak
 *     imbalance of calls        peak / ns
 */
#ifndef SPOOR_DIGEST_H
#define SPOOR_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/budget.h"
#include "trace/base/error.h"
#include "trace/read/activity.h"

/* A digest of another version in an index is made anew. */
#define DIGEST_VERSION 6
/* Call sites that are kept: those with most time. */
#define DIGEST_SITES 16
/* Functions; MPI has fewer. Their names are cut to so many bytes. */
#define DIGEST_FUNCTIONS 1024
#define DIGEST_NAME      63
/* What reading a trace may cost at most (trace/base/budget.h): anybody can put one into an archive. */
#define DIGEST_MEMORY (UINT64_C(3) << 26)
#define DIGEST_STEPS  (2 * BUDGET_READ)
/* Frames of a call path that are kept as text, from the innermost. */
#define DIGEST_FRAMES 3

/* What is kept of an MPI function, and of a call site. */
struct digest_calls {
	uint64_t calls, ns, bytes; /* bytes: what its callers passed on (activity.h), as far as that is known */
	uint64_t wait_ns;          /* for other ranks, estimated (trace/read/wait_site.h), and unended_ns */
	uint64_t peak_ns;          /* of each site: its ranks times the most of a rank */
	uint64_t unended_ns;       /* in calls that never ended (trace/model/unended.h): not in ns, but in wait_ns */
};

struct digest_function {
	char *name;
	struct digest_calls calls;
};

struct digest_site {
	uint32_t number; /* in the trace */
	char *function;
	uint64_t identity; /* of function and call path: equal in all traces of the same program file */
	char *frames;      /* "solve+0x41f < libhalo.so+0x80 < ...", innermost first; file names and offsets */
	struct digest_calls calls;
};

struct digest {
	uint64_t ranks, events, lost, messages, unsized, bytes;
	uint64_t one_sided_bytes, read_bytes, written_bytes; /* of MPI_Put, MPI_Get, ...; of files; as far as known */
	uint64_t unsized_calls;                              /* of any kind; not in the index */
	uint64_t unplaced_ns;                                /* of compute_ns: at no site, because memory was used up */
	uint64_t mpi_ns, compute_ns, overhead_ns, run_ns;    /* run_ns: of the rank that took longest */
	uint64_t computed_ns, compute_peak_ns, run_peak_ns;  /* 0: not known */
	uint64_t wait_ns, unended_ns;
	uint64_t parts_ns, streams; /* of struct summary (trace/read/summary.h) */
	int64_t late_rank;          /* the rank that the others wait for (trace/read/late.h); negative: there is none */
	char *late_node;            /* the host where it is; NULL: not known */
	char *verdict;              /* what it waited for in the end (insight/hang.h); NULL: nothing is known */
	uint64_t degraded;          /* bits: 0..2 enum trace_why of any column, 4..6 enum trace_stage */
	double load_balance, communication_efficiency, parallel_efficiency; /* negative: not known */
	uint64_t sizes[ACTIVITY_SIZES];                                     /* messages by size class */
	struct digest_function *functions;                                  /* by name */
	size_t function_count;
	struct digest_site *sites; /* most time first */
	size_t site_count;
};

/* Reads a trace file of this owner (REGULAR_ANYBODY: of whoever). Returns 0, or -1 with error set: it cannot be read,
 * is damaged, of a newer version. The caller frees *d in any case. */
int digest_read(struct digest *d, const char *path, int64_t owner, struct error *error);
/* The same of a trace in memory. end: as of verdict_find. Returns 0, or -1 on no memory. */
struct run_end;
int digest_make(struct digest *d, const struct trace *t, const struct run_end *end);
void digest_free(struct digest *d);

#endif
