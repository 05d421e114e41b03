/* SPDX-License-Identifier: BSD-3-Clause
 * prefix - the first values of a column that gave up its order
 *
 * A reader of a crashed arena takes the first `start` values of a prefix, whatever may stand behind them. So `start` is
 * written before anything is given back.
 */
#include "trace/record/prefix.h"

#include "trace/record/dictionary.h"

ref prefix_make(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	if (!x->mark || c->marked == 0 || visits == 0)
		return 0;
	/* mostly the run under way is not needed */
	if (c->start < c->marked && c->start < visits) {
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
	return at;
}

void prefix_cut(struct columns *x, ref at)
{
	struct column *p = arena_at(x->arena, struct column, at);
	struct grammar_end end;
	if (!at)
		return;
	if (!p->grammar) {
		if (p->marked < p->start)
			p->start = p->marked;
		arena_barrier();
		p->lead = p->start;
		dictionary_cut(x, p, p->start);
	} else if (grammar_find_end(&x->grammars, p->grammar, p->marked, &end) == 0) {
		p->start = end.length;
		arena_barrier();
		grammar_cut(&x->grammars, p->grammar, end.last);
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
	arena_free_block(x->arena, p->dict, p->dict_capacity);
	arena_free_block(x->arena, at, sizeof *p);
	arena_commit(x->arena);
}
