/* SPDX-License-Identifier: BSD-3-Clause
 * cause - why a run took longer than its computation
 */
#include "insight/cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "insight/blame.h"
#include "insight/cause_inside.h"
#include "insight/ideal.h"
#include "trace/base/budget.h"
#include "trace/model/away.h"
#include "trace/model/stream.h"
#include "trace/read/wait_site.h"

/* What one rank does is its own if the others do less than this part of it there. */
#define OWN 0.1
/* Then it is not just slow: elsewhere it computes no more than this part of so many times what the others do. */
#define ELSEWHERE 0.25
/* Waits are because of uneven work over the run if so much of them is explained by what ranks compute over the run. */
#define STATIC 0.5
/* If ranks take turns, the others wait for all that is computed, and so for long visits in proportion to their length.
 * Where those that are waited for are longer than that, by this, only the longest ones are waited for. */
#define LONGER 1.12
/* But where the visits of a rank differ by less than this part of what is waited for, none of them is a long one. */
#define STEADY 0.1
/* Where ranks compute before calls that others do not make, it is theirs if so many of the ranks are waited for. */
#define FEW 0.5
/* Between two meets a rank comes to a call once; from so many times on, what differs may be chance: less than so many
 * standard deviations of the sum. */
#define ONCE   1.5
#define MANY   4
#define CHANCE 3.0
/* Sends wait for their receives where this part of their time is a wait, of so many ns a call. */
#define SEND_WAITS 0.5
#define SEND_LEAST 200000
/* Ranks whose work is uneven each time take turns if no more than this many of them compute at a time, over the run. */
#define ONE_BUSY 1.15
/* Two sets of ranks are one if this part of the larger one is in both. */
#define SAME 0.5

const char *cause_name(enum cause_kind kind)
{
	static const char *const names[CAUSES] = {
		"imbalance",       "serial",     "serialised", "imbalance-moving", "small-messages", "transfer",
		"synchronisation", "busy-cores", "io",         "other-calls"};
	return names[kind];
}

/* --- the list --- */

static bool is_of_ranks(enum cause_kind kind)
{
	return kind == CAUSE_IMBALANCE || kind == CAUSE_SERIAL;
}

static bool is_one_cause(const struct cause *a, const struct cause *b)
{
	uint32_t both = 0;
	if (a->kind != b->kind || !is_of_ranks(a->kind))
		return a->kind == b->kind;
	for (uint32_t i = 0, k = 0; i < a->rank_count && k < b->rank_count;) {
		both += a->ranks[i] == b->ranks[k];
		if (a->ranks[i] <= b->ranks[k])
			i++;
		else
			k++;
	}
	return both > SAME * (a->rank_count > b->rank_count ? a->rank_count : b->rank_count) ||
	       (both == 1 && a->rank_count == 1 && b->rank_count == 1);
}

void cause_add(struct cause_finder *f, struct cause *c)
{
	struct causes *out = f->out;
	size_t at = 0;
	c->place_ns = c->ns;
	while (at < out->count && at + 1 < CAUSES_MOST && !is_one_cause(&out->list[at], c))
		at++;
	if (at == CAUSES_MOST - 1 && at < out->count && !is_one_cause(&out->list[at], c)) {
		budget_free(c->ranks); /* too many to tell */
		return;
	}
	if (at == out->count) {
		out->list[out->count++] = *c;
		return;
	}
	struct cause *to = &out->list[at];
	double ns = to->ns + c->ns, busy = to->busy * to->ns + c->busy * c->ns;
	if (c->place_ns > to->place_ns) {
		struct cause other = *to;
		*to = *c;
		*c = other;
	}
	to->ns = ns;
	to->busy = ns > 0 ? busy / ns : 0;
	budget_free(c->ranks);
}

/* --- waits --- */

/* What ranks computed before the calls of a site. */
struct cause_place {
	const struct blame_part *parts; /* of this site, of any call behind */
	size_t count;
	double *ns, *uneven; /* by rank: what it computes; what is waited for that, because it is uneven */
	double sum, squares, most, uneven_ns, turn_ns, length_ns;
	double uneven_squares; /* of what is waited for each of the ranks */
	double visits, chance; /* of a rank between two meets; variance of what it computes in all visits */
	double deviation;      /* of one visit of a rank */
	uint32_t ranks;        /* that make the calls */
	uint32_t longest;      /* rank */
	uint32_t behind;
};

