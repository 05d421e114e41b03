/* SPDX-License-Identifier: BSD-3-Clause
 * varint - integers of variable length, and a buffer to write them to
 *
 * Unsigned integers are little-endian base 128 (LEB128), at most 10 bytes; signed ones are zigzag first. A reader never
 * reads past its end: once it would, or an integer does not fit 64 bits, `bad` is set and all further reads return 0;
 * callers check `bad` once at the end of a structure and wherever a read value decides how much to allocate.
 */
#ifndef SPOOR_VARINT_H
#define SPOOR_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing byte buffer. Zero-initialised is empty. After a failed allocation `failed` is set and writes do nothing. */
struct writer {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
};

void writer_free(struct writer *w);
/* Makes room for n more bytes and returns where they go, or NULL. The caller fills them all. */
uint8_t *writer_reserve(struct writer *w, size_t n);
void writer_bytes(struct writer *w, const void *bytes, size_t n);
void writer_long(struct writer *w, uint64_t v);
void writer_int(struct writer *w, int64_t v);
/* Most integers are one byte. */
static inline void writer_uint(struct writer *w, uint64_t v)
{
	if (v < 0x80 && w->size < w->capacity && !w->failed)
		w->data[w->size++] = (uint8_t)v;
	else
		writer_long(w, v);
}

struct reader {
	const uint8_t *at, *end;
	const uint8_t *begin;
	bool bad;
};

static inline struct reader reader_of(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	return (struct reader){p, n ? p + n : p, p, false}; /* NULL and 0 are nothing */
}

uint64_t reader_long(struct reader *r);
static inline uint64_t reader_uint(struct reader *r)
{
	return r->at < r->end && *r->at < 0x80 && !r->bad ? *r->at++ : reader_long(r);
}
int64_t reader_int(struct reader *r);
/* The next n bytes, or NULL (and bad). */
const uint8_t *reader_bytes(struct reader *r, size_t n);
/* A count of things of which each takes at least one byte: more than what is left is bad, so that it bounds
 * allocations. */
size_t reader_count(struct reader *r);

static inline size_t reader_offset(const struct reader *r)
{
	return (size_t)(r->at - r->begin);
}

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t u)
{
	return (int64_t)(u >> 1 ^ -(u & 1));
}

#endif
