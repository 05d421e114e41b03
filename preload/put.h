/* SPDX-License-Identifier: BSD-3-Clause
 * put - encodes parameters by their role and puts them into the call's event
 *
 * `ok` says that the call succeeded: only then a handle that was never seen gets a number, and memory behind pointers
 * is what the standard says it is. In a failed call NULL pointers, negative counts, and what cannot be read
 * (readable.h) are put as absent.
 */
#ifndef SPOOR_PUT_H
#define SPOOR_PUT_H

#include <limits.h>
#include <string.h>

#include "preload/arguments.h"
#include "preload/attribute.h"
#include "preload/handle.h"
#include "preload/readable.h"
#include "preload/request.h"
#include "preload/scratch.h"
#include "preload/session.h"
#include "preload/tree.h"

/* ---- what a call passes, in C or in Fortran ---- */

struct text {
	const char *bytes; /* NULL: none */
	size_t n;          /* TEXT_C: up to the NUL (not looked at before it is put: it may not be significant) */
};
#define TEXT_C SIZE_MAX
static inline struct text text_c(const char *s)
{
	return (struct text){s, TEXT_C};
}
/* Fortran's strings have a length and are padded with blanks. */
static inline struct text text_fortran(const char *s, size_t n)
{
	n = (unsigned)n; /* older compilers pass an int, whose upper half is undefined */
	while (n && s[n - 1] == ' ')
		n--;
	return (struct text){s, n};
}

/* An array of handles: one of the two is set. */
struct handles {
	const void *c;
	const MPI_Fint *f;
};
/* An array of addresses of the MPI-1 functions: INTEGER in Fortran. */
struct addresses {
	const MPI_Aint *c;
	const MPI_Fint *f;
};

/* The encoded value of a bit mask: the names of its bits, by ascending bits, joined by |. */
int64_t role_mask(struct call *c, int64_t v, const struct mpi_value *bits, size_t n);

/* generated: role_tag(c, value), role_peer(c, value, base), ..., bits_type(handles, i), ... */
#include "preload/roles.h"
#include "preload/status.h"

/* ---- single values ---- */

static inline void put_handle(struct call *c, enum handle_kind kind, uint64_t bits, bool ok)
{
	int32_t n = handle_number(kind, bits, ok);

	if (__builtin_expect(n >= 0, 1))
		call_put(c, n);
	else
		call_put(c, handle_value(c, n));
}

/* The same, if the site's raws are to be trusted. */
static inline __attribute__((always_inline)) void put_handle_raw(struct call *c, enum handle_kind kind, uint64_t bits,
                                                                 bool ok)
{
	CALL_PUT_FROM(c, (int64_t)bits, handle_value(c, handle_number(kind, bits, ok)));
}

/* One that the call returned, for the caller to free. */
static inline void put_returned(struct call *c, enum handle_kind kind, uint64_t bits)
{
	call_put(c, handle_value(c, handle_returned(kind, bits)));
}

static inline void put_comm(struct call *c, const struct comm_info *info)
{
	call_put(c, handle_value(c, info->number));
}

static inline void put_new_comm(struct call *c, const MPI_Comm *comm, bool ok, const struct comm_info *like)
{
	struct comm_info info;

	if (!ok || !comm) {
		call_put_absent(c);
		return;
	}
	info = handle_comm(c, *comm, true, like);
	put_comm(c, &info);
}

#ifdef HAVE_MPI_Session_init
/* MPI_Session_init succeeded (special.c). */
void put_new_session(struct call *c, MPI_Session session);
#endif

static inline void put_text(struct call *c, struct text t, bool ok)
{
	ptrdiff_t n = !t.bytes ? -1 : t.n == TEXT_C ? readable_length(ok, t.bytes) : (ptrdiff_t)t.n;

	if (n >= 0)
		call_put_string(c, t.bytes, (size_t)n);
	else
		call_put_absent(c);
}

/* Kind b: only said when it is MPI_IN_PLACE. */
static inline void put_in_place(struct call *c, const void *buffer)
{
	call_put(c, __builtin_expect(buffer == MPI_IN_PLACE, 0) ? call_constant(c, CONST_MPI_IN_PLACE) : 0);
}

/* Kind a: where buffers are recorded. Null pointers are MPI_BOTTOM, which is what that is in C. */
static inline void put_buffer(struct call *c, const void *buffer)
{
	if (buffer == MPI_IN_PLACE || buffer == MPI_BOTTOM)
		call_put(c, call_constant(c, buffer == MPI_BOTTOM ? CONST_MPI_BOTTOM : CONST_MPI_IN_PLACE));
	else
		put_handle(c, HANDLE_BUFFER, HANDLE_BITS(buffer), true);
}

