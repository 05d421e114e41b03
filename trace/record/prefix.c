/* SPDX-License-Identifier: BSD-3-Clause
 * prefix - the first values of a column that gave up its order
 *
 * A reader of a crashed arena takes the first `start` values of a prefix, whatever may stand behind them. So `start` is
 * written before anything is given back.
 */
#include "trace/record/prefix.h"

#include "trace/record/dictionary.h"
#include "trace/record/edited.h"

ref prefix_make(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	if (!x->mark || c->marked == 0 || visits == 0)
		return 0;
	/* mostly the run under way is not needed */
	if (!raw_is(c) && c->start < c->marked && c->start < visits) {
		if (column_close(x, c, visits - c->start) != 0)
			return 0;
		c->synced = 1;
		arena_barrier();
		c->start = visits;
	}
	ref at = arena_alloc_block(a, sizeof(struct column), &capacity);
	arena_commit(a);
	if (!at)
		return 0;
	struct column *p = arena_at(a, struct column, at);
	*p = *c;
	p->period = p->period_length = p->period_capacity = 0;
	p->token = 1; /* there is no run under way */
	if (raw_is(c)) {
		arena_at(a, struct raw, c->raw)->count = visits;
		p->start = visits;
	}
	return at;
}

/* What is marked are raw values alone. */
static void cut_raw(struct columns *x, struct column *p)
{
	const ref grammar = p->grammar, dict = p->dict;
	p->start = p->marked;
	arena_barrier();
	p->grammar = 0;
	p->dict_count = 0;
	p->dict = 0;
	p->lead = 0;
	if (!edited_is(x, p)) {
		raw_cut(x, p->raw, p->marked);
	} else {
		uint64_t values = edited_values(x->arena, p->raw, p->marked);
		if (values != UINT64_MAX)
			raw_cut(x, p->raw, values);
		arena_at(x->arena, struct raw, p->raw)->count = p->marked;
	}
	if (grammar)
		grammar_destroy(&x->grammars, grammar);
	arena_free_block(x->arena, dict, p->dict_capacity);
	p->dict_capacity = 0;
	arena_commit(x->arena);
}

void prefix_cut(struct columns *x, ref at)
{
	struct column *p = arena_at(x->arena, struct column, at);
	struct grammar_end end;
	if (!at)
		return;
	const uint64_t raw = raw_count(x, p, p->start);
	if (raw && p->marked <= raw) {
		cut_raw(x, p);
	} else if (!p->grammar) {
		if (p->marked < p->start)
			p->start = p->marked;
		arena_barrier();
		p->lead = p->start - raw;
		dictionary_cut(x, p, p->lead);
	} else if (grammar_find_end(&x->grammars, p->grammar, p->marked - raw, &end) == 0) {
		p->start = raw + end.length;
		arena_barrier();
		grammar_cut(&x->grammars, p->grammar, &end);
		dictionary_cut(x, p, end.news);
	}
}

void prefix_free(struct columns *x, ref at)
{
	const struct column *p = arena_at(x->arena, struct column, at);
	if (!at)
		return;
	if (p->grammar)
		grammar_destroy(&x->grammars, p->grammar);
	raw_free(x, p->raw);
	arena_free_block(x->arena, p->dict, p->dict_capacity);
	arena_free_block(x->arena, at, sizeof *p);
	arena_commit(x->arena);
}
