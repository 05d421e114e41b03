/* SPDX-License-Identifier: BSD-3-Clause
 * complete - the wait and test functions: which live requests a call meant, what became of them, and their statuses
 *
 * C and Fortran wrappers do the same steps:
 *
 *     completion_begin...   what each element of the request array means, before MPI overwrites it
 *     the MPI call
 *     record_MPI_Waitall... puts all parameters; statuses in C's form
 *     end                   requests that have become MPI_REQUEST_NULL are not live any more
 */
#ifndef SPOOR_COMPLETE_H
#define SPOOR_COMPLETE_H

#include "preload/wrap.h"

struct completion {
	struct request_ref *refs; /* NULL: no memory, or no valid array: then nothing is known */
	size_t n;
	int count;     /* as passed */
	bool receives; /* at least one of them is a receive: its status is wanted */
};

/* For the n handles at bits (SCRATCH_BITS); bits may be NULL. */
struct completion completion_begin(const uint64_t *bits, int n);
/* For one handle. `ref` is the storage. */
struct completion completion_begin_one(struct request_ref *ref, uint64_t bits);

/* Arguments as in C (indices from 0), except that the requests are a struct completion; an ignored or unneeded status
 * is NULL. */
void record_MPI_Wait(struct call *c, bool ok, int rc, const struct completion *w, const MPI_Status *status);
void record_MPI_Waitall(struct call *c, bool ok, int rc, const struct completion *w, const MPI_Status *statuses);
void record_MPI_Waitany(struct call *c, bool ok, int rc, const struct completion *w, int index,
                        const MPI_Status *status);
void record_MPI_Test(struct call *c, bool ok, int rc, const struct completion *w, int flag, const MPI_Status *status);
void record_MPI_Testall(struct call *c, bool ok, int rc, const struct completion *w, int flag,
                        const MPI_Status *statuses);
void record_MPI_Testany(struct call *c, bool ok, int rc, const struct completion *w, int index, int flag,
                        const MPI_Status *status);
/* first: what the first index is called in the caller's language, 0 or 1. */
void record_MPI_Waitsome(struct call *c, bool ok, int rc, const struct completion *w, int outcount, const int *indices,
                         int first, const MPI_Status *statuses);
void record_MPI_Startall(struct call *c, bool ok, int rc, const struct completion *w);
#define record_MPI_Request_get_status record_MPI_Test /* the same parameters */
#define record_MPI_Testsome           record_MPI_Waitsome

#endif
