/* SPDX-License-Identifier: BSD-3-Clause
 * complete - the wait and test functions: which live requests a call meant, what became of them, and their statuses
 *
 * Statuses are asked for where the caller ignored them, but only if one of the requests is a receive.
 */
#include "preload/complete.h"

static inline __attribute__((always_inline)) struct completion find_all(const uint64_t *bits, int n)
{
	struct completion w = {NULL, n > 0 ? (size_t)n : 0, n, false};
	unsigned traits = 0;

	if (n < 0 || (n && !bits))
		return w;
	w.refs = scratch(SCRATCH_REFS, w.n, sizeof(*w.refs));
	if (!w.refs)
		return w;
	if (__builtin_expect(request_find_plain(w.refs, bits, w.n, REQUEST_NULL_BITS, &traits), 1)) {
		w.receives = traits & REQUEST_RECV;
		return w;
	}
	request_find_all(w.refs, bits, w.n, REQUEST_NULL_BITS);
	traits = 0;
	for (size_t i = 0; i < w.n; i++)
		traits |= w.refs[i].traits;
	w.receives = traits & REQUEST_RECV;
	return w;
}

struct completion completion_begin(const uint64_t *bits, int n)
{
	return find_all(bits, n);
}

static inline __attribute__((always_inline)) struct completion find_one(struct request_ref *ref, uint64_t bits)
{
	if (__builtin_expect(!request_find_one(ref, bits), 0))
		*ref = request_find(bits, REQUEST_NULL_BITS, true);
	return (struct completion){ref, 1, 1, (ref->traits & REQUEST_RECV) != 0};
}

struct completion completion_begin_one(struct request_ref *ref, uint64_t bits)
{
	return find_one(ref, bits);
}

/* ---- puts ---- */

static inline __attribute__((always_inline)) void put_requests(struct call *c, const struct completion *w)
{
	PUT_ARRAY(c, w->refs, w->refs ? (ptrdiff_t)w->n : -1, request_value(c, w->refs[i_].number));
}

static void put_request(struct call *c, const struct completion *w)
{
	call_put(c, request_value(c, w->refs->number));
}

/* The status of request i; '-' if there is none. */
static inline __attribute__((always_inline)) void put_status_of(struct call *c, const struct completion *w, size_t i,
                                                                const MPI_Status *status)
{
	bool has = w->refs && i < w->n && (w->refs[i].traits & REQUEST_RECV);

	PUT_STATUS(c, has ? status : NULL, session_world_rank(), false, NULL, true);
}

/* Three arrays of n statuses, one for each request, or for each of indices. */
static inline __attribute__((always_inline)) void put_statuses(struct call *c, const struct completion *w,
                                                               const MPI_Status *statuses, int n, const int *indices,
                                                               int first)
{
	const int base = session_world_rank();
	const int64_t absent = call_constant(c, CONST_ABSENT);
	uint8_t few[64], *has = few;

	if (!w->refs || n < 0 || (n > 64 && !(has = scratch(SCRATCH_BITS, n, 1)))) {
		put_no_status(c);
		return;
	}
	if (!w->receives)
		statuses = NULL;
	for (int k = 0; k < n; k++) {
		size_t i = indices ? (size_t)(indices[k] - first) : (size_t)k;

		has[k] = statuses && i < w->n && (w->refs[i].traits & REQUEST_RECV) && status_has_message(&statuses[k]);
	}
	PUT_ARRAY(c, has, n, has[i_] ? role_peer(c, statuses[i_].MPI_SOURCE, base) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? role_tag(c, statuses[i_].MPI_TAG) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? status_bytes(&statuses[i_]) : absent);
}

/* ---- events ---- */

static inline __attribute__((always_inline)) void record_wait(struct call *c, bool ok, int rc,
                                                              const struct completion *w, const MPI_Status *status)
{
	put_request(c, w);
	put_status_of(c, w, 0, ok ? status : NULL);
	wrap_commit(c, ok, rc);
}

void record_MPI_Wait(struct call *c, bool ok, int rc, const struct completion *w, const MPI_Status *status)
{
	record_wait(c, ok, rc, w, status);
}

void record_MPI_Waitall(struct call *c, bool ok, int rc, const struct completion *w, const MPI_Status *statuses)
{
	call_put(c, w->count);
	put_requests(c, w);
	if (ok)
		put_statuses(c, w, statuses, (int)w->n, NULL, 0);
	else
		put_no_status(c);
	wrap_commit(c, ok, rc);
}

void record_MPI_Waitany(struct call *c, bool ok, int rc, const struct completion *w, int index,
                        const MPI_Status *status)
{
	call_put(c, w->count);
	put_requests(c, w);
	if (ok)
		call_put(c, role_undef(c, index));
	else
		call_put_absent(c);
	put_status_of(c, w, (size_t)index, ok ? status : NULL);
	wrap_commit(c, ok, rc);
}

