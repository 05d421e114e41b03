/* SPDX-License-Identifier: BSD-3-Clause
 * simulate_collective - collective operations of ranks that are played: by what they mean, or message by message
 */
#include "insight/simulate.h"
#include "insight/simulate_inside.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

static uint64_t operation_key(const struct act *a, uint64_t number)
{
	return hash_mix(hash_mix(13, a->comm), number);
}

static uint64_t now(const struct play *g, uint32_t flow)
{
	return g->flows[flow].ns;
}

static bool is_from_root(enum collective c)
{
	return c == COLLECTIVE_BCAST || c == COLLECTIVE_SCATTER || c == COLLECTIVE_SCATTERV;
}

static bool is_to_root(enum collective c)
{
	return c == COLLECTIVE_GATHER || c == COLLECTIVE_GATHERV || c == COLLECTIVE_REDUCE;
}

static bool is_partial(enum collective c)
{
	return c == COLLECTIVE_SCAN || c == COLLECTIVE_EXSCAN || c == COLLECTIVE_NEIGHBOR;
}

static uint32_t members_of(const struct play *g, uint32_t comm)
{
	const struct comm *c = comms_at(g->comms, comm);
	return c->size + c->remote_size;
}

static bool waits_for_all(const struct act *a)
{
	return !is_partial(a->collective) && !is_from_root(a->collective) && !is_to_root(a->collective);
}

/* --- by what it means: who needs whom --- */

static int note_meet(struct play *g, uint64_t at)
{
	struct stretches *out = g->stretches;
	if (!out)
		return 0;
	if (!budget_grow(&out->meets, out->meet_count, &out->meet_capacity, sizeof *out->meets))
		return -1;
	out->meets[out->meet_count++] = at;
	return 0;
}

static int come(struct play *g, uint32_t rank, const struct act *a, struct meeting *m)
{
	m->came++;
	if (now(g, rank) >= m->last) {
		m->last = now(g, rank);
		m->last_rank = rank;
	}
	if (a->root) {
		m->root = rank;
		m->root_at = now(g, rank);
	}
	if (m->came == members_of(g, a->comm) || a->root)
		play_wake(g, m);
	return m->came == g->size && a->kind == ACT_COLLECTIVE && waits_for_all(a) ? note_meet(g, m->last) : 0;
}

/* May a rank go on, and is there somebody that it waited for? */
static bool is_met(const struct meeting *m, const struct act *a, uint32_t size, bool *waited)
{
	*waited = !a->bystander && !is_partial(a->collective) && (!is_to_root(a->collective) || a->root);
	return !*waited || m->came == size || (is_from_root(a->collective) && m->root != NOBODY);
}

/* Of an operation that no algorithm is known of, on a network where things take time: a tree of messages. */
static int spend_tree(struct play *g, uint32_t rank, const struct act *a, uint32_t size)
{
	double rounds = 0;
	if (!g->ports)
		return 0;
	const struct network_level *l = ports_level(g->ports, rank, rank + 1 < g->size ? rank + 1 : 0);
	for (uint64_t n = 1; n < size; n *= 2)
		rounds++;
	rounds = a->collective == COLLECTIVE_NEIGHBOR ? 1 : rounds;
	return play_spend(g, rank, rounds * (2 * l->overhead + l->latency) + (double)a->sent * l->byte);
}

static int meet(struct play *g, uint32_t rank, const struct act *a, uint64_t number)
{
	const uint32_t size = members_of(g, a->comm);
	struct meeting *m = meetings_at(&g->meetings, operation_key(a, number));
	bool waited;
	if (!m)
		return -1;
	if (!is_met(m, a, size, &waited)) {
		play_wait(g, m, rank);
		return 1;
	}
	struct meeting was = *m;
	if (++m->gone == size)
		meetings_end(&g->meetings, m);
	int rv = !waited                       ? 0
	         : is_from_root(a->collective) ? play_go_on(g, rank, was.root_at, was.root)
	                                       : play_go_on(g, rank, was.last, was.last_rank);
	return rv == 0 ? spend_tree(g, rank, a, size) : rv;
}

