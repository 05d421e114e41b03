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
/* How much it matters how long a computation took, against one counter. So it decides where counters do not: a division
 * is one instruction, but takes as long as twenty. With more of it, a trace from a busy machine misleads. */
#define TIME 0.01
/* Where more of the instructions are branches that are not predicted, there are no loops over arrays. */
#define IRREGULAR 0.01
/* What counts less than this part of each counter is left out: adding it up takes longer. */
#define LITTLE 0.01
/* In a ns, a counter that says what is computed counts at least so much. */
#define TOLD_LEAST 1e-3
/* Between two calls, there is nothing but the tracer. */
#define NOTHING 2000
/* Which blocks there are decides what their calls count, and the other way round. */
#define ROUNDS 4
/* A block of which a computation would make fewer turns than this is not in it. */
#define TURNS_LEAST 0.05
/* How much hints matter once blocks are chosen: so that counters are not off for them. */
#define CHOSEN 0.05

static bool is_of_pages(const struct block_fit *f, unsigned i)
{
	return strstr(f->measured[i]->name, "FAULTS") != NULL;
}

/* New pages take the kernel's time, which other counters do not see. */
static bool counts_pages(const struct block_fit *f)
{
	for (unsigned i = 0; i < f->count; i++)
		if (is_of_pages(f, i))
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
	f->ns = calibration ? calibration->ns : NULL;
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

/* Blocks of which there are too few turns for a call each time: the program adds them up. */
static unsigned count_few(const double turns[BLOCKS])
{
	unsigned few = 0;
	for (int k = 0; k < BLOCKS; k++)
		few += turns[k] > 0 && turns[k] < blocks_least[k];
	return few;
}

double block_fit_calls(const double measured[BLOCKS_MEASURED], const double turns[BLOCKS])
{
	double sum = measured[BLOCK_CALL] * fmax(1, count_few(turns));
	for (int k = 0; k < BLOCKS; k++)
		sum += fmax(0, measured[BLOCK_CALL_OF + k] - blocks_least[k] * measured[k]) *
		       fmin(1, turns[k] / blocks_least[k]);
	return sum;
}

/* Without what the proxy takes to come to its blocks. */
static double work_of(const struct block_fit *f, unsigned i, const double counts[TRACE_COUNTERS],
                      const double turns[BLOCKS])
{
	return fmax(0, counts[f->counter[i]] - f->nothing[i] - block_fit_calls(f->measured[i]->counts, turns));
}

static double count_of(const struct block_fit *f, const double counts[TRACE_COUNTERS], const char *name)
{
	for (unsigned i = 0; i < f->count; i++)
		if (!strcmp(f->measured[i]->name, name))
			return counts[f->counter[i]];
	return 0;
}

static bool is_irregular(const struct block_fit *f, const double counts[TRACE_COUNTERS])
{
	return count_of(f, counts, "PAPI_BR_MSP") > IRREGULAR * count_of(f, counts, "PAPI_TOT_INS");
}

/* Whoever computes counts more than one thing in a microsecond, of which pages say nothing. Where all counters are
 * below that, time is to be fitted: floating-point operations of a sort, or page faults of anything. */
static bool says_little(const struct block_fit *f, const double counts[TRACE_COUNTERS], double ns)
{
	bool little = f->ns && ns > 0;
	for (unsigned i = 0; i < f->count; i++)
		little &= counts[f->counter[i]] < ns * TOLD_LEAST || is_of_pages(f, i);
	return little;
}

/* Of errors, by counter: relative ones are compared. All 0: nothing is counted. most: so much is, at least. */
static void find_weights(const struct block_fit *f, const double target[TRACE_COUNTERS], double most,
                         double weights[TRACE_COUNTERS])
{
	for (unsigned i = 0; i < f->count; i++)
		most = fmax(most, target[i]);
	for (unsigned i = 0; i < f->count; i++)
		weights[i] = most > 0 ? 1 / fmax(target[i], LEAST * most) : 0;
}

/* hints: how much it matters how unlike programs blocks are, and how long they take. turns: those whose calls are left
 * out on entry. */
static int fit_once(const struct block_fit *f, const double counts[TRACE_COUNTERS], double ns, double hints,
                    const bool allowed[BLOCKS], double turns[BLOCKS])
{
	double a[(TRACE_COUNTERS + 2) * BLOCKS] = {0}, b[TRACE_COUNTERS + 2] = {0}, *less = &a[f->count * BLOCKS];
	double *time = less + BLOCKS, work_ns = f->ns && ns > 0 ? ns - block_fit_calls(f->ns, turns) : 0;
	double target[TRACE_COUNTERS], weights[TRACE_COUNTERS];
	for (unsigned i = 0; i < f->count; i++)
		target[i] = work_of(f, i, counts, turns);
	bool little = says_little(f, counts, ns);
	double weight = little ? 1 : hints * TIME;
	find_weights(f, target, little ? ns * TOLD_LEAST : 0, weights);
	memset(turns, 0, BLOCKS * sizeof *turns);
	for (unsigned i = 0; little && i < f->count; i++)
		weights[i] = is_of_pages(f, i) ? weights[i] : 0;
	if (weights[0] <= 0 && !little)
		return 0;
	for (unsigned i = 0; i < f->count; i++) {
		b[i] = target[i] * weights[i];
		for (unsigned k = 0; k < BLOCKS; k++) {
			a[i * BLOCKS + k] = allowed[k] ? f->measured[i]->counts[k] * weights[i] : 0;
			less[k] += hints * (f->unlike ? f->unlike : blocks_unlike)[k] / f->count * a[i * BLOCKS + k];
		}
	}
	b[f->count + 1] = work_ns > 0 ? weight : 0;
	for (unsigned k = 0; k < BLOCKS && work_ns > 0; k++)
		time[k] = allowed[k] ? weight * f->ns[k] / work_ns : 0;
	return nnls_solve(a, f->count + 2, BLOCKS, b, turns);
}

/* Does a block count next to nothing of each counter, in too few turns for a call? */
static bool is_negligible(const struct block_fit *f, const double counts[TRACE_COUNTERS], const double turns[BLOCKS],
                          int block)
{
	bool negligible = turns[block] < blocks_least[block];
	for (unsigned i = 0; i < f->count; i++)
		negligible &= turns[block] * f->measured[i]->counts[block] <= LITTLE * counts[f->counter[i]];
	return negligible;
}

static int fit_rounds(const struct block_fit *f, const double counts[TRACE_COUNTERS], double ns, double hints,
                      const bool allowed[BLOCKS], double turns[BLOCKS])
{
	int rv = 0;
	memset(turns, 0, BLOCKS * sizeof *turns);
	for (int i = 0; i < ROUNDS && rv == 0; i++)
		rv = fit_once(f, counts, ns, hints, allowed, turns);
	return rv;
}

int block_fit_turns(const struct block_fit *f, const double counts[TRACE_COUNTERS], double ns, double turns[BLOCKS])
{
	bool allowed[BLOCKS], irregular = is_irregular(f, counts);
	bool little = says_little(f, counts, ns);
	for (int k = 0; k < BLOCKS; k++)
		allowed[k] = little             ? k == BLOCK_COMPARES || (k == BLOCK_PAGES && f->pages)
		             : k < BLOCKS_LOOPS ? !irregular
		                                : k != BLOCK_PAGES || f->pages;
	int rv = fit_rounds(f, counts, ns, 1, allowed, turns);
	for (int k = 0; k < BLOCKS; k++)
		allowed[k] &= turns[k] <= 0 || turns[k] >= TURNS_LEAST;
	if (rv == 0)
		rv = fit_rounds(f, counts, ns, 1, allowed, turns);
	for (int k = 0; k < BLOCKS; k++)
		allowed[k] &= turns[k] > 0;
	if (rv == 0)
		rv = fit_rounds(f, counts, ns, CHOSEN, allowed, turns);
	for (int k = 0; k < BLOCKS; k++)
		turns[k] = is_negligible(f, counts, turns, k) ? 0 : turns[k];
	return rv;
}