void record_MPI_Test(struct call *c, bool ok, int rc, const struct completion *w, int flag, const MPI_Status *status)
{
	put_request(c, w);
	if (ok)
		call_put(c, role_flag(c, flag));
	else
		call_put_absent(c);
	put_status_of(c, w, 0, ok && flag ? status : NULL);
	wrap_commit(c, ok, rc);
}

void record_MPI_Testall(struct call *c, bool ok, int rc, const struct completion *w, int flag,
                        const MPI_Status *statuses)
{
	call_put(c, w->count);
	put_requests(c, w);
	if (ok)
		call_put(c, role_flag(c, flag));
	else
		call_put_absent(c);
	if (ok && flag)
		put_statuses(c, w, statuses, (int)w->n, NULL, 0);
	else
		put_no_status(c);
	wrap_commit(c, ok, rc);
}

void record_MPI_Testany(struct call *c, bool ok, int rc, const struct completion *w, int index, int flag,
                        const MPI_Status *status)
{
	call_put(c, w->count);
	put_requests(c, w);
	if (ok) {
		call_put(c, role_undef(c, index));
		call_put(c, role_flag(c, flag));
	} else {
		call_put_absent(c);
		call_put_absent(c);
	}
	put_status_of(c, w, (size_t)index, ok && flag ? status : NULL);
	wrap_commit(c, ok, rc);
}

void record_MPI_Waitsome(struct call *c, bool ok, int rc, const struct completion *w, int outcount, const int *indices,
                         int first, const MPI_Status *statuses)
{
	call_put(c, w->count);
	put_requests(c, w);
	if (ok)
		call_put(c, role_undef(c, outcount));
	else
		call_put_absent(c);
	if (ok && outcount > 0 && outcount != MPI_UNDEFINED) {
		PUT_ARRAY(c, indices, outcount, indices[i_] - first);
		put_statuses(c, w, statuses, outcount, indices, first);
	} else {
		call_put_absent(c);
		put_no_status(c);
	}
	wrap_commit(c, ok, rc);
}

void record_MPI_Startall(struct call *c, bool ok, int rc, const struct completion *w)
{
	call_put(c, w->count);
	put_requests(c, w);
	wrap_commit(c, ok, rc);
}

/* ---- wrappers of the C functions ---- */

static struct completion begin(int n, const MPI_Request *requests)
{
	if (sizeof(*requests) == sizeof(uint64_t)) /* handles are their bits */
		return find_all((const uint64_t *)(const void *)requests, n);

	uint64_t *bits = requests && n >= 0 ? scratch(SCRATCH_BITS, (size_t)n, sizeof(*bits)) : NULL;

	for (int i = 0; bits && i < n; i++)
		bits[i] = HANDLE_BITS(requests[i]);
	return find_all(bits, n);
}

static inline void end(const struct completion *w, const MPI_Request *requests)
{
	const MPI_Request null = MPI_REQUEST_NULL;

	if (!w->refs)
		return;
	for (const struct request_ref *ref = w->refs, *stop = ref + w->n; ref < stop; ref++)
		if (*requests++ == null)
			request_end(ref);
		else
			request_release(ref);
}

static inline void end_one(const struct request_ref *ref, MPI_Request request)
{
	if (request == MPI_REQUEST_NULL)
		request_end(ref);
	else
		request_release(ref);
}

/* The statuses to pass on: the caller's, or our own if it has none and one is wanted. */
static MPI_Status *wanted(const struct completion *w, MPI_Status *statuses)
{
	MPI_Status *own;

	if (statuses != MPI_STATUSES_IGNORE || !w->receives)
		return statuses;
	own = scratch(SCRATCH_OWN, w->n, sizeof(*own));
	return own ? own : MPI_STATUSES_IGNORE;
}

MPI_WRAPPER int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct call c;
	struct request_ref ref;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Wait))
		return next.MPI_Wait(request, status);
	w = find_one(&ref, request ? HANDLE_BITS(*request) : 0);
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Wait(request, status);
	ok = wrap_end(&c, rc);
	record_wait(&c, ok, rc, &w, status);
	if (request)
		end_one(&ref, *request);
	return rc;
}

MPI_WRAPPER int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	struct call c;
	struct request_ref ref;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Test))
		return next.MPI_Test(request, flag, status);
	w = completion_begin_one(&ref, request ? HANDLE_BITS(*request) : 0);
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Test(request, flag, status);
	ok = wrap_end(&c, rc);
	record_MPI_Test(&c, ok, rc, &w, ok && flag && *flag, status);
	if (request)
		end(&w, request);
	return rc;
}

