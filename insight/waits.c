/* SPDX-License-Identifier: BSD-3-Clause
 * waits - how long ranks waited for others, by call site
 *
 * All ranks are walked, one after the other. Whatever needs another rank is kept as an *end*: of a message, the send
 * and the receive, of a collective operation, one of each rank. Sorted by what they belong to, ends that belong
 * together stand side by side:
 *
 *     channel (comm, from, to, tag)  number    end       began     waits in
 *     c0 0 -> 1 tag 7                0         send      100 us    -
 *     c0 0 -> 1 tag 7                0         receive    20 us    MPI_Wait, 25 us to 110 us: 75 us late sender
 */
#include "insight/waits.h"

#include <stdlib.h>
#include <string.h>

#include "insight/channels.h"
#include "insight/look_ahead.h"
#include "trace/base/budget.h"
#include "trace/model/timing.h"
#include "trace/read/event_clock.h"

#define NOWHERE UINT32_MAX
/* Numbers of requests: those of requests that are live at a time. */
#define REQUESTS_MOST (UINT64_C(1) << 28)

/* A call that may wait. */
struct blocked {
	uint32_t site;
	uint64_t begin, end;
	uint64_t ns[WAIT_KINDS];
};

enum end_kind { END_SEND, END_RECEIVE, END_COLLECTIVE };

struct end {
	uint32_t comm, from, to; /* ranks of MPI_COMM_WORLD; of a collective: root, rank */
	int64_t tag;             /* of a collective: which operation it is */
	uint64_t number;         /* in its channel, or of its communicator */
	enum end_kind kind;
	uint64_t began;
	bool idle;   /* of a collective on an intercommunicator: it has nothing to do */
	uint32_t in; /* the call that waits for it: in blocked; NOWHERE: none */
};

struct waiting {
	const struct trace *trace;
	struct blocked *blocked;
	struct end *ends;
	uint32_t blocked_count, blocked_capacity, end_count, end_capacity;
	/* of the stream that is walked: ends by the number of their request; collective operations of communicators */
	uint32_t *requests;
	size_t request_capacity;
	struct channels operations;
	uint32_t self;
};

static struct end *end_add(struct waiting *w, const struct act *a, enum end_kind kind, uint64_t began, uint32_t in)
{
	if (!budget_grow(&w->ends, w->end_count, &w->end_capacity, sizeof *w->ends))
		return NULL;
	bool sends = kind == END_SEND;
	w->ends[w->end_count] = (struct end){.comm = a->comm,
	                                     .from = sends ? w->self : a->peer,
	                                     .to = sends ? a->peer : w->self,
	                                     .tag = a->tag,
	                                     .number = a->number,
	                                     .kind = kind,
	                                     .began = began,
	                                     .in = in};
	return &w->ends[w->end_count++];
}

static int request_set(struct waiting *w, uint64_t request, uint32_t end)
{
	if (request >= w->request_capacity) {
		size_t more = (size_t)request + w->request_capacity + 64;
		uint32_t *bigger = request < REQUESTS_MOST ? budget_realloc(w->requests, more * sizeof *bigger) : NULL;
		if (!bigger)
			return -1;
		for (size_t i = w->request_capacity; i < more; i++)
			bigger[i] = NOWHERE;
		w->requests = bigger;
		w->request_capacity = more;
	}
	w->requests[request] = end;
	return 0;
}

/* The call of a rank in a collective operation: which one that is, is counted by each rank alike. */
static struct end *operation_add(struct waiting *w, const struct act *a, uint64_t began, uint32_t in)
{
	uint64_t *count = channels_at(&w->operations, false, false, a->comm, 0, 0);
	struct end *e = count ? end_add(w, a, END_COLLECTIVE, began, in) : NULL;
	if (!e)
		return NULL;
	e->tag = a->collective;
	e->idle = a->bystander;
	e->number = (*count)++;
	return e;
}

static bool is_collective(enum act_kind kind)
{
	return kind == ACT_COLLECTIVE || kind == ACT_COLLECTIVE_BEGIN;
}

