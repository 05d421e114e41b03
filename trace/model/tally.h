/* SPDX-License-Identifier: BSD-3-Clause
 * tally - how often each value came: what is left of a column that gave up the order of its values (ICS'13, section
 * 2.3)
 *
 * Up to TALLY_EXACT different numbers are counted one by one. With one more the tally becomes *coarse*: numbers fall
 * into cells whose limits depend on the number alone (log-linear: TALLY_CELLS cells for each power of two, so that
 * numbers of one cell differ by less than 1/8), and a bin knows how many there were, the least, the greatest, and their
 * sum. A bin never holds numbers between those of another. Named constants are never put together with anything: each
 * is a bin of its own.
 *
 *     1024 x 5, 2048 x 1                        exact: two bins whose min is their max
 *     17 different numbers from 1000 to 1100    coarse: 1000..1023, 1024..1100
 *
 * What a tally holds depends on what was counted alone, not on the order of counting or merging, until tally_balance()
 * makes it small. Counts and sums are exact always (sums modulo 2^64).
 */
#ifndef SPOOR_TALLY_H
#define SPOOR_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_EXACT 16
#define TALLY_CELLS 8
/* Bins of the final form. */
#define TALLY_BINS 8

struct tally_bin {
	int64_t min, max;
	uint64_t count, sum;
};

struct writer;
struct reader;

/* Zero-initialised is empty. Bins are in ascending order: constants, then numbers. */
struct tally {
	struct tally_bin *bins;
	uint32_t count, capacity;
};

void tally_free(struct tally *t);
/* Makes t, whatever it was, the same with room for one bin more. Returns 0, or -1 on no memory (t is then empty). */
int tally_copy(struct tally *t, const struct tally *from);
/* Each returns 0, or -1 on no memory (the tally is then as it was). */
int tally_add(struct tally *t, int64_t value, uint64_t count);
/* `times` times each of start, start + stride, ... (count of them). Cost depends on the cells that they fall into, not
 * on the count. */
int tally_add_run(struct tally *t, int64_t start, int64_t stride, uint64_t count, uint64_t times);
int tally_merge(struct tally *t, const struct tally *from);
/* The bin that counts value, if no bin must be added for it; else -1. */
int64_t tally_place(const struct tally *t, int64_t value);
/* Counts every number, but not the constants, as `constant`: for numbers that have no order, once there are more than
 * TALLY_EXACT. */
void tally_fold(struct tally *t, int64_t constant);
/* If the tally is coarse: joins neighbours until there are at most `bins` for numbers, of counts as even as their
 * values let them be. */
void tally_balance(struct tally *t, uint32_t bins);

uint32_t tally_constants(const struct tally *t); /* bins that are named constants: the first ones */
bool tally_coarse(const struct tally *t);
uint64_t tally_count(const struct tally *t); /* of all values */
uint64_t tally_sum(const struct tally *t);   /* of all numbers */
/* The form of doc/trace-format.md, section "Tallies". tally_get returns 0, or -1: damaged, or no memory; the caller
 * frees *t in any case. */
void tally_put(struct writer *w, const struct tally *t);
int tally_get(struct reader *r, struct tally *t);

/* The cell of a number. */
int32_t tally_cell(int64_t value);

#endif