MPI_WRAPPER int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	struct call c;
	struct request_ref ref;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Request_get_status))
		return next.MPI_Request_get_status(request, flag, status);
	w = completion_begin_one(&ref, HANDLE_BITS(request));
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Request_get_status(request, flag, status);
	ok = wrap_end(&c, rc);
	record_MPI_Request_get_status(&c, ok, rc, &w, ok && flag && *flag, status);
	end(&w, &request);
	return rc;
}

/* MPI_Waitall mostly completes the requests that it did the last time, with the same statuses. Then nothing is
 * gathered, and nothing put. */

enum waitall_parameter { WAITALL_COUNT, WAITALL_REQUESTS, WAITALL_SOURCES, WAITALL_TAGS, WAITALL_BYTES };

/* A request is only looked at where it should be, and its status only at the end. */
#define FEW 64

struct waitall {
	struct completion w;
	const int64_t *numbers; /* NULL: it is not as expected */
	uint32_t changes;       /* of the table of requests, so far */
	bool turns;             /* some columns go on with another value than the last one */
	struct request_ref refs[FEW];
};

static inline __attribute__((always_inline)) void waitall_begin(struct waitall *a, const struct call *c, int n,
                                                                const MPI_Request *requests)
{
	unsigned traits;

	a->turns = false;
	a->numbers = n > 0 && n <= FEW && sizeof(*requests) == sizeof(uint64_t) && requests
	                     ? call_vector_at(c, WAITALL_REQUESTS, (size_t)n, &a->turns)
	                     : NULL;
	if (__builtin_expect(a->numbers && request_find_expected(a->refs, (const uint64_t *)(const void *)requests,
	                                                         a->numbers, (size_t)n, &traits),
	                     1)) {
		a->w = (struct completion){a->refs, (size_t)n, n, traits & REQUEST_RECV};
		a->changes = request_table.changes;
	} else {
		a->numbers = NULL;
		a->w = begin(n, requests);
	}
}

/* Are the statuses of all requests as expected? */
static inline __attribute__((always_inline)) bool waitall_expected(struct waitall *a, struct call *c,
                                                                   const MPI_Status *statuses)
{
	const size_t n = a->w.n;
	const int64_t *sources = call_vector_at(c, WAITALL_SOURCES, n, &a->turns),
		      *tags = call_vector_at(c, WAITALL_TAGS, n, &a->turns);
	const int64_t *bytes = call_vector_at(c, WAITALL_BYTES, n, &a->turns);

	if (!sources || !tags || !bytes || !call_is_at(c, WAITALL_COUNT, a->w.count) ||
	    call_vector_at(c, WAITALL_REQUESTS, n, &a->turns) != a->numbers ||
	    (a->w.receives && statuses == MPI_STATUSES_IGNORE))
		return false;

	const int base = session_world_rank();
	const int64_t absent = call_absent(c);

	for (size_t k = 0; k < n; k++) {
		const MPI_Status *s = &statuses[k];

		if (!(a->refs[k].traits & REQUEST_RECV)) {
			if (sources[k] != absent || tags[k] != absent || bytes[k] != absent)
				return false;
		} else if (!status_is_plain(s) || sources[k] != role_peer(c, s->MPI_SOURCE, base) ||
		           tags[k] != role_tag(c, s->MPI_TAG) || bytes[k] != status_bytes(s)) {
			return false;
		}
	}
	return true;
}

/* The numbers were not needed until now. */
static __attribute__((noinline)) void waitall_number(struct waitall *a)
{
	for (size_t k = 0; a->numbers && k < a->w.n; k++)
		a->refs[k].number = a->numbers[k];
	a->numbers = NULL;
}

static inline __attribute__((always_inline)) void waitall_end(struct waitall *a, const MPI_Request *requests)
{
	const MPI_Request null = MPI_REQUEST_NULL;
	size_t k = 0;

	if (__builtin_expect(a->numbers && a->changes == request_table.changes, 1))
		while (k < a->w.n && (requests[k] != null || request_end_expected(&a->refs[k], a->numbers[k])))
			k++;
	if (__builtin_expect(!a->numbers || k < a->w.n, 0)) {
		waitall_number(a);
		a->w.refs += a->w.refs ? k : 0;
		a->w.n -= k;
		end(&a->w, requests + k);
	}
}

