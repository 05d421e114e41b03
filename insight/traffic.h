/* SPDX-License-Identifier: BSD-3-Clause
 * traffic - who sent how much to whom: all messages of a trace, by pair of ranks and by size
 *
 * Counts what the senders' calls say, when they are started, and what arrives at nobody (MPI_PROC_NULL) not at all.
 * One-sided calls are counted apart.
 * Ranks are those of MPI_COMM_WORLD; messages in communicators whose members are not known are counted apart. Walks
 * every rank that has an order. Of a loop whose turns are alike it walks some, and counts for each of the others what
 * these came to.
 */
#ifndef SPOOR_INSIGHT_TRAFFIC_H
#define SPOOR_INSIGHT_TRAFFIC_H

#include "insight/traffic_sums.h"

struct traffic_cell {
	uint32_t from, to;
	uint64_t messages, bytes;
	uint64_t one_sided, one_sided_bytes; /* calls; MPI_Get moves them from the target to the caller */
	/* Of collectives, in which a call is one for each pair; only of a wish for `passed`. */
	uint64_t passed, passed_bytes;
};

/* What a file was read and written with, over all ranks. */
struct traffic_file {
	const char *name;                      /* as it was opened; of the trace */
	uint64_t reads, read, writes, written; /* calls, bytes */
	/* Those of calls that return when it is done; ns: how long they took, by the means of their sites. */
	uint64_t timed_read, timed_written;
	uint64_t read_ns, written_ns;
};

struct traffic {
	struct traffic_cell *cells; /* malloc'ed, by from, then to */
	size_t count;
	struct traffic_file *files; /* malloc'ed, by name */
	size_t file_count;
	uint32_t *file_at;  /* while it is made */
	uint64_t unordered; /* events that have no order: nothing of what is here is of them */
	uint64_t walked;    /* events that were looked at one by one */
	struct traffic_sums sums;
};

/* What is wanted. */
struct traffic_wish {
	/* What collectives pass from rank to rank where their arguments say it, too: MPI_Alltoall(v, w), MPI_Gather(v)
	 * and MPI_Scatter(v), each pair by itself. In which way all else goes, the MPI library chooses. */
	bool passed;
	bool each;     /* walks each event: the result is the same, and takes longer */
	uint64_t most; /* so many events are looked at one by one; 0: any number */
	/* Is told now and then how many events of all were counted; may be NULL. */
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/* Returns 0; 1: `most` was not enough; or -1 with error set. The caller frees *m in any case. */
int traffic_make(struct traffic *m, const struct trace *t, const struct traffic_wish *wish, struct error *error);
void traffic_free(struct traffic *m);

#endif
