/* SPDX-License-Identifier: BSD-3-Clause
 * computation_order - which times meet, of ranks that draw them and then wait for each other
 */
#include "proxy/computation_order.h"

#include <math.h>
#include <stdlib.h>

#include "proxy/computation_keys.h"
#include "trace/base/budget.h"
#include "trace/model/classes.h"
#include "trace/read/summary.h"

#define ROUNDS      8 /* as many again for each rank's own order: as work_place */
#define INDEPENDENT 128
#define IN_TURN     256
#define SEEDS       8 /* that are tried */
/* Ranks that wait for less than this part of what they would by chance are long together. */
#define TOGETHER 0.2
/* More of them would tell no more. */
#define RANKS_MOST  16
#define VISITS_MOST 256
#define SAMPLES     1024

/* ---- as the program does it (work_text) ---- */

static uint32_t mix_bits(uint32_t x)
{
	x = (x ^ x >> 16) * 2246822519u;
	x = (x ^ x >> 13) * 3266489917u;
	return x ^ x >> 16;
}

/* Where visit n is in the order. */
static uint32_t place_in_order(const struct computation *c, uint64_t visit, uint32_t rank, uint32_t size)
{
	const uint32_t all = c->visits;
	uint32_t n = (uint32_t)(visit % all);
	for (uint32_t k = 0; k < 2 * ROUNDS; k++) {
		uint32_t key = mix_bits(mix_bits(c->seed) + (k < ROUNDS ? k : ROUNDS * rank + k)),
			 other = (key % all + all - n) % all, last = n > other ? n : other;
		if (k == ROUNDS && c->apart == IN_TURN)
			return (uint32_t)((n + (uint64_t)rank * all / size) % all);
		if (mix_bits(key ^ last) % 256 < (k < ROUNDS ? INDEPENDENT : c->apart))
			n = other;
	}
	return n;
}

static double drawn_at(const struct computation *c, uint32_t place)
{
	uint32_t i = 0;
	for (; i + 1 < c->count && place >= c->parts[i].times; i++)
		place -= (uint32_t)c->parts[i].times;
	const struct computation_part *p = &c->parts[i];
	return p->ns + fmin(p->width, 2 * p->ns) * ((place + 0.5) / (double)p->times - 0.5);
}

static double in_turn_at(const struct computation *c, uint64_t visit)
{
	uint64_t first = 0, all = 0;
	uint32_t i = 0;
	for (uint32_t k = 0; k < c->count; k++) {
		first += k < c->again ? c->parts[k].times : 0;
		all += c->parts[k].times;
	}
	if (visit >= all)
		visit = first + (visit - all) % (all - first);
	for (; i + 1 < c->count && visit >= c->parts[i].times; i++)
		visit -= c->parts[i].times;
	return c->parts[i].ns;
}

double computation_at(const struct computation *c, uint64_t visit, uint32_t rank, uint32_t size)
{
	uint32_t place = place_in_order(c, visit, rank, size);
	return c->drawn ? drawn_at(c, place)
	                : in_turn_at(c, visit) * (1 + computation_width(c) * ((place + 0.5) / c->visits - 0.5));
}

/* ---- what was waited for ---- */

struct ordering {
	const struct trace *trace;
	const struct trace_site *from;
	const struct trace_edge *edge;
	struct computation_kinds *kinds;
	unsigned number;
	uint32_t ranks[RANKS_MOST], count, visits;
	struct rank_keys {
		uint32_t key[VISITS_MOST], count;
		double factor;
	} * keys;
};

/* How long ranks wait that have this histogram, each in an order of its own: ns of one rank and visit. */
static double independent_wait(const struct histogram *h, uint32_t ranks)
{
	double n = ranks < RANKS_MOST ? ranks : RANKS_MOST, longest = 0;
	for (int i = 0; i < 64; i++)
		longest += histogram_at(h, pow((i + 0.5) / 64, 1 / n)) / 64;
	return fmax(0, longest - histogram_mean(h));
}

/* Behind the edge, in a call that waits for all, in the mean: ns of one rank and visit. What ranks wait for that come
 * to the call from elsewhere is what they compute there for different times. Negative: it is not known. */
static double recorded_wait(const struct ordering *x)
{
	const struct trace *t = x->trace;
	const struct trace_edge *e = x->edge;
	const struct trace_site *s = &t->sites[e->to];
	if (trace_schema(t, s)->mpi->waits != WAITS_FOR_ALL || s->communicate.count == 0 || e->compute.count == 0)
		return -1;
	double sum = (double)s->communicate.sum - (double)s->communicate.count * summary_without_wait(s);
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_edge *other = &t->sites[i] == x->from ? NULL : trace_edge_to(&t->sites[i], e->to);
		if (other && other->compute.count)
			sum -= (double)other->compute.count * independent_wait(&other->compute, t->size);
	}
	return fmax(0, sum / (double)e->compute.count);
}

