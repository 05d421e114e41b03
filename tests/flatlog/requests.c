/* SPDX-License-Identifier: BSD-3-Clause
 * requests - the functions that start, complete and free requests, and their statuses
 *
 * Before a call its request arguments are resolved to numbers (live.h); after it those that the call completed leave
 * the list.
 */
#include "tests/flatlog/flatlog.h"
#include "tests/flatlog/live.h"

/* ---- statuses ---- */

/* Statuses of n completed requests: request which[i] (NULL: i) of the batch has status s[i]. Completes them. */
static void complete_array(struct line *l, int part, struct batch *b, int n, const int *which, const MPI_Status *s)
{
	struct fields all = fields_all("[");

	for (int i = 0; i < n; i++) {
		struct fields f = fields_of(s ? &s[i] : NULL, MPI_BYTE, batch_complete(b, which ? which[i] : i));

		all.source = say_append(all.source, i, f.source);
		all.tag = say_append(all.tag, i, f.tag);
		all.count = say_append(all.count, i, f.count);
	}
	all.source = say_append(all.source, 0, say_name("]"));
	all.tag = say_append(all.tag, 0, say_name("]"));
	all.count = say_append(all.count, 0, say_name("]"));
	fields_put(l, part, "statuses", all);
}

/* ---- after each function of the family: the same for both languages. s is NULL if not known ---- */

static void after_wait(struct line *l, struct batch *b, int part, const MPI_Status *s)
{
	fields_put(l, part, "status", fields_of(s, MPI_BYTE, batch_complete(b, 0)));
}

static void after_any(struct line *l, struct batch *b, int part, int index, bool flag, const MPI_Status *s)
{
	if (flag && index != MPI_UNDEFINED)
		fields_put(l, part, "status", fields_of(s, MPI_BYTE, batch_complete(b, index)));
}

static void after_some(struct line *l, struct batch *b, int outcount, const int *indices, const MPI_Status *s)
{
	line_put(l, 2, "outcount", say_count(outcount));
	if (outcount == 0 || outcount == MPI_UNDEFINED)
		return;
	line_put(l, 3, "indices", SAY_ARRAY(outcount, say_int(indices[i_])));
	complete_array(l, 4, b, outcount, indices, s);
}

/* ---- C ---- */

