/* SPDX-License-Identifier: BSD-3-Clause
 * walk_repeat - where a rank's events repeat themselves
 *
 * All columns that moved since a mark are where they were, but in one repetition of their grammar, of which d turns
 * are done: then the same comes again while each of them has d turns left.
 *
 *     successor of a site   A^8 B, 6 left at the mark, 5 now       5 turns more
 *     tag of a site         (1 2)^20, 11 left at the mark, 9 now   4 turns more: one is under way
 *     peer of a site        constant: as often as one likes
 *
 * Marks are made after 64, 128, 256 ... events: one of them lies in the loop, and is not older than its turn (Brent's
 * cycle detection). What it costs to compare is paid by the events in between.
 */
#include "trace/base/budget.h"
#include "trace/read/walk_inside.h"

#define FIRST_MARK 64
/* Events that are left out at least at a time: as many, or a 64th of what is left; after n events that were walked
 * 2^26 / n. For whoever leaves turns of an inner loop out does not see that the one around it repeats itself, too. */
#define WORTH (UINT64_C(1) << 16)
#define LATER (UINT64_C(1) << 26)
#define PART  64

static bool note_place(struct walk_mark *m, struct column_cursor *c)
{
	const struct pattern_cursor *p = &c->pattern;
	if (!budget_grow(&m->places, m->count, &m->capacity, sizeof *m->places))
		return false;
	m->places[m->count++] = (struct walk_place){c, c->left, c->known, c->token, (uint32_t)p->depth, m->level_count};
	for (size_t i = 0; i < p->depth; i++) {
		if (!budget_grow(&m->levels, m->level_count, &m->level_capacity, sizeof *m->levels))
			return false;
		m->levels[m->level_count++] = p->stack[i];
	}
	return budget_step(1 + p->depth);
}

static void make_mark(struct walk *w)
{
	struct walk_mark *m = &w->mark;
	bool all = true;
	m->count = m->level_count = m->differed = 0;
	for (uint32_t i = 0; all && i < w->trace->site_count; i++)
		for (uint32_t k = 0; all && w->sites[i] && k < w->trace->sites[i].column_count; k++)
			if (w->sites[i][k].open && !w->sites[i][k].constant)
				all = note_place(m, &w->sites[i][k]);
	m->at = w->next;
	m->site = w->site;
	m->opened = all ? w->opened : UINT64_MAX; /* without memory there is no mark */
	m->credit = 0;
}

/* How many turns more a column has of what it gave since the mark; UINT64_MAX: it gave nothing. */
static uint64_t turns_of(const struct walk_place *was, const struct pattern_level *levels)
{
	const struct column_cursor *c = was->cursor;
	uint64_t turns = UINT64_MAX;
	if (c->constant || c->known != was->known || c->token != was->token || c->pattern.depth != was->depth ||
	    c->left > was->left)
		return 0;
	if (c->left < was->left)
		turns = c->left / (was->left - c->left);
	for (uint32_t i = 0; i < was->depth; i++) {
		const struct pattern_level *now = &c->pattern.stack[i], *then = &levels[was->first + i];
		if (now->rule != then->rule || now->at != then->at || now->times > then->times)
			return 0;
		if (now->times == then->times)
			continue;
		if (turns != UINT64_MAX)
			return 0;
		turns = (now->times - 1) / (then->times - now->times);
	}
	return turns;
}

static uint64_t turns_of_all(struct walk_mark *m, uint64_t turns)
{
	uint32_t looked = 0;
	for (uint32_t i = m->differed; turns > 0 && looked < m->count; looked++, i = i + 1 < m->count ? i + 1 : 0) {
		uint64_t of = turns_of(&m->places[i], m->levels);
		turns = of < turns ? of : turns;
		m->differed = i;
	}
	m->credit -= looked < m->credit ? looked : m->credit;
	return turns;
}

static uint64_t worth(const struct walk_mark *m, uint64_t left)
{
	uint64_t least = left / PART, later = LATER / m->walked;
	least = least < WORTH ? least : WORTH;
	return least < later ? least : later;
}

uint64_t walk_repeats(struct walk *w, bool *marked)
{
	struct walk_mark *m = &w->mark;
	uint64_t turn = w->next - m->at, left = w->events - w->next;
	*marked = false;
	m->credit++;
	m->walked++;
	if (m->every > 0 && turn < m->every) {
		if (w->site != m->site || w->opened != m->opened || m->credit <= m->count / 2 || left == 0)
			return 0;
		uint64_t most = (left - 1) / turn, turns = most > WALK_TURNS ? turns_of_all(m, most) : 0;
		return turns > WALK_TURNS && (turns - WALK_TURNS) * turn > worth(m, left) ? turns - WALK_TURNS : 0;
	}
	m->every = m->every ? 2 * m->every : FIRST_MARK;
	make_mark(w);
	*marked = true;
	return 0;
}

void walk_leap(struct walk *w, uint64_t turns)
{
	struct walk_mark *m = &w->mark;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct walk_place *was = &m->places[i];
		struct column_cursor *c = was->cursor;
		if (c->left < was->left)
			c->left -= turns * (was->left - c->left);
		for (uint32_t k = 0; k < was->depth; k++)
			c->pattern.stack[k].times -=
				turns * (m->levels[was->first + k].times - c->pattern.stack[k].times);
	}
	m->walked = turns * (w->next - m->at) >= WORTH ? 0 : m->walked;
	w->next += turns * (w->next - m->at);
	m->every = FIRST_MARK;
	make_mark(w);
}
