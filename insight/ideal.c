/* SPDX-License-Identifier: BSD-3-Clause
 * ideal - how a job would run on an ideal network: when each rank computes then, and for whom it waits
 *
 * A rank is played until it needs something that is not there: a message, or other ranks in a collective operation.
 * Whoever brings that wakes it. Things are known by a hash of what they are (64 bits), in a table of those under way.
 */
#include "insight/ideal.h"

#include <stdlib.h>
#include <string.h>

#include "insight/channels.h"
#include "insight/look_ahead.h"
#include "insight/meetings.h"
#include "insight/times.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"

#define NOBODY IDEAL_NOBODY
/* What a damaged trace says may be any number. */
#define NS_MOST 0x1p62
#define SEED    1

struct operation {
	uint64_t request, number;
	struct act act;
};

struct player {
	struct walk *walk;
	struct rank_times *times;
	struct execution *execution;
	struct event event;
	const struct act *list;
	size_t count, at;
	bool came;   /* it is in the operation of list[at] */
	bool posted; /* the message that it waits for in a receive knows of it */
	bool polled;
	uint64_t number; /* of that operation */
	uint32_t site;   /* of the event before */
	uint32_t behind; /* the next one that waits for the same */
	struct channels operations;
	struct operation *pending; /* those begun */
	uint32_t pending_count, pending_capacity;
};

struct play {
	struct ideal *out;
	struct calls calls;
	struct comms *comms;
	struct times *times;
	struct player *ranks;
	uint32_t size;
	struct meetings meetings;
	uint32_t *ready, ready_count;
	bool *synchronous; /* by site */
	bool any;          /* of them is */
	struct error *error;
};

static uint64_t message_key(const struct act *a, uint32_t from, uint32_t to)
{
	uint64_t h = hash_mix(hash_mix(a->partitioned ? 12 : 11, a->comm), (uint64_t)from << 32 | to);
	return hash_mix(hash_mix(h, (uint64_t)a->tag), a->number);
}

static uint64_t operation_key(const struct act *a, uint64_t number)
{
	return hash_mix(hash_mix(13, a->comm), number);
}

static void wake(struct play *g, struct meeting *m)
{
	for (uint32_t next, r = m->waiting; r != NOBODY; r = next) {
		next = g->ranks[r].behind;
		g->ready[g->ready_count++] = r;
	}
	m->waiting = NOBODY;
}

static void wait_for(struct play *g, struct meeting *m, uint32_t rank)
{
	g->ranks[rank].behind = m->waiting;
	m->waiting = rank;
}

static uint64_t now(const struct play *g, uint32_t rank)
{
	return g->out->ranks[rank].ns;
}

static int add_span(struct play *g, uint32_t rank, uint64_t ns, uint32_t from)
{
	struct ideal_rank *r = &g->out->ranks[rank];
	const struct player *p = &g->ranks[rank];
	if (ns == 0)
		return 0;
	if (!budget_grow(&r->list, r->count, &r->capacity, sizeof *r->list))
		return -1;
	r->ns += ns;
	r->list[r->count++] = (struct ideal_stretch){r->ns, ns, p->site, p->event.site, from};
	return 0;
}

/* The rank goes on when the other one had come so far. */
static int go_on(struct play *g, uint32_t rank, uint64_t at, uint32_t from)
{
	uint64_t ns = at > now(g, rank) ? at - now(g, rank) : 0;
	g->out->wait_ns[g->ranks[rank].event.site] += ns;
	return add_span(g, rank, ns, from);
}

/* --- what a rank does: 0: done; 1: it waits; -1: no memory --- */

/* Does this send wait until its message is received? */
static bool is_synchronous(const struct play *g, uint32_t rank, const struct act *a)
{
	return a->kind == ACT_SEND && !a->exchange && g->synchronous[g->ranks[rank].event.site];
}

/* A message is known while somebody needs it: until it was received, and its synchronous send is over. */
static int send(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	struct meeting *m = meetings_at(&g->meetings, message_key(a, rank, a->peer));
	bool waits = is_synchronous(g, rank, a);
	if (!m)
		return -1;
	if (!p->came) {
		m->came = waits ? 2 : 1;
		m->last = now(g, rank);
		m->last_rank = rank;
		p->came = true;
		wake(g, m);
	}
	if (!waits)
		return 0;
	if (m->root == NOBODY) {
		wait_for(g, m, rank);
		return 1;
	}
	struct meeting was = *m;
	if (++m->gone == 2)
		meetings_end(&g->meetings, m);
	return go_on(g, rank, was.root_at, was.root);
}

/* From now on a synchronous send need not wait. */
static int post(struct play *g, uint32_t rank, const struct act *a)
{
	struct meeting *m = meetings_at(&g->meetings, message_key(a, a->peer, rank));
	if (!m)
		return -1;
	if (m->root == NOBODY) {
		m->root = rank;
		m->root_at = now(g, rank);
		wake(g, m);
	}
	return 0;
}

