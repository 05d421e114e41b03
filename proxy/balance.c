/* SPDX-License-Identifier: BSD-3-Clause
 * balance - may some events of all ranks be left out?
 */
#include "proxy/balance.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"

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
	execution_destroy(b->execution);
	budget_free(b->last);
	comms_destroy(b->comms);
	calls_free(&b->calls);
}

int balance_rank(struct balance *b, uint32_t rank)
{
	b->rank = rank;
	execution_destroy(b->execution);
	b->execution = execution_create_unsized(&b->calls, b->comms, rank);
	return b->execution ? 0 : -1;
}

/* ---- between ranks ---- */

static void add_message(const struct balance *b, const struct act *m, bool sent, struct balance_sums *sums)
{
	if (m->comm == COMM_UNKNOWN || (m->peer == RANK_UNKNOWN && !m->any)) {
		sums->unknown++;
		return;
	}
	uint64_t dest = sent ? m->peer : b->rank, source = sent ? b->rank : m->peer;
	uint64_t arrival = hash_mix(hash_mix(0x61727269, m->comm), dest);
	uint64_t message = hash_mix(hash_mix(arrival, source), (uint64_t)m->tag);
	sums->arrivals += sent ? arrival : -arrival;
	sums->messages += m->any ? 0 : sent ? message : -message;
	sums->any += m->any;
}

/* Of a communicator; of = 1 or 2: of the window or file `number`, as if all ranks had it. */
static void add_meeting(const struct balance *b, uint32_t comm, uint64_t of, int64_t number, struct balance_sums *sums)
{
	uint32_t members = b->trace->size, own = b->rank;
	if (comm == COMM_SELF)
		return;
	if (comm != COMM_UNKNOWN && comm != COMM_WORLD) {
		members = comms_at(b->comms, comm)->size;
		own = comms_local(b->comms, comm, b->rank);
	}
	if (comm == COMM_UNKNOWN || comms_is_inter(b->comms, comm) || own >= members) {
		sums->unknown++;
		return;
	}
	uint64_t which = hash_mix(hash_mix(hash_mix(0x636f6c6c, comm), of), (uint64_t)number);
	sums->collectives += (which | 1) * (own + 1 < members ? member_hash(own) : b->last[comm]);
}

static void add_act(const struct balance *b, const struct act *m, struct balance_sums *sums)
{
	switch (m->kind) {
	case ACT_SEND:
	case ACT_SEND_BEGIN:
		add_message(b, m, true, sums);
		break;
	case ACT_RECV:
	case ACT_RECV_BEGIN:
	case ACT_PROBED:
		if (!m->matched)
			add_message(b, m, false, sums);
		break;
	case ACT_COLLECTIVE:
	case ACT_COLLECTIVE_BEGIN:
		add_meeting(b, m->comm, 0, 0, sums);
		break;
	default:
		break;
	}
}

/* What else is collective: calls that make communicators, and those of windows and files. */
static void add_call(const struct balance *b, const struct event *e, struct balance_sums *sums)
{
	switch (e->schema->mpi->scope) {
	case SCOPE_SINGLE:
		break;
	case SCOPE_COMM:
		add_meeting(b, comms_find(b->comms, b->rank, call_value(e, PARAMETER_COMM)), 0, 0, sums);
		break;
	case SCOPE_WORLD:
		add_meeting(b, COMM_WORLD, 0, 0, sums);
		break;
	case SCOPE_WIN:
		add_meeting(b, COMM_WORLD, 1, call_value(e, PARAMETER_WIN), sums);
		break;
	case SCOPE_FILE:
		add_meeting(b, COMM_WORLD, 2, call_value(e, PARAMETER_FILE), sums);
		break;
	default:
		sums->unknown++;
	}
}

/* Synchronization with some ranks of a window: that its partners do the same is not looked at. */
static bool is_unknown(const struct schema *s)
{
	return s->mpi->class == MPI_CLASS_OTHER || s->mpi->class == MPI_CLASS_PROCESS ||
	       s->mpi->class == MPI_CLASS_SESSION ||
	       (s->mpi->class == MPI_CLASS_ONE_SIDED && s->mpi->waits != WAITS_NOT && s->mpi->scope == SCOPE_SINGLE);
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
	struct execution *x = b->execution;
	uint64_t unknown = execution_unknown(x), before = execution_requests(x)->hash;
	size_t n;
	const struct act *list = execution_event(x, e, &n);
	for (size_t i = 0; list && i < n; i++)
		add_act(b, &list[i], sums);
	if (call_of(&b->calls, e)->kind != CALL_COLLECTIVE)
		add_call(b, e, sums);
	add_handles(e, sums);
	sums->own += execution_requests(x)->hash - before;
	sums->unknown += execution_unknown(x) - unknown + execution_is_foreign(x) + is_unknown(e->schema);
	return list ? 0 : -1;
}
