/* SPDX-License-Identifier: BSD-3-Clause
 * container_write - a .spoor file from its chunks
 */
#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/crc32.h"
#include "trace/file/bundle.h"
#include "trace/file/container_inside.h"

static void put(uint8_t *p, uint64_t v, unsigned n)
{
	for (; n--; v >>= 8)
		*p++ = (uint8_t)v;
}

/* A file as it grows. */
struct growing {
	uint8_t *bytes;
	const struct codec *codec;
	size_t entries, at;
};

static void put_entry(struct growing *f, const char *id, size_t stored, size_t size)
{
	uint8_t *entry = f->bytes + CONTAINER_HEADER + f->entries++ * CONTAINER_ENTRY;
	memcpy(entry, id, CHUNK_ID_SIZE);
	put(entry + 4, crc32_of(f->bytes + f->at, stored), 4);
	put(entry + 8, f->at, 8);
	put(entry + 16, stored, 8);
	put(entry + 24, size, 8);
	f->at += stored;
}

static void put_chunk(struct growing *f, const struct chunk *c)
{
	size_t stored = f->codec && c->size ? f->codec->compress(f->bytes + f->at, c->data, c->size, false) : 0;
	if (stored == 0 || stored >= c->size) {
		stored = c->size;
		if (stored)
			memcpy(f->bytes + f->at, c->data, stored);
	}
	put_entry(f, c->id, stored, c->size);
}

int container_encode(const struct chunk *chunks, size_t n, uint32_t needs, const struct codec *codec, uint8_t **out,
                     size_t *size)
{
	struct growing f = {.codec = codec};
	struct writer small = {0};
	size_t joined = codec ? bundle_put(&small, chunks, n) : 0, packed = 0;
	uint8_t *pack = joined ? budget_malloc(small.size + 1) : NULL;
	if (pack)
		packed = codec->compress(pack, small.data, small.size, true);
	if (packed == 0)
		joined = 0;
	size_t entries = n - joined + (joined > 0), room = CONTAINER_HEADER + entries * CONTAINER_ENTRY + packed;
	for (size_t i = 0; i < n; i++)
		room += chunks[i].size;
	f.bytes = small.failed || (small.size && !pack) ? NULL : budget_calloc(1, room);
	f.at = CONTAINER_HEADER + entries * CONTAINER_ENTRY;
	if (f.bytes && joined) {
		memcpy(f.bytes + f.at, pack, packed);
		put_entry(&f, BUNDLE_ID, packed, small.size);
	}
	for (size_t i = 0, left = joined; f.bytes && i < n; i++) {
		if (left > 0 && bundle_takes(&chunks[i]))
			left--;
		else
			put_chunk(&f, &chunks[i]);
	}
	budget_free(pack);
	writer_free(&small);
	if (!f.bytes)
		return -1;
	assert(f.entries == entries && f.at <= room);
	memcpy(f.bytes, CONTAINER_MAGIC, sizeof CONTAINER_MAGIC - 1);
	put(f.bytes + 8, CONTAINER_MAJOR, 2);
	put(f.bytes + 10, CONTAINER_MINOR, 2);
	put(f.bytes + 16, needs | (joined ? CONTAINER_JOINED : 0), 4);
	put(f.bytes + 20, entries, 4);
	put(f.bytes + 24, crc32_of(f.bytes + CONTAINER_HEADER, entries * CONTAINER_ENTRY), 4);
	put(f.bytes + 28, crc32_of(f.bytes, 28), 4);
	*out = f.bytes;
	*size = f.at;
	return 0;
}