static void sum_place(struct cause_place *p, uint32_t size, uint32_t meets)
{
	double behind_ns = -1, turn = 0;
	memset(p->ns, 0, size * sizeof *p->ns);
	memset(p->uneven, 0, size * sizeof *p->uneven);
	for (size_t i = 0; i < p->count; i++) {
		const struct blame_part *part = &p->parts[i];
		p->ns[part->rank] += (double)part->ns;
		p->uneven[part->rank] += part->uneven_ns;
		p->sum += (double)part->ns;
		p->squares += part->squares;
		p->uneven_ns += part->uneven_ns;
		p->turn_ns += part->turn_ns;
		turn += part->turn_ns * part->length_ns;
		p->visits += (double)part->visits;
		p->chance +=
			part->visits ? part->squares - (double)part->ns * (double)part->ns / (double)part->visits : 0;
		if (part->uneven_ns + part->turn_ns > behind_ns) {
			behind_ns = part->uneven_ns + part->turn_ns;
			p->behind = part->behind;
		}
	}
	p->length_ns = p->turn_ns > 0 ? turn / p->turn_ns : 0;
	for (uint32_t r = 0; r < size; r++) {
		p->longest = p->ns[r] > p->ns[p->longest] ? r : p->longest;
		p->ranks += p->ns[r] > 0;
		p->uneven_squares += p->uneven[r] * p->uneven[r];
	}
	p->most = p->ns[p->longest];
	p->deviation = p->visits > 0 && p->chance > 0 ? sqrt(p->chance / p->visits) : 0;
	p->visits /= p->ranks ? p->ranks * (meets + 1.0) : 1;
	p->chance /= p->ranks ? p->ranks : 1;
}

/* Those who compute longer there: nearer to the most than to the mean. */
static int name_ranks(struct cause *c, const struct cause_place *p, uint32_t size)
{
	double mean = p->sum / size, longer = 0;
	c->ranks = budget_malloc((size_t)size * sizeof *c->ranks);
	for (uint32_t r = 0; c->ranks && r < size; r++)
		if (p->ns[r] > (mean + p->most) / 2) {
			c->ranks[c->rank_count++] = r;
			longer += p->ns[r];
		}
	if (c->rank_count) {
		c->ranks_ns = longer / c->rank_count;
		c->others_ns = size > c->rank_count ? (p->sum - longer) / (size - c->rank_count) : 0;
	}
	return c->ranks ? 0 : -1;
}

/* Is it always the same ranks that compute longer? Of those who make the calls; or nobody else makes them. */
static bool is_static(const struct cause_place *p, uint32_t size)
{
	if (p->visits > MANY && p->ranks == size && p->most - p->sum / size < CHANCE * sqrt(p->chance))
		return false;
	if (p->ranks * p->most - p->sum >= STATIC * p->uneven_ns)
		return true;
	return p->ranks < size && p->uneven_ns * p->uneven_ns <= 1.01 * FEW * size * p->uneven_squares;
}

/* Does the rank do there what no other does, and is not slow everywhere? */
static bool is_alone(const struct cause_finder *f, const struct cause_place *p, const struct cause *c)
{
	const uint32_t size = f->trace->size;
	if (c->rank_count != 1 || c->others_ns > OWN * c->ranks_ns)
		return false;
	double own = f->computed[p->longest] - p->most,
	       others = f->computed_all - f->computed[p->longest] - (p->sum - p->most);
	return own * (size - 1) * c->others_ns <= ELSEWHERE * others * c->ranks_ns;
}

static bool is_named(const struct cause *c, uint32_t rank)
{
	uint32_t i = 0;
	while (i < c->rank_count && c->ranks[i] != rank)
		i++;
	return c->rank_count == 0 || i < c->rank_count;
}

/* How much of what is computed there was not on a processor. */
static void find_away(const struct cause_finder *f, const struct cause_place *p, struct cause *c)
{
	double ns = 0, away = 0, queued = 0;
	int64_t ms;
	for (size_t i = 0; f->trace->away_count && i < p->count; i++) {
		const struct blame_part *part = &p->parts[i];
		if (!is_named(c, part->rank))
			continue;
		ns += (double)part->ns;
		away += 1e3 * (double)away_between(f->trace, part->behind, part->site, part->rank);
	}
	for (uint32_t i = 0; i < c->rank_count; i++)
		queued += rankmap_get(&f->trace->queued, c->ranks[i], &ms) ? 1e6 * (double)ms : 0;
	c->away = ns > 0 ? fmin(1, away / ns) : 0;
	c->queued_ns = c->rank_count ? queued / c->rank_count : 0;
}

static uint32_t wait_of(const struct blame *b, uint32_t site)
{
	for (size_t i = 0; i < b->wait_count; i++)
		if (b->waits[i].site == site)
			return b->waits[i].wait_site;
	return CAUSE_NOWHERE;
}

