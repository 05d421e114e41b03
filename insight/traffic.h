/* SPDX-License-Identifier: BSD-3-Clause
 * traffic - who sent how much to whom: all messages of a trace, by pair of ranks and by size
 *
 * Counts what the senders' calls say, when they are started, and what arrives at nobody (MPI_PROC_NULL) not at all.
 * One-sided calls are counted apart.
 * Ranks are those of MPI_COMM_WORLD; messages in communicators whose members are not known are counted apart. Walks
 * every event of every rank that has an order.
 */
#ifndef SPOOR_INSIGHT_TRAFFIC_H
#define SPOOR_INSIGHT_TRAFFIC_H

#include "trace/read/call_fields.h"

struct traffic_cell {
	uint32_t from, to;
	uint64_t messages, bytes;
	uint64_t one_sided, one_sided_bytes; /* calls; MPI_Get moves them from the target to the caller */
	/* Of collectives, in which a call is one for each pair; only of traffic_make_passed. */
	uint64_t passed, passed_bytes;
};

/* What a file was read and written with, over all ranks. */
struct traffic_file {
	const char *name;                      /* as it was opened; of the trace */
	uint64_t reads, read, writes, written; /* calls, bytes */
	/* Those of calls that return when it is done; ns: how long they took, by the means of their sites. */
	uint64_t timed_read, timed_written;
	double read_ns, written_ns;
};

/* Sizes: class 0 is of empty messages, class n of those of 2^(n-1) .. 2^n - 1 bytes. */
#define TRAFFIC_CLASSES 65

struct traffic {
	struct traffic_cell *cells; /* malloc'ed, by from, then to */
	size_t count;
	uint64_t other_messages, other_bytes; /* to ranks that are not known */
	uint64_t other_one_sided, other_one_sided_bytes;
	struct traffic_file *files; /* malloc'ed, by name */
	size_t file_count;
	uint32_t *file_at; /* while it is made */
	/* Messages, one-sided calls and accesses to files whose size is not known; their bytes are 0. */
	uint64_t unknown_sizes;
	uint64_t unordered; /* events that have no order: nothing of the above is of them */
	uint64_t unknown;   /* messages and requests that are left out: a value that they need is not known (lossy) */
	struct {
		uint64_t messages, bytes;
	} sizes[TRAFFIC_CLASSES];
	struct {
		uint64_t calls, sent, received; /* bytes as the arguments say, over all ranks */
	} collectives[COLLECTIVES];
	/* Only of traffic_make_passed: MPI_Alltoall of all ranks, which is the same for each pair of two ranks: over
	 * all pairs. Bytes that collectives passed on of which the pairs are not known, or the library's choice. */
	uint64_t uniform, uniform_bytes, other_passed_bytes;
};

/* progress is told now and then how many events of all were walked; may be NULL. Returns 0, or -1 with error set. The
 * caller frees *m in any case. */
int traffic_make(struct traffic *m, const struct trace *t, void (*progress)(void *context, uint64_t done, uint64_t all),
                 void *context, struct error *error);
/* The same, with what collectives pass from rank to rank where their arguments say it: MPI_Alltoall(v, w),
 * MPI_Gather(v) and MPI_Scatter(v), each pair by itself. In which way all else goes, the MPI library chooses. */
int traffic_make_passed(struct traffic *m, const struct trace *t,
                        void (*progress)(void *context, uint64_t done, uint64_t all), void *context,
                        struct error *error);
void traffic_free(struct traffic *m);

#endif
