/* SPDX-License-Identifier: BSD-3-Clause
 * varint - integers of variable length, and a buffer to write them to
 */
#include "trace/base/varint.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"

void writer_free(struct writer *w)
{
	budget_free(w->data);
	*w = (struct writer){0};
}

/* From here on a writer grows by a quarter: while ranks merge, what it has too much is missing elsewhere. */
#define WRITER_LARGE ((size_t)1 << 19)

uint8_t *writer_reserve(struct writer *w, size_t n)
{
	if (w->failed)
		return NULL;
	if (w->capacity - w->size < n) {
		size_t capacity = w->capacity ? w->capacity : 256;
		while (capacity - w->size < n)
			capacity += capacity < WRITER_LARGE ? capacity : capacity / 4;
		uint8_t *data = budget_realloc(w->data, capacity);
		if (!data) {
			w->failed = true;
			return NULL;
		}
		w->data = data;
		w->capacity = capacity;
	}
	uint8_t *at = w->data + w->size;
	w->size += n;
	assert(w->size <= w->capacity);
	return at;
}

void writer_bytes(struct writer *w, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	uint8_t *at = writer_reserve(w, n);
	if (at)
		memcpy(at, bytes, n);
}

void writer_long(struct writer *w, uint64_t v)
{
	uint8_t *at = writer_reserve(w, 1 + (v ? (size_t)(63 - __builtin_clzll(v)) / 7 : 0));
	if (!at)
		return;
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at = (uint8_t)v;
}

void writer_int(struct writer *w, int64_t v)
{
	writer_uint(w, zigzag(v));
}

/* An integer of the longest form: what is behind it need not be asked for each byte. */
#define LONGEST 10

uint64_t reader_long(struct reader *r)
{
	uint64_t v = 0;
	if (r->end - r->at >= LONGEST && !r->bad) {
		const uint8_t *at = r->at;
		for (unsigned shift = 0; shift < 63; shift += 7, at++) {
			v |= (uint64_t)(*at & 0x7f) << shift;
			if (!(*at & 0x80)) {
				r->at = at + 1;
				return v;
			}
		}
		v = 0;
	}
	for (unsigned shift = 0; shift < 64 && !r->bad && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

int64_t reader_int(struct reader *r)
{
	return unzigzag(reader_uint(r));
}

const uint8_t *reader_bytes(struct reader *r, size_t n)
{
	if (r->bad || (size_t)(r->end - r->at) < n) {
		r->bad = true;
		return NULL;
	}
	const uint8_t *at = r->at;
	r->at += n;
	return at;
}

size_t reader_count(struct reader *r)
{
	uint64_t n = reader_uint(r);
	if (n > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		return 0;
	}
	return (size_t)n;
}
