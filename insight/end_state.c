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

#define REQUESTS_MOST (UINT32_C(1) << 20) /* numbers of one stream: damage, or a program that frees none */

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

static uint64_t sent_before(const struct end_state *x, const struct end_stream *s, const struct end_request *r)
{
	struct message_key key = {r->scope, r->tag, s->rank, r->peer};
	const struct message_count *c = message_counts_find(x->messages, &key);
	return c ? c->sent : 0;
}

/* Of a message that was received, or is to be: what the status says. `-`: there was none. */
static int count_received(struct end_state *x, struct end_stream *s, const struct event *e, uint64_t scope,
                          uint32_t element)
{
	struct event_argument a = {x->trace, e};
	int64_t source, tag;
	const int8_t *at = e->schema->at;
	if (at[PARAMETER_STATUS_SOURCE] < 0 || at[PARAMETER_STATUS_TAG] < 0)
		return 0;
	if (!event_argument(&a, at[PARAMETER_STATUS_SOURCE], element, &source) ||
	    !event_argument(&a, at[PARAMETER_STATUS_TAG], element, &tag)) {
		set_unsure(x, s, UNSURE_LOSSY);
		return 0;
	}
	if (value_is_constant(source)) /* a request that was cancelled, MPI_PROC_NULL */
		return 0;
	return count_message(x, s, false, scope, end_peer(x, s->stream, scope, source, e->base), tag);
}

/* --- requests --- */

static struct end_request *request_at(struct end_state *x, struct end_stream *s, int64_t number)
{
	if (number < 0) /* MPI_REQUEST_NULL, or not known */
		return NULL;
	if (number >= REQUESTS_MOST) { /* of another thread: stream.h */
		set_unsure(x, s, UNSURE_THREADS);
		return NULL;
	}
	if (number >= s->request_count) {
		uint32_t count = (uint32_t)number < 16 ? 16 : 2 * (uint32_t)number;
		struct end_request *requests = budget_realloc(s->requests, count * sizeof *requests);
		if (!requests)
			return NULL;
		for (uint32_t i = s->request_count; i < count; i++)
			requests[i] = (struct end_request){.kind = REQUEST_NONE};
		s->requests = requests;
		s->request_count = count;
	}
	return &s->requests[number];
}

/* What is under way from now on. */
static int start_request(struct end_state *x, struct end_stream *s, struct end_request *r)
{
	r->active = true;
	r->ready = 0;
	if (r->kind == REQUEST_COLLECTIVE &&
	    r->persistent) /* they need not be started in the order in which they were made */
		return 0;
	if (r->kind == REQUEST_COLLECTIVE)
		return end_take_collective(x, s->stream, trace_schema(x->trace, &x->trace->sites[r->site]), r->scope,
		                           r->tag, &r->place);
	if (r->kind == REQUEST_RECV)
		r->place = s->posted++;
	if (r->kind != REQUEST_SEND)
		return 0;
	r->place = sent_before(x, s, r);
	return r->partitions ? 0 : count_message(x, s, true, r->scope, r->peer, r->tag);
}

/* The call made a request. */
static int make_request(struct end_state *x, struct end_stream *s, const struct event *e, const struct end_call *call)
{
	const struct schema *schema = e->schema;
	const struct call *kind = call_of(&x->calls, e);
	struct end_request *r = request_at(x, s, call_value(e, PARAMETER_REQUEST));
	if (!r) {
		set_unsure(x, s, UNSURE_THREADS);
		return 0;
	}
	bool receives = kind->kind == CALL_RECV || kind->kind == CALL_SENDRECV;
	*r = (struct end_request){.kind = kind->kind == CALL_SEND         ? REQUEST_SEND
	                                  : receives                      ? REQUEST_RECV
	                                  : kind->kind == CALL_COLLECTIVE ? REQUEST_COLLECTIVE
	                                                                  : REQUEST_OTHER,
	                          .persistent = schema->mpi->form == FORM_PERSISTENT,
	                          .site = e->site,
	                          .peer = receives ? call->source : call->dest,
	                          .scope = call->scope,
	                          .tag = kind->kind == CALL_COLLECTIVE ? call->root
	                                 : receives                    ? call->recv_tag
	                                                               : call->tag};
	if (schema->at[PARAMETER_PARTITIONS] >= 0 && call_number(e, PARAMETER_PARTITIONS) > 0) {
		r->partitions = (uint32_t)call_number(e, PARAMETER_PARTITIONS);
		if (r->scope != SCOPE_UNKNOWN)
			r->scope |= SCOPE_PARTITIONED;
	}
	if (kind->kind == CALL_SENDRECV && count_message(x, s, true, call->scope, call->dest, call->tag) != 0)
		return -1;
	return r->persistent ? 0 : start_request(x, s, r);
}

/* element: of the array of statuses. */
static int complete_request(struct end_state *x, struct end_stream *s, const struct event *e, int64_t number,
                            uint32_t element)
{
	struct end_request *r = request_at(x, s, number);
	int rv = 0;
	if (!r || r->kind == REQUEST_NONE || (r->persistent && !r->active))
		return 0;
	if (r->kind == REQUEST_RECV && r->partitions && r->peer != RANK_ANY)
		rv = count_message(x, s, false, r->scope, r->peer, r->tag);
	else if (r->kind == REQUEST_RECV)
		rv = count_received(x, s, e, r->scope, element);
	r->active = false;
	if (!r->persistent)
		r->kind = REQUEST_NONE;
	return rv;
}

