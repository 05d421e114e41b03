/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean
 */
#include "proxy/computation_level.h"

#define VISITS_MOST (1 << 16) /* that are gone through */
#define RANKS_MOST  16

/* How often each part comes in the first visits, in turn. */
static void count_in_turn(const struct computation *c, uint64_t visits, double *hits)
{
	for (uint32_t i = 0, turns = 0; visits > 0 && turns < VISITS_MOST; turns++) {
		uint64_t n = c->parts[i].times < visits ? c->parts[i].times : visits;
		hits[i] += (double)n;
		visits -= n;
		i = i + 1 < c->count ? i + 1 : c->again;
	}
}

/* The same where it is drawn: as work_drawn of the program does it. */
static void count_drawn(const struct computation *c, uint64_t visits, unsigned seen, uint32_t who, double *hits)
{
	double all = 0;
	for (uint32_t i = 0; i < c->count; i++)
		all += (double)c->parts[i].times;
	for (uint64_t v = 0; v < visits && v < VISITS_MOST; v++) {
		double place = 0, part = 0.5;
		uint32_t i = 0;
		for (uint64_t n = v; n > 0; n /= 2, part /= 2)
			place += (double)(n % 2) * part;
		place += 0.618034 * (double)(who + seen);
		place = (place - (double)(long)place) * all;
		for (; i + 1 < c->count && place >= (double)c->parts[i].times; i++)
			place -= (double)c->parts[i].times;
		hits[i]++;
	}
}

static double mean_of(const struct computation *c, const double *hits, int counter)
{
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		sum += hits[i] * (counter < 0 ? c->parts[i].ns : c->parts[i].counts[counter]);
		n += hits[i];
	}
	return n > 0 ? sum / n : 0;
}

void computation_scale(struct computation *c, double factor)
{
	for (uint32_t i = 0; i < c->count; i++) {
		c->parts[i].ns *= factor;
		c->parts[i].width *= factor;
		for (int counter = 0; counter < TRACE_COUNTERS; counter++)
			c->parts[i].counts[counter] *= factor;
	}
}

void computation_level(struct computation *c, uint64_t all, uint64_t left, unsigned seen, const uint32_t *ranks,
                       uint32_t count)
{
	double of_all[COMPUTATION_PARTS] = {0}, of_left[COMPUTATION_PARTS] = {0};
	if (c->count < 2)
		return;
	for (uint32_t i = 0; i < c->count && c->drawn; i++)
		of_all[i] = (double)c->parts[i].times;
	for (uint32_t r = 0; r < count && r < RANKS_MOST && c->drawn; r++)
		count_drawn(c, left, seen, c->together ? 0 : ranks[r], of_left);
	if (!c->drawn) {
		count_in_turn(c, all, of_all);
		count_in_turn(c, left, of_left);
	}
	for (int counter = -1; counter < TRACE_COUNTERS; counter++) {
		double is = mean_of(c, of_left, counter), wanted = mean_of(c, of_all, counter);
		for (uint32_t i = 0; i < c->count && is > 0; i++) {
			double *v = counter < 0 ? &c->parts[i].ns : &c->parts[i].counts[counter];
			*v *= wanted / is;
		}
	}
}
