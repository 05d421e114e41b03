/* SPDX-License-Identifier: BSD-3-Clause
 * computation_level - a computation of which fewer visits are left keeps its mean, and what it has now and then
 */
#include "proxy/computation_level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VISITS_MOST (1 << 16) /* that are gone through */
#define NEARLY      0.25
#define TINY        1e-9 /* of a visit: nothing */

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

static double *part_value(struct computation_part *p, int counter)
{
	return counter < 0 ? &p->ns : &p->counts[counter];
}

static double mean_of(struct computation *c, const double *hits, int counter)
{
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		sum += hits[i] * *part_value(&c->parts[i], counter);
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

/* ---- what is drawn, for so many visits ---- */

/* A part and the next one are one. */
static void join_next(struct computation *c, double *hits, uint32_t i)
{
	struct computation_part *a = &c->parts[i], *b = &c->parts[i + 1];
	double sum = hits[i] + hits[i + 1], part = sum > 0 ? hits[i + 1] / sum : 0;
	a->width = b->ns - a->ns + (a->width + b->width) / 2;
	for (int counter = -1; counter < TRACE_COUNTERS; counter++)
		*part_value(a, counter) += part * (*part_value(b, counter) - *part_value(a, counter));
	hits[i] = sum;
	c->count--;
	memmove(b, b + 1, (c->count - i - 1) * sizeof *b);
	memmove(&hits[i + 1], &hits[i + 2], (c->count - i - 1) * sizeof *hits);
}

/* Those become one that come least often. */
static void join_rare(struct computation *c, double *hits, uint32_t most)
{
	while (c->count > most) {
		uint32_t least = 0;
		for (uint32_t i = 1; i + 1 < c->count; i++)
			if (hits[i] + hits[i + 1] < hits[least] + hits[least + 1])
				least = i;
		join_next(c, hits, least);
	}
}

/* Adds n visits of a part, from a place in it to another one (0 to 1): whole visits, or some of one of which there is
 * so much already. */
static void add_visits(struct computation *to, const struct computation_part *p, double from, double until, double n,
                       double already)
{
	struct computation_part piece = *p, *last;
	piece.times = n < 1 ? 1 : (uint64_t)(n + 0.5);
	piece.ns += p->width * ((from + until) / 2 - 0.5);
	piece.width = n < 1 ? 0 : p->width * (until - from);
	if (already <= 0) {
		to->parts[to->count++] = piece;
		return;
	}
	last = &to->parts[to->count - 1];
	for (int counter = -1; counter < TRACE_COUNTERS; counter++) {
		double *v = part_value(last, counter);
		*v = (*v * already + *part_value(&piece, counter) * n) / (already + n);
	}
}

/* As the parts follow each other, each visit is the mean of what lies in its share of them. So the sum is the same, and
 * what ranks wait for what is long now and then. */
static void thin_parts(struct computation *c, double *hits, uint64_t left)
{
	struct computation to = *c;
	double all = 0, already = 0;
	to.count = 0;
	join_rare(c, hits, COMPUTATION_PARTS / 2);
	for (uint32_t i = 0; i < c->count; i++)
		all += hits[i];
	for (uint32_t i = 0; i < c->count; i++) {
		double share = hits[i] / all * (double)left, done = 0;
		while (share - done > TINY) {
			double rest = share - done,
			       n = already > 0 || rest < 1 - TINY ? fmin(1 - already, rest) : floor(rest + TINY);
			add_visits(&to, &c->parts[i], done / share, (done + n) / share, n, already);
			already = already + n > 1 - TINY ? 0 : already + n;
			done += n;
		}
	}
	*c = to;
}

/* ---- all of it ---- */

static int compare_parts(const void *a, const void *b)
{
	const struct computation_part *x = a, *y = b;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

/* As often as each class comes in turn, but in no order. */
static void forget_order(struct computation *c, const double *hits)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t k = 0;
		while (k < kept && c->parts[k].key != c->parts[i].key)
			k++;
		uint64_t before = k < kept ? c->parts[k].times : 0;
		if (k == kept)
			c->parts[kept++] = c->parts[i];
		c->parts[k].times = before + (uint64_t)hits[i];
	}
	c->drawn = true;
	c->count = kept;
	c->again = 0;
	qsort(c->parts, c->count, sizeof *c->parts, compare_parts);
}

static uint64_t turn_length(const struct computation *c)
{
	uint64_t length = 0;
	for (uint32_t i = 0; i < c->count; i++)
		length += c->parts[i].times;
	return length;
}

static void count_parts(const struct computation *c, uint64_t visits, double *hits)
{
	memset(hits, 0, COMPUTATION_PARTS * sizeof *hits);
	for (uint32_t i = 0; i < c->count && c->drawn; i++)
		hits[i] = (double)c->parts[i].times;
	if (!c->drawn)
		count_in_turn(c, visits, hits);
}

/* Are the first visits, in turn, like all: does each class come about as often as is its share? */
static bool stands_for_all(const struct computation *c, uint64_t all, uint64_t left)
{
	double hits[COMPUTATION_PARTS], first[COMPUTATION_PARTS];
	bool good = true;
	if (c->count < 2 || left == all || left >= turn_length(c))
		return true;
	count_parts(c, all, hits);
	count_parts(c, left, first);
	for (uint32_t i = 0; i < c->count; i++) {
		double is = 0, share = 0;
		for (uint32_t k = 0; k < c->count; k++) {
			is += c->parts[k].key == c->parts[i].key ? first[k] : 0;
			share += c->parts[k].key == c->parts[i].key ? hits[k] / (double)all * (double)left : 0;
		}
		good &= fabs(is - share) <= NEARLY * share;
	}
	return good;
}

static void level(struct computation *c, uint64_t all, uint64_t left, bool drawn)
{
	double hits[COMPUTATION_PARTS], wanted[TRACE_COUNTERS + 1];
	c->visits = (uint32_t)fmax(1, fmin((double)left, COMPUTATION_VISITS));
	if (c->count < 2 || left == 0 || (!drawn && left == all))
		return;
	count_parts(c, all, hits);
	for (int counter = -1; counter < TRACE_COUNTERS; counter++)
		wanted[counter + 1] = mean_of(c, hits, counter);
	if (drawn && !c->drawn) {
		forget_order(c, hits);
		count_parts(c, all, hits);
	}
	if (drawn)
		thin_parts(c, hits, c->visits);
	count_parts(c, left, hits);
	for (int counter = -1; counter < TRACE_COUNTERS; counter++) {
		double is = mean_of(c, hits, counter);
		for (uint32_t i = 0; i < c->count && is > 0; i++)
			*part_value(&c->parts[i], counter) *= wanted[counter + 1] / is;
	}
	c->visits = drawn ? (uint32_t)turn_length(c) : c->visits;
}

void computation_level(struct computation_kinds *kinds, uint64_t all, uint64_t left)
{
	bool drawn = false;
	for (uint32_t i = 0; i < kinds->count; i++)
		drawn |= kinds->each[i].drawn || !stands_for_all(&kinds->each[i], all, left);
	for (uint32_t i = 0; i < kinds->count; i++)
		level(&kinds->each[i], all, left, drawn);
}
