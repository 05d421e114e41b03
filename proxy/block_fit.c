/* SPDX-License-Identifier: BSD-3-Clause
 * block_fit - how many turns of each block count what a computation counted (Siesta, section 2.4)
 */
#include "proxy/block_fit.h"

#include <math.h>
#include <string.h>

#include "proxy/nnls.h"

/* What is less than this part of the largest count of a computation is not told from nothing: a block that makes one
 * miss in ten thousand instructions is not left out because there was none. */
#define LEAST 1e-4
/* Between two calls, there is nothing but the tracer. */
#define NOTHING 2000
/* Which blocks there are decides what their calls count, and the other way round. */
#define ROUNDS 4

/* New pages take the kernel's time, which other counters do not see. */
static bool counts_pages(const struct block_fit *f)
{
	for (unsigned i = 0; i < f->count; i++)
		if (strstr(f->measured[i]->name, "FAULTS"))
			return true;
	return false;
}

unsigned block_fit_begin(struct block_fit *f, const struct trace *t, const struct calibration *calibration)
{
	*f = (struct block_fit){0};
	for (uint32_t i = 0; calibration && i < t->counter_count; i++) {
		const char *name = (const char *)t->strings.items[t->counters[i].name].bytes;
		const struct calibration_counter *c = calibration_find(calibration, name);
		if (!c || t->counters[i].ranks == 0)
			continue;
		f->counter[f->count] = i;
		f->measured[f->count++] = c;
	}
	f->pages = counts_pages(f);
	return f->count;
}

/* What the tracer itself adds between two calls, which it adds to those of the proxy, too: what is between the calls
 * that have least between them, if that is next to nothing. */
void block_fit_nothing(struct block_fit *f, const double counts[TRACE_COUNTERS])
{
	double most = 0, before = 0;
	for (unsigned i = 0; i < f->count; i++) {
		most = fmax(most, counts[f->counter[i]]);
		before = fmax(before, f->nothing[i]);
	}
	if (most > NOTHING || (before > 0 && most >= before))
		return;
	for (unsigned i = 0; i < f->count; i++)
		f->nothing[i] = counts[f->counter[i]];
}

/* What calls of the blocks count, besides their turns. */
static double calls_of(const struct block_fit *f, unsigned i, const double turns[BLOCKS])
{
	const double *measured = f->measured[i]->counts;
	double sum = measured[BLOCK_CALL];
	for (int k = 0; k < BLOCKS; k++)
		sum += fmax(0, measured[BLOCK_CALL_OF + k] - blocks_least[k] * measured[k]) *
		       fmin(1, turns[k] / blocks_least[k]);
	return sum;
}

/* Without what the proxy takes to come to its blocks. */
static double work_of(const struct block_fit *f, unsigned i, const double counts[TRACE_COUNTERS],
                      const double turns[BLOCKS])
{
	return fmax(0, counts[f->counter[i]] - f->nothing[i] - calls_of(f, i, turns));
}

/* turns: those whose calls are left out on entry. */
static int fit_once(const struct block_fit *f, const double counts[TRACE_COUNTERS], double turns[BLOCKS])
{
	double a[TRACE_COUNTERS * BLOCKS], b[TRACE_COUNTERS], target[TRACE_COUNTERS], most = 0;
	for (unsigned i = 0; i < f->count; i++) {
		target[i] = work_of(f, i, counts, turns);
		most = fmax(most, target[i]);
	}
	memset(turns, 0, BLOCKS * sizeof *turns);
	if (most <= 0)
		return 0;
	for (unsigned i = 0; i < f->count; i++) {
		double weight = 1 / fmax(target[i], LEAST * most);
		b[i] = target[i] * weight;
		for (unsigned k = 0; k < BLOCKS; k++)
			a[i * BLOCKS + k] = k == BLOCK_PAGES && !f->pages ? 0 : f->measured[i]->counts[k] * weight;
	}
	return nnls_solve(a, f->count, BLOCKS, b, turns);
}

int block_fit_turns(const struct block_fit *f, const double counts[TRACE_COUNTERS], double turns[BLOCKS])
{
	int rv = 0;
	memset(turns, 0, BLOCKS * sizeof *turns);
	for (int i = 0; i < ROUNDS && rv == 0; i++)
		rv = fit_once(f, counts, turns);
	return rv;
}
