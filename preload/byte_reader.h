/* SPDX-License-Identifier: BSD-3-Clause
 * byte_reader - bytes of unwind information, one after the other
 *
 * A reader that comes to the end, or to something that it does not know, is bad from then on, and reads zeros.
 */
#ifndef SPOOR_BYTE_READER_H
#define SPOOR_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline bool reader_takes(struct reader *r, size_t n)
{
	if (r->bad || (size_t)(r->end - r->at) < n)
		r->bad = true;
	return !r->bad;
}

/* n bytes (1, 2, 4, 8), the lowest first. */
static inline uint64_t reader_number(struct reader *r, size_t n)
{
	uint64_t value = 0;
	if (reader_takes(r, n)) {
		memcpy(&value, r->at, n);
		r->at += n;
	}
	return value;
}

static inline int64_t reader_signed(struct reader *r, size_t n)
{
	unsigned unused = 64 - 8 * (unsigned)n;
	return (int64_t)(reader_number(r, n) << unused) >> unused;
}

static inline uint64_t reader_leb(struct reader *r, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte = 0x80;
	while (byte & 0x80 && reader_takes(r, 1)) {
		byte = *r->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	}
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static inline uint64_t reader_unsigned_leb(struct reader *r)
{
	return reader_leb(r, false);
}

static inline int64_t reader_signed_leb(struct reader *r)
{
	return (int64_t)reader_leb(r, true);
}

static inline void reader_skip(struct reader *r, uint64_t n)
{
	if (n > SIZE_MAX || !reader_takes(r, (size_t)n))
		r->bad = true;
	else
		r->at += n;
}

#endif
