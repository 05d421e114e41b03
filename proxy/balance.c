/* SPDX-License-Identifier: BSD-3-Clause
 * balance - may some events of all ranks be left out?
 */
#include "proxy/balance.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

#define REQUESTS_MOST (1 << 20) /* numbers of requests of a rank */

enum request_state { REQUEST_NONE, REQUEST_STARTED, REQUEST_INACTIVE, REQUEST_ACTIVE };

/* A request of the rank. What a persistent one sends or receives, each time that it is started, is in `each`. */
struct balance_request {
	enum request_state state;
	struct balance_sums each;
};

/* What members of a communicator add to a sum that is 0 if all of them made the same calls: all but the last one a
 * number of their own. */
static uint64_t member_hash(uint32_t member)
{
	return hash_mix(0x6d656d62, member);
}

int balance_begin(struct balance *b, const struct trace *t, struct error *error)
{
	*b = (struct balance){.trace = t};
	if (calls_make(&b->calls, t) != 0)
		return error_set(error, "no memory");
	if (comms_make(&b->comms, &b->calls, error) != 0)
		return -1;
	b->last = budget_calloc(comms_count(b->comms) + UINT64_C(1), sizeof *b->last);
	if (!b->last)
		return error_set(error, "no memory");
	for (uint32_t c = 0; c < comms_count(b->comms); c++)
		for (uint32_t i = 0; i + 1 < comms_at(b->comms, c)->size && budget_step(1); i++)
			b->last[c] -= member_hash(i);
	return 0;
}

void balance_end(struct balance *b)
{
	budget_free(b->requests);
	budget_free(b->last);
	comms_destroy(b->comms);
	calls_free(&b->calls);
}

void balance_rank(struct balance *b, uint32_t rank)
{
	b->rank = rank;
	for (uint32_t i = 0; i < b->request_count; i++)
		b->requests[i] = (struct balance_request){REQUEST_NONE, {0}};
}

/* ---- requests ---- */

static struct balance_request *request_at(struct balance *b, int64_t number)
{
	if (number < 0 || number >= REQUESTS_MOST)
		return NULL;
	uint32_t before = b->request_count;
	while ((uint64_t)number >= b->request_count)
		if (!budget_grow(&b->requests, b->request_count, &b->request_count, sizeof *b->requests))
			return NULL;
	if (b->request_count > before)
		memset(b->requests + before, 0, (b->request_count - before) * sizeof *b->requests);
	return &b->requests[number];
}

static uint64_t state_hash(int64_t number, enum request_state state)
{
	return state == REQUEST_NONE ? 0 : hash_mix(hash_mix(0x72657175, (uint64_t)number), state);
}

static int set_state(struct balance *b, int64_t number, enum request_state state, struct balance_sums *sums)
{
	struct balance_request *r = request_at(b, number);
	if (!r)
		return -1;
	sums->own += state_hash(number, state) - state_hash(number, r->state);
	r->state = state;
	return 0;
}

static int complete_one(struct balance *b, int64_t number, struct balance_sums *sums)
{
	if (number <= VALUE_LOSSY) /* MPI_REQUEST_NULL */
		return 0;
	struct balance_request *r = request_at(b, number);
	if (!r)
		return -1;
	bool persistent = r->state == REQUEST_INACTIVE || r->state == REQUEST_ACTIVE;
	return set_state(b, number, persistent ? REQUEST_INACTIVE : REQUEST_NONE, sums);
}

/* The requests of a call, or those of them that it has found. */
static int complete_requests(struct balance *b, const struct event *e, struct balance_sums *sums)
{
	size_t n, found;
	enum mpi_completes which = e->schema->mpi->completes;
	const struct pool_item *requests = call_array(b->trace, e, PARAMETER_REQUEST, &n);
	const struct pool_item *indices = call_array(b->trace, e, PARAMETER_INDICES, &found);
	if (e->schema->at[PARAMETER_FLAG] >= 0 && call_number(e, PARAMETER_FLAG) == 0)
		return 0;
	if (!requests)
		return complete_one(b, call_value(e, PARAMETER_REQUEST), sums);
	if (which == COMPLETES_ANY) {
		int64_t i = call_value(e, PARAMETER_INDEX);
		return i >= 0 && (uint64_t)i < n ? complete_one(b, array_element(requests, (size_t)i), sums) : 0;
	}
	for (size_t i = 0; i < (which == COMPLETES_SOME ? found : n); i++) {
		int64_t at = which == COMPLETES_SOME ? array_element(indices, i) : (int64_t)i;
		if (at >= 0 && (uint64_t)at < n && complete_one(b, array_element(requests, (size_t)at), sums) != 0)
			return -1;
	}
	return 0;
}

static int start_one(struct balance *b, int64_t number, struct balance_sums *sums)
{
	struct balance_request *r = request_at(b, number);
	if (!r)
		return -1;
	sums->messages += r->each.messages;
	sums->arrivals += r->each.arrivals;
	sums->collectives += r->each.collectives;
	sums->any += r->each.any;
	sums->unknown += r->each.unknown;
	return set_state(b, number, REQUEST_ACTIVE, sums);
}

static int start_requests(struct balance *b, const struct event *e, struct balance_sums *sums)
{
	size_t n;
	const struct pool_item *requests = call_array(b->trace, e, PARAMETER_REQUEST, &n);
	if (!requests)
		return start_one(b, call_value(e, PARAMETER_REQUEST), sums);
	for (size_t i = 0; i < n; i++)
		if (start_one(b, array_element(requests, i), sums) != 0)
			return -1;
	return 0;
}

/* ---- between ranks ---- */