static int complete_some(struct end_state *x, struct end_stream *s, const struct event *e)
{
	struct event_argument a = {x->trace, e};
	const int8_t *at = e->schema->at;
	int64_t number, index;
	int rv = 0, request = at[PARAMETER_REQUEST];
	switch (e->schema->mpi->completes) {
	case COMPLETES_NONE:
		break;
	case COMPLETES_ALL:
		for (uint32_t i = 0; rv == 0 && event_argument(&a, request, i, &number); i++)
			rv = complete_request(x, s, e, number, i);
		break;
	case COMPLETES_ANY:
		if ((index = call_value(e, PARAMETER_INDEX)) >= 0 && index <= UINT32_MAX &&
		    event_argument(&a, request, (uint32_t)index, &number))
			rv = complete_request(x, s, e, number, 0);
		break;
	case COMPLETES_SOME:
		for (uint32_t i = 0; rv == 0 && event_argument(&a, at[PARAMETER_INDICES], i, &index); i++)
			if (index >= 0 && index <= UINT32_MAX && event_argument(&a, request, (uint32_t)index, &number))
				rv = complete_request(x, s, e, number, i);
		break;
	}
	return rv;
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

static int start_requests(struct end_state *x, struct end_stream *s, const struct event *e)
{
	struct event_argument a = {x->trace, e};
	int64_t number;
	for (uint32_t i = 0; event_argument(&a, e->schema->at[PARAMETER_REQUEST], i, &number); i++) {
		struct end_request *r = request_at(x, s, number);
		if (r && r->persistent && start_request(x, s, r) != 0)
			return -1;
	}
	return 0;
}

/* MPI_Pready: the last partition sends the message. */
static int make_ready(struct end_state *x, struct end_stream *s, const struct event *e)
{
	struct end_request *r = request_at(x, s, call_value(e, PARAMETER_REQUEST));
	int low = schema_column(e->schema, "partition_low"), high = schema_column(e->schema, "partition_high"),
	    length = schema_column(e->schema, "length");
	int64_t n = low >= 0 && high >= 0 ? (int64_t)((uint64_t)e->values[high] - (uint64_t)e->values[low] + 1)
	            : length >= 0         ? e->values[length]
	                                  : 1;
	if (!r || !r->active || n <= 0 || r->ready >= r->partitions)
		return 0;
	r->ready = n < r->partitions - r->ready ? r->ready + (uint32_t)n : r->partitions;
	return r->ready == r->partitions ? count_message(x, s, true, r->scope, r->peer, r->tag) : 0;
}

static int take_completion(struct end_state *x, struct end_stream *s, const struct event *e)
{
	if (found_nothing(e) || (e->schema->at[PARAMETER_FLAG] >= 0 && call_value(e, PARAMETER_FLAG) != 1)) {
		if (e->schema->at[PARAMETER_FLAG] >= 0 && call_value(e, PARAMETER_FLAG) == VALUE_LOSSY)
			set_unsure(x, s, UNSURE_LOSSY);
		return 0;
	}
	return complete_some(x, s, e);
}

/* --- the walk --- */

static int take_message(struct end_state *x, struct end_stream *s, const struct event *e, const struct end_call *call,
                        enum call_kind kind)
{
	if (kind != CALL_RECV && count_message(x, s, true, call->scope, call->dest, call->tag) != 0)
		return -1;
	return kind == CALL_SEND ? 0 : count_received(x, s, e, call->scope, 0);
}

static int take_event(struct end_state *x, struct end_stream *s, const struct event *e)
{
	struct event_argument a = {x->trace, e};
	struct end_call call = {.schema = e->schema, .site = e->site};
	enum call_kind kind = call_of(&x->calls, e)->kind;
	enum mpi_number base = e->schema->mpi->base;
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
	if (base == FN_MPI_Pready || base == FN_MPI_Pready_range || base == FN_MPI_Pready_list)
		return make_ready(x, s, e);
	if (kind == CALL_COMPLETE)
		return take_completion(x, s, e);
	if (kind == CALL_START)
		return start_requests(x, s, e);
	if (kind == CALL_MPROBE)
		return e->schema->at[PARAMETER_FLAG] < 0 || call_value(e, PARAMETER_FLAG) == 1
		               ? count_received(x, s, e, call.scope, 0)
		               : 0;
	if (kind == CALL_FREE || kind == CALL_CANCEL) { /* what is cancelled may be done at once, or not */
		struct end_request *r = request_at(x, s, call_value(e, PARAMETER_REQUEST));
		if (r)
			r->kind = kind == CALL_FREE ? REQUEST_NONE : REQUEST_OTHER;
		return 0;
	}
	int request = e->schema->at[PARAMETER_REQUEST];
	if (request >= 0 && e->schema->column[request].direction == '>')
		return make_request(x, s, e, &call);
	if (kind == CALL_SEND || kind == CALL_RECV || kind == CALL_SENDRECV)
		return take_message(x, s, e, &call, kind);
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
	if (rv == 0)
		rv = walk_events(x, s, w, error);
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
