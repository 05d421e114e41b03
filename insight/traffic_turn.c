/* SPDX-License-Identifier: BSD-3-Clause
 * traffic_turn - turns of a loop that need not be walked: what one of them counted is counted as often as it comes
 */
#include "trace/base/budget.h"
#include "insight/traffic.h"
#include "insight/traffic_inside.h"

/* Of a turn with more calls each event is walked. */
#define CHANGES_MOST (UINT32_C(1) << 18)

int traffic_count(struct counting *c, const struct traffic_change *change)
{
	struct traffic_turn *t = &c->turn;
	t->spoiled |= !c->wish->each && (t->count == CHANGES_MOST ||
	                                 !budget_grow(&t->changes, t->count, &t->capacity, sizeof *t->changes));
	if (!t->spoiled && !c->wish->each)
		t->changes[t->count++] = *change;
	return traffic_add(c, change, 1);
}

void traffic_turn_begin(struct counting *c, uint64_t state)
{
	struct traffic_turn *t = &c->turn;
	t->sums = c->m->sums;
	t->count = 0;
	t->spoiled = false;
	t->state = state;
	t->asks = 0;
}

static void repeat_sums(struct traffic_sums *sums, const struct traffic_sums *at_mark, uint64_t turns)
{
	_Static_assert(sizeof *sums % sizeof(uint64_t) == 0, "numbers alone");
	uint64_t *now = (uint64_t *)sums;
	const uint64_t *then = (const uint64_t *)at_mark;
	for (size_t i = 0; i < sizeof *sums / sizeof *now; i++)
		now[i] += turns * (now[i] - then[i]);
}

int traffic_turn_repeat(struct counting *c, uint64_t turns)
{
	int rv = 0;
	repeat_sums(&c->m->sums, &c->turn.sums, turns);
	for (uint32_t i = 0; i < c->turn.count && rv == 0; i++)
		rv = traffic_add(c, &c->turn.changes[i], turns);
	return rv;
}
