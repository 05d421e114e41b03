/* SPDX-License-Identifier: BSD-3-Clause
 * simulate_message - messages between ranks that are played
 *
 * A message is known while somebody needs it: until it was received, and its send is over, if that waits.
 */
#include "insight/simulate.h"
#include "insight/simulate_inside.h"
#include "trace/base/index.h"

/* The mark of a send that goes with the one before. */
#define PACKED 1

static uint64_t now(const struct play *g, uint32_t flow)
{
	return g->flows[flow].ns;
}

static double cost_of(const struct play *g, const struct message *s, double ideal,
                      double (*of)(const struct network_level *))
{
	return g->ports ? of(ports_level(g->ports, s->from, s->to)) : ideal;
}

static double overhead_of(const struct network_level *l)
{
	return l->overhead;
}

static double latency_of(const struct network_level *l)
{
	return l->latency;
}

static double byte_of(const struct network_level *l)
{
	return l->byte;
}

static uint64_t pass_network(struct play *g, const struct message *s, uint64_t at, uint64_t *left)
{
	*left = at;
	return g->ports ? ports_pass(g->ports, s->from, s->to, s->bytes, at, left) : at;
}

/* Both are there: a question of the sender, and an answer, and then it begins. */
static void pass_waiting(struct play *g, const struct message *s, struct meeting *m)
{
	const double latency = s->from == s->to ? 0 : cost_of(g, s, 0, latency_of),
		     overhead = cost_of(g, s, 0, overhead_of);
	const uint64_t asked = m->last + network_ns(latency), met = asked > m->root_at ? asked : m->root_at;
	m->there = pass_network(g, s, met + network_ns(overhead + latency), &m->over);
}

int message_put(struct play *g, uint32_t flow, const struct message *s)
{
	struct meeting *m = meetings_at(&g->meetings, s->key);
	if (!m || (!s->packed && play_spend(g, flow, cost_of(g, s, 0, overhead_of)) != 0))
		return -1;
	m->came = s->waits ? 2 : 1;
	m->last = now(g, flow);
	m->last_rank = s->from;
	m->bytes = s->bytes;
	m->packed = s->packed;
	g->out->messages += !s->packed;
	if (s->packed)
		m->there = m->over = m->last + network_ns((double)s->bytes * cost_of(g, s, 0, byte_of));
	else if (!s->waits)
		m->there = pass_network(g, s, m->last, &m->over);
	else if (m->root != NOBODY)
		pass_waiting(g, s, m);
	play_wake(g, m);
	return 0;
}

int message_put_end(struct play *g, uint32_t flow, const struct message *s)
{
	if (!s->waits)
		return 0;
	struct meeting *m = meetings_at(&g->meetings, s->key);
	if (!m)
		return -1;
	if (m->root == NOBODY) {
		play_wait(g, m, flow);
		return 1;
	}
	struct meeting was = *m;
	if (++m->gone == 2)
		meetings_end(&g->meetings, m);
	return play_go_on(g, flow, was.over, was.root);
}

int message_post(struct play *g, const struct message *s, uint64_t at)
{
	struct meeting *m = meetings_at(&g->meetings, s->key);
	if (!m)
		return -1;
	if (m->root != NOBODY)
		return 0;
	m->root = s->to;
	m->root_at = at;
	if (m->came == 2) {
		const struct message whole_one = {.from = s->from, .to = s->to, .bytes = m->bytes};
		if (!m->packed)
			pass_waiting(g, &whole_one, m);
	}
	play_wake(g, m);
	return 0;
}

int message_take(struct play *g, uint32_t flow, const struct message *s)
{
	struct meeting *m = meetings_at(&g->meetings, s->key);
	if (!m)
		return -1;
	if (m->came == 2 && m->root == NOBODY) {
		if (message_post(g, s, now(g, flow)) != 0)
			return -1;
		m = meetings_at(&g->meetings, s->key);
	}
	if (!m->came) {
		play_wait(g, m, flow);
		return 1;
	}
	struct meeting was = *m;
	if (m->came == 1 || ++m->gone == 2)
		meetings_end(&g->meetings, m);
	if (flow < g->size)
		g->ranks[flow].packed += was.packed;
	if (play_go_on(g, flow, was.there, was.last_rank) != 0)
		return -1;
	return was.packed ? 0 : play_spend(g, flow, cost_of(g, s, 0, overhead_of));
}

/* --- the acts of a rank --- */

static uint64_t message_key(const struct act *a, uint32_t from, uint32_t to)
{
	uint64_t h = hash_mix(hash_mix(a->partitioned ? 12 : 11, a->comm), (uint64_t)from << 32 | to);
	return hash_mix(hash_mix(h, (uint64_t)a->tag), a->number);
}

