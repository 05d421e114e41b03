/* SPDX-License-Identifier: BSD-3-Clause
 * completion - the wait and test functions: which live requests a call meant, what became of them, and their statuses
 *
 * Statuses are asked for where the caller ignored them, but only if one of the requests is a receive.
 */
#include "preload/completion.h"

#include "preload/record.h"
#include "trace/base/differ.h"

/* ---- before the call ---- */

static inline __attribute__((always_inline)) struct completion find_requests(const uint64_t *bits, int n)
{
	struct completion w = {.n = n > 0 ? (size_t)n : 0};
	unsigned traits = 0;

	if (n < 0 || (n && !bits))
		return w;
	if (recording.depth == 0 && request_array_find(bits, w.n, REQUEST_NULL_BITS)) {
		w.refs = request_array.refs;
		w.receives = request_array.traits & REQUEST_RECV;
		return w;
	}
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
	if (w->refs == request_array.refs && sizeof(*requests) == sizeof(uint64_t)) {
		request_array_end((const uint64_t *)(const void *)requests, REQUEST_NULL_BITS);
		return;
	}
	for (size_t i = 0; w->refs && i < w->n; i++)
		completion_end_one(&w->refs[i], requests[i]);
}

void completion_end_any(const struct completion *w, const MPI_Request *requests, const int *index)
{
	if (w->refs == request_array.refs && sizeof(*requests) == sizeof(uint64_t) && index && *index >= 0 &&
	    (size_t)*index < w->n)
		request_array_end_one((size_t)*index, (const uint64_t *)(const void *)requests, REQUEST_NULL_BITS);
	else
		completion_end(w, requests);
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

void put_request_array(struct call *c)
{
	const struct request_array *a = &request_array;
	const int64_t null = call_constant(c, CONST_MPI_REQUEST_NULL), *expected = call_expected(c, c->next, a->n);

	if (a->null != null)
		request_array_set_null(null);
	if (!expected || differ_next(expected, a->values, 0, a->n) < a->n) {
		call_put_vector(c, a->values, a->n);
		return;
	}
	call_put_expected(c, c->next);
	call_skip(c, 1);
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
		         status_tells(&w->refs[i], &statuses[k]);
	}
	PUT_ARRAY(c, has, n,
	          has[i_] ? status_source(c, &w->refs[request_of(w, indices, i_)], &statuses[i_], base) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? status_tag(c, &w->refs[request_of(w, indices, i_)], &statuses[i_]) : absent);
	PUT_ARRAY(c, has, n, has[i_] ? abi_bytes(&statuses[i_]) : absent);
}