/* The keyval that a predefined attribute has is in the handle table, too. */
static inline void put_keyval(struct call *c, int keyval, bool ok)
{
	put_handle(c, HANDLE_KEYVAL, HANDLE_BITS((intptr_t)keyval), ok);
}

/* ---- requests ---- */

#define REQUEST_NULL_BITS HANDLE_BITS(MPI_REQUEST_NULL)

static inline int64_t request_value(struct call *c, int64_t number)
{
	if (__builtin_expect(number >= 0, 1))
		return number;
	return call_constant(c, number == REQUEST_NONE ? CONST_MPI_REQUEST_NULL : CONST_ABSENT);
}

/* The trait of a receive from this source. */
static inline unsigned request_from(int source)
{
	return source == MPI_PROC_NULL ? REQUEST_FROM_NOBODY : 0;
}

/* What a request that is passed to a call means is known before the call only: in it, another thread may complete it,
 * and the next one get its bits. ends: the call frees it. */
static inline struct request_ref request_passed(uint64_t bits, bool ends)
{
	return ends ? request_find(bits, REQUEST_NULL_BITS, false) : request_look(bits, REQUEST_NULL_BITS);
}

static inline void put_request_passed(struct call *c, struct request_ref *ref, bool ok, bool ends)
{
	if (__builtin_expect(ref->number == REQUEST_UNKNOWN && ok, 0)) { /* never seen before */
		*ref = request_find(ref->bits, REQUEST_NULL_BITS, true);
		if (!ends)
			request_release(ref);
	}
	call_put(c, request_value(c, ref->number));
}

static inline __attribute__((always_inline)) void put_new_request(struct call *c, const MPI_Request *request, bool ok,
                                                                  unsigned traits)
{
	if (!ok || !request)
		call_put_absent(c);
	else
		call_put(c, request_value(c, request_new(HANDLE_BITS(*request), REQUEST_NULL_BITS, traits)));
}

static void __attribute__((noinline, unused)) put_new_request_other(struct call *c, int i, int64_t number)
{
	call_first(c, i);
	call_put(c, request_value(c, number));
}

/* The same as the last put of a call that succeeded, which is that of column i. */
static inline __attribute__((always_inline)) void put_new_request_last(struct call *c, int i,
                                                                       const MPI_Request *request, unsigned traits)
{
	const int64_t number = request_new(HANDLE_BITS(*request), REQUEST_NULL_BITS, traits);

	if (__builtin_expect(number != c->site->column[i].expect, 0))
		put_new_request_other(CALL_HERE(c, "+"), i, number);
}

/* ---- statuses: three parameters ---- */

static inline void put_no_status(struct call *c)
{
	call_put_absents(c, 3);
}

/* of_request: what completes a request wrote it. typed: count in units of type, else in bytes. s NULL: none. */
static void __attribute__((noinline, unused))
put_status(struct call *c, const MPI_Status *s, bool of_request, int base, bool typed, MPI_Datatype type)
{
	if (!status_has_message(s, of_request)) {
		put_no_status(c);
		return;
	}
	int64_t bytes = abi_bytes(s);

	call_put_raw(c, role_peer(c, s->MPI_SOURCE, base), s->MPI_SOURCE);
	call_put_raw(c, role_tag(c, s->MPI_TAG), s->MPI_TAG);
	call_put_raw(c, role_bigcount(c, typed ? status_count(s, type) : bytes), bytes);
}

/* What a file call moved: its status has the count alone. s NULL: none. */
static void __attribute__((noinline, unused))
put_moved(struct call *c, const MPI_Status *s, bool typed, MPI_Datatype type)
{
	if (!s) {
		put_no_status(c);
		return;
	}
	call_put_absents(c, 2);
	call_put(c, role_bigcount(c, typed ? status_count(s, type) : abi_bytes(s)));
}

/* A status that the program passes. Of one that names no message - it is empty, or cancelled, or of a file, of which
 * MPI writes no more than the count - the count alone. */
static void __attribute__((noinline, unused))
put_status_passed(struct call *c, const MPI_Status *s, int base, bool typed, MPI_Datatype type)
{
	if (status_has_message(s, true) && status_may_be_rank(s->MPI_SOURCE))
		put_status(c, s, true, base, typed, type);
	else
		put_moved(c, s && abi_bytes(s) ? s : NULL, typed, type);
}