/* --- message by message --- */

/* What all processes of the operation, or this one alone (MPI_Gatherv and the like), have for one other; of what is
 * reduced, or broadcast, all. */
static uint64_t piece_of(const struct act *a, uint32_t peers)
{
	peers += peers == 0;
	switch (a->collective) {
	case COLLECTIVE_GATHER:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_ALLGATHER:
	case COLLECTIVE_ALLTOALL:
		return a->send_piece ? a->send_piece : a->receive_piece;
	case COLLECTIVE_GATHERV:
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_REDUCE_SCATTER_BLOCK:
		return a->sent;
	case COLLECTIVE_SCATTERV:
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
		return a->sent / peers;
	case COLLECTIVE_ALLGATHERV:
		return a->received / peers;
	default:
		return a->send_piece;
	}
}

static bool is_own_piece(enum collective c)
{
	return c == COLLECTIVE_GATHERV || c == COLLECTIVE_SCATTERV || c == COLLECTIVE_ALLTOALLV ||
	       c == COLLECTIVE_ALLTOALLW;
}

/* How it is made is what the first one says: others may know less (MPI_IN_PLACE). */
static void agree(struct play *g, uint32_t rank, const struct act *a, struct meeting *m, struct algorithm_call *c)
{
	uint64_t piece = piece_of(a, c->size);
	if (m->came == 0) {
		m->bytes = piece;
		m->algorithm = comms_is_inter(g->comms, a->comm)
		                       ? ALGORITHM_IDEAL
		                       : network_algorithm(g->network, a->collective, c->size, piece);
	}
	c->collective = a->collective;
	c->algorithm = m->algorithm;
	c->bytes = is_own_piece(a->collective) ? piece : m->bytes;
	c->self = comms_local(g->comms, a->comm, rank);
	c->root = a->local;
}

/* The message of a step between two of its processes; false: one of them is not there. */
static bool step_message(const struct play *g, const struct flow *f, bool sends, struct message *out)
{
	const struct steps *s = &f->steps;
	uint32_t other = sends ? s->step.to : s->step.from, from = sends ? s->call.self : other,
		 to = sends ? other : s->call.self;
	if (other == ALGORITHM_NOBODY)
		return false;
	uint32_t world = comms_world(g->comms, s->comm, other, f->rank);
	uint64_t key = hash_mix(hash_mix(s->key, (uint64_t)s->place.phase << 32 | s->step.tag), 17);
	*out = (struct message){.key = hash_mix(key, (uint64_t)from << 32 | to),
	                        .bytes = sends ? s->step.bytes : 0,
	                        .from = sends ? f->rank : world,
	                        .to = sends ? world : f->rank};
	out->waits = sends && !g->eager && out->bytes > g->network->eager;
	return world != RANK_UNKNOWN;
}

/* Might a message of it wait for its receive? */
static bool may_wait(const struct play *g, const struct algorithm_call *c)
{
	return !g->eager && (double)c->bytes * c->size > (double)g->network->eager;
}

static int begin_step(struct play *g, uint32_t flow)
{
	struct message s;
	const struct steps *st = &g->flows[flow].steps;
	if (may_wait(g, &st->call) && step_message(g, &g->flows[flow], false, &s) &&
	    message_post(g, &s, now(g, flow)) != 0)
		return -1;
	return step_message(g, &g->flows[flow], true, &s) ? message_put(g, flow, &s) : 0;
}

static int run_part(struct play *g, uint32_t flow)
{
	struct message s;
	switch (g->flows[flow].steps.part) {
	case STEPS_SEND:
		return begin_step(g, flow);
	case STEPS_RECEIVE:
		return step_message(g, &g->flows[flow], false, &s) ? message_take(g, flow, &s) : 0;
	case STEPS_SETTLE:
		return step_message(g, &g->flows[flow], true, &s) ? message_put_end(g, flow, &s) : 0;
	default:
		return 0;
	}
}

