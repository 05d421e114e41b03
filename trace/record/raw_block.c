/* SPDX-License-Identifier: BSD-3-Clause
 * raw_block - 64 values as bits
 */
#include "trace/record/raw_block.h"

#include <string.h>

#include "trace/base/varint.h"
#include "trace/model/value.h"

#define HEAD_BITS(head)  ((unsigned)(head)&127)
#define HEAD_MIXED       UINT64_C(128)
#define HEAD_LEAST(head) ((head) >> 8)
#define HEAD_PLAIN       UINT64_C(64)

/* A value of a block with named constants, as a number. */
static uint64_t mixed_number(int64_t v)
{
	return value_is_constant(v) ? ((uint64_t)v - (uint64_t)VALUE_CONSTANT) << 1 | 1 : zigzag(v) << 1;
}

static int64_t mixed_value(uint64_t u)
{
	return u & 1 ? (int64_t)((uint64_t)VALUE_CONSTANT + (u >> 1)) : unzigzag(u >> 1);
}

static unsigned range_bits(uint64_t range)
{
	return range ? 64 - (unsigned)__builtin_clzll(range) : 0;
}

/* The head of a block with named constants, and its values as numbers that are to be packed. */
static uint64_t mixed_head(const int64_t *values, uint64_t *numbers)
{
	uint64_t low = UINT64_MAX, high = 0;
	bool wide = false;
	for (unsigned i = 0; i < RAW_BLOCK; i++) {
		uint64_t u = numbers[i] = mixed_number(values[i]);
		wide |= !value_is_constant(values[i]) && zigzag(values[i]) >> 63;
		low = u < low ? u : low;
		high = u > high ? u : high;
	}
	unsigned bits = range_bits(high - low);
	if (bits == 64 || wide || low >> 56)
		return HEAD_PLAIN;
	for (unsigned i = 0; i < RAW_BLOCK; i++)
		numbers[i] -= low;
	return low << 8 | HEAD_MIXED | bits;
}

/* The same of any block. HEAD_PLAIN: they are values, not numbers. */
static uint64_t block_head(const int64_t *values, uint64_t *numbers)
{
	int64_t least = values[0], most = values[0];
	bool constants = false;
	for (unsigned i = 0; i < RAW_BLOCK; i++) {
		int64_t v = values[i];
		constants |= value_is_constant(v);
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	if (constants)
		return mixed_head(values, numbers);
	unsigned bits = range_bits((uint64_t)most - (uint64_t)least);
	if (bits == 64 || zigzag(least) >> 56)
		return HEAD_PLAIN;
	for (unsigned i = 0; i < RAW_BLOCK; i++)
		numbers[i] = (uint64_t)values[i] - (uint64_t)least;
	return zigzag(least) << 8 | bits;
}

unsigned raw_block_write(const int64_t *values, uint64_t *words)
{
	uint64_t numbers[RAW_BLOCK], word = 0, *to = words + 1;
	words[0] = block_head(values, numbers);
	unsigned bits = HEAD_BITS(words[0]), full = 0;
	if (bits == 64)
		memcpy(words + 1, values, RAW_BLOCK * sizeof *values);
	if (bits == 64 || bits == 0)
		return 1 + bits;
	for (unsigned i = 0; i < RAW_BLOCK; i++) {
		word |= numbers[i] << full;
		full += bits;
		if (full < 64)
			continue;
		*to++ = word;
		full -= 64;
		word = full ? numbers[i] >> (bits - full) : 0;
	}
	return 1 + bits;
}

void raw_block_read(const uint64_t *words, int64_t *values)
{
	const uint64_t head = words[0];
	const unsigned bits = HEAD_BITS(head);
	const bool mixed = head & HEAD_MIXED;
	const uint64_t least = mixed ? HEAD_LEAST(head) : (uint64_t)unzigzag(HEAD_LEAST(head)),
		       mask = bits ? UINT64_MAX >> (64 - bits) : 0;
	if (bits == 64) {
		memcpy(values, words + 1, RAW_BLOCK * sizeof *values);
		return;
	}
	for (unsigned i = 0, at = 0; i < RAW_BLOCK; i++, at += bits) {
		const uint64_t *from = words + 1 + at / 64;
		const unsigned shift = at % 64;
		uint64_t u = bits ? from[0] >> shift : 0;
		if (shift && shift + bits > 64)
			u |= from[1] << (64 - shift);
		u = (u & mask) + least;
		values[i] = mixed ? mixed_value(u) : (int64_t)u;
	}
}

uint32_t raw_block_words(const uint64_t *words, uint32_t n)
{
	unsigned bits = HEAD_BITS(words[0]);
	return bits <= 64 && n >= 1 + bits ? 1 + bits : 0;
}
