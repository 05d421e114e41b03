/* SPDX-License-Identifier: BSD-3-Clause
 * play_queue - who can go on while ranks are played
 */
#include "insight/play_queue.h"

#include "trace/base/budget.h"

static bool is_before(const struct play_ready *a, const struct play_ready *b)
{
	return a->at != b->at ? a->at < b->at : a->came < b->came;
}

int play_queue_push(struct play_queue *q, uint32_t flow, uint64_t at)
{
	if (!budget_grow(&q->list, q->count, &q->capacity, sizeof *q->list))
		return -1;
	q->came++;
	const struct play_ready one = {q->timed ? at : UINT64_MAX - q->came, q->came, flow};
	uint32_t i = q->count++;
	for (; i > 0 && is_before(&one, &q->list[(i - 1) / 2]); i = (i - 1) / 2)
		q->list[i] = q->list[(i - 1) / 2];
	q->list[i] = one;
	return 0;
}

uint32_t play_queue_pop(struct play_queue *q)
{
	const uint32_t flow = q->list[0].flow;
	const struct play_ready last = q->list[--q->count];
	uint32_t i = 0;
	for (uint32_t child; (child = 2 * i + 1) < q->count; i = child) {
		child += child + 1 < q->count && is_before(&q->list[child + 1], &q->list[child]);
		if (!is_before(&q->list[child], &last))
			break;
		q->list[i] = q->list[child];
	}
	q->list[i] = last;
	return flow;
}

bool play_queue_is_first(const struct play_queue *q, uint64_t at)
{
	return !q->timed || q->count == 0 || at <= q->list[0].at;
}

void play_queue_free(struct play_queue *q)
{
	budget_free(q->list);
	*q = (struct play_queue){.list = NULL};
}
