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

/* Without what the proxy takes to come to its blocks. */
static double work_of(const struct block_fit *f, unsigned i, const double counts[TRACE_COUNTERS])
{
	return fmax(0, counts[f->counter[i]] - f->measured[i]->counts[BLOCK_CALL]);
}

int block_fit_turns(const struct block_fit *f, const double counts[TRACE_COUNTERS], double turns[BLOCKS])
{
	double a[TRACE_COUNTERS * BLOCKS], b[TRACE_COUNTERS], most = 0;
	memset(turns, 0, BLOCKS * sizeof *turns);
	for (unsigned i = 0; i < f->count; i++)
		most = fmax(most, work_of(f, i, counts));
	if (most <= 0)
		return 0;
	for (unsigned i = 0; i < f->count; i++) {
		double target = work_of(f, i, counts), weight = 1 / fmax(target, LEAST * most);
		b[i] = target * weight;
		for (unsigned k = 0; k < BLOCKS; k++)
			a[i * BLOCKS + k] = k == BLOCK_PAGES && !f->pages ? 0 : f->measured[i]->counts[k] * weight;
	}
	return nnls_solve(a, f->count, BLOCKS, b, turns);
}
