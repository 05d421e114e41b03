/* SPDX-License-Identifier: BSD-3-Clause
 * requests - the live requests, statuses, and the functions that start, complete and free requests
 *
 * The list of live requests is in order of creation. A handle means the oldest live request that has it; within one
 * array each live request is meant at most once (Open MPI gives one handle to all requests to MPI_PROC_NULL). Those of
 * the calling thread come first, then those of the others in the order of the threads. Before a call its request
 * arguments are resolved to numbers (a batch); after it those that the call completed leave the list. In between the
 * library may have given the handle to another thread's new request.
 */
#include "tests/flatlog/flatlog.h"

/* ---- live requests ---- */

struct live {
	MPI_Request handle;
	int number; /* PER_THREAD * the thread that created it + its number there */
	int traits;
	bool active; /* a persistent one: between start and completion */
	bool busy;   /* a call that may complete it has not returned: another thread cannot mean it */
};

#define PER_THREAD 1000000
static struct live *live;
static int live_count;

static struct live *live_find(int number)
{
	for (int i = 0; i < live_count; i++)
		if (live[i].number == number)
			return &live[i];
	return NULL;
}

/* A new request takes the lowest free number of its thread. */
static struct live *live_add(MPI_Request h, int traits)
{
	int number = PER_THREAD * flatlog_thread();

	while (live_find(number))
		number++;
	live = (struct live *)realloc(live, (live_count + 1) * sizeof(*live));
	if (!live)
		abort();
	live[live_count] = (struct live){h, number, traits, !(traits & PERSISTENT), false};
	return &live[live_count++];
}

static void live_remove(int number)
{
	struct live *r = live_find(number);

	if (!r)
		return;
	memmove(r, r + 1, (live + live_count - (r + 1)) * sizeof(*r));
	live_count--;
}

static char *say_number(int number)
{
	int thread = number / PER_THREAD;

	if (number < 0)
		return say_name("MPI_REQUEST_NULL");
	char *text = say_append(say_name("r"), 0, say_int(number % PER_THREAD));
	return thread == flatlog_thread() ? text : say_append(say_append(text, 0, say_name("@")), 0, say_int(thread));
}

char *say_new_request(MPI_Request h, int traits)
{
	int number = -1;

	pthread_mutex_lock(&flatlog_lock);
	if (h != MPI_REQUEST_NULL)
		number = live_add(h, traits)->number;
	pthread_mutex_unlock(&flatlog_lock);
	return say_number(number);
}

/* ---- batches: the requests of one call ---- */

#define BATCH_NULL (-1)
struct batch {
	int n;
	int *number; /* BATCH_NULL for MPI_REQUEST_NULL */
};

static void batch_begin(struct batch *b, int n, const MPI_Request *handles)
{
	b->n = n < 0 ? 0 : n;
	b->number = (int *)malloc((b->n + 1) * sizeof(int));
	if (!b->number)
		abort();
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < b->n; i++) {
		int found = BATCH_NULL;

		for (int k = 0; k < live_count && handles[i] != MPI_REQUEST_NULL; k++) {
			if (live[k].busy || live[k].handle != handles[i])
				continue;
			int thread = live[k].number / PER_THREAD, best = found / PER_THREAD, self = flatlog_thread();

			if (found < 0 || (best != self && (thread == self || thread < best)))
				found = live[k].number;
		}
		if (found < 0 && handles[i] != MPI_REQUEST_NULL)
			found = live_add(handles[i], 0)->number; /* never seen: numbered now */
		b->number[i] = found;
		if (found >= 0)
			live_find(found)->busy = true;
	}
	pthread_mutex_unlock(&flatlog_lock);
}

static void batch_end(struct batch *b)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < b->n; i++)
		if (live_find(b->number[i]))
			live_find(b->number[i])->busy = false;
	pthread_mutex_unlock(&flatlog_lock);
	free(b->number);
}

static char *batch_say(const struct batch *b)
{
	return SAY_ARRAY(b->n, say_number(b->number[i_]));
}

/* Is request i an active receive, so that its status describes a message? */
static bool batch_receives(const struct batch *b, int i)
{
	pthread_mutex_lock(&flatlog_lock);
	const struct live *r = live_find(b->number[i]);
	bool receives = r && r->active && (r->traits & RECEIVE);
	pthread_mutex_unlock(&flatlog_lock);
	return receives;
}

/* Request i is complete. Returns what batch_receives() said before. */
static bool batch_complete(struct batch *b, int i)
{
	pthread_mutex_lock(&flatlog_lock);
	bool receives = batch_receives(b, i);
	struct live *r = live_find(b->number[i]);

	if (r && r->traits & PERSISTENT) {
		r->active = false;
	} else if (r) {
		live_remove(r->number);
		b->number[i] = BATCH_NULL; /* another thread may have the number now */
	}
	pthread_mutex_unlock(&flatlog_lock);
	return receives;
}

/* The request of the call is freed. */
static void batch_free(struct batch *b)
{
	pthread_mutex_lock(&flatlog_lock);
	live_remove(b->number[0]);
	b->number[0] = BATCH_NULL;
	pthread_mutex_unlock(&flatlog_lock);
}

/* After an error: what has become MPI_REQUEST_NULL is complete. */
static void batch_failed(struct batch *b, const MPI_Request *after)
{
	for (int i = 0; i < b->n; i++)
		if (b->number[i] >= 0 && after[i] == MPI_REQUEST_NULL)
			batch_complete(b, i);
}

char *say_live_request(MPI_Request h)
{
	struct batch b;
	int number = -1;

	/* the call ends no request: it may mean one that another thread waits for */
	pthread_mutex_lock(&flatlog_lock);
	for (int k = 0; k < live_count && number < 0 && h != MPI_REQUEST_NULL; k++)
		if (live[k].handle == h && live[k].busy)
			number = live[k].number;
	pthread_mutex_unlock(&flatlog_lock);
	if (number >= 0)
		return say_number(number);
	batch_begin(&b, 1, &h);
	char *text = say_number(b.number[0]);
	batch_end(&b);
	return text;
}

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
			fields_put(&l, 2, "status", fields_of(KNOWN(status), MPI_BYTE, batch_receives(&b, 0)));
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

static void batch_start(struct batch *b)
{
	for (int i = 0; i < b->n; i++)
		if (live_find(b->number[i]))
			live_find(b->number[i])->active = true;
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
