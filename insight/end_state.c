/* SPDX-License-Identifier: BSD-3-Clause
 * end_state - where each rank stands at the end of its trace: the walk, messages and requests
 *
 * What is counted when: a message when the call that sends it returns (MPI_Isend, MPI_Start: at once), a receive when
 * it is completed, MPI_Mprobe when it takes the message. What is under way in a call that did not return is not
 * counted. */
#include "insight/end_state.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/model/unended.h"

struct event_argument {
	const struct trace *trace;
	const struct event *event;
};

static bool event_argument(void *context, int column, uint32_t element, int64_t *value)
{
	const struct event_argument *a = context;
	*value = a->event->values[column];
	if (*value == VALUE_LOSSY)
		return false;
	if (!a->event->schema->column[column].vector)
		return element == 0;
	if (value_is_constant(*value))
		return false;
	const struct pool_item *item = event_vector(a->trace, a->event, *value);
	if (element >= item->size / sizeof(int64_t))
		return false;
	*value = array_element(item, element);
	return true;
}

static void set_unsure(struct end_state *x, const struct end_stream *s, uint32_t why)
{
	x->ranks[s->rank].unsure |= why;
}

/* --- messages --- */

static int count_message(struct end_state *x, const struct end_stream *s, bool sent, uint64_t scope, uint32_t peer,
                         int64_t tag)
{
	if (peer == RANK_NOBODY || scope_comm(scope) == COMM_UNKNOWN) /* what waits there is not known either */
		return 0;
	if (peer >= x->trace->size || tag == VALUE_NONE || tag == TAG_ANY) {
		set_unsure(x, s, UNSURE_LOSSY);
		return 0;
	}
	struct message_key key = {scope, tag, sent ? s->rank : peer, sent ? peer : s->rank};
	return end_count(x, &key, sent, !sent);
}

static uint64_t sent_before(const struct end_state *x, const struct end_stream *s, uint64_t scope, const struct act *m)
{
	struct message_key key = {scope, m->tag, s->rank, m->peer};
	const struct message_count *c = message_counts_find(x->messages, &key);
	return c ? c->sent : 0;
}

static uint64_t act_scope(const struct end_state *x, const struct act *m)
{
	if (m->comm == COMM_UNKNOWN || comms_is_inter(x->comms, m->comm)) /* its members are not those of one group */
		return SCOPE_UNKNOWN;
	return m->comm | (m->partitioned ? SCOPE_PARTITIONED : 0);
}

/* --- requests --- */

static const struct schema *schema_of_site(const struct end_state *x, uint32_t site)
{
	return trace_schema(x->trace, &x->trace->sites[site]);
}

/* What is under way from now on, and what is before it. */
static int begin_operation(struct end_state *x, struct end_stream *s, const struct act *m, const struct end_call *call)
{
	const struct schema *schema = schema_of_site(x, m->site);
	uint64_t scope = act_scope(x, m), place = m->receive;
	int rv = 0;
	if (m->kind == ACT_SEND_BEGIN) {
		place = sent_before(x, s, scope, m);
		rv = m->partitioned ? 0 : count_message(x, s, true, scope, m->peer, m->tag);
	} else if (m->kind == ACT_COLLECTIVE_BEGIN && schema->mpi->form != FORM_PERSISTENT) {
		/* persistent ones need not be started in the order in which they were made */
		rv = end_take_collective(x, s->stream, schema, scope, call->root, &place);
	}
	execution_mark(x->execution, m, place);
	return rv;
}

static int take_act(struct end_state *x, struct end_stream *s, const struct act *m, const struct end_call *call)
{
	switch (m->kind) {
	case ACT_SEND_BEGIN:
	case ACT_RECV_BEGIN:
	case ACT_COLLECTIVE_BEGIN:
		return begin_operation(x, s, m, call);
	case ACT_SEND:
	case ACT_READY:
		return count_message(x, s, true, act_scope(x, m), m->peer, m->tag);
	case ACT_RECV:
	case ACT_RECV_END:
	case ACT_PROBED: /* who takes a message that was probed, takes none that is under way */
		return m->matched ? 0 : count_message(x, s, false, act_scope(x, m), m->peer, m->tag);
	default:
		return 0;
	}
}

