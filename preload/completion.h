/* SPDX-License-Identifier: BSD-3-Clause
 * completion - the wait and test functions: which live requests a call meant, what became of them, and their statuses
 *
 * preload/generator/completion.py makes their wrappers, for C and Fortran, from preload/mpi.table:
 *
 *     completion_begin      what each element of the request array means, before MPI overwrites it
 *     completion_statuses   statuses of our own, where the caller ignores them and a request is a receive
 *     the MPI call
 *     record_MPI_Testall    puts all parameters; statuses and handles in C's form (shared by C and Fortran)
 *     completion_end        requests that have become MPI_REQUEST_NULL are not live any more
 *
 * MPI_Waitall's wrapper in C is written by hand (completion.c).
 */
#ifndef SPOOR_COMPLETION_H
#define SPOOR_COMPLETION_H

#include "preload/fortran.h"
#include "preload/request_array.h"

struct completion {
	struct request_ref *refs; /* NULL: no memory, or no valid array: then nothing is known */
	size_t n;
	int first;     /* the first index in the caller's language: 0, in Fortran 1 */
	bool receives; /* at least one of them is a receive: its status is wanted */
};

/* Before the call. The array may be NULL; n is as passed, and may be negative. What `refs` points to is valid until the
 * next call of the same thread. */
struct completion completion_begin(int n, const MPI_Request *requests);
struct completion completion_begin_fortran(int n, const MPI_Fint *requests);
/* For one handle. `ref` is the storage. */
static inline struct completion completion_begin_one(struct request_ref *ref, uint64_t bits);

/* The statuses to pass on: the caller's, or our own if it has none and one is wanted. */
MPI_Status *completion_statuses(const struct completion *w, MPI_Status *statuses);
MPI_Fint *completion_statuses_fortran(const struct completion *w, MPI_Fint *statuses);
/* n statuses in C's form; NULL if there are none. */
const MPI_Status *completion_translate(const struct completion *w, const MPI_Fint *statuses, int n);

/* After the call. The requests are what the call made of them. */
void completion_end(const struct completion *w, const MPI_Request *requests);
/* The same where one of them is completed at most: at *index, or at none; NULL: it is not known where. */
void completion_end_any(const struct completion *w, const MPI_Request *requests, const int *index);
void completion_end_fortran(const struct completion *w, const MPI_Fint *requests);
static inline void completion_end_one(const struct request_ref *ref, MPI_Request request);

/* ---- implementation ---- */

static inline struct completion completion_begin_one(struct request_ref *ref, uint64_t bits)
{
	if (__builtin_expect(!request_find_one(ref, bits), 0))
		*ref = request_find(bits, REQUEST_NULL_BITS, true);
	return (struct completion){ref, 1, 0, (ref->traits & REQUEST_RECV) != 0};
}

static inline void completion_end_one(const struct request_ref *ref, MPI_Request request)
{
	if (request == MPI_REQUEST_NULL)
		request_end(ref);
	else
		request_release(ref);
}

/* Those of request_array. */
void put_request_array(struct call *c);

static inline __attribute__((always_inline)) void put_requests(struct call *c, const struct completion *w)
{
	if (w->refs == request_array.refs) {
		put_request_array(c);
		return;
	}
	PUT_ARRAY(c, w->refs, w->refs ? (ptrdiff_t)w->n : -1, request_value(c, w->refs[i_].number));
}

/* The same as put_status, of a receive from MPI_PROC_NULL or a file's request. */
void put_status_from_nobody(struct call *c, const struct request_ref *ref, const MPI_Status *status);

/* Source and tag that the status of a receive says. MPICH before 4.2 says 0 and 0 of one from MPI_PROC_NULL. They are
 * no rank and no tag, but the same on all ranks, as the standard's MPI_PROC_NULL and MPI_ANY_TAG are: a constant. */
static inline bool status_from_nobody(const struct request_ref *ref, const MPI_Status *s)
{
	return __builtin_expect(ref->traits & REQUEST_FROM_NOBODY, 0) && s->MPI_SOURCE == 0 && s->MPI_TAG == 0;
}
/* Does it say anything? Of a file's request neither source nor tag nor whether it was cancelled is written. */
static inline bool status_tells(const struct request_ref *ref, const MPI_Status *s)
{
	return ref->traits & REQUEST_FILE ? s != NULL : status_has_message(s, true);
}
static inline int64_t status_source(struct call *c, const struct request_ref *ref, const MPI_Status *s, int base)
{
	if (__builtin_expect(ref->traits & REQUEST_FILE, 0))
		return call_constant(c, CONST_ABSENT);
	return status_from_nobody(ref, s) ? call_constant(c, CONST_ZERO) : role_peer(c, s->MPI_SOURCE, base);
}
static inline int64_t status_tag(struct call *c, const struct request_ref *ref, const MPI_Status *s)
{
	if (__builtin_expect(ref->traits & REQUEST_FILE, 0))
		return call_constant(c, CONST_ABSENT);
	return status_from_nobody(ref, s) ? call_constant(c, CONST_ZERO) : role_tag(c, s->MPI_TAG);
}

/* The status of request i; '-' if there is none. */
static inline __attribute__((always_inline)) void put_status_of(struct call *c, const struct completion *w, size_t i,
                                                                const MPI_Status *status)
{
	unsigned traits = w->refs && i < w->n ? w->refs[i].traits : 0;

	if (__builtin_expect(traits & REQUEST_FROM_NOBODY, 0))
		put_status_from_nobody(c, &w->refs[i], status);
	else
		PUT_STATUS(c, traits & REQUEST_RECV ? status : NULL, true, session_world_rank(), false,
		           MPI_DATATYPE_NULL, true);
}

/* Three arrays of n statuses, one for each request, or for each of indices. */
void put_statuses(struct call *c, const struct completion *w, const MPI_Status *statuses, int n, const int *indices);

#endif
