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

/* The bytes of a number, the least first, or the other way round. */
static inline uint64_t little_endian(uint64_t v)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

#define EACH_BYTE UINT64_C(0x0101010101010101)

/* 56 bits, seven in each byte; and back. */
static inline uint64_t spread(uint64_t v)
{
	v = (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x00fffffff0000000)) << 4;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x0fffc0000fffc000)) << 2;
	return (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x3f803f803f803f80)) << 1;
}

static inline uint64_t gathered(uint64_t v)
{
	v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (v & UINT64_C(0x000000000fffffff)) | (v & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Eight bytes are written where there is room for them, whatever they are: there is no loop, and hardly a branch. */
void writer_long(struct writer *w, uint64_t v)
{
	unsigned more = (63 - (unsigned)__builtin_clzll(v | 1)) / 7;
	if (more < sizeof v && w->capacity - w->size >= sizeof v && !w->failed) {
		uint64_t go_on = (EACH_BYTE << 7) & ((UINT64_C(1) << 8 * more) - 1),
			 bytes = little_endian(spread(v) | go_on);
		memcpy(w->data + w->size, &bytes, sizeof bytes);
		w->size += more + 1;
		return;
	}
	uint8_t *at = writer_reserve(w, more + (size_t)1);
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

uint64_t reader_long(struct reader *r)
{
	uint64_t v = 0;
	if (r->end - r->at >= (ptrdiff_t)sizeof v && !r->bad) {
		memcpy(&v, r->at, sizeof v);
		v = little_endian(v);
		uint64_t last = ~v & EACH_BYTE << 7; /* of bytes that are the last one of an integer */
		if (last) {
			r->at += (unsigned)__builtin_ctzll(last) / 8 + 1;
			return gathered(v & (last ^ (last - 1)) & EACH_BYTE * 0x7f);
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
