/* SPDX-License-Identifier: BSD-3-Clause
 * execution_requests - what the calls of one stream do: requests, and the numbers of messages
 */
#include "insight/execution_inside.h"

#include "trace/base/budget.h"
#include "trace/read/completed.h"

void execution_emit(struct execution *x, const struct act *act)
{
	if (!budget_grow(&x->list, x->count, &x->capacity, sizeof *x->list))
		x->failed = true;
	else
		x->list[x->count++] = *act;
}

/* NULL: it is no handle, or no memory (failed). */
struct live *execution_live(struct execution *x, struct lives *l, int64_t number)
{
	struct live *one = NULL;
	int rv = live_make(l, number, &one);
	x->failed |= rv < 0;
	return rv == 0 ? one : NULL;
}

/* That of a request that a call names. NULL: there is none, or it is another thread's. */
static struct live *named(struct execution *x, int64_t symbol)
{
	x->foreign |= symbol >= LIVES_MOST;
	return live_find(&x->requests, symbol);
}

static uint64_t *channel(struct execution *x, bool receive, const struct act *m)
{
	uint64_t *count = channels_at(&x->channels, receive, m->partitioned, m->comm, m->local, m->tag);
	x->failed |= !count;
	return count;
}

void execution_number_send(struct execution *x, struct act *m)
{
	uint64_t *count = channel(x, false, m);
	if (count)
		m->number = (*count)++;
}

static void number_receive(struct execution *x, struct act *m)
{
	uint64_t *count = channel(x, true, m);
	if (count)
		m->number = posted_number(&x->posted, m->receive, (*count)++);
}

/* A receive takes its place behind those before; which message it gets may not be known yet. */
void execution_post(struct execution *x, struct act *m)
{
	m->receive = x->receives++;
	m->open = m->local == RANK_UNKNOWN || m->tag < 0;
	if (!m->open)
		number_receive(x, m);
}

bool execution_address(struct execution *x, struct act *m, int64_t who, int64_t tag)
{
	return act_address(&x->caller, m, who, tag, &x->unknown);
}

/* --- requests --- */

static void begin_one(struct execution *x, const struct event *e, enum live_kind kind, struct act *m)
{
	if (kind < LIVE_SEND)
		return;
	m->request = x->begun++;
	m->began = e->number;
	m->kind = kind == LIVE_SEND ? ACT_SEND_BEGIN : kind == LIVE_RECV ? ACT_RECV_BEGIN : ACT_COLLECTIVE_BEGIN;
	if (kind == LIVE_SEND)
		execution_number_send(x, m);
	else if (kind == LIVE_RECV && !m->matched)
		execution_post(x, m);
	execution_emit(x, m);
}

static void begin(struct execution *x, const struct event *e, struct live *l)
{
	live_changes(&x->requests, l);
	l->active = true;
	l->cancelled = false;
	l->ready = 0;
	l->act.mark = l->other.mark = 0;
	live_changed(&x->requests, l);
	begin_one(x, e, l->kind, &l->act);
	begin_one(x, e, l->second, &l->other);
}

/* A receive without a message: the next one of its channel, if it was the last, is the message that it did not take. */
static void give_back(struct execution *x, const struct act *m)
{
	uint64_t *count = m->open ? NULL : channel(x, true, m);
	if (count && *count == m->number + 1)
		--*count;
}

static void end_receive(struct execution *x, struct act *m, const struct act_status *status)
{
	m->kind = ACT_RECV_END;
	if (status->source == ACT_NOBODY && !m->partitioned) {
		give_back(x, m);
		m->kind = ACT_CANCELLED;
	} else if (m->open && !execution_address(x, m, status->source, status->tag)) {
		m->kind = ACT_CANCELLED;
		m->lost = true;
	} else if (m->open) {
		number_receive(x, m);
	}
	m->open = false;
	if (m->kind == ACT_RECV_END && (status->bytes >= 0 || !m->partitioned)) {
		m->sized = status->bytes >= 0;
		m->bytes = m->sized ? (uint64_t)status->bytes : 0;
	}
}

static void end_one(struct execution *x, enum live_kind kind, const struct act *begun, const struct act_status *status)
{
	struct act m = *begun;
	if (kind < LIVE_SEND)
		return;
	if (kind == LIVE_RECV)
		end_receive(x, &m, status);
	else
		m.kind = kind == LIVE_SEND ? ACT_SEND_END : ACT_COLLECTIVE_END;
	execution_emit(x, &m);
}

