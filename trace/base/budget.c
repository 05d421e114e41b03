/* SPDX-License-Identifier: BSD-3-Clause
 * budget - what it may cost to read something that anybody may have made
 */
#include "trace/base/budget.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define TICK         (UINT64_C(1) << 20)
#define BYTES_A_STEP 64

_Thread_local struct budget *budget_now __attribute__((tls_model("initial-exec")));

static double raised = 1;

void budget_raise(double times)
{
	raised = times;
}

double budget_raised(void)
{
	return raised;
}

static uint64_t times_raised(uint64_t limit)
{
	double wanted = (double)limit * raised;
	return raised == 1 ? limit : wanted < 0x1p62 ? (uint64_t)wanted : UINT64_C(1) << 62;
}

/* Is it malloc's own malloc_usable_size? A program may bring a malloc alone, before whose blocks there may be anything,
 * or no memory at all. */
static bool sizes_are_true(void)
{
	Dl_info by, of;
	return dladdr((void *)(uintptr_t)malloc, &by) && dladdr((void *)(uintptr_t)malloc_usable_size, &of) &&
	       by.dli_fbase == of.dli_fbase;
}

void budget_begin(struct budget *b)
{
	b->sized = sizes_are_true();
	b->memory = times_raised(b->memory);
	b->steps = times_raised(b->steps);
	b->outer = budget_now;
	budget_now = b;
}

void budget_end(struct budget *b)
{
	budget_now = b->outer;
	for (unsigned i = 0; i < BUDGET_SIZES; i++)
		while (b->spare[i]) {
			void *next = *(void **)b->spare[i];
			free(b->spare[i]);
			b->spare[i] = next;
		}
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

/* The smallest pieces, and how much larger each next one is. */
#define SPARE_LEAST 24
#define SPARE_STEP  16

/* What a piece that is kept begins with. */
struct spare {
	void *before;
	size_t size; /* as malloc has it */
};

/* Returns p. */
static void *taken(void *p)
{
	if (p && budget_now && budget_now->sized)
		budget_now->used += malloc_usable_size(p);
	return p;
}

/* A piece that was kept, of at least n bytes, or NULL. */
static inline void *spare_take(size_t n)
{
	struct budget *b = budget_now;
	size_t i = n <= SPARE_LEAST ? 0 : (n - SPARE_LEAST + SPARE_STEP - 1) / SPARE_STEP;
	if (!b || i >= BUDGET_SIZES || !b->spare[i])
		return NULL;
	struct spare *p = b->spare[i];
	b->spare[i] = p->before;
	b->spares[i]--;
	b->used += p->size;
	return p;
}

/* Returns what is to be freed: p, or NULL, and it was kept. */
static inline void *given_back(void *p)
{
	struct budget *b = budget_now;
	if (!b || !b->sized)
		return p;
	uint64_t n = malloc_usable_size(p);
	size_t i = (n - SPARE_LEAST) / SPARE_STEP;
	b->used -= n < b->used ? n : b->used;
	if (n < SPARE_LEAST || i >= BUDGET_SIZES || b->spares[i] == BUDGET_SPARES)
		return p;
	*(struct spare *)p = (struct spare){b->spare[i], n};
	b->spare[i] = p;
	b->spares[i]++;
	return NULL;
}

/* May n bytes be allocated? Most are few, and cost no step. */
static inline bool may_allocate(size_t n)
{
	const struct budget *b = budget_now;
	if (b && n < BYTES_A_STEP)
		return !b->spent && b->used + n <= b->memory ? true : budget_room(n);
	return budget_room(n) && budget_step(n / BYTES_A_STEP);
}

void *budget_malloc(size_t n)
{
	if (!may_allocate(n))
		return NULL;
	void *p = spare_take(n);
	return p ? p : taken(malloc(n));
}

void *budget_calloc(size_t n, size_t size)
{
	uint64_t all;
	if (__builtin_mul_overflow(n, size, &all) || !may_allocate(all))
		return NULL;
	void *p = spare_take(all);
	return p ? memset(p, 0, all) : taken(calloc(n, size));
}

/* What is copied is there twice for a moment. */
void *budget_realloc(void *p, size_t n)
{
	struct budget *b = budget_now;
	if (!b)
		return realloc(p, n);
	if (!budget_room(n) || !budget_step(n / BYTES_A_STEP))
		return NULL;
	uint64_t before = p && b->sized ? malloc_usable_size(p) : 0;
	void *more = p ? NULL : spare_take(n);
	if (more)
		return more;
	more = realloc(p, n);
	if (more) {
		b->used -= before < b->used ? before : b->used;
		taken(more);
	}
	return more;
}

void budget_free_some(void *p)
{
	free(given_back(p));
}

#define GROWS_LESS 8192

bool budget_grow(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
	if (count < *capacity)
		return true;
	uint32_t more = *capacity < 8 ? 8 : *capacity + (*capacity < GROWS_LESS ? *capacity : *capacity / 4);
	void **at = array, *p = more > *capacity ? budget_realloc(*at, more * size) : NULL;
	if (!p)
		return false;
	*at = p;
	*capacity = more;
	return true;
}