static enum end_request_kind request_kind(const struct live *l)
{
	if (l->cancelled || l->act.matched) /* it may be done at once */
		return REQUEST_OTHER;
	switch (l->second == LIVE_RECV ? LIVE_RECV : l->kind) {
	case LIVE_NOTHING:
		return REQUEST_NONE;
	case LIVE_OTHER:
		return REQUEST_OTHER;
	case LIVE_NOBODY:
	case LIVE_SEND:
		return REQUEST_SEND;
	case LIVE_RECV:
		return REQUEST_RECV;
	case LIVE_COLLECTIVE:
		return REQUEST_COLLECTIVE;
	}
	return REQUEST_OTHER;
}

static struct end_request kept_request(const struct end_state *x, const struct live *l)
{
	const struct act *m = l->second == LIVE_RECV ? &l->other : &l->act;
	enum end_request_kind kind = request_kind(l);
	return (struct end_request){.kind = kind,
	                            .persistent = l->persistent,
	                            .active = l->active,
	                            .site = m->site,
	                            .peer = l->kind == LIVE_NOBODY && kind == REQUEST_SEND ? RANK_NOBODY
	                                    : m->local == RANK_UNKNOWN                     ? RANK_ANY
	                                                                                   : m->peer,
	                            .scope = act_scope(x, m),
	                            .tag = kind == REQUEST_COLLECTIVE
	                                           ? (m->local == RANK_UNKNOWN ? VALUE_NONE : m->local)
	                                   : m->tag < 0 ? TAG_ANY
	                                                : m->tag,
	                            .place = m->mark,
	                            .partitions = l->partitions,
	                            .ready = l->ready};
}

/* Those that are live when the walk is over. */
static int keep_requests(struct end_state *x, struct end_stream *s)
{
	const struct lives *l = execution_requests(x->execution);
	s->requests = budget_calloc((size_t)l->count + 1, sizeof *s->requests);
	if (!s->requests)
		return -1;
	s->request_count = l->count;
	for (uint32_t i = 0; i < l->count; i++)
		if (l->list[i])
			s->requests[i] = kept_request(x, l->list[i]);
	return 0;
}

/* A call that completes requests, or looks for messages, and found nothing. */
static bool found_nothing(const struct event *e)
{
	const struct schema *s = e->schema;
	if (s->mpi->class != MPI_CLASS_COMPLETION || s->mpi->waits)
		return false;
	if (s->at[PARAMETER_FLAG] >= 0)
		return call_value(e, PARAMETER_FLAG) == 0;
	return s->at[PARAMETER_OUTCOUNT] >= 0 && call_value(e, PARAMETER_OUTCOUNT) == 0;
}

static void note_poll(const struct end_state *x, struct end_stream *s, const struct event *e,
                      const struct end_call *call)
{
	if (!found_nothing(e)) {
		s->polls = 0;
		s->polled.schema = NULL;
	} else {
		struct event_argument a = {x->trace, e};
		s->polls++;
		s->polled = *call;
		end_call_requests(&s->polled, event_argument, &a);
	}
}

/* --- the walk --- */

static int take_acts(struct end_state *x, struct end_stream *s, const struct event *e, const struct end_call *call)
{
	uint64_t unknown = execution_unknown(x->execution);
	size_t n;
	const struct act *list = execution_event(x->execution, e, &n);
	for (size_t i = 0; list && i < n; i++)
		if (take_act(x, s, &list[i], call) != 0)
			return -1;
	if (execution_unknown(x->execution) != unknown)
		set_unsure(x, s, UNSURE_LOSSY);
	return list ? 0 : -1;
}

static int take_event(struct end_state *x, struct end_stream *s, const struct event *e)
{
	struct event_argument a = {x->trace, e};
	struct end_call call = {.schema = e->schema, .site = e->site};
	int request = e->schema->at[PARAMETER_REQUEST];
	uint64_t unused;
	if (call_failed(e)) {
		set_unsure(x, s, UNSURE_FAILED);
		return 0;
	}
	end_call_fill(x, s->stream, e->base, &call, event_argument, &a);
	note_poll(x, s, e, &call);
	if (e->schema->mpi->function == FN_MPI_Finalize) {
		s->finalized = true;
		s->finalize_site = e->site;
	}
	if (take_acts(x, s, e, &call) != 0)
		return -1;
	if (request >= 0 && e->schema->column[request].direction == '>') /* what it began is an act */
		return 0;
	if (mpi_is_collective(e->schema->mpi) && e->schema->mpi->scope != SCOPE_GROUP &&
	    end_take_collective(x, s->stream, e->schema, call.scope, call.root, &unused) != 0)
		return -1;
	return end_take_scope(x, s->stream, e, &call);
}

