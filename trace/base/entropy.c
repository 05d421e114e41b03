/* SPDX-License-Identifier: BSD-3-Clause
 * entropy - an adaptive range coder
 */
#include "trace/base/entropy.h"

#include <assert.h>
#include <stdlib.h>

enum {
	PROBABILITY_BITS = 11,
	LEARN = 4,
	STEADY = (1 << LEARN) - 2 /* bits; until then each is as good as all before it together */,
	LOWEST_RANGE = 1 << 24,
	ZEROS = 4
};

static void contexts_begin(struct entropy_context *contexts)
{
	for (unsigned i = 0; i < ENTROPY_CONTEXTS; i++)
		for (unsigned k = 0; k < 128; k++) {
			contexts[i].zero[k] = 1 << (PROBABILITY_BITS - 1);
			contexts[i].seen[k] = 0;
		}
}

static void learn(struct entropy_context *c, unsigned node, unsigned bit)
{
	unsigned zero = c->zero[node], other = (1 << PROBABILITY_BITS) - zero;
	if (__builtin_expect(c->seen[node] < STEADY, 0)) {
		unsigned part = 2U + c->seen[node]++;
		c->zero[node] = (uint16_t)(bit ? zero - zero / part : zero + other / part);
	} else {
		c->zero[node] = (uint16_t)(bit ? zero - (zero >> LEARN) : zero + (other >> LEARN));
	}
	assert(c->zero[node] > 0 && c->zero[node] < 1 << PROBABILITY_BITS); /* neither bit is impossible */
}

/* Writing: `low` has 33 bits, of which the highest is a carry into bytes that are held back for it. */

static void shift(struct entropy_writer *e)
{
	assert(e->low >> 33 == 0);
	if (e->low < 0xff000000u || e->low >> 32) {
		uint8_t carry = (uint8_t)(e->low >> 32);
		if (e->begun)
			writer_bytes(e->out, (uint8_t[1]){(uint8_t)(e->held + carry)}, 1);
		for (; e->more > 0; e->more--)
			writer_bytes(e->out, (uint8_t[1]){(uint8_t)(0xff + carry)}, 1);
		e->held = (uint8_t)(e->low >> 24);
		e->begun = true;
	} else {
		e->more++;
	}
	e->low = (e->low & 0x00ffffff) << 8;
}

static void normalize(struct entropy_writer *e)
{
	while (e->range < LOWEST_RANGE) {
		e->range <<= 8;
		shift(e);
	}
}

void entropy_begin(struct entropy_writer *e, struct writer *out)
{
	*e = (struct entropy_writer){.out = out, .range = UINT32_MAX, .start = out->size};
	contexts_begin(e->contexts);
}

void entropy_end(struct entropy_writer *e)
{
	for (int i = 0; i < 5; i++)
		shift(e);
	/* the reader takes these for zeros if they are not there */
	for (int i = 0; i < ZEROS && !e->out->failed && e->out->size > e->start && e->out->data[e->out->size - 1] == 0;
	     i++)
		e->out->size--;
}

static void put_bit(struct entropy_writer *e, struct entropy_context *c, unsigned node, unsigned bit)
{
	uint32_t bound = (e->range >> PROBABILITY_BITS) * c->zero[node];
	if (bit) {
		e->low += bound;
		e->range -= bound;
	} else {
		e->range = bound;
	}
	learn(c, node, bit);
	normalize(e);
}

void entropy_put_symbol(struct entropy_writer *e, unsigned context, unsigned bits, unsigned symbol)
{
	unsigned node = 1;
	while (bits-- > 0) {
		unsigned bit = symbol >> bits & 1;
		put_bit(e, &e->contexts[context], node, bit);
		node = node << 1 | bit;
	}
}

void entropy_put_bits(struct entropy_writer *e, unsigned bits, uint64_t value)
{
	while (bits-- > 0) {
		e->range >>= 1;
		if (value >> bits & 1)
			e->low += e->range;
		normalize(e);
	}
}