/* What an event did. call: where it is in blocked. */
static int add_act(struct waiting *w, const struct act *a, uint64_t begin, uint32_t call)
{
	if (a->comm == COMM_UNKNOWN || a->comm == COMM_SELF)
		return 0;
	bool begins = a->kind == ACT_SEND_BEGIN || a->kind == ACT_RECV_BEGIN || a->kind == ACT_COLLECTIVE_BEGIN;
	enum end_kind kind = a->kind == ACT_SEND || a->kind == ACT_SEND_BEGIN ? END_SEND : END_RECEIVE;
	struct end *e;
	switch (a->kind) {
	case ACT_SEND:
	case ACT_RECV:
	case ACT_COLLECTIVE:
	case ACT_SEND_BEGIN:
	case ACT_RECV_BEGIN:
	case ACT_COLLECTIVE_BEGIN:
		e = is_collective(a->kind) ? operation_add(w, a, begin, begins ? NOWHERE : call)
		                           : end_add(w, a, kind, begin, begins ? NOWHERE : call);
		return !e ? -1 : begins ? request_set(w, a->request, w->end_count - 1) : 0;
	case ACT_SEND_END:
	case ACT_COLLECTIVE_END:
	case ACT_RECV_END:
		if (a->request >= w->request_capacity || w->requests[a->request] >= w->end_count)
			return 0;
		e = &w->ends[w->requests[a->request]];
		e->in = call;
		if (a->kind == ACT_RECV_END) { /* only now it may be known which message it is */
			e->from = a->peer;
			e->tag = a->tag;
			e->number = a->number;
		}
		return 0;
	default:
		return 0;
	}
}

static int add_event(struct waiting *w, const struct event *e, uint64_t begin, uint64_t end, const struct act *list,
                     size_t n)
{
	if (n == 0)
		return 0;
	if (!budget_grow(&w->blocked, w->blocked_count, &w->blocked_capacity, sizeof *w->blocked))
		return -1;
	w->blocked[w->blocked_count] = (struct blocked){.site = e->site, .begin = begin, .end = end};
	for (size_t i = 0; i < n; i++)
		if (add_act(w, &list[i], begin, w->blocked_count) != 0)
			return -1;
	w->blocked_count++;
	return 0;
}

static int add_stream(struct waiting *w, const struct calls *calls, const struct comms *comms, uint32_t stream,
                      struct error *error)
{
	struct walk *walk = NULL;
	struct event_clock *clock = NULL;
	struct execution *execution = execution_create(calls, comms, stream);
	struct event e;
	uint64_t begin, end;
	size_t n;
	w->self = stream;
	int rv = !execution ? error_set(error, "no memory") : walk_begin(&walk, w->trace, stream, error);
	if (rv == 0)
		rv = look_ahead(execution, calls, comms, stream, error);
	if (rv == 0)
		rv = event_clock_create(&clock, w->trace, stream, error);
	while (rv == 0 && (rv = walk_next(walk, &e, error)) == 0) {
		event_clock_next(clock, &e, &begin, &end);
		const struct act *list = execution_event(execution, &e, &n);
		if (!list || add_event(w, &e, begin, end, list, n) != 0)
			rv = error_set(error, "no memory");
	}
	walk_end(walk);
	event_clock_destroy(clock);
	execution_destroy(execution);
	channels_free(&w->operations);
	budget_free(w->requests);
	w->requests = NULL;
	w->request_capacity = 0;
	return rv < 0 ? -1 : 0;
}

/* --- what belongs together --- */

#define ORDER(x, y)                                \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

/* Collective operations by communicator and number; messages by channel, number, and the send first. */
static int by_operation(const void *p, const void *q)
{
	const struct end *a = p, *b = q;
	bool messages = a->kind != END_COLLECTIVE;
	ORDER(a->kind == END_COLLECTIVE, b->kind == END_COLLECTIVE);
	ORDER(a->comm, b->comm);
	if (messages) {
		ORDER(a->from, b->from);
		ORDER(a->to, b->to);
		ORDER(a->tag, b->tag);
	}
	ORDER(a->number, b->number);
	ORDER(a->kind, b->kind);
	ORDER(a->to, b->to);
	return 0;
}

static bool is_same_message(const struct end *a, const struct end *b)
{
	return a->kind == END_SEND && b->kind == END_RECEIVE && a->comm == b->comm && a->from == b->from &&
	       a->to == b->to && a->tag == b->tag && a->number == b->number;
}

/* A call waited for something that began then. */
static void waited(struct waiting *w, uint32_t in, uint64_t began, enum wait_kind kind)
{
	if (in == NOWHERE)
		return;
	struct blocked *b = &w->blocked[in];
	uint64_t until = began < b->end ? began : b->end, ns = until > b->begin ? until - b->begin : 0;
	/* A send that ended before its receive was posted did not wait for that. Clocks are not quite in step: one that
	 * seems to have ended just before, as long as it took, ended with it. */
	if (kind == WAIT_LATE_RECEIVER && began > b->end && began - b->end > WAIT_LATENCY + (b->end - b->begin) / 8)
		return;
	b->ns[kind] = ns > b->ns[kind] ? ns : b->ns[kind];
}