/* put_status, or the same for one that is passed. same: base and type are what they were at the last visit. Then the
 * status may be, too; base is not even evaluated. */
#define PUT_STATUS_PASSED(c, status, base, typed, type, same)                                          \
	do {                                                                                           \
		const MPI_Status *passed_ = (status);                                                  \
		if ((same) && __builtin_expect(status_has_message(passed_, true), 1) &&                \
		    call_expects(c, 0, passed_->MPI_SOURCE) && call_expects(c, 1, passed_->MPI_TAG) && \
		    call_expects(c, 2, abi_bytes(passed_)))                                            \
			call_skip(c, 3);                                                               \
		else                                                                                   \
			put_status_passed(c, passed_, base, typed, type);                              \
	} while (0)
#define PUT_STATUS(c, status, of_request, base, typed, type, same)                           \
	do {                                                                                 \
		const MPI_Status *s_ = (status);                                             \
		if ((same) && __builtin_expect(status_has_message(s_, of_request), 1) &&     \
		    call_expects(c, 0, s_->MPI_SOURCE) && call_expects(c, 1, s_->MPI_TAG) && \
		    call_expects(c, 2, abi_bytes(s_)))                                       \
			call_skip(c, 3);                                                     \
		else                                                                         \
			put_status(c, s_, of_request, base, typed, type);                    \
	} while (0)

/* ---- arrays ---- */

/* Puts the n values of the expression element over i_; if n is negative or the expression array over n_, the same as n,
 * is 0: absent. They are compared with what is expected before they are gathered: element must have no effects. */
#define PUT_ARRAY(c, array, n, element)                                                       \
	do {                                                                                  \
		ptrdiff_t n_ = (n), i_ = 0;                                                   \
		int64_t *values_ = NULL;                                                      \
		if (__builtin_expect(n_ >= 0 && (n_ == 0 || (array)), 1)) {                   \
			const int64_t *expected_ = call_expected((c), (c)->next, (size_t)n_); \
			if (__builtin_expect(expected_ != NULL, 1)) {                         \
				while (i_ < n_ && expected_[i_] == (int64_t)(element))        \
					i_++;                                                 \
				if (__builtin_expect(i_ == n_, 1)) {                          \
					call_put_expected((c), (c)->next);                    \
					call_skip((c), 1);                                    \
					break;                                                \
				}                                                             \
			}                                                                     \
			values_ = scratch(SCRATCH_VALUES, (size_t)n_, sizeof(*values_));      \
		}                                                                             \
		for (i_ = 0; values_ && i_ < n_; i_++)                                        \
			values_[i_] = (element);                                              \
		if (values_)                                                                  \
			call_put_vector((c), values_, (size_t)n_);                            \
		else                                                                          \
			call_put_absent(c);                                                   \
	} while (0)

/* Are these weights one of the sentinels MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY? Then it is put. */
static inline bool put_weights_sentinel(struct call *c, const int *weights)
{
	if (weights == MPI_UNWEIGHTED)
		call_put(c, call_constant(c, CONST_MPI_UNWEIGHTED));
	else if (weights == MPI_WEIGHTS_EMPTY)
		call_put(c, call_constant(c, CONST_MPI_WEIGHTS_EMPTY));
	else
		return false;
	return true;
}

/* ---- who is root, lengths of arrays (length.c). The communicator must be valid. ---- */

static inline bool comm_at_root(const struct comm_info *info, int root)
{
	return info->inter ? root == MPI_ROOT : root == info->rank;
}

/* Gives to or gets from the root. */
static inline bool comm_is_leaf(const struct comm_info *info, int root)
{
	return !info->inter || root >= 0;
}

int length_in(MPI_Comm comm, int most);               /* neighbours that send to the caller */
int length_out(MPI_Comm comm, int most);              /* neighbours that the caller sends to */
int length_weights(MPI_Comm comm, bool in, int most); /* -1 if there are no weights: the array is not written */
int length_cart(MPI_Comm comm, int most);             /* dimensions */
int length_graph_nodes(MPI_Comm comm, int most);
int length_graph_edges(MPI_Comm comm, int most);
int length_graph_neighbors(MPI_Comm comm, int rank, int most);
int length_contents(MPI_Datatype type, int which, int most);           /* 0: integers, 1: addresses, 2: datatypes */
int64_t length_contents_c(MPI_Datatype type, int which, int64_t most); /* 2: large counts, 3: datatypes */
/* -1 if the values cannot be read (a call that failed may have been passed anything). */
int length_sum(bool ok, const int *values, int n);
int length_last(bool ok, const int *values, int n);

#endif