static unsigned size_of(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

uint64_t entropy_cut(unsigned digits, uint64_t value)
{
	unsigned size = size_of(value), low = size > digits + 1 ? size - 1 - digits : 0;
	return value >> low << low;
}

void entropy_put_number(struct entropy_writer *e, unsigned context, unsigned digits, uint64_t value)
{
	unsigned size = size_of(value), below = size > 1 ? size - 1 : 0, kept = below < digits ? below : digits;
	entropy_put_symbol(e, context, 7, size);
	entropy_put_bits(e, kept, value >> (below - kept));
}

/* Reading. */

static uint32_t next_byte(struct entropy_reader *e)
{
	if (e->in->at < e->in->end)
		return *e->in->at++;
	if (++e->behind > ZEROS)
		e->in->bad = true;
	return 0;
}

void entropy_open(struct entropy_reader *e, struct reader *in)
{
	e->in = in;
	e->range = UINT32_MAX;
	e->code = 0;
	e->behind = 0;
	contexts_begin(e->contexts);
	for (int i = 0; i < 4; i++)
		e->code = e->code << 8 | next_byte(e);
}

void entropy_close(struct entropy_reader *e)
{
	if (e->in->at != e->in->end)
		e->in->bad = true;
}

static unsigned get_bit(struct entropy_reader *e, struct entropy_context *c, unsigned node)
{
	uint32_t bound = (e->range >> PROBABILITY_BITS) * c->zero[node];
	unsigned bit = e->code >= bound;
	if (bit) {
		e->code -= bound;
		e->range -= bound;
	} else {
		e->range = bound;
	}
	learn(c, node, bit);
	while (e->range < LOWEST_RANGE) {
		e->range <<= 8;
		e->code = e->code << 8 | next_byte(e);
	}
	return bit;
}

unsigned entropy_symbol(struct entropy_reader *e, unsigned context, unsigned bits)
{
	unsigned node = 1;
	for (unsigned i = 0; i < bits; i++)
		node = node << 1 | get_bit(e, &e->contexts[context], node);
	return node - (1U << bits);
}

uint64_t entropy_bits(struct entropy_reader *e, unsigned bits)
{
	uint64_t value = 0;
	while (bits-- > 0) {
		e->range >>= 1;
		unsigned bit = e->code >= e->range;
		if (bit)
			e->code -= e->range;
		value = value << 1 | bit;
		while (e->range < LOWEST_RANGE) {
			e->range <<= 8;
			e->code = e->code << 8 | next_byte(e);
		}
	}
	return value;
}

uint64_t entropy_number(struct entropy_reader *e, unsigned context, unsigned digits)
{
	unsigned size = entropy_symbol(e, context, 7);
	if (size > 64) {
		e->in->bad = true;
		return 0;
	}
	if (size == 0)
		return 0;
	unsigned below = size - 1, kept = below < digits ? below : digits;
	return (UINT64_C(1) << kept | entropy_bits(e, kept)) << (below - kept);
}

/* Blocks. */

struct entropy_block *entropy_block_new(void)
{
	struct entropy_block *b = malloc(sizeof *b);
	if (!b)
		return NULL;
	b->bytes = (struct writer){0};
	entropy_begin(&b->coder, &b->bytes);
	return b;
}

void entropy_block_put(struct writer *w, struct entropy_block *b)
{
	if (!b) {
		w->failed = true;
		return;
	}
	entropy_end(&b->coder);
	writer_uint(w, b->bytes.size);
	writer_bytes(w, b->bytes.data, b->bytes.size);
	w->failed |= b->bytes.failed;
	writer_free(&b->bytes);
	free(b);
}

struct entropy_source *entropy_source_new(struct reader *r)
{
	size_t size = reader_count(r);
	const uint8_t *bytes = reader_bytes(r, size);
	struct entropy_source *s = bytes ? malloc(sizeof *s) : NULL;
	if (!s)
		return NULL;
	s->size = size;
	s->in = reader_of(bytes, size);
	entropy_open(&s->coder, &s->in);
	return s;
}

int entropy_source_end(struct entropy_source *s)
{
	entropy_close(&s->coder);
	int rv = s->in.bad ? -1 : 0;
	free(s);
	return rv;
}