MPI_WRAPPER int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	struct call c;
	struct waitall a;
	MPI_Status own[8];
	bool ok;
	int rc;

	WRAP_KEEP(count);
	WRAP_KEEP(array_of_requests);
	WRAP_KEEP(array_of_statuses);
	if (!wrap_begin(&c, FN_MPI_Waitall))
		return next.MPI_Waitall(count, array_of_requests, array_of_statuses);
	waitall_begin(&a, &c, count, array_of_requests);
	if (a.w.receives && array_of_statuses == MPI_STATUSES_IGNORE)
		array_of_statuses = count <= 8 ? own : wanted(&a.w, array_of_statuses);
	rc = next.MPI_Waitall(count, array_of_requests, array_of_statuses);
	WRAP_KEEP(array_of_requests);
	WRAP_KEEP(array_of_statuses);
	ok = call_over(&c, rc);
	if (__builtin_expect(ok && a.numbers && waitall_expected(&a, &c, array_of_statuses), 1)) {
		for (int i = WAITALL_REQUESTS; __builtin_expect(a.turns, 0) && i <= WAITALL_BYTES; i++)
			call_put_predicted(&c, i);
		call_commit(&c);
	} else {
		waitall_number(&a);
		call_first(&c, 0);
		record_MPI_Waitall(&c, ok, rc, &a.w, array_of_statuses);
	}
	waitall_end(&a, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses)
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Testall))
		return next.MPI_Testall(count, array_of_requests, flag, array_of_statuses);
	w = begin(count, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	rc = next.MPI_Testall(count, array_of_requests, flag, array_of_statuses);
	ok = wrap_end(&c, rc);
	record_MPI_Testall(&c, ok, rc, &w, ok && flag && *flag, array_of_statuses);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
	struct call c;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Waitany))
		return next.MPI_Waitany(count, array_of_requests, index, status);
	w = begin(count, array_of_requests);
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Waitany(count, array_of_requests, index, status);
	ok = wrap_end(&c, rc);
	record_MPI_Waitany(&c, ok, rc, &w, ok && index ? *index : 0, status);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
	struct call c;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Testany))
		return next.MPI_Testany(count, array_of_requests, index, flag, status);
	w = begin(count, array_of_requests);
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Testany(count, array_of_requests, index, flag, status);
	ok = wrap_end(&c, rc);
	record_MPI_Testany(&c, ok, rc, &w, ok && index ? *index : 0, ok && flag && *flag, status);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[])
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Waitsome))
		return next.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
	w = begin(incount, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	rc = next.MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
	ok = wrap_end(&c, rc);
	record_MPI_Waitsome(&c, ok, rc, &w, ok && outcount ? *outcount : 0, array_of_indices, 0, array_of_statuses);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[])
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Testsome))
		return next.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
	w = begin(incount, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	rc = next.MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
	ok = wrap_end(&c, rc);
	record_MPI_Testsome(&c, ok, rc, &w, ok && outcount ? *outcount : 0, array_of_indices, 0, array_of_statuses);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Startall(int count, MPI_Request array_of_requests[])
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Startall))
		return next.MPI_Startall(count, array_of_requests);
	w = begin(count, array_of_requests);
	rc = next.MPI_Startall(count, array_of_requests);
	ok = wrap_end(&c, rc);
	record_MPI_Startall(&c, ok, rc, &w);
	end(&w, array_of_requests);
	return rc;
}

/* ---- MPI 4.1: they look and complete nothing ---- */

#ifdef HAVE_MPI_Request_get_status_all
MPI_WRAPPER int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                           MPI_Status *array_of_statuses)
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Request_get_status_all))
		return next.MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
	w = begin(count, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	rc = next.MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
	ok = wrap_end(&c, rc);
	record_MPI_Testall(&c, ok, rc, &w, ok && flag && *flag, array_of_statuses);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *index, int *flag,
                                           MPI_Status *status)
{
	struct call c;
	struct completion w;
	MPI_Status own;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Request_get_status_any))
		return next.MPI_Request_get_status_any(count, array_of_requests, index, flag, status);
	w = begin(count, array_of_requests);
	if (status == MPI_STATUS_IGNORE && w.receives)
		status = &own;
	rc = next.MPI_Request_get_status_any(count, array_of_requests, index, flag, status);
	ok = wrap_end(&c, rc);
	record_MPI_Testany(&c, ok, rc, &w, ok && index ? *index : 0, ok && flag && *flag, status);
	end(&w, array_of_requests);
	return rc;
}

MPI_WRAPPER int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                            int array_of_indices[], MPI_Status *array_of_statuses)
{
	struct call c;
	struct completion w;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Request_get_status_some))
		return next.MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
		                                        array_of_statuses);
	w = begin(incount, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	rc = next.MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
	                                      array_of_statuses);
	ok = wrap_end(&c, rc);
	record_MPI_Testsome(&c, ok, rc, &w, ok && outcount ? *outcount : 0, array_of_indices, 0, array_of_statuses);
	end(&w, array_of_requests);
	return rc;
}
#endif
