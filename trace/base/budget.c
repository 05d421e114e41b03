/* SPDX-License-Identifier: BSD-3-Clause
 * budget - what it may cost to read something that anybody may have made
 */
#include "trace/base/budget.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>

#define TICK         (UINT64_C(1) << 20)
#define BYTES_A_STEP 64

_Thread_local struct budget *budget_now;

static double raised = 1;

void budget_raise(double times)
{
	raised = times;
}

static uint64_t times_raised(uint64_t limit)
{
	double wanted = (double)limit * raised;
	return raised == 1 ? limit : wanted < 0x1p62 ? (uint64_t)wanted : UINT64_C(1) << 62;
}

void budget_begin(struct budget *b)
{
	b->memory = times_raised(b->memory);
	b->steps = times_raised(b->steps);
	b->outer = budget_now;
	budget_now = b;
}

void budget_end(struct budget *b)
{
	budget_now = b->outer;
}

void budget_file(uint64_t size)
{
	if (budget_now && budget_now->grows && size < (UINT64_C(1) << 62) / BUDGET_FACTOR &&
	    budget_now->memory < UINT64_C(1) << 62)
		budget_now->memory += BUDGET_FACTOR * size;
}

uint64_t budget_narrow(uint64_t steps)
{
	struct budget *b = budget_now;
	uint64_t before = b ? b->steps : 0;
	steps = times_raised(steps);
	if (b && b->steps - b->done > steps)
		b->steps = b->done + steps;
	return before;
}

void budget_widen(uint64_t before)
{
	if (budget_now && !budget_now->spent) /* else the limit that was reached is told */
		budget_now->steps = before;
}

bool budget_explain(const char *name, struct error *error)
{
	const struct budget *b = budget_now;
	if (!b || !b->spent)
		return false;
	if (!error)
		return true;
	error->text[0] = '\0';
	if (b->spent[0] == 'm')
		error_set(error,
		          "%s: reading it takes more than %" PRIu64 " MiB of memory, which is the limit; if you trust "
		          "who made it, --limit 10 allows ten times as much",
		          name, b->memory >> 20);
	else
		error_set(error,
		          "%s: reading it takes more than %" PRIu64
		          " steps (an event, or a rank, is one), which is the limit; if that is worth the time, "
		          "--limit 10 allows ten times as many",
		          name, b->steps);
	return true;
}

bool budget_charge(uint64_t steps)
{
	struct budget *b = budget_now;
	uint64_t before = b->done;
	if (b->spent)
		return false;
	if (steps > b->steps - b->done) {
		b->spent = "steps";
		return false;
	}
	b->done += steps;
	if (b->tick && b->done / TICK != before / TICK)
		b->tick(b->context, b->done);
	return true;
}

bool budget_expect(uint64_t steps)
{
	struct budget *b = budget_now;
	if (b && !b->spent && steps > b->steps - b->done)
		b->spent = "steps";
	return !b || !b->spent;
}

bool budget_room(uint64_t bytes)
{
	struct budget *b = budget_now;
	if (b && !b->spent && (bytes > b->memory || b->used > b->memory - bytes))
		b->spent = "memory";
	return !b || !b->spent;
}

/* Returns p. */
static void *taken(void *p)
{
	if (p && budget_now)
		budget_now->used += malloc_usable_size(p);
	return p;
}

static void given_back(void *p)
{
	if (!p || !budget_now)
		return;
	uint64_t n = malloc_usable_size(p);
	budget_now->used -= n < budget_now->used ? n : budget_now->used;
}

void *budget_malloc(size_t n)
{
	return budget_room(n) && budget_step(n / BYTES_A_STEP) ? taken(malloc(n)) : NULL;
}

void *budget_calloc(size_t n, size_t size)
{
	uint64_t all;
	if (__builtin_mul_overflow(n, size, &all))
		return NULL;
	return budget_room(all) && budget_step(all / BYTES_A_STEP) ? taken(calloc(n, size)) : NULL;
}

/* What is copied is there twice for a moment. */
void *budget_realloc(void *p, size_t n)
{
	if (!budget_now)
		return realloc(p, n);
	if (!budget_room(n) || !budget_step(n / BYTES_A_STEP))
		return NULL;
	given_back(p);
	void *more = realloc(p, n);
	taken(more ? more : p);
	return more;
}

void budget_free(void *p)
{
	given_back(p);
	free(p);
}
