/* SPDX-License-Identifier: BSD-3-Clause
 * flow - the times of all visits, one by one
 */
#include "trace/record/flow.h"

#include <string.h>

/* Bytes of a block, with its head: the first one of a flow, and the largest. */
#define BLOCK_LEAST 64
#define BLOCK_MOST  4096

static size_t put_varint(uint8_t out[10], uint64_t v)
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		out[n++] = (uint8_t)(v | 0x80);
	out[n++] = (uint8_t)v;
	return n;
}

int64_t flow_add(struct arena *a, struct flow *f, uint64_t code, unsigned digits)
{
	uint8_t bytes[10];
	int64_t given = 0;
	size_t n = put_varint(bytes, digits == FLOW_EXACT ? code : zigzag((int64_t)(code - f->previous)));
	struct flow_block *b = f->last ? arena_at(a, struct flow_block, f->last) : NULL;
	if (!b || b->size - b->used < n) {
		uint64_t wanted = b ? 2 * (b->size + sizeof *b) : BLOCK_LEAST, capacity;
		ref at = arena_alloc_block(a, wanted < BLOCK_MOST ? wanted : BLOCK_MOST, &capacity);
		if (!at) {
			arena_commit(a);
			return -1;
		}
		struct flow_block *more = arena_at(a, struct flow_block, at);
		*more = (struct flow_block){.size = (uint32_t)(capacity - sizeof *more)};
		arena_save(a, &f->first); /* one word */
		arena_barrier();
		if (b) {
			arena_set(a, b->next, at);
			f->last = at;
		} else {
			f->first = at;
			f->last = at;
		}
		arena_commit(a);
		b = more;
		given = (int64_t)capacity;
	}
	memcpy(b->bytes + b->used, bytes, n);
	f->previous = code;
	arena_barrier();
	b->used += (uint32_t)n;
	arena_barrier();
	return given;
}

int64_t flow_extract(const struct arena *a, const struct flow *f, struct writer *out)
{
	int64_t count = 0;
	uint64_t limit = a->header->used;
	for (ref at = f->first; at;) {
		const struct flow_block *b = arena_at(a, struct flow_block, at);
		if (!arena_valid(a, at, sizeof *b) || b->used > b->size || !arena_valid(a, at, sizeof *b + b->used) ||
		    limit < sizeof *b + b->used)
			return -1;
		limit -= sizeof *b + b->used; /* a chain that has no end is damaged */
		writer_bytes(out, b->bytes, b->used);
		for (uint32_t i = 0; i < b->used; i++)
			count += b->bytes[i] < 0x80;
		at = b->next;
	}
	return out->failed ? -1 : count;
}
