/* SPDX-License-Identifier: BSD-3-Clause
 * raw_block - 64 values as bits
 *
 * A block is a word, and then words of 64 times `bits`:
 *
 *     bits 0..6    bits of a value; 64: the values follow as they are
 *     bit 7        values are numbers and named constants: 4 * zigzag(number) / 2, or 2 * string + 1
 *     bits 8..63   the least of them (not of bit 7: zigzag), which is taken off all
 */
#ifndef SPOOR_RAW_BLOCK_H
#define SPOOR_RAW_BLOCK_H

#include <stdint.h>

#define RAW_BLOCK       64
#define RAW_BLOCK_WORDS (1 + RAW_BLOCK)

/* Writes RAW_BLOCK values into RAW_BLOCK_WORDS words at most. Returns how many. */
unsigned raw_block_write(const int64_t *values, uint64_t *words);
/* Reads them again. */
void raw_block_read(const uint64_t *words, int64_t *values);
/* How many words a block has of which n > 0 are there; 0: it has more than that, or is none. */
uint32_t raw_block_words(const uint64_t *words, uint32_t n);

#endif
