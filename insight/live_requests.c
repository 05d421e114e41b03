/* SPDX-License-Identifier: BSD-3-Clause
 * live_requests - the requests and the probed messages of one stream that are live
 */
#include "insight/live_requests.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

struct live *live_find(const struct lives *l, int64_t number)
{
	return number >= 0 && number < l->count ? l->list[number] : NULL;
}

int live_make(struct lives *l, int64_t number, struct live **out)
{
	if (number < 0 || number >= LIVES_MOST)
		return 1;
	if (number >= l->count) {
		uint32_t more = (uint32_t)number + l->count / 2 + 16;
		struct live **bigger = budget_realloc(l->list, more * sizeof *bigger);
		if (!bigger)
			return -1;
		memset(bigger + l->count, 0, (more - l->count) * sizeof *bigger);
		l->list = bigger;
		l->count = more;
	}
	struct live **at = &l->list[number];
	if (!*at && (*at = budget_calloc(1, sizeof **at)))
		(*at)->number = (uint32_t)number;
	*out = *at;
	return *at ? 0 : -1;
}

static uint64_t live_hash(const struct live *one)
{
	uint64_t state = 1 + 2 * (uint64_t)one->persistent + one->active;
	return one->kind == LIVE_NOTHING ? 0 : hash_mix(hash_mix(29, one->number), state);
}

void live_changes(struct lives *l, const struct live *one)
{
	l->hash -= live_hash(one);
}

void live_changed(struct lives *l, const struct live *one)
{
	l->hash += live_hash(one);
}

uint64_t lives_state(const struct lives *l)
{
	uint64_t h = 31;
	for (uint32_t i = 0; i < l->count && budget_step(1); i++) {
		const struct live *one = l->list[i];
		if (!one || one->kind == LIVE_NOTHING)
			continue;
		h = hash_mix(hash_mix(h, i), (uint64_t)one->kind << 8 | (uint64_t)one->second << 4 |
		                                     (uint64_t)one->cancelled << 2 | (uint64_t)one->persistent << 1 |
		                                     one->active);
		h = act_hash(act_hash(h, &one->act), &one->other);
		h = hash_mix(h, (uint64_t)one->partitions << 32 | one->ready);
	}
	return h;
}

void lives_free(struct lives *l)
{
	for (uint32_t i = 0; i < l->count; i++)
		budget_free(l->list[i]);
	budget_free(l->list);
	*l = (struct lives){.list = NULL};
}
