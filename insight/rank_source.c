/* SPDX-License-Identifier: BSD-3-Clause
 * rank_source - what a rank does, event after event
 */
#include "insight/rank_source.h"

#include "insight/channels.h"
#include "insight/look_ahead.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"
#include "trace/read/walk.h"

/* What a damaged trace says may be any number. */
#define NS_MOST 0x1p62

struct tape_event {
	double ns;
	uint32_t site;
	uint32_t acts : 31, vain : 1;
};

/* An act but for what differs each time. */
struct tape_act {
	uint32_t shape, number, request;
};

struct tape_rank {
	struct tape_event *events;
	struct tape_act *acts;
	struct act *shapes; /* each once */
	uint32_t *table;    /* by hash: the number of a shape, and 1; `mask` and 1 of them */
	uint32_t event_count, event_capacity, act_count, act_capacity, shape_count, shape_capacity, mask;
};

struct tape {
	struct tape_rank *ranks;
	uint32_t size;
	uint64_t acts, shapes;
	bool whole, failed; /* failed: it got too long */
};

struct rank_source {
	const struct calls *calls;
	struct walk *walk;
	struct rank_times *times;
	struct execution *execution;
	struct event event;
	bool polled;
	struct tape *tape;
	struct tape_rank *kept; /* NULL: no tape */
	uint32_t at, act;       /* the next ones of a tape that is played */
	struct act *list;       /* those of its event */
	uint32_t list_room;
	struct channels marks; /* by request, of such a tape */
};

/* --- tapes --- */

struct tape *tape_create(uint32_t ranks)
{
	struct tape *t = budget_calloc(1, sizeof *t);
	if (t && !(t->ranks = budget_calloc((size_t)ranks + 1, sizeof *t->ranks))) {
		budget_free(t);
		return NULL;
	}
	if (t)
		t->size = ranks;
	return t;
}

static void forget(struct tape *t)
{
	for (uint32_t r = 0; r < t->size; r++) {
		budget_free(t->ranks[r].events);
		budget_free(t->ranks[r].acts);
		budget_free(t->ranks[r].shapes);
		budget_free(t->ranks[r].table);
		t->ranks[r] = (struct tape_rank){.events = NULL};
	}
	t->acts = t->shapes = 0;
}

void tape_begin(struct tape *t)
{
	if (t->whole)
		return;
	forget(t);
	t->failed = false;
}

void tape_destroy(struct tape *t)
{
	if (!t)
		return;
	forget(t);
	budget_free(t->ranks);
	budget_free(t);
}

void tape_end(struct tape *t)
{
	t->whole = !t->failed;
}

bool tape_is_whole(const struct tape *t)
{
	return t->whole;
}

static uint64_t hash_shape(const struct act *a)
{
	uint64_t h = hash_mix((uint64_t)a->kind, a->site);
	h = hash_mix(hash_mix(h, a->peer), (uint64_t)a->tag);
	h = hash_mix(hash_mix(h, a->bytes), a->comm);
	return hash_mix(hash_mix(h, a->sent), a->received);
}

static bool same_shape(const struct act *a, const struct act *b)
{
	return a->kind == b->kind && a->comm == b->comm && a->local == b->local && a->peer == b->peer &&
	       a->tag == b->tag && a->bytes == b->bytes && a->sized == b->sized && a->exchange == b->exchange &&
	       a->partitioned == b->partitioned && a->matched == b->matched && a->any == b->any && a->lost == b->lost &&
	       a->open == b->open && a->site == b->site && a->collective == b->collective && a->root == b->root &&
	       a->bystander == b->bystander && a->sent == b->sent && a->received == b->received &&
	       a->send_piece == b->send_piece && a->receive_piece == b->receive_piece;
}

/* Where a shape is in the table, or would be. */
static uint32_t *shape_place(struct tape_rank *r, const struct act *a)
{
	uint32_t at = (uint32_t)hash_shape(a) & r->mask;
	while (r->table[at] && !same_shape(&r->shapes[r->table[at] - 1], a))
		at = (at + 1) & r->mask;
	return &r->table[at];
}

static bool widen_table(struct tape_rank *r)
{
	const uint32_t mask = r->mask ? 2 * r->mask + 1 : 63;
	uint32_t *table = budget_calloc((size_t)mask + 1, sizeof *table);
	if (!table)
		return false;
	budget_free(r->table);
	r->table = table;
	r->mask = mask;
	for (uint32_t i = 0; i < r->shape_count; i++)
		*shape_place(r, &r->shapes[i]) = i + 1;
	return true;
}

