/* SPDX-License-Identifier: BSD-3-Clause
 * budget - what it may cost to read something that anybody may have made: memory, and steps
 *
 * A few bytes can stand for 2^40 events, 2^31 ranks, or an array of 2^24 elements; that is what a trace file is for. So
 * whoever reads one begins a budget first. Until it ends, it is charged, in this thread,
 *
 *     memory    by budget_malloc and its kin, in whose place trace/ never calls malloc where a file decides how much;
 *               freed memory is given back
 *     steps     by budget_step, in every loop whose length a file decides; one is about 10 to 100 ns. Memory costs
 *               steps, too: one for each 64 bytes
 *
 * Once something has run out, it stays so: nothing is allocated any more, and no loop goes on; everything ends as it
 * does without memory, and whoever began the budget finds the reason in `spent`. A loop that cannot fail ends early:
 * nothing that was read after that may be believed.
 *
 * Without a budget there is no limit, and it costs one load and one compare: that is how the tracer merges at the end
 * of a job.
 */
#ifndef SPOOR_BUDGET_H
#define SPOOR_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

/* What reading a file may take: any file so much, and for each of its bytes BUDGET_FACTOR more. BUDGET_STEPS are those
 * of a command that looks at all events: some minutes; of them, decoding may take BUDGET_READ, and BUDGET_EACH for each
 * byte: some seconds. */
#define BUDGET_MEMORY (UINT64_C(1) << 27)
#define BUDGET_FACTOR 64
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* which makes everything many times slower */
#define BUDGET_STEPS (UINT64_C(1) << 21)
#define BUDGET_READ  (UINT64_C(1) << 20)
#else
#define BUDGET_STEPS (UINT64_C(1) << 32)
#define BUDGET_READ  (UINT64_C(1) << 27)
#endif
#define BUDGET_EACH 256

/* Freed pieces of memory that are kept for the next one of their size: in a trace of many sites millions come and go.
 * Sizes are 24, 40, 56 ... bytes, which are those of glibc's malloc. */
#ifdef __SANITIZE_ADDRESS__ /* it would not see what is used after it was freed */
#define BUDGET_SIZES 0
#else
#define BUDGET_SIZES 8
#endif
#define BUDGET_SPARES 64

struct budget {
	uint64_t memory, steps; /* limits: bytes at any time, steps in all */
	bool grows;             /* with the sizes of the files that are opened: budget_file */
	uint64_t used, done;
	const char *spent; /* "memory" or "steps": what has run out; NULL: nothing */
	/* Called about every 2^20 steps, with those that are done. May be NULL. */
	void (*tick)(void *context, uint64_t done);
	void *context;
	struct budget *outer;          /* that of before, which goes on afterwards */
	bool sized;                    /* how large pieces are is known; else `used` says nothing */
	void *spare[BUDGET_SIZES + 1]; /* by size: the last one kept, a struct spare (budget.c) */
	unsigned spares[BUDGET_SIZES + 1];
};

/* The budget of somebody who only decodes `size` bytes. */
#define BUDGET_OF(size)                                                         \
	{                                                                       \
		.memory = BUDGET_MEMORY / 4 + BUDGET_FACTOR * (uint64_t)(size), \
		.steps = BUDGET_READ + BUDGET_EACH * (uint64_t)(size)           \
	}

/* All limits of budgets that begin from now on, in this process, are so many times what they say: `spoor --limit`. */
void budget_raise(double times);
double budget_raised(void);
/* From now on, in this thread. Budgets end in reverse order. */
void budget_begin(struct budget *b);
void budget_end(struct budget *b);
/* A file of so many bytes (that it really has on the disk) is opened. */
void budget_file(uint64_t size);
/* At most so many steps from now on, until budget_widen is called with what this returns. */
uint64_t budget_narrow(uint64_t steps);
void budget_widen(uint64_t before);
/* Has something run out? Then error says what, whatever it said before: name is of what was read; error may be NULL.
 * False: nothing has, or there is no budget. */
bool budget_explain(const char *name, struct error *error);

/* So many steps; false: they have run out. */
extern _Thread_local struct budget *budget_now __attribute__((tls_model("initial-exec")));
bool budget_charge(uint64_t steps);
static inline bool budget_step(uint64_t steps)
{
	return __builtin_expect(!budget_now, 1) || budget_charge(steps);
}
/* Will so many be needed? False, and they have run out, if there are fewer left. */
bool budget_expect(uint64_t steps);
/* May so much more memory be allocated? False, and it has run out, if not. */
bool budget_room(uint64_t bytes);

/* malloc and so on; memory may be given to free as well, and the other way round, but what is freed by budget_free is
 * not counted any more. */
void *budget_malloc(size_t n);
void *budget_calloc(size_t n, size_t size);
void *budget_realloc(void *p, size_t n);
void budget_free_some(void *p); /* not NULL */
static inline void budget_free(void *p)
{
	if (p)
		budget_free_some(p);
}
/* Room for one more element in an array of `count`; array is the address of the pointer to it. False: no memory, and
 * all is as before. A large one grows by a quarter: while ranks merge, what it has too much is missing elsewhere. */
bool budget_grow(void *array, uint32_t count, uint32_t *capacity, size_t size);

#endif
