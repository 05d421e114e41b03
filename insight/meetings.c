/* SPDX-License-Identifier: BSD-3-Clause
 * meetings - the messages and collective operations that are under way while all ranks are played
 */
#include "insight/meetings.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"

static struct meeting *slot_of_meeting(struct meeting *table, size_t mask, uint64_t key)
{
	size_t i = hash_mix(7, key) & mask;
	while (table[i].key && table[i].key != key)
		i = (i + 1) & mask;
	return &table[i];
}

struct meeting *meetings_at(struct meetings *g, uint64_t key)
{
	key += key == 0;
	if (g->used >= MEETINGS_MOST) {
		g->much = true;
		return NULL;
	}
	if (2 * g->used >= g->mask) {
		size_t mask = g->mask ? 2 * g->mask + 1 : 1023;
		struct meeting *table = budget_calloc(mask + 1, sizeof *table);
		if (!table)
			return NULL;
		for (size_t i = 0; g->table && i <= g->mask; i++)
			if (g->table[i].key)
				*slot_of_meeting(table, mask, g->table[i].key) = g->table[i];
		budget_free(g->table);
		g->table = table;
		g->mask = mask;
	}
	struct meeting *m = slot_of_meeting(g->table, g->mask, key);
	if (!m->key) {
		*m = (struct meeting){.key = key, .root = MEETING_NOBODY, .waiting = MEETING_NOBODY};
		g->used++;
	}
	return m;
}

/* Those behind it come nearer to where they are looked for (Knuth, TAOCP 3, 6.4, algorithm R). */
void meetings_end(struct meetings *g, struct meeting *m)
{
	size_t hole = (size_t)(m - g->table);
	g->used--;
	for (size_t i = (hole + 1) & g->mask; g->table[i].key; i = (i + 1) & g->mask) {
		size_t home = hash_mix(7, g->table[i].key) & g->mask;
		if (((i - home) & g->mask) >= ((i - hole) & g->mask)) {
			g->table[hole] = g->table[i];
			hole = i;
		}
	}
	g->table[hole].key = 0;
}

void meetings_free(struct meetings *g)
{
	budget_free(g->table);
	*g = (struct meetings){.table = NULL};
}