/* Who waits for whom in the n calls of one operation. */
static void wait_together(struct waiting *w, const struct end *list, size_t n)
{
	enum collective what = (enum collective)list->tag;
	bool to_all = what == COLLECTIVE_BCAST || what == COLLECTIVE_SCATTER || what == COLLECTIVE_SCATTERV,
	     to_root = what == COLLECTIVE_GATHER || what == COLLECTIVE_GATHERV || what == COLLECTIVE_REDUCE;
	uint64_t last = 0;
	if (what == COLLECTIVE_SCAN || what == COLLECTIVE_EXSCAN || what == COLLECTIVE_NEIGHBOR)
		return;
	for (size_t i = 0; i < n; i++)
		if (!list[i].idle && (!to_all || list[i].from == list[i].to))
			last = list[i].began > last ? list[i].began : last;
	for (size_t i = 0; i < n; i++)
		if (!list[i].idle && (!to_root || list[i].from == list[i].to))
			waited(w, list[i].in, last, WAIT_COLLECTIVE);
}

static void compare_ends(struct waiting *w)
{
	size_t i = 0;
	if (w->end_count)
		qsort(w->ends, w->end_count, sizeof *w->ends, by_operation);
	for (; i < w->end_count && w->ends[i].kind != END_COLLECTIVE; i++)
		if (i + 1 < w->end_count && is_same_message(&w->ends[i], &w->ends[i + 1])) {
			waited(w, w->ends[i + 1].in, w->ends[i].began, WAIT_LATE_SENDER);
			waited(w, w->ends[i].in, w->ends[i + 1].began, WAIT_LATE_RECEIVER);
		}
	for (size_t end; i < w->end_count; i = end) {
		for (end = i + 1; end < w->end_count && w->ends[end].comm == w->ends[i].comm &&
		                  w->ends[end].number == w->ends[i].number;)
			end++;
		wait_together(w, &w->ends[i], end - i);
	}
}

/* A call that waited for several things waited for the longest. */
static void add_blocked(struct waits *out, const struct waiting *w)
{
	for (size_t i = 0; i < w->blocked_count; i++) {
		const struct blocked *b = &w->blocked[i];
		int most = 0;
		for (int k = 1; k < WAIT_KINDS; k++)
			most = b->ns[k] > b->ns[most] ? k : most;
		out->sites[b->site][most] += b->ns[most];
	}
}

/* --- all --- */

/* Are the times of all events there, and is it clear which rank made which call? */
static bool is_timed(const struct trace *t)
{
	int64_t events;
	if ((uint64_t)rankmap_sum(&t->events) > WAITS_EVENTS || stream_threads(t) > 1 || trace_has_lossy(t) ||
	    t->timing_count != rankmap_size(&t->events))
		return false;
	for (uint32_t i = 0; i < t->timing_count; i++)
		if (!rankmap_get(&t->events, t->timing[i].rank, &events) || t->timing[i].events < (uint64_t)events)
			return false;
	return t->timing_count > 0;
}

static int waits_measure(struct waits *out, const struct trace *t, struct error *error)
{
	struct waiting w = {.trace = t};
	struct calls calls = {.items = NULL};
	struct comms *comms = NULL;
	int64_t events;
	int rv = calls_make(&calls, t) != 0 ? error_set(error, "no memory") : comms_make(&comms, &calls, error);
	for (uint64_t r = 0; rv == 0 && rankmap_next(&t->events, &r, &events); r++)
		rv = add_stream(&w, &calls, comms, (uint32_t)r, error);
	if (rv == 0) {
		compare_ends(&w);
		add_blocked(out, &w);
	}
	budget_free(w.blocked);
	budget_free(w.ends);
	comms_destroy(comms);
	calls_free(&calls);
	return rv;
}

static int waits_estimate(struct waits *out, const struct trace *t, struct error *error)
{
	struct site_activity activity = {.sites = NULL};
	if (site_activity_make(&activity, t) != 0) {
		site_activity_free(&activity);
		return error_set(error, "no memory");
	}
	for (uint32_t i = 0; i < t->site_count; i++) {
		enum wait_kind kind;
		uint64_t ns = wait_site(t, &t->sites[i], &activity.sites[i], &kind);
		out->sites[i][kind] = ns;
	}
	site_activity_free(&activity);
	return 0;
}

int waits_make(struct waits *w, const struct trace *t, struct error *error)
{
	*w = (struct waits){.exact = is_timed(t)};
	w->sites = calloc((size_t)t->site_count + 1, sizeof *w->sites);
	int rv = !w->sites  ? error_set(error, "no memory")
	         : w->exact ? waits_measure(w, t, error)
	                    : waits_estimate(w, t, error);
	for (uint32_t i = 0; rv == 0 && i < t->site_count; i++)
		for (int k = 0; k < WAIT_KINDS; k++)
			w->sum[k] += w->sites[i][k];
	return rv;
}

void waits_free(struct waits *w)
{
	free(w->sites);
	*w = (struct waits){.sites = NULL};
}