/* Returns 0; 1: that is too much; -1 with error set. */
static int walk_events(struct end_state *x, struct end_stream *s, struct walk *w, struct error *error)
{
	struct event e;
	int step;
	bool marked;
	x->walked +=
		WALK_STEPS + (x->trace->patterns.count + x->trace->site_count) / 16; /* what a walk makes room for */
	while ((step = walk_next(w, &e, error)) == 0) {
		if (++x->walked > END_EVENTS)
			return 1;
		if (take_event(x, s, &e) != 0)
			return error_set(error, "no memory, or too many messages");
		uint64_t turns = walk_repeats(w, &marked);
		if (marked)
			end_turn_begin(x, s);
		else if (turns > 0 && end_turn_repeat(x, s, turns)) {
			walk_leap(w, turns);
			end_turn_begin(x, s);
		}
	}
	return step > 0 ? 0 : -1;
}

static int walk_stream(struct end_state *x, struct end_stream *s, struct error *error)
{
	struct walk *w = NULL;
	int64_t unused;
	int rv = walk_begin(&w, x->trace, s->stream, error);
	x->execution = execution_create_unsized(&x->calls, x->comms, s->stream);
	if (rv == 0)
		rv = x->execution ? walk_events(x, s, w, error) : error_set(error, "no memory");
	if (rv == 0 && keep_requests(x, s) != 0)
		rv = error_set(error, "no memory");
	if (rv == 0 && execution_is_foreign(x->execution))
		set_unsure(x, s, UNSURE_THREADS);
	execution_destroy(x->execution);
	x->execution = NULL;
	if (rv == 0 && (walk_unordered(w) || rankmap_get(&x->trace->lost, s->stream, &unused)))
		set_unsure(x, s, UNSURE_LOSSY);
	walk_end(w);
	return rv;
}

static int make_streams(struct end_state *x)
{
	const struct trace *t = x->trace;
	uint64_t count = rankmap_size(&t->events);
	int64_t unused;
	if (t->size > END_RANKS || count > END_RANKS)
		return 1;
	x->streams = budget_calloc(count + 1, sizeof *x->streams);
	x->ranks = budget_calloc((size_t)t->size + 1, sizeof *x->ranks);
	x->messages = message_counts_create(t->size);
	if (!x->streams || !x->ranks || !x->messages)
		return -1;
	for (uint64_t r = 0; rankmap_next(&t->events, &r, &unused); r++)
		x->streams[x->stream_count++] = (struct end_stream){.stream = (uint32_t)r, .rank = stream_rank(t, r)};
	return 0;
}

void end_state_free(struct end_state *x)
{
	for (uint32_t i = 0; x->streams && i < x->stream_count; i++)
		budget_free(x->streams[i].requests);
	for (uint32_t i = 0; x->ranks && i < x->trace->size; i++)
		end_rank_free(&x->ranks[i]);
	budget_free(x->streams);
	budget_free(x->ranks);
	budget_free(x->collectives);
	budget_free(x->turn.changes);
	index_free(&x->collective_index);
	message_counts_destroy(x->messages);
	comms_destroy(x->comms);
	calls_free(&x->calls);
}

struct passed_argument {
	const struct trace_unended *call;
	uint32_t stream;
};

static bool passed_argument(void *context, int column, uint32_t element, int64_t *value)
{
	const struct passed_argument *a = context;
	return passed_get(&a->call->passed, column, element, a->stream, value);
}

