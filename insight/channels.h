/* SPDX-License-Identifier: BSD-3-Clause
 * channels - how many messages a rank has sent and received on each channel: communicator, peer, tag; messages of
 * partitioned operations apart
 */
#ifndef SPOOR_INSIGHT_CHANNELS_H
#define SPOOR_INSIGHT_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct channel {
	uint64_t key, count; /* key 0: free */
};

/* A hash table. Zero-initialised is empty. */
struct channels {
	struct channel *list;
	size_t count, size; /* a power of two */
};

/* The count of a channel, 0 at first. Valid until the next call. NULL: no memory. */
uint64_t *channels_at(struct channels *c, bool receive, bool partitioned, uint32_t comm, uint32_t peer, int64_t tag);
void channels_free(struct channels *c);

#endif
