/* SPDX-License-Identifier: BSD-3-Clause
 * simulate - how a job would run on a network: the ranks, one event after another
 *
 * Things are known by a hash of what they are (64 bits), in a table of those under way.
 */
#include "insight/simulate.h"

#include "insight/simulate_inside.h"
#include "trace/base/budget.h"
#include "trace/model/stream.h"

/* What a damaged trace says may be any number. */
#define NS_MOST 0x1p62
#define SEED    1
/* Messages with shorter computation between them, in ns, could be one: it only makes the next one ready. */
#define TOGETHER_NS 10000

struct simulator {
	const struct trace *trace;
	struct calls calls;
	struct comms *comms;
	struct seats seats; /* once a network asks for them */
	struct tape *tape;  /* NULL: it is not played often, or is too long */
};

/* --- flows --- */

void play_wake(struct play *g, struct meeting *m)
{
	for (uint32_t next, f = m->waiting; f != NOBODY; f = next) {
		next = g->flows[f].behind;
		/* without memory it never goes on, and so nothing is known in the end */
		play_queue_push(&g->ready, f, g->flows[f].ns);
	}
	m->waiting = NOBODY;
}

void play_wait(struct play *g, struct meeting *m, uint32_t flow)
{
	g->flows[flow].behind = m->waiting;
	m->waiting = flow;
}

static int note_stretch(struct play *g, uint32_t rank, uint64_t ns, uint32_t from)
{
	const struct player *p = &g->ranks[rank];
	if (!g->stretches || ns == 0)
		return 0;
	struct ideal_rank *r = &g->stretches->ranks[rank];
	if (!budget_grow(&r->list, r->count, &r->capacity, sizeof *r->list))
		return -1;
	r->list[r->count++] = (struct ideal_stretch){g->flows[rank].ns, ns, p->site, p->step.site, from};
	return 0;
}

/* In a call, for somebody, or for itself (NOBODY). */
static int pass_time(struct play *g, uint32_t flow, uint64_t ns, uint32_t from)
{
	g->flows[flow].ns += ns;
	if (flow >= g->size)
		return 0;
	g->out->inside_ns[g->ranks[flow].step.site] += ns;
	return note_stretch(g, flow, ns, from);
}

int play_go_on(struct play *g, uint32_t flow, uint64_t at, uint32_t from)
{
	const struct flow *f = &g->flows[flow];
	if (at <= f->ns || (flow < g->size && play_changed(g, g->ranks[flow].step.site, SIMULATE_READY)))
		return 0;
	return pass_time(g, flow, at - f->ns, from);
}

int play_spend(struct play *g, uint32_t flow, double ns)
{
	return ns > 0 && ns < NS_MOST ? pass_time(g, flow, (uint64_t)(ns + 0.5), NOBODY) : 0;
}

bool play_changed(const struct play *g, uint32_t site, unsigned change)
{
	return g->options->changes && (g->options->changes[site] & change);
}

int play_charge(struct play *g, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	bool charged = p->charged;
	p->charged = true;
	return charged ? 0 : play_spend(g, rank, g->options->costs[p->step.site]);
}

uint32_t play_begin_flow(struct play *g, uint32_t rank)
{
	uint32_t f = g->spare;
	if (f != NOBODY)
		g->spare = g->flows[f].behind;
	else if (budget_grow(&g->flows, g->flow_count, &g->flow_capacity, sizeof *g->flows))
		f = g->flow_count++;
	else
		return NOBODY;
	g->flows[f] = (struct flow){.ns = g->flows[rank].ns, .rank = rank, .behind = NOBODY, .waiter = NOBODY};
	return f;
}

void play_end_flow(struct play *g, uint32_t flow)
{
	g->flows[flow].behind = g->spare;
	g->spare = flow;
}

/* --- the ranks --- */

static int do_act(struct play *g, uint32_t rank, const struct act *a)
{
	if (a->comm == COMM_UNKNOWN || a->comm == COMM_SELF)
		return 0;
	switch (a->kind) {
	case ACT_SEND:
	case ACT_SEND_BEGIN:
	case ACT_SEND_END:
	case ACT_RECV:
	case ACT_RECV_BEGIN:
	case ACT_RECV_END:
		return a->peer == RANK_UNKNOWN && a->kind != ACT_RECV_BEGIN ? 0 : message_act(g, rank, a);
	case ACT_COLLECTIVE:
	case ACT_COLLECTIVE_BEGIN:
	case ACT_COLLECTIVE_END:
		return play_changed(g, a->site, SIMULATE_LEFT_OUT) ? 0 : collective_act(g, rank, a);
	default:
		return 0;
	}
}