/* What a rank may have computed in a visit of its own, by the class: ns. */
static double class_time(const struct ordering *x, uint32_t rank, uint32_t visit, uint32_t sample)
{
	const struct rank_keys *k = &x->keys[rank];
	const struct trace_class *c = computation_class(x->edge, k->key[visit % k->count]);
	double place = mix_bits(mix_bits(sample) + rank) * 0x1p-32;
	return histogram_at(c ? &c->compute : &x->edge->compute, place) * k->factor;
}

/* How long they would have waited, if each had its classes when it had them, and other times in them by chance. */
static double classes_wait(const struct ordering *x)
{
	double sum = 0;
	for (uint32_t n = 0; n < SAMPLES; n++) {
		double longest = 0, own = 0;
		for (uint32_t i = 0; i < x->count; i++) {
			double ns = class_time(x, i, n, n);
			longest = fmax(longest, ns);
			own += ns / x->count;
		}
		sum += (longest - own) / SAMPLES;
	}
	return sum;
}

/* On a busy machine ranks wait for longer than for each other, also if they are long together. */
static double wanted_wait(double recorded, double classes)
{
	return recorded < TOGETHER * classes ? 0 : fmin(recorded, classes);
}

/* ---- what comes nearest to it ---- */

static int find_ranks(struct ordering *x, struct pattern *patterns)
{
	uint64_t all = 0, n = 0;
	for (uint32_t r = 0; r < x->trace->size; r++)
		all += x->kinds->kind[r] != RANK_ANY;
	uint64_t step = all > RANKS_MOST ? all / RANKS_MOST : 1;
	for (uint32_t r = 0; r < x->trace->size && x->count < RANKS_MOST; r++) {
		if (x->kinds->kind[r] == RANK_ANY || n++ % step != 0)
			continue;
		struct rank_keys *k = &x->keys[x->count];
		k->count = (uint32_t)computation_keys(x->trace, x->edge, r, patterns, k->key, VISITS_MOST);
		k->factor = 1 + (double)computation_rank_parts(x->edge, r) / CLASS_PARTS;
		if (k->count == 0)
			return -1;
		x->ranks[x->count++] = r;
	}
	return 0;
}

static void set_order(struct ordering *x, unsigned apart, unsigned seed)
{
	for (uint32_t i = 0; i < x->kinds->count; i++) {
		x->kinds->each[i].apart = apart;
		x->kinds->each[i].seed = SEEDS * x->number + seed;
	}
}

/* ns of one rank and visit. */
static double drawn_wait(struct ordering *x, unsigned apart, unsigned seed)
{
	double sum = 0;
	set_order(x, apart, seed);
	for (uint32_t v = 0; v < x->visits; v++) {
		double longest = 0, own = 0;
		for (uint32_t i = 0; i < x->count; i++) {
			uint32_t r = x->ranks[i];
			double ns = computation_at(&x->kinds->each[x->kinds->kind[r]], v, r, x->trace->size);
			longest = fmax(longest, ns);
			own += ns / x->count;
		}
		sum += longest - own;
	}
	return sum / x->visits;
}

static void find_order(struct ordering *x, double wanted)
{
	static const unsigned aparts[] = {INDEPENDENT, 64, 32, 16, 8, 4, 2, 0, IN_TURN};
	unsigned best = 0, best_seed = 0;
	double least = INFINITY;
	for (unsigned i = 0; i < sizeof aparts / sizeof *aparts; i++)
		for (unsigned seed = 0; seed < SEEDS && budget_step((uint64_t)x->visits * x->count * ROUNDS); seed++) {
			double off = fabs(drawn_wait(x, aparts[i], seed) - wanted);
			if (off < least) {
				least = off;
				best = aparts[i];
				best_seed = seed;
			}
		}
	set_order(x, best, best_seed);
}

/* Are there different orders? */
static bool has_order(const struct computation_kinds *kinds)
{
	bool any = false;
	for (uint32_t i = 0; i < kinds->count; i++)
		any |= kinds->each[i].drawn || computation_width(&kinds->each[i]) > 0;
	return any;
}

int computation_order(struct computation_kinds *kinds, const struct trace *t, const struct trace_site *from,
                      const struct trace_edge *e, struct pattern *patterns, unsigned edge)
{
	struct ordering x = {.trace = t, .from = from, .edge = e, .kinds = kinds, .number = edge};
	set_order(&x, INDEPENDENT, 0);
	double recorded = has_order(kinds) ? recorded_wait(&x) : -1;
	if (recorded < 0)
		return 0;
	x.keys = malloc(RANKS_MOST * sizeof *x.keys);
	int rv = x.keys ? find_ranks(&x, patterns) : -1;
	x.visits = kinds->each[0].visits < VISITS_MOST ? kinds->each[0].visits : VISITS_MOST;
	if (rv == 0 && x.count > 1)
		find_order(&x, wanted_wait(recorded, classes_wait(&x)));
	free(x.keys);
	return rv;
}
