/* SPDX-License-Identifier: BSD-3-Clause
 * completion - the wait and test functions: which live requests a call meant, what became of them, and their statuses
 *
 * Statuses are asked for where the caller ignored them, but only if one of the requests is a receive.
 */
#include "preload/completion.h"

#include "preload/record.h"

/* ---- before the call ---- */

static inline __attribute__((always_inline)) struct completion find_requests(const uint64_t *bits, int n)
{
	struct completion w = {.n = n > 0 ? (size_t)n : 0};
	unsigned traits = 0;

	if (n < 0 || (n && !bits))
		return w;
	w.refs = scratch(SCRATCH_REFS, w.n, sizeof(*w.refs));
	if (!w.refs)
		return w;
	if (__builtin_expect(!request_find_fast(w.refs, bits, w.n, REQUEST_NULL_BITS, &traits), 0)) {
		request_find_all(w.refs, bits, w.n, REQUEST_NULL_BITS);
		traits = 0;
		for (size_t i = 0; i < w.n; i++)
			traits |= w.refs[i].traits;
	}
	w.receives = traits & REQUEST_RECV;
	return w;
}

struct completion completion_begin(int n, const MPI_Request *requests)
{
	if (sizeof(*requests) == sizeof(uint64_t)) /* handles are their bits */
		return find_requests((const uint64_t *)(const void *)requests, n);

	uint64_t *bits = requests && n >= 0 ? scratch(SCRATCH_BITS, (size_t)n, sizeof(*bits)) : NULL;

	for (int i = 0; bits && i < n; i++)
		bits[i] = HANDLE_BITS(requests[i]);
	return find_requests(bits, n);
}

struct completion completion_begin_fortran(int n, const MPI_Fint *requests)
{
	uint64_t *bits = n >= 0 ? scratch(SCRATCH_BITS, (size_t)n, sizeof(*bits)) : NULL;

	for (int i = 0; bits && i < n; i++)
		bits[i] = HANDLE_BITS(f2c_request(requests[i]));
	return find_requests(bits, n);
}

MPI_Status *completion_statuses(const struct completion *w, MPI_Status *statuses)
{
	MPI_Status *own;

	if (statuses != MPI_STATUSES_IGNORE || !w->receives)
		return statuses;
	own = scratch(SCRATCH_OWN, w->n, sizeof(*own));
	return own ? own : MPI_STATUSES_IGNORE;
}

MPI_Fint *completion_statuses_fortran(const struct completion *w, MPI_Fint *statuses)
{
	MPI_Fint *own;

	if (!w->receives || !fortran_ignores(statuses))
		return statuses;
	own = scratch(SCRATCH_OWN, w->n, FORTRAN_STATUS_SIZE * sizeof(*own));
	return own ? own : statuses;
}

/* ---- after it ---- */

const MPI_Status *completion_translate(const struct completion *w, const MPI_Fint *statuses, int n)
{
	MPI_Status *out;

	if (n <= 0 || !w->receives || fortran_ignores(statuses))
		return NULL;
	out = scratch(SCRATCH_STATUSES, (size_t)n, sizeof(*out));
	for (int i = 0; out && i < n; i++)
		real.MPI_Status_f2c(statuses + (size_t)i * FORTRAN_STATUS_SIZE, &out[i]);
	return out;
}

void completion_end(const struct completion *w, const MPI_Request *requests)
{
	for (size_t i = 0; w->refs && i < w->n; i++)
		completion_end_one(&w->refs[i], requests[i]);
}

void completion_end_fortran(const struct completion *w, const MPI_Fint *requests)
{
	const MPI_Fint null = c2f_request(MPI_REQUEST_NULL);

	for (size_t i = 0; w->refs && i < w->n; i++)
		if (requests[i] == null)
			request_end(&w->refs[i]);
		else
			request_release(&w->refs[i]);
}

/* Which request the k-th status is of. */
static inline size_t request_of(const struct completion *w, const int *indices, ptrdiff_t k)
{
	return indices ? (size_t)(indices[k] - w->first) : (size_t)k;
}

void put_statuses(struct call *c, const struct completion *w, const MPI_Status *statuses, int n, const int *indices)
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
		size_t i = request_of(w, indices, k);

		has[k] = statuses && i < w->n && (w->refs[i].traits & REQUEST_RECV) &&
		         status_has_message(&statuses[k], true);
	}
	PUT_ARRAY(c, has, n,
	          has[i_] ? status_source(c, &w->refs[request_of(w, indices, i_)], &statuses[i_], base) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? status_tag(c, &w->refs[request_of(w, indices, i_)], &statuses[i_]) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? abi_bytes(&statuses[i_]) : absent);
}

void put_status_from_nobody(struct call *c, const struct request_ref *ref, const MPI_Status *status)
{
	if (!status_has_message(status, true)) {
		put_no_status(c);
		return;
	}
	call_put(c, status_source(c, ref, status, session_world_rank()));
	call_put(c, status_tag(c, ref, status));
	call_put(c, abi_bytes(status));
}

