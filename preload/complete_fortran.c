/* SPDX-License-Identifier: BSD-3-Clause
 * complete - the Fortran wait and test functions
 */
#include "preload/complete.h"
#include "preload/fortran.h"

static struct completion begin(int n, const MPI_Fint *requests)
{
	uint64_t *bits = n >= 0 ? scratch(SCRATCH_BITS, (size_t)n, sizeof(*bits)) : NULL;

	for (int i = 0; bits && i < n; i++)
		bits[i] = HANDLE_BITS(real.MPI_Request_f2c(requests[i]));
	return completion_begin(bits, n);
}

static struct completion begin_one(struct request_ref *ref, MPI_Fint request)
{
	return completion_begin_one(ref, HANDLE_BITS(real.MPI_Request_f2c(request)));
}

static void end(const struct completion *w, const MPI_Fint *requests)
{
	const MPI_Fint null = real.MPI_Request_c2f(MPI_REQUEST_NULL);

	for (size_t i = 0; w->refs && i < w->n; i++)
		if (requests[i] == null)
			request_end(&w->refs[i]);
		else
			request_release(&w->refs[i]);
}

/* The statuses to pass on: the caller's, or our own if it has none and one is wanted. */
static MPI_Fint *wanted(const struct completion *w, MPI_Fint *statuses)
{
	MPI_Fint *own;

	if (!w->receives || !fortran_ignores(statuses))
		return statuses;
	own = scratch(SCRATCH_OWN, w->n, FORTRAN_STATUS_SIZE * sizeof(*own));
	return own ? own : statuses;
}

/* n statuses in C's form; NULL if there are none. */
static const MPI_Status *translate(const struct completion *w, const MPI_Fint *statuses, int n)
{
	MPI_Status *out;

	if (n <= 0 || !w->receives || fortran_ignores(statuses))
		return NULL;
	out = scratch(SCRATCH_STATUSES, (size_t)n, sizeof(*out));
	for (int i = 0; out && i < n; i++)
		real.MPI_Status_f2c(statuses + (size_t)i * FORTRAN_STATUS_SIZE, &out[i]);
	return out;
}

/* Functions with the same parameters differ in whom they call and under which name they are recorded. The return
 * address of the wrapper is the call's, so that what they share has to stand inline in it. */
#define BODY static inline __attribute__((always_inline)) void