#define BEGIN(function, ...)                                         \
	struct line l;                                               \
	struct batch b;                                              \
	if (!line_begin(&l, #function, __builtin_return_address(0))) \
	return next(__VA_ARGS__)
#define END(array)                               \
	do {                                     \
		if (rc != MPI_SUCCESS)           \
			batch_failed(&b, array); \
		line_write(&l);                  \
		batch_end(&b);                   \
	} while (0)
#define SINGLE(handles) (batch_begin(&b, 1, handles), line_put(&l, 0, "request", say_number(b.number[0])))
#define ARRAY(count_name, n, handles)                                          \
	(batch_begin(&b, n, handles), line_put(&l, 0, count_name, say_int(n)), \
	 line_put(&l, 1, "requests", batch_say(&b)))
#define KNOWN(s) (ignored(s) ? NULL : (s))

/* The caller's array of n statuses, or one of ours where the caller does not want them. */
static MPI_Status *own_statuses(int n, MPI_Status *s, MPI_Status **own)
{
	*own = ignored(s) && !flatlog_leave() ? (MPI_Status *)calloc(n > 0 ? n : 1, sizeof(MPI_Status)) : NULL;
	return *own ? *own : s;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	NEXT(MPI_Wait, int, (MPI_Request *, MPI_Status *));
	BEGIN(MPI_Wait, request, status);
	SINGLE(request);
	line_absent_status(&l, 1, "status");
	OWN_STATUS(status);
	int rc = next(request, status);
	if (line_end(&l, rc))
		after_wait(&l, &b, 1, KNOWN(status));
	END(request);
	return rc;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	NEXT(MPI_Test, int, (MPI_Request *, int *, MPI_Status *));
	BEGIN(MPI_Test, request, flag, status);
	SINGLE(request);
	line_absent(&l, 1, "flag");
	line_absent_status(&l, 2, "status");
	OWN_STATUS(status);
	int rc = next(request, flag, status);
	if (line_end(&l, rc)) {
		line_put(&l, 1, "flag", say_flag(*flag));
		if (*flag)
			after_wait(&l, &b, 2, KNOWN(status));
	}
	END(request);
	return rc;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	NEXT(MPI_Request_get_status, int, (MPI_Request, int *, MPI_Status *));
	BEGIN(MPI_Request_get_status, request, flag, status);
	SINGLE(&request);
	line_absent(&l, 1, "flag");
	line_absent_status(&l, 2, "status");
	OWN_STATUS(status);
	int rc = next(request, flag, status);
	if (line_end(&l, rc)) {
		line_put(&l, 1, "flag", say_flag(*flag));
		if (*flag)
			fields_put(&l, 2, "status", fields_of(KNOWN(status), MPI_BYTE, batch_tells(&b, 0)));
	}
	END(&request);
	return rc;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
	NEXT(MPI_Waitall, int, (int, MPI_Request *, MPI_Status *));
	MPI_Status *own;
	BEGIN(MPI_Waitall, count, requests, statuses);
	ARRAY("count", count, requests);
	line_absent_status(&l, 2, "statuses");
	statuses = own_statuses(count, statuses, &own);
	int rc = next(count, requests, statuses);
	if (line_end(&l, rc))
		complete_array(&l, 2, &b, b.n, NULL, KNOWN(statuses));
	END(requests);
	free(own);
	return rc;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	NEXT(MPI_Testall, int, (int, MPI_Request *, int *, MPI_Status *));
	MPI_Status *own;
	BEGIN(MPI_Testall, count, requests, flag, statuses);
	ARRAY("count", count, requests);
	line_absent(&l, 2, "flag");
	line_absent_status(&l, 3, "statuses");
	statuses = own_statuses(count, statuses, &own);
	int rc = next(count, requests, flag, statuses);
	if (line_end(&l, rc)) {
		line_put(&l, 2, "flag", say_flag(*flag));
		if (*flag)
			complete_array(&l, 3, &b, b.n, NULL, KNOWN(statuses));
	}
	END(requests);
	free(own);
	return rc;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	NEXT(MPI_Waitany, int, (int, MPI_Request *, int *, MPI_Status *));
	BEGIN(MPI_Waitany, count, requests, index, status);
	ARRAY("count", count, requests);
	line_absent(&l, 2, "index");
	line_absent_status(&l, 3, "status");
	OWN_STATUS(status);
	int rc = next(count, requests, index, status);
	if (line_end(&l, rc)) {
		line_put(&l, 2, "index", say_count(*index));
		after_any(&l, &b, 3, *index, true, KNOWN(status));
	}
	END(requests);
	return rc;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	NEXT(MPI_Testany, int, (int, MPI_Request *, int *, int *, MPI_Status *));
	BEGIN(MPI_Testany, count, requests, index, flag, status);
	ARRAY("count", count, requests);
	line_absent(&l, 2, "index");
	line_absent(&l, 3, "flag");
	line_absent_status(&l, 4, "status");
	OWN_STATUS(status);
	int rc = next(count, requests, index, flag, status);
	if (line_end(&l, rc)) {
		line_put(&l, 2, "index", say_count(*index));
		line_put(&l, 3, "flag", say_flag(*flag));
		after_any(&l, &b, 4, *index, *flag, KNOWN(status));
	}
	END(requests);
	return rc;
}

#define SOME(function)                                                                                         \
	int function(int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]) \
	{                                                                                                      \
		NEXT(function, int, (int, MPI_Request *, int *, int *, MPI_Status *));                         \
		MPI_Status *own;                                                                               \
		BEGIN(function, incount, requests, outcount, indices, statuses);                               \
		ARRAY("incount", incount, requests);                                                           \
		line_absent(&l, 2, "outcount");                                                                \
		line_absent(&l, 3, "indices");                                                                 \
		line_absent_status(&l, 4, "statuses");                                                         \
		statuses = own_statuses(incount, statuses, &own);                                              \
		int rc = next(incount, requests, outcount, indices, statuses);                                 \
		if (line_end(&l, rc))                                                                          \
			after_some(&l, &b, *outcount, indices, KNOWN(statuses));                               \
		END(requests);                                                                                 \
		free(own);                                                                                     \
		return rc;                                                                                     \
	}
SOME(MPI_Waitsome)
SOME(MPI_Testsome)

int MPI_Request_free(MPI_Request *request)
{
	NEXT(MPI_Request_free, int, (MPI_Request *));
	BEGIN(MPI_Request_free, request);
	SINGLE(request);
	int rc = next(request);
	if (line_end(&l, rc))
		batch_free(&b);
	END(request);
	return rc;
}

int MPI_Cancel(MPI_Request *request)
{
	NEXT(MPI_Cancel, int, (MPI_Request *));
	BEGIN(MPI_Cancel, request);
	SINGLE(request);
	int rc = next(request);
	line_end(&l, rc);
	END(request);
	return rc;
}

int MPI_Start(MPI_Request *request)
{
	NEXT(MPI_Start, int, (MPI_Request *));
	BEGIN(MPI_Start, request);
	SINGLE(request);
	int rc = next(request);
	if (line_end(&l, rc))
		batch_start(&b);
	END(request);
	return rc;
}

int MPI_Startall(int count, MPI_Request requests[])
{
	NEXT(MPI_Startall, int, (int, MPI_Request *));
	BEGIN(MPI_Startall, count, requests);
	ARRAY("count", count, requests);
	int rc = next(count, requests);
	if (line_end(&l, rc))
		batch_start(&b);
	END(requests);
	return rc;
}

/* ---- Fortran: the caller's own arguments go to the next library; copies in C's terms are what is said ---- */

static MPI_Request *c_requests(int n, const int *f)
{
	MPI_Request *c = (MPI_Request *)malloc((n > 0 ? n : 1) * sizeof(*c));

	if (!c)
		abort();
	for (int i = 0; i < n; i++)
		c[i] = PMPI_Request_f2c(f[i]);
	return c;
}

static int *own_fstatuses(int n, int *s, int **own)
{
	*own = ignored(s) && !flatlog_leave() ? (int *)calloc(n > 0 ? n : 1, sizeof(MPI_Status)) : NULL;
	return *own ? *own : s;
}

/* NULL if they are ignored. */
static MPI_Status *c_statuses(int n, const int *f)
{
	if (ignored(f))
		return NULL;
	MPI_Status *c = (MPI_Status *)malloc((n > 0 ? n : 1) * sizeof(*c));
	if (!c)
		abort();
	for (int i = 0; i < n; i++)
		PMPI_Status_f2c(f + i * MPI_F_STATUS_INTS, &c[i]);
	return c;
}

#define FBEGIN(function, ...)                                          \
	struct line l;                                                 \
	struct batch b;                                                \
	if (!line_begin(&l, #function, __builtin_return_address(0))) { \
		next(__VA_ARGS__);                                     \
		return;                                                \
	}
#define FSINGLE()                                           \
	MPI_Request c_request = PMPI_Request_f2c(*request); \
	SINGLE(&c_request)
#define FARRAY(count_name, n)                             \
	MPI_Request *c_request = c_requests(n, requests); \
	ARRAY(count_name, n, c_request);                  \
	free(c_request)
#define FEND(n, handles)                                             \
	do {                                                         \
		if (*ierror != MPI_SUCCESS) {                        \
			MPI_Request *after = c_requests(n, handles); \
			batch_failed(&b, after);                     \
			free(after);                                 \
		}                                                    \
		line_write(&l);                                      \
		batch_end(&b);                                       \
	} while (0)

/* Fortran counts from 1. */
static int c_index(int f)
{
	return f == MPI_UNDEFINED ? f : f - 1;
}

#define FORTRAN(name, parameters)      FORTRAN_SPELLED(name, parameters) void name##_ parameters
#define NEXT_FORTRAN(name, parameters) NEXT(name##_, void, parameters)
#include "tests/flatlog/requests_fortran.h"
#undef FORTRAN
#undef NEXT_FORTRAN
#define FORTRAN(name, parameters)      void name##_f08_ parameters
#define NEXT_FORTRAN(name, parameters) NEXT(name##_f08_, void, parameters)
#include "tests/flatlog/requests_fortran.h"