/* ---- MPI_Waitall in C ---- */

/* MPI_Waitall mostly completes the requests that it did the last time, with the same statuses. Then nothing is
 * gathered, and nothing put. */

enum waitall_parameter { WAITALL_COUNT, WAITALL_REQUESTS, WAITALL_SOURCES, WAITALL_TAGS, WAITALL_BYTES };

/* A request is only looked at where it should be, and its status only at the end. */
#define FEW 64

struct waitall {
	struct completion w;
	const int64_t *numbers; /* NULL: it is not as expected */
	bool changed;           /* some columns go on with another value than the last one */
	uint32_t changes;       /* of the table of requests, so far */
	struct request_ref refs[FEW];
};

static inline __attribute__((always_inline)) const int64_t *waitall_vector(struct waitall *a, const struct call *c,
                                                                           int i, size_t n)
{
	const struct cell *cell = &c->site->column[i];

	a->changed |= !call_has_vector(cell);
	return call_expected(c, cell, n);
}

static inline __attribute__((always_inline)) void waitall_begin(struct waitall *a, const struct call *c, int n,
                                                                const MPI_Request *requests)
{
	unsigned traits;

	a->changed = false;
	a->numbers = n > 0 && n <= FEW && requests ? waitall_vector(a, c, WAITALL_REQUESTS, (size_t)n) : NULL;
	if (__builtin_expect(a->numbers && request_find_expected(a->refs, requests, sizeof(*requests), a->numbers,
	                                                         (size_t)n, &traits),
	                     1)) {
		a->w = (struct completion){a->refs, (size_t)n, 0, traits & REQUEST_RECV};
		a->changes = request_table.changes;
	} else {
		a->numbers = NULL;
		a->w = completion_begin(n, requests);
	}
}

static inline __attribute__((always_inline)) void waitall_passes(const struct waitall *a, const struct call *c, int n)
{
	struct record_passed *passed = arguments_begin(c);
	bool known = true;

	passed->value[WAITALL_COUNT] = n;
	if (__builtin_expect(a->numbers != NULL, 1))
		arguments_known_requests(passed, a->numbers, a->w.n);
	else
		known = arguments_requests(passed, a->w.refs, a->w.n);
	arguments_end(c, passed, 1 << WAITALL_COUNT | (known ? 1 << WAITALL_REQUESTS : 0));
}

/* Are the statuses of all requests as expected? */
static inline __attribute__((always_inline)) bool waitall_expected(struct waitall *a, struct call *c,
                                                                   const MPI_Status *statuses)
{
	const size_t n = a->w.n;
	const int64_t *sources = waitall_vector(a, c, WAITALL_SOURCES, n),
		      *tags = waitall_vector(a, c, WAITALL_TAGS, n);
	const int64_t *bytes = waitall_vector(a, c, WAITALL_BYTES, n);

	if (!sources || !tags || !bytes || c->site->column[WAITALL_COUNT].expect != (int64_t)n ||
	    waitall_vector(a, c, WAITALL_REQUESTS, n) != a->numbers ||
	    (a->w.receives && statuses == MPI_STATUSES_IGNORE))
		return false;

	const int base = session_world_rank();
	const int64_t absent = call_constant(c, CONST_ABSENT);

	for (size_t k = 0; k < n; k++) {
		const MPI_Status *s = &statuses[k];

		if (!(a->refs[k].traits & REQUEST_RECV)) {
			if (sources[k] != absent || tags[k] != absent || bytes[k] != absent)
				return false;
		} else if (!status_has_message(s, true) || sources[k] != status_source(c, &a->refs[k], s, base) ||
		           tags[k] != status_tag(c, &a->refs[k], s) || bytes[k] != abi_bytes(s)) {
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
		completion_end(&a->w, requests + k);
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
		array_of_statuses = count <= 8 ? own : completion_statuses(&a.w, array_of_statuses);
	waitall_passes(&a, &c, count);
	rc = next.MPI_Waitall(count, array_of_requests, array_of_statuses);
	WRAP_KEEP(array_of_requests);
	WRAP_KEEP(array_of_statuses);
	ok = call_end(&c, rc);
	if (__builtin_expect(ok && a.numbers && waitall_expected(&a, &c, array_of_statuses), 1)) {
		for (int i = WAITALL_REQUESTS; __builtin_expect(a.changed, 0) && i <= WAITALL_BYTES; i++)
			call_put_expected(&c, &c.site->column[i]);
		call_commit(&c);
	} else {
		waitall_number(&a);
		call_first(&c, 0);
		record_MPI_Waitall(&c, ok, rc, &a.w, count, array_of_statuses);
	}
	waitall_end(&a, array_of_requests);
	return rc;
}
