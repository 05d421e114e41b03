/* SPDX-License-Identifier: BSD-3-Clause
 * ideal - how long a job would take on an ideal network, and what its length depends on then
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
#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"
#include "trace/read/event_clock.h"

#define NOBODY MEETING_NOBODY

/* A stretch of a rank's time that ended then: it computed for ns before a call of the site, or waited for `from`. */
struct stretch {
	uint64_t end, ns;
	uint32_t site, from;
};

struct operation {
	uint64_t request, number;
	struct act act;
};

struct player {
	struct walk *walk;
	struct event_clock *clock;
	struct execution *execution;
	struct event event;
	const struct act *list;
	size_t count, at;
	bool came; /* it is in the operation of list[at] */
	bool polled, begun;
	uint64_t number; /* of that operation */
	uint64_t now, last;
	uint32_t behind; /* the next one that waits for the same */
	struct channels operations;
	struct operation *pending; /* those begun */
	uint32_t pending_count, pending_capacity;
	struct stretch *stretches;
	uint32_t stretch_count, stretch_capacity;
};

struct play {
	struct ideal *out;
	struct calls calls;
	struct comms *comms;
	struct player *ranks;
	uint32_t size;
	struct meetings meetings;
	uint32_t *ready, ready_count;
	bool much;            /* is under way */
	uint64_t (*waits)[2]; /* ns by site: for messages, in collective operations */
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

static int add_span(struct player *p, uint64_t ns, uint32_t from)
{
	if (ns == 0)
		return 0;
	if (!budget_grow(&p->stretches, p->stretch_count, &p->stretch_capacity, sizeof *p->stretches))
		return -1;
	p->now += ns;
	p->stretches[p->stretch_count++] = (struct stretch){p->now, ns, p->event.site, from};
	return 0;
}

/* The rank goes on when the other one had come so far. */
static int go_on(struct play *g, struct player *p, uint64_t at, uint32_t from, bool collective)
{
	uint64_t ns = at > p->now ? at - p->now : 0;
	g->waits[p->event.site][collective] += ns;
	return add_span(p, ns, from);
}

/* --- what a rank does: 0: done; 1: it waits; -1: no memory --- */

static int send(struct play *g, uint32_t rank, const struct act *a)
{
	struct meeting *m = meetings_at(&g->meetings, message_key(a, rank, a->peer));
	if (!m)
		return -1;
	m->came = 1;
	m->last = g->ranks[rank].now;
	m->last_rank = rank;
	wake(g, m);
	return 0;
}

static int receive(struct play *g, uint32_t rank, const struct act *a)
{
	struct meeting *m = meetings_at(&g->meetings, message_key(a, a->peer, rank));
	if (!m)
		return -1;
	if (m->came) {
		struct meeting was = *m;
		meetings_end(&g->meetings, m);
		return go_on(g, &g->ranks[rank], was.last, was.last_rank, false);
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

static int come(struct play *g, uint32_t rank, const struct act *a, uint64_t *number)
{
	struct player *p = &g->ranks[rank];
	uint64_t *count = channels_at(&p->operations, false, false, a->comm, 0, 0);
	struct meeting *m = count ? meetings_at(&g->meetings, operation_key(a, *number = (*count)++)) : NULL;
	if (!m)
		return -1;
	m->came++;
	if (p->now >= m->last) {
		m->last = p->now;
		m->last_rank = rank;
	}
	if (a->root) {
		m->root = rank;
		m->root_at = p->now;
	}
	if (m->came == members_of(g, a->comm) || a->root)
		wake(g, m);
	return 0;
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
	return is_from_root(a->collective) ? go_on(g, &g->ranks[rank], was.root_at, was.root, true)
	                                   : go_on(g, &g->ranks[rank], was.last, was.last_rank, true);
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
static int next_event(struct play *g, struct player *p)
{
	uint64_t begin, end;
	int rv = walk_next(p->walk, &p->event, g->error);
	if (rv != 0)
		return rv;
	event_clock_next(p->clock, &p->event, &begin, &end);
	bool vain = event_is_vain(&p->event), completes = call_of(&g->calls, &p->event)->kind == CALL_COMPLETE;
	/* between one vain question and the next a rank waits: for what, is known here */
	uint64_t ns = p->begun && begin > p->last && !(p->polled && (vain || completes)) ? begin - p->last : 0;
	p->polled = vain;
	p->last = end;
	p->begun = true;
	p->at = 0;
	if (!(p->list = execution_event(p->execution, &p->event, &p->count)) || add_span(p, ns, NOBODY) != 0)
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
			p->came = false;
			p->at++;
		}
		if (rv != 0)
			return rv > 0 ? 0 : error_set(g->error, "no memory");
		rv = next_event(g, p);
	}
	*done += rv > 0;
	return rv < 0 ? -1 : 0;
}

static int begin_rank(struct play *g, const struct trace *t, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	p->execution = execution_create(&g->calls, g->comms, rank);
	if (!p->execution)
		return error_set(g->error, "no memory");
	return look_ahead(p->execution, &g->calls, g->comms, rank, g->error) != 0 ||
	                       walk_begin(&p->walk, t, rank, g->error) != 0 ||
	                       event_clock_create(&p->clock, t, rank, g->error) != 0
	               ? -1
	               : 0;
}

static void end_rank(struct player *p)
{
	walk_end(p->walk);
	event_clock_destroy(p->clock);
	execution_destroy(p->execution);
	channels_free(&p->operations);
	budget_free(p->pending);
	budget_free(p->stretches);
}

/* --- the critical path --- */

/* The number of stretches that ended by then. */
static size_t stretches_by(const struct player *p, uint64_t at)
{
	size_t low = 0, high = p->stretch_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->stretches[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int by_rank_and_site(const void *a, const void *b)
{
	const struct ideal_part *x = a, *y = b;
	return x->rank != y->rank ? (x->rank > y->rank ? 1 : -1) : (x->site > y->site) - (x->site < y->site);
}

static int by_length(const void *a, const void *b)
{
	const struct ideal_part *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_rank_and_site(a, b);
}

static void sum_parts(struct ideal *out)
{
	size_t n = 0;
	if (out->part_count)
		qsort(out->parts, out->part_count, sizeof *out->parts, by_rank_and_site);
	for (size_t i = 0; i < out->part_count; i++)
		if (n && by_rank_and_site(&out->parts[n - 1], &out->parts[i]) == 0)
			out->parts[n - 1].ns += out->parts[i].ns;
		else
			out->parts[n++] = out->parts[i];
	out->part_count = n;
	if (n)
		qsort(out->parts, n, sizeof *out->parts, by_length);
}

/* Each wait goes on with an earlier time, so that it ends. */
static int follow_path(struct play *g, uint32_t rank)
{
	struct ideal *out = g->out;
	size_t capacity = 0;
	for (size_t i = g->ranks[rank].stretch_count; i > 0;) {
		const struct stretch *s = &g->ranks[rank].stretches[i - 1];
		i--;
		if (s->from != NOBODY) {
			rank = s->from;
			i = stretches_by(&g->ranks[rank], s->end);
			continue;
		}
		if (out->part_count == capacity) {
			struct ideal_part *more = realloc(out->parts, (2 * capacity + 64) * sizeof *more);
			if (!more)
				return error_set(g->error, "no memory");
			out->parts = more;
			capacity = 2 * capacity + 64;
		}
		out->parts[out->part_count++] = (struct ideal_part){rank, s->site, s->ns};
	}
	sum_parts(out);
	return 0;
}

static void add_waits(struct play *g, uint32_t sites)
{
	struct ideal *out = g->out;
	for (uint32_t i = 0; i < sites; i++) {
		out->message_ns += g->waits[i][0];
		out->collective_ns += g->waits[i][1];
		out->message_site = g->waits[i][0] > g->waits[out->message_site][0] ? i : out->message_site;
		out->collective_site = g->waits[i][1] > g->waits[out->collective_site][1] ? i : out->collective_site;
	}
}

static int play_all(struct play *g, const struct trace *t)
{
	uint32_t done = 0, longest = 0;
	int rv = 0;
	for (uint32_t r = 0; rv == 0 && r < g->size; r++) {
		rv = begin_rank(g, t, r);
		g->ready[g->ready_count++] = g->size - 1 - r;
	}
	while (rv == 0 && g->ready_count > 0)
		rv = play_rank(g, g->ready[--g->ready_count], &done);
	if (rv != 0 || done < g->size) /* one waits for what nobody does: something was not understood */
		return rv;
	for (uint32_t r = 1; r < g->size; r++)
		longest = g->ranks[r].now > g->ranks[longest].now ? r : longest;
	g->out->known = true;
	g->out->run_ns = g->ranks[longest].now;
	add_waits(g, t->site_count);
	return follow_path(g, longest);
}

int ideal_make(struct ideal *out, const struct trace *t, struct error *error)
{
	*out = (struct ideal){.known = false};
	if ((uint64_t)rankmap_sum(&t->events) > IDEAL_EVENTS || t->size > IDEAL_RANKS || stream_threads(t) > 1 ||
	    trace_has_lossy(t) || t->unended_count > 0 || !rankmap_empty(&t->lost) ||
	    stream_ranks(t, &t->events) < t->size)
		return 0;
	struct play g = {.out = out, .size = t->size, .error = error};
	g.ranks = budget_calloc((size_t)t->size + 1, sizeof *g.ranks);
	g.ready = budget_calloc((size_t)t->size + 1, sizeof *g.ready);
	g.waits = budget_calloc((size_t)t->site_count + 1, sizeof *g.waits);
	int rv = g.ranks && g.ready && g.waits && calls_make(&g.calls, t) == 0 ? comms_make(&g.comms, &g.calls, error)
	                                                                       : error_set(error, "no memory");
	if (rv == 0)
		rv = play_all(&g, t);
	if (rv != 0 && g.meetings.much) {
		ideal_free(out);
		rv = 0;
	}
	for (uint32_t r = 0; g.ranks && r < t->size; r++)
		end_rank(&g.ranks[r]);
	budget_free(g.ranks);
	budget_free(g.ready);
	budget_free(g.waits);
	meetings_free(&g.meetings);
	comms_destroy(g.comms);
	calls_free(&g.calls);
	return rv;
}

void ideal_free(struct ideal *i)
{
	free(i->parts);
	*i = (struct ideal){.known = false};
}