/* How long the rank computes before its event, here. */
static uint64_t compute_before(struct play *g, uint32_t rank, double ns)
{
	struct player *p = &g->ranks[rank];
	const struct simulate_options *o = g->options;
	if (ns <= 0)
		return 0;
	if (g->out->visits) {
		const size_t at = (size_t)rank * g->calls->trace->site_count + p->step.site;
		g->out->computed_ns[at] += (uint64_t)ns;
		g->out->visits[at]++;
	}
	p->computed += ns >= TOGETHER_NS;
	ns = (o->computing ? o->computing(o->context, rank, p->step.site, ns) : ns) * g->network->computing;
	return ns > 0 && ns < NS_MOST ? (uint64_t)ns : 0;
}

/* Returns 0; 1 at the end; -1. */
static int next_event(struct play *g, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	p->site = p->step.site;
	int rv = rank_source_next(p->source, &p->step, g->error);
	if (rv != 0)
		return rv;
	uint64_t ns = compute_before(g, rank, p->step.ns);
	p->at = 0;
	p->parts = p->packed = 0;
	p->charged = p->step.vain || !g->options->costs;
	g->flows[rank].ns += ns;
	return note_stretch(g, rank, ns, NOBODY) != 0 ? error_set(g->error, "no memory") : 0;
}

/* What the call costs by itself, unless all that it does goes with what an earlier one did. */
static int end_event(struct play *g, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	int rv = p->owes ? message_settle(g, rank) : 0;
	if (rv != 0)
		return rv;
	p->owes = false;
	if ((p->parts > 0 && p->packed == p->parts) || play_changed(g, p->step.site, SIMULATE_LEFT_OUT))
		return 0;
	return play_charge(g, rank);
}

/* One act, or the way to the next event. Returns 0; 1: it waits; 2: it is at its end; PLAY_LATER; -1: no memory, or
 * error set. */
static int play_step(struct play *g, uint32_t rank)
{
	struct player *p = &g->ranks[rank];
	int rv;
	if (p->at < p->step.count) {
		rv = do_act(g, rank, &p->step.list[p->at]);
		if (rv == 0) {
			p->came = p->posted = false;
			p->at++;
		}
		return rv;
	}
	if (p->step.list && (rv = end_event(g, rank)) != 0)
		return rv;
	rv = next_event(g, rank);
	return rv > 0 ? 2 : rv;
}

/* Until it waits, is at its end (*done), or others are earlier. */
static int play_rank(struct play *g, uint32_t rank, uint32_t *done)
{
	int rv = 0;
	while (rv == 0 && play_queue_is_first(&g->ready, g->flows[rank].ns))
		rv = play_step(g, rank);
	if (rv == 0 || rv == PLAY_LATER)
		return play_queue_push(&g->ready, rank, g->flows[rank].ns);
	*done += rv == 2;
	return rv < 0 ? error_set(g->error, "no memory") : 0;
}

/* Of an operation beside its rank; who waits for its end goes on. */
static int play_flow(struct play *g, uint32_t flow)
{
	int rv = collective_flow(g, flow);
	struct flow *f = &g->flows[flow];
	if (rv == PLAY_LATER)
		return play_queue_push(&g->ready, flow, f->ns);
	if (rv != 0)
		return rv < 0 ? error_set(g->error, "no memory") : 0;
	f->done = true;
	return f->waiter == NOBODY ? 0 : play_queue_push(&g->ready, f->waiter, g->flows[f->waiter].ns);
}

static int begin_rank(struct play *g, uint32_t rank)
{
	g->flows[rank] = (struct flow){.rank = rank, .behind = NOBODY, .waiter = NOBODY};
	g->ranks[rank].source = rank_source_create(g->calls, g->comms, g->times, g->tape, rank, g->error);
	return g->ranks[rank].source ? 0 : -1;
}

static void end_rank(struct player *p)
{
	rank_source_destroy(p->source);
	channels_free(&p->operations);
	channels_free(&p->together);
	budget_free(p->pending);
}