int collective_flow(struct play *g, uint32_t flow)
{
	for (;;) {
		struct steps *s = &g->flows[flow].steps;
		if (s->part == STEPS_NEXT && !play_queue_is_first(&g->ready, now(g, flow)))
			return PLAY_LATER;
		if (s->part == STEPS_NEXT && !algorithm_next(&s->call, &s->place, &s->step))
			return 0;
		int rv = run_part(g, flow);
		if (rv != 0)
			return rv;
		s->part = s->part == STEPS_SETTLE ? STEPS_NEXT : s->part + 1;
	}
}

/* A rank comes to an operation. *number: which one of the communicator's. Returns 0, or -1 on no memory. */
static int enter(struct play *g, uint32_t rank, const struct act *a, uint64_t *number, struct steps *s)
{
	struct player *p = &g->ranks[rank];
	uint64_t *count = channels_at(&p->operations, false, false, a->comm, 0, 0);
	struct meeting *m = count ? meetings_at(&g->meetings, operation_key(a, *number = (*count)++)) : NULL;
	if (!m)
		return -1;
	*s = (struct steps){.key = operation_key(a, *number), .comm = a->comm, .call.size = members_of(g, a->comm)};
	agree(g, rank, a, m, &s->call);
	if (s->call.algorithm == ALGORITHM_IDEAL)
		return come(g, rank, a, m);
	if (++m->came == s->call.size)
		meetings_end(&g->meetings, m);
	return 0;
}

static int do_operation(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	struct steps *s = &g->flows[rank].steps;
	if (!p->came && (play_charge(g, rank) != 0 || enter(g, rank, a, &p->number, s) != 0))
		return -1;
	p->came = true;
	return s->call.algorithm == ALGORITHM_IDEAL ? meet(g, rank, a, p->number) : collective_flow(g, rank);
}

static int begin_operation(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	struct steps steps;
	if (!budget_grow(&p->pending, p->pending_count, &p->pending_capacity, sizeof *p->pending))
		return -1;
	struct operation *o = &p->pending[p->pending_count++];
	*o = (struct operation){.request = a->request, .act = *a, .flow = NOBODY};
	if (enter(g, rank, a, &o->number, &steps) != 0)
		return -1;
	if (steps.call.algorithm == ALGORITHM_IDEAL)
		return 0;
	if ((o->flow = play_begin_flow(g, rank)) == NOBODY)
		return -1;
	g->flows[o->flow].steps = steps;
	return play_queue_push(&g->ready, o->flow, now(g, o->flow));
}

/* Of one that goes on beside its rank. */
static int wait_for_flow(struct play *g, uint32_t rank, uint32_t flow)
{
	struct flow *f = &g->flows[flow];
	if (!f->done) {
		f->waiter = rank;
		return 1;
	}
	play_end_flow(g, flow);
	return play_go_on(g, rank, f->ns, rank);
}

static int end_operation(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	uint32_t i = 0;
	while (i < p->pending_count && p->pending[i].request != a->request)
		i++;
	if (i == p->pending_count)
		return 0;
	const struct operation *o = &p->pending[i];
	int rv = o->flow == NOBODY ? meet(g, rank, &o->act, o->number) : wait_for_flow(g, rank, o->flow);
	if (rv == 0)
		p->pending[i] = p->pending[--p->pending_count];
	return rv;
}

int collective_act(struct play *g, uint32_t rank, const struct act *a)
{
	switch (a->kind) {
	case ACT_COLLECTIVE:
		return do_operation(g, rank, a);
	case ACT_COLLECTIVE_BEGIN:
		return begin_operation(g, rank, a);
	default:
		return end_operation(g, rank, a);
	}
}