MPI_WRAPPER void FORTRAN_NAME(mpi_wait)(MPI_Fint *request, MPI_Fint *status, MPI_Fint *ierror)
{
	struct call c;
	struct request_ref ref;
	struct completion w;
	MPI_Fint own[FORTRAN_STATUS_SIZE], own_error;
	MPI_Status translated;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Wait)) {
		FORTRAN_NEXT.mpi_wait(request, status, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin_one(&ref, *request);
	if (w.receives && fortran_ignores(status))
		status = own;
	FORTRAN_NEXT.mpi_wait(request, status, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Wait(&c, ok, *ierror, &w, fortran_status(status, &translated, ok && w.receives));
	end(&w, request);
}

BODY test_one(enum mpi_number function, __typeof__(FORTRAN_NEXT.mpi_test) next, MPI_Fint *request, MPI_Fint *flag,
              MPI_Fint *status, MPI_Fint *ierror)
{
	struct call c;
	struct request_ref ref;
	struct completion w;
	MPI_Fint own[FORTRAN_STATUS_SIZE], own_error;
	MPI_Status translated;
	bool ok;

	if (!wrap_begin(&c, function)) {
		next(request, flag, status, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin_one(&ref, *request);
	if (w.receives && fortran_ignores(status))
		status = own;
	next(request, flag, status, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Test(&c, ok, *ierror, &w, ok && *flag,
	                fortran_status(status, &translated, ok && *flag && w.receives));
	end(&w, request);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_test)(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	test_one(FN_MPI_Test, FORTRAN_NEXT.mpi_test, request, flag, status, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_request_get_status)(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status,
                                                      MPI_Fint *ierror)
{
	test_one(FN_MPI_Request_get_status, FORTRAN_NEXT.mpi_request_get_status, request, flag, status, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_waitall)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *array_of_statuses,
                                           MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Waitall)) {
		FORTRAN_NEXT.mpi_waitall(count, array_of_requests, array_of_statuses, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*count, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	FORTRAN_NEXT.mpi_waitall(count, array_of_requests, array_of_statuses, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Waitall(&c, ok, *ierror, &w, translate(&w, array_of_statuses, ok ? *count : 0));
	end(&w, array_of_requests);
}

BODY test_all(enum mpi_number function, __typeof__(FORTRAN_NEXT.mpi_testall) next, MPI_Fint *count,
              MPI_Fint *array_of_requests, MPI_Fint *flag, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, function)) {
		next(count, array_of_requests, flag, array_of_statuses, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*count, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	next(count, array_of_requests, flag, array_of_statuses, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Testall(&c, ok, *ierror, &w, ok && *flag,
	                   translate(&w, array_of_statuses, ok && *flag ? *count : 0));
	end(&w, array_of_requests);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_testall)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag,
                                           MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	test_all(FN_MPI_Testall, FORTRAN_NEXT.mpi_testall, count, array_of_requests, flag, array_of_statuses, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_waitany)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *index,
                                           MPI_Fint *status, MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own[FORTRAN_STATUS_SIZE], own_error;
	MPI_Status translated;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Waitany)) {
		FORTRAN_NEXT.mpi_waitany(count, array_of_requests, index, status, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*count, array_of_requests);
	if (w.receives && fortran_ignores(status))
		status = own;
	FORTRAN_NEXT.mpi_waitany(count, array_of_requests, index, status, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Waitany(&c, ok, *ierror, &w, ok ? fortran_index(*index) : 0,
	                   fortran_status(status, &translated, ok && w.receives));
	end(&w, array_of_requests);
}

BODY test_any(enum mpi_number function, __typeof__(FORTRAN_NEXT.mpi_testany) next, MPI_Fint *count,
              MPI_Fint *array_of_requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own[FORTRAN_STATUS_SIZE], own_error;
	MPI_Status translated;
	bool ok;

	if (!wrap_begin(&c, function)) {
		next(count, array_of_requests, index, flag, status, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*count, array_of_requests);
	if (w.receives && fortran_ignores(status))
		status = own;
	next(count, array_of_requests, index, flag, status, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Testany(&c, ok, *ierror, &w, ok ? fortran_index(*index) : 0, ok && *flag,
	                   fortran_status(status, &translated, ok && *flag && w.receives));
	end(&w, array_of_requests);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_testany)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *index,
                                           MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	test_any(FN_MPI_Testany, FORTRAN_NEXT.mpi_testany, count, array_of_requests, index, flag, status, ierror);
}

BODY complete_some(enum mpi_number function, __typeof__(FORTRAN_NEXT.mpi_waitsome) next, MPI_Fint *incount,
                   MPI_Fint *array_of_requests, MPI_Fint *outcount, MPI_Fint *array_of_indices,
                   MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, function)) {
		next(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*incount, array_of_requests);
	array_of_statuses = wanted(&w, array_of_statuses);
	next(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Waitsome(&c, ok, *ierror, &w, ok ? *outcount : 0, array_of_indices, 1,
	                    translate(&w, array_of_statuses, ok && *outcount != MPI_UNDEFINED ? *outcount : 0));
	end(&w, array_of_requests);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_waitsome)(MPI_Fint *incount, MPI_Fint *array_of_requests, MPI_Fint *outcount,
                                            MPI_Fint *array_of_indices, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	complete_some(FN_MPI_Waitsome, FORTRAN_NEXT.mpi_waitsome, incount, array_of_requests, outcount,
	              array_of_indices, array_of_statuses, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_testsome)(MPI_Fint *incount, MPI_Fint *array_of_requests, MPI_Fint *outcount,
                                            MPI_Fint *array_of_indices, MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	complete_some(FN_MPI_Testsome, FORTRAN_NEXT.mpi_testsome, incount, array_of_requests, outcount,
	              array_of_indices, array_of_statuses, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_startall)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *ierror)
{
	struct call c;
	struct completion w;
	MPI_Fint own_error;
	bool ok;

	if (!wrap_begin(&c, FN_MPI_Startall)) {
		FORTRAN_NEXT.mpi_startall(count, array_of_requests, ierror);
		return;
	}
	if (!ierror)
		ierror = &own_error;
	w = begin(*count, array_of_requests);
	FORTRAN_NEXT.mpi_startall(count, array_of_requests, ierror);
	ok = wrap_end(&c, *ierror);
	record_MPI_Startall(&c, ok, *ierror, &w);
	end(&w, array_of_requests);
}

/* ---- MPI 4.1: they look and complete nothing ---- */

#ifdef HAVE_MPI_Request_get_status_all
MPI_WRAPPER void FORTRAN_NAME(mpi_request_get_status_all)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *flag,
                                                          MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	test_all(FN_MPI_Request_get_status_all, FORTRAN_NEXT.mpi_request_get_status_all, count, array_of_requests, flag,
	         array_of_statuses, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_request_get_status_any)(MPI_Fint *count, MPI_Fint *array_of_requests, MPI_Fint *index,
                                                          MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror)
{
	test_any(FN_MPI_Request_get_status_any, FORTRAN_NEXT.mpi_request_get_status_any, count, array_of_requests,
	         index, flag, status, ierror);
}

MPI_WRAPPER void FORTRAN_NAME(mpi_request_get_status_some)(MPI_Fint *incount, MPI_Fint *array_of_requests,
                                                           MPI_Fint *outcount, MPI_Fint *array_of_indices,
                                                           MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
	complete_some(FN_MPI_Request_get_status_some, FORTRAN_NEXT.mpi_request_get_status_some, incount,
	              array_of_requests, outcount, array_of_indices, array_of_statuses, ierror);
}
#endif
