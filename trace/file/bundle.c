/* SPDX-License-Identifier: BSD-3-Clause
 * bundle - the small chunks of a file as one
 */
#include "trace/file/bundle.h"

#include <string.h>

void bundle_name(char out[CHUNK_ID_SIZE + 1], const uint8_t *id)
{
	for (int i = 0; i < CHUNK_ID_SIZE; i++)
		out[i] = id[i] >= 0x20 && id[i] < 0x7f ? (char)id[i] : '?';
	out[CHUNK_ID_SIZE] = 0;
}

bool bundle_takes(const struct chunk *c)
{
	static const char *const coded[] = {"HIST", "CNTR", "FULL"};
	for (size_t i = 0; i < sizeof coded / sizeof *coded; i++)
		if (strcmp(c->id, coded[i]) == 0)
			return false;
	return c->size <= BUNDLE_MAX_SIZE;
}

size_t bundle_put(struct writer *w, const struct chunk *chunks, size_t n)
{
	const struct chunk *taken[BUNDLE_MOST];
	size_t count = 0;
	for (size_t i = 0; i < n && count < BUNDLE_MOST; i++)
		if (bundle_takes(&chunks[i]))
			taken[count++] = &chunks[i];
	if (count < 2)
		return 0;
	writer_uint(w, count);
	for (size_t i = 0; i < count; i++)
		writer_bytes(w, taken[i]->id, CHUNK_ID_SIZE);
	for (size_t i = 0; i < count; i++)
		writer_uint(w, taken[i]->size);
	for (size_t i = 0; i < count; i++)
		writer_bytes(w, taken[i]->data, taken[i]->size);
	return count;
}

int bundle_get(struct chunk out[BUNDLE_MOST], const uint8_t *bytes, size_t n)
{
	struct reader r = reader_of(bytes, n);
	size_t count = reader_count(&r);
	if (count > BUNDLE_MOST)
		return -1;
	const uint8_t *ids = reader_bytes(&r, count * CHUNK_ID_SIZE);
	for (size_t i = 0; i < count; i++)
		out[i].size = reader_uint(&r);
	for (size_t i = 0; i < count && !r.bad; i++) {
		r.bad |= out[i].size > BUNDLE_MAX_SIZE;
		bundle_name(out[i].id, ids + i * CHUNK_ID_SIZE);
		out[i].data = reader_bytes(&r, out[i].size);
	}
	return r.bad || r.at != r.end ? -1 : (int)count;
}
