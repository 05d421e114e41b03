/* SPDX-License-Identifier: BSD-3-Clause
 * entropy - an adaptive range coder: numbers in as few bits as they are surprising (doc/trace-format.md, "HIST")
 *
 * A bit is coded with a probability that follows the bits coded before in the same place (a context). Numbers are coded
 * as how many bits they have, which is learnt, and the bits below the highest, as they are: times differ in their low
 * bits for no reason, but their sizes are alike. Small enough chunks that a general compressor learns nothing from come
 * out a third smaller than as bytes.
 */
#ifndef SPOOR_ENTROPY_H
#define SPOOR_ENTROPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/varint.h"

#define ENTROPY_CONTEXTS 64

/* The probabilities of a context: a binary tree of up to seven bits. */
struct entropy_context {
	uint16_t zero[128]; /* of 2048, that the bit is 0 */
	uint8_t seen[128];  /* bits that it was learnt from: the first ones count for more */
};

struct entropy_writer {
	struct writer *out;
	uint64_t low;
	uint32_t range;
	uint8_t held; /* the last byte, to which a carry may come; with `more` bytes 0xff behind it */
	uint64_t more;
	bool begun;
	size_t start; /* of the output */
	struct entropy_context contexts[ENTROPY_CONTEXTS];
};

struct entropy_reader {
	struct reader *in; /* behind its end are a few zeros */
	uint32_t range, code;
	unsigned behind;
	struct entropy_context contexts[ENTROPY_CONTEXTS];
};

void entropy_begin(struct entropy_writer *e, struct writer *out);
void entropy_end(struct entropy_writer *e);
/* A symbol of up to seven bits, learnt. */
void entropy_put_symbol(struct entropy_writer *e, unsigned context, unsigned bits, unsigned symbol);
/* The low bits of a value, as they are. */
void entropy_put_bits(struct entropy_writer *e, unsigned bits, uint64_t value);
/* A number: its size learnt; the bits below the highest one as they are, at most `digits` of them (the others come back
 * as 0). */
void entropy_put_number(struct entropy_writer *e, unsigned context, unsigned digits, uint64_t value);
/* What becomes of such a number. */
uint64_t entropy_cut(unsigned digits, uint64_t value);

void entropy_open(struct entropy_reader *e, struct reader *in);
/* All of `in` is used up then. */
void entropy_close(struct entropy_reader *e);
unsigned entropy_symbol(struct entropy_reader *e, unsigned context, unsigned bits);
uint64_t entropy_bits(struct entropy_reader *e, unsigned bits);
uint64_t entropy_number(struct entropy_reader *e, unsigned context, unsigned digits);

/* Blocks: `uint` how many bytes, and the bytes. */
struct entropy_block {
	struct writer bytes;
	struct entropy_writer coder;
};
/* NULL: no memory. */
struct entropy_block *entropy_block_new(void);
/* Ends and frees the block (which may be NULL: then the writer has failed). */
void entropy_block_put(struct writer *w, struct entropy_block *b);

struct entropy_source {
	size_t size; /* bytes */
	struct reader in;
	struct entropy_reader coder;
};
/* Reads a block. NULL: damaged, or no memory. */
struct entropy_source *entropy_source_new(struct reader *r);
/* Frees it. Returns 0, or -1: something of it was damaged, or is left over. */
int entropy_source_end(struct entropy_source *s);

#endif
