/* SPDX-License-Identifier: BSD-3-Clause
 * blocks - small pieces of C with known mixes of instructions, which computations of a proxy are made of
 *
 * Each is a function `static void work_NAME(long turns)`, in C99 and POSIX. What one turn does to the counters and how
 * long it takes differs between machines and compilers: it is measured (proxy/calibration.h).
 */
#ifndef SPOOR_BLOCKS_H
#define SPOOR_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum block {
	BLOCK_PRODUCT, /* a sum of products of cells */
	BLOCK_SWEEP,   /* a cell that depends on those before it */
	BLOCK_SERIES,  /* a cell that is a polynomial of another */
	BLOCK_FIELD,   /* a row of a box that is larger than all caches */
	BLOCK_BOX,     /* a row of a smaller box, whose length the compiler does not know */
	BLOCK_COARSE,  /* a cell that is the mean of eight cells */
	BLOCK_FACE,    /* a row to another place, by conditions that do not change in it */
	BLOCK_RANDOM,  /* random numbers */
	BLOCK_FLOPS,   /* multiplications and additions of doubles, in registers */
	BLOCK_DIVIDES, /* divisions, each of which waits for the one before */
	BLOCK_LOADS,   /* that hit L1 */
	BLOCK_STORES,  /* that hit L1 */
	BLOCK_COPIES,  /* by the C library: few instructions, or many, as it is made */
	BLOCK_MOVES,  /* by the C library, of more than the first cache: many have an instruction of its own for that */
	BLOCK_CLEARS, /* memory of as much is filled */
	BLOCK_CACHED, /* loads that miss L1 and hit the last level */
	BLOCK_MISSED, /* loads that miss all levels */
	BLOCK_WRITTEN,  /* stores that miss all levels, every other line */
	BLOCK_BRANCHES, /* that are predicted */
	BLOCK_COMPARES, /* branches on what is in registers */
	BLOCK_GUESSES,  /* branches, half of which are predicted */
	BLOCK_PAGES,    /* the kernel's time: new pages */
	BLOCKS,
	BLOCK_CALL = BLOCKS, /* no block: coming to another computation than before, and finding nothing to do */
	BLOCK_CALL_OF,       /* and the block's number: one call of it, with as few turns as are worth one */
	BLOCKS_MEASURED = BLOCK_CALL_OF + BLOCKS
};

/* "flops"; "call_flops" is one call of it. */
extern const char *const blocks_name[BLOCKS_MEASURED];
/* Its function, with what it is in front. */
extern const char *const blocks_text[BLOCKS];
/* Fewer turns of a block than these are not worth a call. */
extern const int blocks_least[BLOCKS];
/* The blocks before this one are loops over arrays. */
#define BLOCKS_LOOPS BLOCK_RANDOM
/* How little a block is like what programs do: so much of what it counts is an error. Of several ways to count the
 * same, the one is taken that has the least of it. Then other options of the compiler, which change each block
 * differently, change the proxy as they change its program. bench/likeness finds the numbers. */
extern const double blocks_unlike[BLOCKS];
/* Writes the functions that are used, and what they need. `static void work_begin(void)` is always written: it makes
 * the memory that the blocks walk through. */
void blocks_write(FILE *f, const bool used[BLOCKS]);
/* Writes `static void work_spend(int what)`, which makes so many turns of each block: turns[what]. A few turns are left
 * for a later call, together with others. SCALE is what they are multiplied by. Without any turns in `turns`, it does
 * nothing. */
void blocks_write_spend(FILE *f, const double (*turns)[BLOCKS], size_t count);
/* Writes all of that: each block twice, with turns that are worth a call, and with too few. */
void blocks_write_all(FILE *f);
/* A checksum of that: what is measured of one version is not true of another. 0: no memory. */
uint32_t blocks_version(void);

#endif
