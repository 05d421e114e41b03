/* SPDX-License-Identifier: BSD-3-Clause
 * end_turn - turns of a loop that need not be walked: what one of them counted is counted as often as it comes
 *
 *     mark   MPI_Irecv r0, MPI_Send, MPI_Wait r0, MPI_Barrier   mark reached again, 999 turns more
 *            1 sent to rank 1, 1 received of it, 1 collective   999 more of each
 *
 * Only where a turn leaves live what it found: the same requests, epochs, windows. The numbers by which live requests
 * are ordered (end_request.place) need no care: those that are made in the loop are made again in the turns that are
 * walked after the leap, and the others keep theirs.
 */
#include "trace/base/budget.h"
#include "insight/end_state.h"

static struct end_change *change_added(struct end_turn *t)
{
	if (t->spoiled)
		return NULL;
	if (t->count >= END_CHANGES || !budget_grow(&t->changes, t->count, &t->capacity, sizeof *t->changes)) {
		t->spoiled = true;
		return NULL;
	}
	return &t->changes[t->count++];
}

int end_count(struct end_state *x, const struct message_key *key, uint32_t sent, uint32_t received)
{
	struct end_change *c = change_added(&x->turn);
	if (c)
		*c = (struct end_change){*key, sent, received, false};
	return message_counts_add(x->messages, key, sent, received);
}

void end_turn_collective(struct end_state *x, uint64_t scope)
{
	struct end_change *c = change_added(&x->turn);
	if (c)
		*c = (struct end_change){.key = {.scope = scope}, .collective = true};
}

/* Everything that is live but for its order. */
static uint64_t live_hash(const struct end_state *x, const struct end_stream *s)
{
	const struct end_rank *r = &x->ranks[s->rank];
	uint64_t h = hash_mix(execution_state(x->execution), r->unsure);
	for (uint32_t i = 0; i < r->epoch_count; i++) {
		const struct end_epoch *e = &r->epochs[i];
		h = hash_mix(hash_mix(h, e->scope), (uint64_t)e->target << 8 | (uint64_t)e->kind << 1 | e->exclusive);
		for (uint32_t k = 0; e->members && k < e->count; k++)
			h = hash_mix(h, e->members[k]);
	}
	for (uint32_t i = 0; i < r->handle_count; i++) {
		const struct end_handle *e = &r->handles[i];
		h = hash_mix(hash_mix(hash_mix(h, (uint64_t)e->kind), (uint64_t)e->number), e->scope);
		for (uint32_t k = 0; e->members && k < e->count; k++)
			h = hash_mix(h, e->members[k]);
	}
	return hash_mix(h, s->finalized);
}

void end_turn_begin(struct end_state *x, const struct end_stream *s)
{
	struct end_turn *t = &x->turn;
	t->count = 0;
	t->spoiled = false;
	t->state = live_hash(x, s);
	t->polls = s->polls;
	t->asks = x->walked;
}

static int repeat_change(struct end_state *x, uint32_t stream, const struct end_change *c, uint64_t turns)
{
	return c->collective ? end_repeat_collective(x, stream, c->key.scope, turns)
	                     : message_counts_add(x->messages, &c->key, turns * c->sent, turns * c->received);
}

bool end_turn_repeat(struct end_state *x, struct end_stream *s, uint64_t turns)
{
	struct end_turn *t = &x->turn;
	if (t->spoiled || x->walked < t->asks)
		return false;
	t->asks = x->walked + execution_requests(x->execution)->count + x->ranks[s->rank].handle_count;
	if (live_hash(x, s) != t->state)
		return false;
	for (uint32_t i = 0; i < t->count; i++) /* all are there already: no memory is needed */
		if (repeat_change(x, s->stream, &t->changes[i], turns) != 0)
			return false;
	if (s->polls > t->polls)
		s->polls += turns * (s->polls - t->polls);
	return true;
}