/* The waits for what is computed before calls of one site. */
static int book_place(struct cause_finder *f, const struct blame *b, struct cause_place *p)
{
	const uint32_t size = f->trace->size;
	const struct cause place = {
		.behind = p->behind, .site = p->parts->site, .wait_site = wait_of(b, p->parts->site), .busy = f->busy};
	struct cause c = place;
	if (p->uneven_ns > 0) {
		bool same = is_static(p, size);
		c.kind = same                                   ? CAUSE_IMBALANCE
		         : f->out->played && f->busy < ONE_BUSY ? CAUSE_SERIALISED
		                                                : CAUSE_MOVING;
		c.ns = p->uneven_ns;
		if (same && name_ranks(&c, p, size) != 0)
			return -1;
		if (same && is_alone(f, p, &c))
			c.kind = CAUSE_SERIAL;
		find_away(f, p, &c);
		cause_add(f, &c);
	}
	if (p->turn_ns > 0) {
		bool turn = p->length_ns * p->sum <= LONGER * p->squares || (p->visits < ONCE && b->meets > 0) ||
		            (f->out->played && p->deviation < STEADY * p->length_ns);
		c = place;
		c.kind = turn ? CAUSE_SERIALISED : CAUSE_MOVING;
		c.ns = p->turn_ns;
		find_away(f, p, &c);
		cause_add(f, &c);
	}
	return 0;
}

static int parts_by_site(const void *a, const void *b)
{
	const struct blame_part *x = a, *y = b;
	if (x->site != y->site)
		return x->site > y->site ? 1 : -1;
	if (x->behind != y->behind)
		return x->behind > y->behind ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

int cause_places(struct cause_finder *f, struct blame *b)
{
	int rv = 0;
	struct cause_place p;
	double *ns = budget_calloc(2 * (size_t)f->trace->size + 1, sizeof *ns);
	if (b->part_count)
		qsort(b->parts, b->part_count, sizeof *b->parts, parts_by_site);
	for (size_t i = 0, end; ns && rv == 0 && i < b->part_count && budget_step(f->trace->size); i = end) {
		for (end = i; end < b->part_count && b->parts[end].site == b->parts[i].site; end++)
			;
		p = (struct cause_place){
			.parts = &b->parts[i], .count = end - i, .ns = ns, .uneven = ns + f->trace->size};
		sum_place(&p, f->trace->size, b->meets);
		rv = book_place(f, b, &p);
	}
	budget_free(ns);
	return ns ? rv : -1;
}

void cause_computed(struct cause_finder *f, const struct blame *b)
{
	for (uint32_t r = 0; r < f->trace->size; r++)
		f->computed[r] = 0;
	f->computed_all = 0;
	for (size_t i = 0; i < b->part_count; i++) {
		f->computed[b->parts[i].rank] += (double)b->parts[i].ns;
		f->computed_all += (double)b->parts[i].ns;
	}
}

/* --- a trace that is played --- */

/* Sites whose sends take so long that they wait for their receives. */
static bool find_synchronous(const struct trace *t, const struct site_activity *activity, bool *synchronous)
{
	bool any = false;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		enum wait_kind kind;
		uint64_t ns = wait_site(t, s, &activity->sites[i], &kind);
		synchronous[i] = kind == WAIT_LATE_RECEIVER && s->communicate.count &&
		                 (double)ns > SEND_WAITS * (double)s->communicate.sum &&
		                 ns / s->communicate.count > SEND_LEAST &&
		                 trace_schema(t, s)->mpi->class == MPI_CLASS_POINT_TO_POINT;
		any = any || synchronous[i];
	}
	return any;
}

int causes_ideal(struct ideal *i, const struct trace *t, const struct site_activity *activity, struct error *error)
{
	bool *synchronous = budget_calloc((size_t)t->site_count + 1, sizeof *synchronous);
	int rv = synchronous ? 0 : error_set(error, "no memory");
	if (rv == 0 && find_synchronous(t, activity, synchronous))
		rv = ideal_make(i, t, synchronous, error);
	if (rv == 0 && !i->known) { /* or they did not wait */
		ideal_free(i);
		rv = ideal_make(i, t, NULL, error);
	}
	budget_free(synchronous);
	return rv;
}

/* What of a site's time may have been a wait: above what a call takes at least. */
static double most_wait(const struct trace_site *s)
{
	uint64_t least = s->communicate.count ? s->communicate.min : 0;
	least = least > WAIT_LATENCY ? WAIT_LATENCY : least;
	double rest = (double)s->communicate.sum - (double)least * (double)s->communicate.count;
	return rest > 0 ? rest : 0;
}

static bool calls(const struct trace *t, uint32_t site, enum mpi_number function)
{
	return trace_schema(t, &t->sites[site])->mpi->base == function;
}

/* MPI_Probe waits for the message that the receive behind it then has at once. On the ideal network that one waits. */
static double probed(const struct trace *t)
{
	double ns = 0;
	for (uint32_t s = 0; s < t->site_count; s++)
		ns += calls(t, s, FN_MPI_Probe) ? most_wait(&t->sites[s]) : 0;
	return ns;
}