static int receive(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	if (g->any && !p->posted && post(g, rank, a) != 0)
		return -1;
	p->posted = true;
	struct meeting *m = meetings_at(&g->meetings, message_key(a, a->peer, rank));
	if (!m)
		return -1;
	if (m->came) {
		struct meeting was = *m;
		if (m->came == 1 || ++m->gone == 2)
			meetings_end(&g->meetings, m);
		return go_on(g, rank, was.last, was.last_rank);
	}
	wait_for(g, m, rank);
	return 1;
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

static int note_meet(struct play *g, uint64_t at)
{
	struct ideal *out = g->out;
	if (!budget_grow(&out->meets, out->meet_count, &out->meet_capacity, sizeof *out->meets))
		return -1;
	out->meets[out->meet_count++] = at;
	return 0;
}

static int come(struct play *g, uint32_t rank, const struct act *a, uint64_t *number)
{
	struct player *p = &g->ranks[rank];
	uint64_t *count = channels_at(&p->operations, false, false, a->comm, 0, 0);
	struct meeting *m = count ? meetings_at(&g->meetings, operation_key(a, *number = (*count)++)) : NULL;
	if (!m)
		return -1;
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
		wake(g, m);
	return m->came == g->size && a->kind == ACT_COLLECTIVE && waits_for_all(a) ? note_meet(g, m->last) : 0;
}

/* May a rank go on, and is there somebody that it waited for? */
static bool is_met(const struct meeting *m, const struct act *a, uint32_t size, bool *waited)
{
	*waited = !a->bystander && !is_partial(a->collective) && (!is_to_root(a->collective) || a->root);
	return !*waited || m->came == size || (is_from_root(a->collective) && m->root != NOBODY);
}

static int meet(struct play *g, uint32_t rank, const struct act *a, uint64_t number)
{
	const uint32_t size = members_of(g, a->comm);
	struct meeting *m = meetings_at(&g->meetings, operation_key(a, number));
	bool waited;
	if (!m)
		return -1;
	if (!is_met(m, a, size, &waited)) {
		wait_for(g, m, rank);
		return 1;
	}
	struct meeting was = *m;
	if (++m->gone == size)
		meetings_end(&g->meetings, m);
	if (!waited)
		return 0;
	return is_from_root(a->collective) ? go_on(g, rank, was.root_at, was.root)
	                                   : go_on(g, rank, was.last, was.last_rank);
}

static int begin_operation(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	if (!budget_grow(&p->pending, p->pending_count, &p->pending_capacity, sizeof *p->pending))
		return -1;
	struct operation *o = &p->pending[p->pending_count++];
	*o = (struct operation){.request = a->request, .act = *a};
	return come(g, rank, a, &o->number);
}

static int end_operation(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	uint32_t i = 0;
	while (i < p->pending_count && p->pending[i].request != a->request)
		i++;
	if (i == p->pending_count)
		return 0;
	int rv = meet(g, rank, &p->pending[i].act, p->pending[i].number);
	if (rv == 0)
		p->pending[i] = p->pending[--p->pending_count];
	return rv;
}

static int do_act(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	if (a->comm == COMM_UNKNOWN || a->comm == COMM_SELF)
		return 0;
	switch (a->kind) {
	case ACT_SEND:
	case ACT_SEND_BEGIN:
		return a->peer == RANK_UNKNOWN ? 0 : send(g, rank, a);
	case ACT_RECV_BEGIN:
		return !g->any || a->open || a->peer == RANK_UNKNOWN ? 0 : post(g, rank, a);
	case ACT_RECV:
	case ACT_RECV_END:
		return a->peer == RANK_UNKNOWN ? 0 : receive(g, rank, a);
	case ACT_COLLECTIVE:
		if (!p->came && come(g, rank, a, &p->number) != 0)
			return -1;
		p->came = true;
		return meet(g, rank, a, p->number);
	case ACT_COLLECTIVE_BEGIN:
		return begin_operation(g, rank, a);
	case ACT_COLLECTIVE_END:
		return end_operation(g, rank, a);
	default:
		return 0;
	}
}

/* --- the ranks --- */

/* Returns 0; 1 at the end; -1. */
static int next_event(struct play *g, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	p->site = p->event.site;
	int rv = walk_next(p->walk, &p->event, g->error);
	if (rv != 0)
		return rv;
	double computed = rank_times_before(p->times, p->event.site);
	bool vain = event_is_vain(&p->event), completes = call_of(&g->calls, &p->event)->kind == CALL_COMPLETE;
	/* between one vain question and the next a rank waits: for what, is known here */
	uint64_t ns =
		computed > 0 && computed < NS_MOST && !(p->polled && (vain || completes)) ? (uint64_t)computed : 0;
	p->polled = vain;
	p->at = 0;
	if (!(p->list = execution_event(p->execution, &p->event, &p->count)) || add_span(g, rank, ns, NOBODY) != 0)
		return error_set(g->error, "no memory");
	return 0;
}

/* Until it waits, or is at its end (*done). */
static int play_rank(struct play *g, uint32_t rank, uint32_t *done)
{
	struct player *p = &g->ranks[rank];
	int rv = 0;
	while (rv == 0) {
		while (p->at < p->count && (rv = do_act(g, rank, &p->list[p->at])) == 0) {
			p->came = p->posted = false;
			p->at++;
		}
		if (rv != 0)
			return rv > 0 ? 0 : error_set(g->error, "no memory");
		rv = next_event(g, rank);
	}
	*done += rv > 0;
	return rv < 0 ? -1 : 0;
}

static int begin_rank(struct play *g, const struct trace *t, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	p->execution = execution_create(&g->calls, g->comms, rank);
	p->times = p->execution ? rank_times_create(g->times, rank) : NULL;
	if (!p->times)
		return error_set(g->error, "no memory");
	return look_ahead(p->execution, &g->calls, g->comms, rank, g->error) != 0
	               ? -1
	               : walk_begin(&p->walk, t, rank, g->error);
}

static void end_rank(struct player *p)
{
	walk_end(p->walk);
	rank_times_destroy(p->times);
	execution_destroy(p->execution);
	channels_free(&p->operations);
	budget_free(p->pending);
}

static int play_all(struct play *g, const struct trace *t)
{
	uint32_t done = 0;
	int rv = 0;
	for (uint32_t r = 0; rv == 0 && r < g->size; r++) {
		rv = begin_rank(g, t, r);
		g->ready[g->ready_count++] = g->size - 1 - r;
	}
	while (rv == 0 && g->ready_count > 0)
		rv = play_rank(g, g->ready[--g->ready_count], &done);
	if (rv != 0 || done < g->size) /* one waits for what nobody does: something was not understood */
		return rv;
	for (uint32_t r = 0; r < g->size; r++)
		g->out->run_ns = now(g, r) > g->out->run_ns ? now(g, r) : g->out->run_ns;
	g->out->known = true;
	return 0;
}

/* Which sites' sends wait for their receives? */
static void find_synchronous(struct play *g, const struct trace *t, const bool *also)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		g->synchronous[i] = trace_schema(t, &t->sites[i])->mpi->function == FN_MPI_Ssend || (also && also[i]);
		g->any = g->any || g->synchronous[i];
	}
}