void put_status_from_nobody(struct call *c, const struct request_ref *ref, const MPI_Status *status)
{
	if (!status_tells(ref, status)) {
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

/* A request is only looked at where it should be, and its status only at the end. All is in memory, and the steps are
 * functions that call nothing, so that few registers have to be saved. */
struct waitall {
	struct call c;
	int count, rc;
	MPI_Request *requests;
	MPI_Status *statuses;
	size_t n;
	const int64_t *numbers; /* that the requests have, and that their column expects */
	uint32_t traits;        /* that any of them has */
	uint32_t changes;       /* of the table of requests, so far */
	MPI_Status own[8];
	struct request_found found;
};

static __attribute__((noinline)) bool waitall_find_shared(struct waitall *a)
{
	return request_find_expected(&a->found, a->requests, sizeof(*a->requests), a->numbers, a->n, &a->traits);
}

static __attribute__((noinline)) bool waitall_find(struct waitall *a)
{
	return request_find_alone(&a->found, a->requests, sizeof(*a->requests), a->numbers, a->n, &a->traits) ||
	       waitall_find_shared(a);
}

/* Are the requests as expected? */
static inline __attribute__((always_inline)) bool waitall_begin(struct waitall *a)
{
	if (__builtin_expect((unsigned)a->count - 1 >= REQUEST_FEW, 0))
		return false;
	if (__builtin_expect(!a->requests, 0))
		return false;
	a->n = (size_t)a->count;
	a->numbers = call_expected(&a->c, &a->c.site->column[WAITALL_REQUESTS], a->n);
	if (__builtin_expect(!a->numbers || !request_table.fast, 0))
		return false;
	if (__builtin_expect(!waitall_find(CALL_HERE(a, "+")), 0))
		return false;
	a->changes = request_table.changes;
	return true;
}

static inline __attribute__((always_inline)) void waitall_passes(const struct call *c, int n, const int64_t *numbers,
                                                                 const struct completion *w)
{
	struct record_passed *passed = arguments_begin(c);
	bool known = true;

	passed->value[WAITALL_COUNT] = n;
	if (numbers)
		arguments_known_requests(passed, numbers, (size_t)n);
	else
		known = arguments_requests(passed, w->refs, w->n);
	arguments_end(c, passed, 1 << WAITALL_COUNT | (known ? 1 << WAITALL_REQUESTS : 0));
}

/* Is all as expected? Then it is put. Where a column goes on with another value than the last one, or a status is not
 * plain. */
static __attribute__((noinline)) bool waitall_changes(struct waitall *a)
{
	struct call *c = &a->c;
	struct cell *column = c->site->column;
	const int64_t *sources = call_expected(c, &column[WAITALL_SOURCES], a->n),
		      *tags = call_expected(c, &column[WAITALL_TAGS], a->n),
		      *bytes = call_expected(c, &column[WAITALL_BYTES], a->n);

	if (!sources || !tags || !bytes || column[WAITALL_COUNT].expect != (int64_t)a->n ||
	    call_expected(c, &column[WAITALL_REQUESTS], a->n) != a->numbers)
		return false;

	const int base = session_world_rank();
	const int64_t absent = call_constant(c, CONST_ABSENT);

	for (size_t k = 0; k < a->n; k++) {
		const MPI_Status *s = &a->statuses[k];
		const struct request_ref ref = {.traits = (uint8_t)a->found.traits[k]};

		if (!(ref.traits & REQUEST_RECV)) {
			if (sources[k] != absent || tags[k] != absent || bytes[k] != absent)
				return false;
		} else if (!status_tells(&ref, s) || sources[k] != status_source(c, &ref, s, base) ||
		           tags[k] != status_tag(c, &ref, s) || bytes[k] != abi_bytes(s)) {
			return false;
		}
	}
	for (int i = WAITALL_REQUESTS; i <= WAITALL_BYTES; i++)
		call_put_expected(c, &column[i]);
	return true;
}

/* Is a status what its columns expect, and plain? `absent` of a request that receives nothing. */
static inline __attribute__((always_inline)) bool waitall_plain(unsigned traits, const MPI_Status *s,
                                                                const int64_t *source, const int64_t *tag,
                                                                const int64_t *bytes, int64_t absent)
{
	if (!(traits & REQUEST_RECV))
		return __builtin_expect(*source == absent, 1) && __builtin_expect(*tag == absent, 1) &&
		       __builtin_expect(*bytes == absent, 1);
	return __builtin_expect(!(traits & REQUEST_FROM_NOBODY), 1) &&
	       __builtin_expect((s->MPI_SOURCE | s->MPI_TAG) >= 0, 1) &&
	       __builtin_expect(*source + session_world_rank() == s->MPI_SOURCE, 1) &&
	       __builtin_expect(*tag == s->MPI_TAG, 1) && __builtin_expect(*bytes == abi_bytes(s), 1) &&
	       __builtin_expect(!abi_cancelled(s), 1);
}

/* Has an index stay one: pointers that run along in its place are one more addition each. */
#define WAITALL_INDEX(k) __asm__("" : "+r"(k))

/* The same. It calls nothing but at its end. */
static __attribute__((noinline)) bool waitall_expected(struct waitall *a)
{
	const struct cell *column = a->c.site->column;
	const int64_t sources = column[WAITALL_SOURCES].raw, tags = column[WAITALL_TAGS].raw,
		      bytes = column[WAITALL_BYTES].raw, numbers = column[WAITALL_REQUESTS].raw,
		      absent = call_constant_known(&a->c, CONST_ABSENT);

	if (__builtin_expect((sources | tags | bytes | numbers) < 0 || !absent, 0))
		return waitall_changes(a);
	if (__builtin_expect(column[WAITALL_SOURCES].looping | column[WAITALL_TAGS].looping |
	                             column[WAITALL_BYTES].looping | column[WAITALL_REQUESTS].looping,
	                     0))
		return waitall_changes(a);

	const struct record_vector *s = (const struct record_vector *)(intptr_t)sources,
				   *t = (const struct record_vector *)(intptr_t)tags,
				   *b = (const struct record_vector *)(intptr_t)bytes,
				   *r = (const struct record_vector *)(intptr_t)numbers;
	const uint32_t n = (uint32_t)a->n;
	const MPI_Status *status = a->statuses;
	size_t k = 0;

	if (__builtin_expect(r->values != a->numbers || s->count != n || t->count != n || b->count != n ||
	                             column[WAITALL_COUNT].expect != (int64_t)a->n,
	                     0))
		return false;
	do {
		if (__builtin_expect(!waitall_plain(a->found.traits[k], status++, &s->values[k], &t->values[k],
		                                    &b->values[k], absent),
		                     0))
			return waitall_changes(a);
		REQUEST_REREAD(a->n);
		WAITALL_INDEX(k);
	} while (++k < a->n);
	return true;
}

/* All but the first k of them, as they are known where nothing is expected. */
static struct completion waitall_rest(const struct waitall *a, size_t k, struct request_ref *refs)
{
	for (size_t i = k; i < a->n; i++)
		refs[i - k] = (struct request_ref){a->found.bits[i], a->numbers[i], (uint8_t)a->found.traits[i]};
	return (struct completion){refs, a->n - k, 0, a->traits & REQUEST_RECV};
}

static __attribute__((noinline)) void waitall_end_slowly(const struct waitall *a, size_t k)
{
	struct request_ref refs[REQUEST_FEW];

	if (a->changes == request_table.changes)
		while (k < a->n &&
		       (a->requests[k] != MPI_REQUEST_NULL || request_end_expected(&a->found, k, a->numbers[k])))
			k++;
	if (k < a->n) {
		const struct completion w = waitall_rest(a, k, refs);

		completion_end(&w, a->requests + k);
	}
}

static __attribute__((noinline)) void waitall_end(struct waitall *a)
{
	size_t k = 0;

	if (__builtin_expect(a->changes == request_table.changes, 1) &&
	    __builtin_expect(request_end_alone(&a->found, a->requests, sizeof(*a->requests), a->numbers, &a->n,
	                                       REQUEST_NULL_BITS, &k),
	                     1))
		return;
	waitall_end_slowly(a, k);
}

/* The caller has none, and they are too many for the stack. */
static __attribute__((noinline)) MPI_Status *waitall_statuses(const struct waitall *a)
{
	return completion_statuses(&(struct completion){.n = a->n, .receives = true}, MPI_STATUSES_IGNORE);
}

/* The call is not as expected: known before it was made, or only then. */
static __attribute__((noinline)) int waitall_slowly(struct waitall *a)
{
	struct call *c = &a->c;
	const struct completion w = completion_begin(a->count, a->requests);
	MPI_Status *statuses = completion_statuses(&w, a->statuses);

	waitall_passes(c, a->count, NULL, &w);

	int rc = next.MPI_Waitall(a->count, a->requests, statuses);
	bool ok = wrap_end(c, rc);

	record_MPI_Waitall(c, ok, rc, &w, a->count, statuses);
	completion_end(&w, a->requests);
	return rc;
}

static __attribute__((noinline)) int waitall_otherwise(struct waitall *a)
{
	struct request_ref refs[REQUEST_FEW];
	const struct completion w = waitall_rest(a, 0, refs);

	call_first(&a->c, 0);
	record_MPI_Waitall(&a->c, a->rc == MPI_SUCCESS, a->rc, &w, a->count, a->statuses);
	completion_end(&w, a->requests);
	return a->rc;
}

static __attribute__((noinline)) int waitall_after(struct waitall *a, int rc)
{
	a->rc = rc;
	if (__builtin_expect(!call_end(&a->c, rc), 0))
		return waitall_otherwise(a);
	if (__builtin_expect(!waitall_expected(a), 0))
		return waitall_otherwise(a);
	call_commit(&a->c);
	waitall_end(a);
	return a->rc;
}

int wrap_MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
	struct waitall a;

	a.count = count;
	a.requests = array_of_requests;
	a.statuses = array_of_statuses;
	if (!wrap_begin(&a.c, FN_MPI_Waitall))
		return next.MPI_Waitall(a.count, a.requests, a.statuses);
	if (__builtin_expect(!waitall_begin(&a), 0))
		return waitall_slowly(CALL_HERE(&a, "+"));
	if (a.traits & REQUEST_RECV && a.statuses == MPI_STATUSES_IGNORE) {
		a.statuses = a.n <= 8 ? a.own : waitall_statuses(CALL_HERE(&a, "+"));
		if (__builtin_expect(a.statuses == MPI_STATUSES_IGNORE, 0)) /* no memory */
			return waitall_slowly(CALL_HERE(&a, "+"));
	}
	if (!a.numbers)
		__builtin_unreachable();
	waitall_passes(&a.c, a.count, a.numbers, NULL);

	int rc = next.MPI_Waitall(a.count, a.requests, a.statuses);

	return waitall_after(CALL_HERE(&a, "+"), rc);
}