void end_state_call(const struct end_state *x, uint32_t stream, struct end_call *out)
{
	struct passed_argument a = {unended_of(x->trace, stream), stream};
	*out = (struct end_call){.schema = NULL};
	if (!a.call || !a.call->call)
		return;
	out->site = a.call->site;
	out->schema = trace_schema(x->trace, &x->trace->sites[out->site]);
	uint64_t scope = end_scope(x, stream, out->schema, passed_argument, &a);
	/* of a window: relative to the rank in MPI_COMM_WORLD */
	int64_t base = out->schema->at[PARAMETER_COMM] < 0 ? stream_rank(x->trace, stream)
	               : scope == SCOPE_UNKNOWN
	                       ? 0
	                       : comms_local(x->comms, scope_comm(scope), stream_rank(x->trace, stream));
	end_call_fill(x, stream, base, out, passed_argument, &a);
	end_call_requests(out, passed_argument, &a);
}

static int by_stream(const void *a, const void *b)
{
	const struct end_stream *x = a, *y = b;
	return (x->stream > y->stream) - (x->stream < y->stream);
}

const struct end_stream *end_state_stream(const struct end_state *x, uint32_t stream)
{
	const struct end_stream key = {.stream = stream};
	return bsearch(&key, x->streams, x->stream_count, sizeof key, by_stream);
}

/* Could a receive take a message of this key? */
static bool takes(const struct message_key *key, uint64_t scope, uint32_t source, int64_t tag)
{
	return scope == key->scope && (source == key->source || source == RANK_ANY || source == RANK_UNKNOWN) &&
	       (tag == key->tag || tag == TAG_ANY || tag == VALUE_NONE);
}

static int post_receive(struct end_state *x, uint32_t rank, uint64_t scope, uint32_t source, int64_t tag)
{
	struct message_key key = {scope, tag, source, rank};
	if (source == RANK_NOBODY || scope_comm(scope) == COMM_UNKNOWN)
		return 0;
	x->ranks[rank].wild |= source >= x->trace->size || tag == TAG_ANY || tag == VALUE_NONE;
	return x->ranks[rank].wild ? 0 : message_counts_post(x->messages, &key);
}

static bool receives(const struct end_call *call)
{
	return call->schema && call->schema->at[PARAMETER_SOURCE] >= 0 &&
	       call->schema->mpi->class == MPI_CLASS_POINT_TO_POINT;
}

/* The receives that are live at the end. */
static int post_receives(struct end_state *x, const struct end_stream *s)
{
	struct end_call call;
	for (uint32_t i = 0; i < s->request_count; i++) {
		const struct end_request *r = &s->requests[i];
		if (r->kind == REQUEST_RECV && r->active && post_receive(x, s->rank, r->scope, r->peer, r->tag) != 0)
			return -1;
	}
	end_state_call(x, s->stream, &call);
	return receives(&call) ? post_receive(x, s->rank, call.scope, call.source, call.recv_tag) : 0;
}

uint64_t end_state_posted(const struct end_state *x, const struct message_key *key)
{
	uint64_t n = 0;
	uint32_t stream;
	struct end_call call;
	const struct message_count *c = message_counts_find(x->messages, key);
	if (!x->ranks[key->dest].wild)
		return c ? c->posted : 0;
	for (uint32_t thread = 0; stream_next(x->trace, key->dest, &thread, &stream); thread++) {
		const struct end_stream *s = end_state_stream(x, stream);
		for (uint32_t i = 0; s && i < s->request_count && budget_step(1); i++) {
			const struct end_request *r = &s->requests[i];
			n += r->kind == REQUEST_RECV && r->active && takes(key, r->scope, r->peer, r->tag);
		}
		end_state_call(x, stream, &call);
		n += receives(&call) && takes(key, call.scope, call.source, call.recv_tag);
	}
	return n;
}

int end_state_make(struct end_state *x, const struct trace *t, struct error *error)
{
	*x = (struct end_state){.trace = t};
	int rv = make_streams(x);
	if (rv < 0 || (rv == 0 && calls_make(&x->calls, t) != 0))
		return error_set(error, "no memory");
	if (rv == 0)
		rv = comms_make_within(&x->comms, &x->calls, END_EVENTS, error);
	for (uint32_t i = 0; rv == 0 && i < x->stream_count; i++)
		rv = walk_stream(x, &x->streams[i], error);
	for (uint32_t i = 0; rv == 0 && i < x->stream_count; i++)
		if (post_receives(x, &x->streams[i]) != 0)
			return error_set(error, "no memory, or too many messages");
	return rv;
}