/* Which part of the ideal network's waits is counted, by site; f->waited: what that is. */
static void find_factors(struct cause_finder *f, const struct ideal *i, double *factor)
{
	const struct trace *t = f->trace;
	double ends = 0, probes = probed(t), used = 0;
	for (uint32_t s = 0; s < t->site_count; s++) {
		double ns = (double)i->wait_ns[s], most = most_wait(&t->sites[s]);
		double more = ns > most && calls(t, s, FN_MPI_Recv) ? fmin(ns - most, probes - used) : 0;
		factor[s] = ns > most ? (most + more) / ns : 1;
		f->waited[s] = fmin(ns, most);
		used += more;
	}
	for (uint32_t s = 0; used > 0 && s < t->site_count; s++)
		if (calls(t, s, FN_MPI_Probe))
			f->waited[s] = most_wait(&t->sites[s]) * used / probes;
	for (uint32_t r = 0; r < i->size; r++)
		ends += (double)(i->run_ns - i->ranks[r].ns);
	factor[t->site_count] = ends > f->ends_ns ? f->ends_ns / ends : 1;
	f->late_ns = ends < f->ends_ns ? f->ends_ns - ends : 0;
}

static int play(struct cause_finder *f)
{
	const struct trace *t = f->trace;
	struct ideal ideal = {.known = false};
	struct blame blame = {.parts = NULL};
	double *factor = budget_calloc((size_t)t->site_count + 1, sizeof *factor);
	int rv = factor ? causes_ideal(&ideal, t, &f->activity, f->error) : error_set(f->error, "no memory");
	if (rv == 0 && ideal.known) {
		f->out->played = true;
		f->out->ideal_ns = (double)ideal.run_ns;
		find_factors(f, &ideal, factor);
		f->busy = ideal.run_ns ? f->computed_all / (double)ideal.run_ns : 0;
		rv = blame_make(&blame, t, &ideal, factor, f->error);
		cause_computed(f, &blame);
		if (rv == 0 && cause_places(f, &blame) != 0)
			rv = error_set(f->error, "no memory");
	}
	blame_free(&blame);
	ideal_free(&ideal);
	budget_free(factor);
	return rv;
}

/* --- the whole --- */

static int by_cost(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : (int)x->kind - (int)y->kind;
}

static void begin(struct cause_finder *f)
{
	const struct trace_total *compute = &f->trace->total[TOTAL_COMPUTE], *elapsed = &f->trace->total[TOTAL_ELAPSED];
	f->out->known = compute->count && compute->max && elapsed->max;
	f->out->all_ns = (double)elapsed->max * (double)elapsed->count;
	f->ends_ns = f->out->all_ns - (double)elapsed->sum;
	f->computed_all = (double)compute->sum;
}

int causes_find(struct causes *c, const struct trace *t, struct error *error)
{
	return causes_find_within(c, t, IDEAL_EVENTS, error);
}

int causes_find_within(struct causes *out, const struct trace *t, uint64_t events, struct error *error)
{
	struct cause_finder f = {.out = out, .trace = t, .error = error};
	*out = (struct causes){.known = false};
	begin(&f);
	if (!out->known)
		return 0;
	out->list = budget_calloc(CAUSES_MOST, sizeof *out->list);
	f.waited = budget_calloc((size_t)t->site_count + 1, sizeof *f.waited);
	f.computed = budget_calloc((size_t)t->size + 1, sizeof *f.computed);
	int rv = out->list && f.waited && f.computed && site_activity_make(&f.activity, t) == 0
	                 ? (uint64_t)rankmap_sum(&t->events) <= events ? play(&f) : 0
	                 : error_set(error, "no memory");
	if (rv == 0 && !out->played)
		rv = cause_estimate(&f);
	if (rv == 0)
		cause_sites(&f);
	for (size_t i = 0; i < out->count; i++) {
		out->lost_ns += out->list[i].ns;
		out->list[i].share = out->list[i].ns / out->all_ns;
	}
	if (out->count)
		qsort(out->list, out->count, sizeof *out->list, by_cost);
	site_activity_free(&f.activity);
	budget_free(f.waited);
	budget_free(f.computed);
	return rv;
}

struct cause_split causes_split(const struct causes *c, const struct trace *t)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE];
	const double run = (double)t->total[TOTAL_ELAPSED].max, most = fmin((double)compute->max, run),
		     mean = fmin((double)compute->sum / (double)compute->count, most),
		     ideal = fmin(fmax(c->ideal_ns, most), run);
	return (struct cause_split){mean / run, (most - mean) / run, (ideal - most) / run, (run - ideal) / run};
}

void causes_free(struct causes *c)
{
	for (size_t i = 0; c->list && i < c->count; i++)
		budget_free(c->list[i].ranks);
	budget_free(c->list);
	*c = (struct causes){.known = false};
}
