/* SPDX-License-Identifier: BSD-3-Clause
 * channels - how many messages a rank has sent and received on each channel
 */
#include "insight/channels.h"

#include "trace/base/budget.h"
#include "trace/base/index.h"

static struct channel *channel_find(const struct channels *c, uint64_t key)
{
	size_t i = key & (c->size - 1);
	while (c->list[i].key && c->list[i].key != key)
		i = (i + 1) & (c->size - 1);
	return &c->list[i];
}

static int channels_grow(struct channels *c)
{
	struct channels bigger = {.count = c->count, .size = c->size ? 2 * c->size : 256};
	bigger.list = budget_calloc(bigger.size, sizeof *bigger.list);
	if (!bigger.list)
		return -1;
	for (size_t i = 0; i < c->size; i++)
		if (c->list[i].key)
			*channel_find(&bigger, c->list[i].key) = c->list[i];
	budget_free(c->list);
	*c = bigger;
	return 0;
}

uint64_t *channels_at(struct channels *c, bool receive, bool partitioned, uint32_t comm, uint32_t peer, int64_t tag)
{
	uint64_t key =
		hash_mix(hash_mix(hash_mix(hash_mix(13, receive + 2U * partitioned), comm), peer), (uint64_t)tag) | 1;
	if ((c->count + 1) * 2 > c->size && channels_grow(c) != 0)
		return NULL;
	struct channel *at = channel_find(c, key);
	c->count += !at->key;
	at->key = key;
	return &at->count;
}

void channels_free(struct channels *c)
{
	budget_free(c->list);
	*c = (struct channels){0};
}