/* A message to or from a peer. */
static void add_message(const struct balance *b, const struct event *e, bool sent, enum mpi_parameter peer,
                        enum mpi_parameter tag, struct balance_sums *sums)
{
	int64_t v = call_value(e, peer), with = call_value(e, tag);
	uint32_t comm = comms_find(b->comms, b->rank, call_value(e, PARAMETER_COMM));
	if (trace_is_constant(b->trace, v, CONST_MPI_PROC_NULL))
		return;
	bool any = value_is_constant(v) || value_is_constant(with);
	uint32_t other = value_is_constant(v) ? b->rank : comms_world(b->comms, comm, v + e->base, b->rank);
	if (comm == COMM_UNKNOWN || other == RANK_UNKNOWN || v == VALUE_NONE) {
		sums->unknown++;
		return;
	}
	uint64_t dest = sent ? other : b->rank, source = sent ? b->rank : other;
	uint64_t arrival = hash_mix(hash_mix(0x61727269, comm), dest);
	uint64_t message = hash_mix(hash_mix(arrival, source), (uint64_t)with);
	sums->arrivals += sent ? arrival : -arrival;
	sums->messages += any ? 0 : sent ? message : -message;
	sums->any += any;
}

static void add_collective(const struct balance *b, const struct event *e, struct balance_sums *sums)
{
	uint32_t comm = COMM_WORLD, members = b->trace->size, own = b->rank;
	uint64_t of = 0; /* windows and files: as if all ranks had them */
	int64_t v = 0;
	switch (e->schema->mpi->scope) {
	case SCOPE_SINGLE:
		return;
	case SCOPE_COMM:
		comm = comms_find(b->comms, b->rank, call_value(e, PARAMETER_COMM));
		comm = comms_is_inter(b->comms, comm) ? COMM_UNKNOWN : comm;
		break;
	case SCOPE_WIN:
		v = call_value(e, PARAMETER_WIN);
		of = 1;
		break;
	case SCOPE_FILE:
		v = call_value(e, PARAMETER_FILE);
		of = 2;
		break;
	default:
		comm = COMM_UNKNOWN;
	}
	if (comm == COMM_SELF)
		return;
	if (comm != COMM_UNKNOWN && comm != COMM_WORLD) {
		members = comms_at(b->comms, comm)->size;
		own = comms_local(b->comms, comm, b->rank);
	}
	if (comm == COMM_UNKNOWN || own >= members) {
		sums->unknown++;
		return;
	}
	uint64_t which = hash_mix(hash_mix(hash_mix(0x636f6c6c, comm), of), (uint64_t)v);
	sums->collectives += (which | 1) * (own + 1 < members ? member_hash(own) : b->last[comm]);
}

/* Synchronization with some ranks of a window: that its partners do the same is not looked at. */
static bool is_unknown(const struct schema *s)
{
	return s->mpi->class == MPI_CLASS_OTHER || s->mpi->class == MPI_CLASS_PROCESS ||
	       s->mpi->class == MPI_CLASS_SESSION ||
	       (s->mpi->class == MPI_CLASS_ONE_SIDED && s->mpi->waits != WAITS_NOT && s->mpi->scope == SCOPE_SINGLE);
}

/* What a call does, or each start of the request that it makes. */
static void add_communication(const struct balance *b, const struct event *e, struct balance_sums *sums)
{
	switch (call_of(&b->calls, e)->kind) {
	case CALL_SEND:
		add_message(b, e, true, PARAMETER_DEST, PARAMETER_TAG, sums);
		break;
	case CALL_RECV:
		add_message(b, e, false, PARAMETER_SOURCE, PARAMETER_TAG, sums);
		break;
	case CALL_MPROBE:
		if (!event_is_vain(e))
			add_message(b, e, false, PARAMETER_SOURCE, PARAMETER_TAG, sums);
		break;
	case CALL_SENDRECV:
		add_message(b, e, true, PARAMETER_DEST, PARAMETER_TAG, sums);
		add_message(b, e, false, PARAMETER_SOURCE, PARAMETER_RECV_TAG, sums);
		break;
	default:
		add_collective(b, e, sums);
		sums->unknown += is_unknown(e->schema);
		break;
	}
}

/* ---- handles ---- */

static void add_handles(const struct event *e, struct balance_sums *sums)
{
	int made = e->schema->at[PARAMETER_CREATED], freed = e->schema->at[PARAMETER_FREED];
	if (made >= 0 && e->values[made] > VALUE_LOSSY)
		sums->own += hash_mix((uint64_t)e->schema->column[made].kind, (uint64_t)e->values[made]);
	if (freed >= 0 && e->values[freed] > VALUE_LOSSY)
		sums->own -= hash_mix((uint64_t)e->schema->column[freed].kind, (uint64_t)e->values[freed]);
}

int balance_event(struct balance *b, const struct event *e, struct balance_sums *sums)
{
	enum call_kind kind = call_of(&b->calls, e)->kind;
	enum mpi_form form = e->schema->mpi->form;
	int64_t request = call_value(e, PARAMETER_REQUEST);
	if (kind == CALL_COMPLETE)
		return complete_requests(b, e, sums);
	if (kind == CALL_START)
		return start_requests(b, e, sums);
	if (kind == CALL_FREE)
		return request > VALUE_LOSSY ? set_state(b, request, REQUEST_NONE, sums) : 0;
	add_handles(e, sums);
	if (form == FORM_PERSISTENT && request > VALUE_LOSSY) {
		struct balance_request *r = request_at(b, request);
		if (!r)
			return -1;
		r->each = (struct balance_sums){0};
		add_communication(b, e, &r->each);
		return set_state(b, request, REQUEST_INACTIVE, sums);
	}
	add_communication(b, e, sums);
	if (form == FORM_NONBLOCKING && request > VALUE_LOSSY)
		return set_state(b, request, REQUEST_STARTED, sums);
	return 0;
}