static void end(struct execution *x, struct live *l, const struct act_status *status)
{
	if (!l || !l->active)
		return;
	end_one(x, l->kind, &l->act, status);
	end_one(x, l->second, &l->other, status);
	live_changes(&x->requests, l);
	l->active = false;
	if (!l->persistent)
		l->kind = l->second = LIVE_NOTHING;
	live_changed(&x->requests, l);
}

/* Whether a receive that nobody asks about again got its message, nobody knows. */
static void abandon_one(struct execution *x, enum live_kind kind, const struct act *begun)
{
	struct act m = *begun;
	if (kind < LIVE_SEND)
		return;
	m.kind = kind == LIVE_SEND ? ACT_SEND_END : kind == LIVE_RECV ? ACT_CANCELLED : ACT_COLLECTIVE_END;
	m.lost = true;
	execution_emit(x, &m);
}

/* Nobody asks about it: MPI_Request_free; or a call that failed (MPI_Waitall) had completed it. */
static void abandon(struct execution *x, const struct live *l)
{
	if (!l->active)
		return;
	abandon_one(x, l->kind, &l->act);
	abandon_one(x, l->second, &l->other);
}

/* Its number means this from now on; an empty one: nothing. */
static void become(struct execution *x, struct live *l, struct live now)
{
	abandon(x, l);
	live_changes(&x->requests, l);
	now.number = l->number;
	*l = now;
	live_changed(&x->requests, l);
}

/* The call has made a request: for an act, and possibly another one. */
void execution_request(struct execution *x, const struct event *e, enum live_kind kind, const struct act *act,
                       enum live_kind second, const struct act *other)
{
	int64_t symbol = call_value(e, PARAMETER_REQUEST);
	struct live *l = execution_live(x, &x->requests, symbol);
	if (!l) { /* MPI_REQUEST_NULL, or not known */
		x->unknown += symbol == VALUE_LOSSY;
		x->foreign |= symbol >= LIVES_MOST;
		return;
	}
	struct live now = {.kind = kind, .second = second, .persistent = e->schema->mpi->form == FORM_PERSISTENT};
	if (act)
		now.act = *act;
	if (other)
		now.other = *other;
	now.act.handle = now.other.handle = symbol;
	if (kind == LIVE_SEND && act->partitioned)
		now.partitions = (uint32_t)call_number(e, PARAMETER_PARTITIONS);
	become(x, l, now);
	if (!l->persistent)
		begin(x, e, l);
}

/* One that is active still was completed by a call that failed. */
void execution_start(struct execution *x, const struct event *e)
{
	size_t n;
	const struct pool_item *list = call_array(x->caller.calls->trace, e, PARAMETER_REQUEST, &n);
	int64_t one = call_value(e, PARAMETER_REQUEST);
	for (size_t i = 0; i < (list ? n : 1); i++) {
		int64_t symbol = list ? array_element(list, i) : one;
		struct live *l = named(x, symbol);
		x->unknown += symbol == VALUE_LOSSY;
		if (!l || !l->persistent)
			continue;
		abandon(x, l);
		begin(x, e, l);
	}
}

void execution_complete(struct execution *x, const struct event *e)
{
	struct completed c = completed_begin(x->caller.calls->trace, e);
	int64_t symbol;
	size_t i;
	x->unknown += !completed_is_known(e);
	while (completed_next(&c, &symbol, &i)) {
		const struct act_status status = act_status_at(&x->caller, e, i);
		end(x, named(x, symbol), &status);
	}
}

/* Every partition is: the message is sent (MPI 4.1, section 4.2). */
void execution_ready(struct execution *x, const struct event *e)
{
	struct live *l = named(x, call_value(e, PARAMETER_REQUEST));
	int low = schema_column(e->schema, "partition_low"), high = schema_column(e->schema, "partition_high"),
	    length = schema_column(e->schema, "length");
	int64_t n = low >= 0 && high >= 0 ? (int64_t)((uint64_t)e->values[high] - (uint64_t)e->values[low] + 1)
	            : length >= 0         ? e->values[length]
	                                  : 1;
	if (!l || !l->active || n <= 0 || l->ready >= l->partitions)
		return;
	l->ready = n < l->partitions - l->ready ? l->ready + (uint32_t)n : l->partitions;
	if (l->ready < l->partitions)
		return;
	struct act m = l->act;
	m.kind = ACT_READY;
	execution_emit(x, &m);
}

void execution_free(struct execution *x, const struct event *e)
{
	struct live *l = named(x, call_value(e, PARAMETER_REQUEST));
	if (l)
		become(x, l, (struct live){.kind = LIVE_NOTHING});
}

void execution_cancel(struct execution *x, const struct event *e)
{
	struct live *l = named(x, call_value(e, PARAMETER_REQUEST));
	if (l)
		l->cancelled = true;
}