static bool keep_act(struct tape *t, struct tape_rank *r, const struct act *a)
{
	if (a->number > UINT32_MAX || a->request > UINT32_MAX ||
	    !budget_grow(&r->acts, r->act_count, &r->act_capacity, sizeof *r->acts) ||
	    (2 * r->shape_count >= r->mask && !widen_table(r)))
		return false;
	uint32_t *shape = shape_place(r, a);
	if (!*shape) {
		if (++t->shapes > TAPE_SHAPES ||
		    !budget_grow(&r->shapes, r->shape_count, &r->shape_capacity, sizeof *r->shapes))
			return false;
		r->shapes[r->shape_count++] = *a;
		*shape = r->shape_count;
	}
	r->acts[r->act_count++] = (struct tape_act){*shape - 1, (uint32_t)a->number, (uint32_t)a->request};
	return true;
}

/* One that gets too long, or for which there is no memory, is given up. */
static void keep(struct tape *t, struct tape_rank *r, const struct rank_step *s)
{
	t->acts += s->count;
	t->failed =
		t->acts > TAPE_ACTS || !budget_grow(&r->events, r->event_count, &r->event_capacity, sizeof *r->events);
	if (!t->failed)
		r->events[r->event_count++] = (struct tape_event){s->ns, s->site, (uint32_t)s->count, s->vain};
	for (size_t i = 0; !t->failed && i < s->count; i++)
		t->failed = !keep_act(t, r, &s->list[i]);
	if (t->failed)
		forget(t);
}

/* --- ranks --- */

struct rank_source *rank_source_create(const struct calls *calls, const struct comms *comms, struct times *times,
                                       struct tape *tape, uint32_t rank, struct error *error)
{
	struct rank_source *r = budget_calloc(1, sizeof *r);
	if (!r) {
		error_set(error, "no memory");
		return NULL;
	}
	*r = (struct rank_source){.calls = calls, .tape = tape, .kept = tape ? &tape->ranks[rank] : NULL};
	if (tape && tape->whole)
		return r;
	r->execution = execution_create(calls, comms, rank);
	r->times = r->execution ? rank_times_create(times, rank) : NULL;
	int rv = r->times ? look_ahead(r->execution, calls, comms, rank, error) : error_set(error, "no memory");
	if (rv == 0)
		rv = walk_begin(&r->walk, calls->trace, rank, error);
	if (rv != 0) {
		rank_source_destroy(r);
		return NULL;
	}
	return r;
}

void rank_source_destroy(struct rank_source *r)
{
	if (!r)
		return;
	walk_end(r->walk);
	rank_times_destroy(r->times);
	execution_destroy(r->execution);
	channels_free(&r->marks);
	budget_free(r->list);
	budget_free(r);
}

/* The acts of the next event, with all that is on the tape of them. */
static int next_of_tape(struct rank_source *r, struct rank_step *out, struct error *error)
{
	const struct tape_rank *k = r->kept;
	if (r->at == k->event_count)
		return 1;
	const struct tape_event *e = &k->events[r->at++];
	while (r->list_room < e->acts || !r->list)
		if (!budget_grow(&r->list, r->list_room, &r->list_room, sizeof *r->list))
			return error_set(error, "no memory");
	for (uint32_t i = 0; i < e->acts; i++) {
		const struct tape_act *a = &k->acts[r->act++];
		r->list[i] = k->shapes[a->shape];
		r->list[i].number = a->number;
		r->list[i].request = a->request;
	}
	*out = (struct rank_step){.site = e->site, .vain = e->vain, .ns = e->ns, .list = r->list, .count = e->acts};
	return 0;
}

int rank_source_next(struct rank_source *r, struct rank_step *out, struct error *error)
{
	if (r->tape && r->tape->whole)
		return next_of_tape(r, out, error);
	int rv = walk_next(r->walk, &r->event, error);
	if (rv != 0)
		return rv;
	double ns = rank_times_before(r->times, r->event.site);
	*out = (struct rank_step){.site = r->event.site, .vain = event_is_vain(&r->event)};
	/* between one vain question and the next a rank waits: for what, is known to who plays it */
	bool asks = r->polled && (out->vain || call_of(r->calls, &r->event)->kind == CALL_COMPLETE);
	out->ns = !asks && ns > 0 && ns < NS_MOST ? ns : 0;
	r->polled = out->vain;
	if (!(out->list = execution_event(r->execution, &r->event, &out->count)))
		return error_set(error, "no memory");
	if (r->kept && !r->tape->failed)
		keep(r->tape, r->kept, out);
	return 0;
}

int rank_source_mark(struct rank_source *r, const struct act *begun, uint64_t mark)
{
	if (r->execution) {
		execution_mark(r->execution, begun, mark);
		return 0;
	}
	uint64_t *at = channels_at(&r->marks, false, false, 0, 0, (int64_t)begun->request);
	if (at)
		*at = mark;
	return at ? 0 : -1;
}

uint64_t rank_source_marked(struct rank_source *r, const struct act *ended)
{
	if (r->execution)
		return ended->mark;
	if (r->marks.count == 0)
		return 0;
	const uint64_t *at = channels_at(&r->marks, false, false, 0, 0, (int64_t)ended->request);
	return at ? *at : 0;
}