static int play_all(struct play *g)
{
	uint32_t done = 0;
	int rv = 0;
	for (uint32_t r = 0; rv == 0 && r < g->size; r++)
		rv = begin_rank(g, r);
	for (uint32_t r = 0; rv == 0 && r < g->size; r++)
		rv = play_queue_push(&g->ready, g->size - 1 - r, 0);
	while (rv == 0 && g->ready.count > 0) {
		uint32_t flow = play_queue_pop(&g->ready);
		rv = flow < g->size ? play_rank(g, flow, &done) : play_flow(g, flow);
	}
	if (rv != 0 || done < g->size) /* one waits for what nobody does: something was not understood */
		return rv;
	for (uint32_t r = 0; r < g->size; r++) {
		g->out->run_ns = g->flows[r].ns > g->out->run_ns ? g->flows[r].ns : g->out->run_ns;
		if (g->stretches)
			g->stretches->ranks[r].ns = g->flows[r].ns;
	}
	g->out->known = true;
	if (g->tape)
		tape_end(g->tape);
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

static int begin_play(struct play *g, struct simulator *s)
{
	const struct trace *t = s->trace;
	struct simulation *out = g->out;
	g->flow_count = g->flow_capacity = t->size;
	g->spare = NOBODY;
	g->ready.timed = !network_is_ideal(g->network);
	g->ranks = budget_calloc((size_t)t->size + 1, sizeof *g->ranks);
	g->flows = budget_calloc((size_t)t->size + 1, sizeof *g->flows);
	g->synchronous = budget_calloc((size_t)t->site_count + 1, sizeof *g->synchronous);
	if (g->tape)
		tape_begin(g->tape);
	if (!g->tape || !tape_is_whole(g->tape))
		g->times = times_create(t, true, SEED);
	out->inside_ns = budget_calloc((size_t)t->site_count + 1, sizeof *out->inside_ns);
	const struct seats *seats = g->options->seats;
	if (g->ready.timed && (seats || s->seats.ranks || seats_make(&s->seats, t) == 0))
		g->ports = ports_create(g->network, seats ? seats : &s->seats);
	if (g->options->sums) {
		out->computed_ns = budget_calloc((size_t)t->size * t->site_count + 1, sizeof *out->computed_ns);
		out->visits = budget_calloc((size_t)t->size * t->site_count + 1, sizeof *out->visits);
	}
	bool room = g->ranks && g->flows && g->synchronous && out->inside_ns &&
	            (g->times || (g->tape && tape_is_whole(g->tape))) && (g->ports || !g->ready.timed) &&
	            (out->visits || !g->options->sums);
	if (room)
		find_synchronous(g, t, g->options->synchronous);
	return room ? 0 : error_set(g->error, "no memory");
}

static void end_play(struct play *g)
{
	for (uint32_t r = 0; g->ranks && r < g->size; r++)
		end_rank(&g->ranks[r]);
	budget_free(g->ranks);
	budget_free(g->flows);
	budget_free(g->synchronous);
	ports_destroy(g->ports);
	times_destroy(g->times);
	meetings_free(&g->meetings);
	play_queue_free(&g->ready);
}

static int run_once(struct simulator *s, const struct simulate_options *o, bool eager, struct simulation *out,
                    struct error *error)
{
	struct play g = {.options = o,
	                 .network = o->network,
	                 .out = out,
	                 .stretches = o->stretches,
	                 .calls = &s->calls,
	                 .comms = s->comms,
	                 .tape = s->tape,
	                 .size = s->trace->size,
	                 .eager = eager,
	                 .error = error};
	*out = (struct simulation){.eager = eager};
	int rv = begin_play(&g, s);
	if (rv == 0)
		rv = play_all(&g);
	if (rv != 0 && g.meetings.much)
		rv = 0;
	end_play(&g);
	if (!out->known)
		simulation_free(out);
	return rv;
}

int simulator_run(struct simulator *s, const struct simulate_options *o, struct simulation *out, struct error *error)
{
	int rv = run_once(s, o, false, out, error);
	/* a rank may have waited for a receive that it was not known yet to meet */
	if (rv == 0 && !out->known && o->network->eager != UINT64_MAX)
		rv = run_once(s, o, true, out, error);
	return rv;
}

void simulation_free(struct simulation *s)
{
	budget_free(s->inside_ns);
	budget_free(s->computed_ns);
	budget_free(s->visits);
	*s = (struct simulation){.known = false};
}

int simulator_keep(struct simulator *s, struct error *error)
{
	if (!s->tape && (uint64_t)rankmap_sum(&s->trace->events) <= TAPE_EVENTS)
		s->tape = tape_create(s->trace->size);
	return s->tape || (uint64_t)rankmap_sum(&s->trace->events) > TAPE_EVENTS ? 0 : error_set(error, "no memory");
}

int simulator_create(struct simulator **out, const struct trace *t, uint64_t events, struct error *error)
{
	*out = NULL;
	if ((uint64_t)rankmap_sum(&t->events) > events || t->size > SIMULATE_RANKS || stream_threads(t) > 1 ||
	    trace_has_lossy(t) || t->unended_count > 0 || !rankmap_empty(&t->lost) ||
	    stream_ranks(t, &t->events) < t->size)
		return 0;
	struct simulator *s = budget_calloc(1, sizeof *s);
	int rv = s && calls_make(&s->calls, t) == 0 ? 0 : error_set(error, "no memory");
	if (rv == 0)
		rv = comms_make(&s->comms, &s->calls, error);
	if (rv != 0) {
		simulator_destroy(s);
		return -1;
	}
	s->trace = t;
	*out = s;
	return 0;
}

void simulator_destroy(struct simulator *s)
{
	if (!s)
		return;
	seats_free(&s->seats);
	tape_destroy(s->tape);
	comms_destroy(s->comms);
	calls_free(&s->calls);
	budget_free(s);
}