int ideal_make(struct ideal *out, const struct trace *t, const bool *synchronous, struct error *error)
{
	*out = (struct ideal){.known = false};
	if ((uint64_t)rankmap_sum(&t->events) > IDEAL_EVENTS || t->size > IDEAL_RANKS || stream_threads(t) > 1 ||
	    trace_has_lossy(t) || t->unended_count > 0 || !rankmap_empty(&t->lost) ||
	    stream_ranks(t, &t->events) < t->size)
		return 0;
	struct play g = {.out = out, .size = t->size, .error = error};
	g.ranks = budget_calloc((size_t)t->size + 1, sizeof *g.ranks);
	g.ready = budget_calloc((size_t)t->size + 1, sizeof *g.ready);
	g.synchronous = budget_calloc((size_t)t->site_count + 1, sizeof *g.synchronous);
	out->size = t->size;
	out->ranks = budget_calloc((size_t)t->size + 1, sizeof *out->ranks);
	out->wait_ns = budget_calloc((size_t)t->site_count + 1, sizeof *out->wait_ns);
	bool room = g.ranks && g.ready && g.synchronous && out->ranks && out->wait_ns;
	int rv = room && calls_make(&g.calls, t) == 0 ? comms_make(&g.comms, &g.calls, error)
	                                              : error_set(error, "no memory");
	g.times = rv == 0 ? times_create(t, true, SEED) : NULL;
	if (rv == 0 && !g.times)
		rv = error_set(error, "no memory");
	if (rv == 0) {
		find_synchronous(&g, t, synchronous);
		rv = play_all(&g, t);
	}
	if (rv != 0 && g.meetings.much)
		rv = 0;
	for (uint32_t r = 0; g.ranks && r < t->size; r++)
		end_rank(&g.ranks[r]);
	budget_free(g.ranks);
	budget_free(g.ready);
	budget_free(g.synchronous);
	times_destroy(g.times);
	meetings_free(&g.meetings);
	comms_destroy(g.comms);
	calls_free(&g.calls);
	if (!out->known)
		ideal_free(out);
	return rv;
}

void ideal_free(struct ideal *i)
{
	for (uint32_t r = 0; i->ranks && r < i->size; r++)
		budget_free(i->ranks[r].list);
	budget_free(i->ranks);
	budget_free(i->wait_ns);
	budget_free(i->meets);
	*i = (struct ideal){.known = false};
}