/* Is it so large that its send waits for the receive? bytes: or of the room for it. */
static bool is_large(const struct play *g, const struct act *a)
{
	return !g->eager && g->network->eager != UINT64_MAX && !a->partitioned &&
	       (a->sized ? a->bytes > g->network->eager : a->kind == ACT_RECV_BEGIN);
}

static struct message sent_by(const struct play *g, uint32_t rank, const struct act *a)
{
	bool synchronous = a->kind == ACT_SEND && !a->exchange && g->synchronous[g->ranks[rank].step.site];
	return (struct message){.key = message_key(a, rank, a->peer),
	                        .bytes = a->bytes,
	                        .from = rank,
	                        .to = a->peer,
	                        .waits = synchronous || is_large(g, a)};
}

/* Is it one of several without computation between them? Returns 1, 0, or -1 on no memory. */
static int is_packed(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	if (!play_changed(g, p->step.site, SIMULATE_PACKED))
		return 0;
	uint64_t *at = channels_at(&p->together, false, false, a->comm, a->peer, p->step.site);
	if (!at)
		return -1;
	bool same = *at == p->computed + 1;
	*at = p->computed + 1;
	return same;
}

static int begin_send(struct play *g, uint32_t rank, const struct act *a, struct message *s)
{
	struct player *p = &g->ranks[rank];
	int packed = is_packed(g, rank, a);
	if (packed < 0 || (!packed && play_charge(g, rank) != 0))
		return -1;
	s->packed = packed;
	p->parts++;
	p->packed += s->packed;
	p->came = true;
	if (a->kind == ACT_SEND_BEGIN && s->packed && rank_source_mark(p->source, a, PACKED) != 0)
		return -1;
	return message_put(g, rank, s);
}

static int send(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	struct message s = sent_by(g, rank, a);
	if (!p->came && begin_send(g, rank, a, &s) != 0)
		return -1;
	if (a->kind == ACT_SEND && a->exchange && s.waits) {
		p->owes = true;
		p->owed = s;
		return 0;
	}
	return a->kind == ACT_SEND ? message_put_end(g, rank, &s) : 0;
}

int message_settle(struct play *g, uint32_t rank)
{
	return message_put_end(g, rank, &g->ranks[rank].owed);
}

static struct message received_by(uint32_t rank, const struct act *a)
{
	return (struct message){.key = message_key(a, a->peer, rank), .bytes = a->bytes, .from = a->peer, .to = rank};
}

/* Until its send is over; its call goes with others if the message does. */
static int end_send(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	const struct message s = sent_by(g, rank, a);
	if (!p->posted) {
		p->parts++;
		p->packed += rank_source_marked(p->source, a) == PACKED;
		p->posted = true;
	}
	return message_put_end(g, rank, &s);
}

/* The call goes with others before it; who sends, or whether, is not known in time. */
static int count_receive(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	int packed = a->peer == RANK_UNKNOWN ? 0 : is_packed(g, rank, a);
	p->parts++;
	p->packed += packed > 0;
	return packed < 0 ? -1 : 0;
}

/* From now on a send that waits for it need not. */
static int begin_receive(struct play *g, uint32_t rank, const struct act *a)
{
	if (count_receive(g, rank, a) != 0)
		return -1;
	if (!g->any && !is_large(g, a))
		return 0;
	if (a->open || a->peer == RANK_UNKNOWN)
		return rank_source_mark(g->ranks[rank].source, a, now(g, rank) + 1);
	const struct message s = received_by(rank, a);
	return message_post(g, &s, now(g, rank));
}

static int receive(struct play *g, uint32_t rank, const struct act *a)
{
	struct player *p = &g->ranks[rank];
	const struct message s = received_by(rank, a);
	if (!p->posted) {
		p->parts++;
		p->posted = true;
		uint64_t posted = g->ports ? rank_source_marked(p->source, a) : 0;
		if ((g->any || is_large(g, a)) && message_post(g, &s, posted ? posted - 1 : now(g, rank)) != 0)
			return -1;
	}
	return message_take(g, rank, &s);
}

int message_act(struct play *g, uint32_t rank, const struct act *a)
{
	switch (a->kind) {
	case ACT_SEND:
	case ACT_SEND_BEGIN:
		return send(g, rank, a);
	case ACT_SEND_END:
		return end_send(g, rank, a);
	case ACT_RECV_BEGIN:
		return begin_receive(g, rank, a);
	default:
		return receive(g, rank, a);
	}
}
