/* SPDX-License-Identifier: BSD-3-Clause
 * blame - for whose computation the ranks wait on an ideal network
 */
#include "insight/blame.h"

#include <stdlib.h>

#include "trace/base/budget.h"
#include "trace/base/index.h"

/* Stretches that are looked at. */
#define BLAME_STEPS (UINT64_C(1) << 24)
/* Ranks that wait for each other in a row are followed so far: deeper chains end with whom they have come to. */
#define DEPTH 4096

struct booking {
	struct blame *out;
	const struct trace *trace;
	const struct ideal *ideal;
	struct index parts, waits;
	uint32_t part_count, part_capacity, wait_count, wait_capacity;
	double *uneven; /* between two meets: which part of the waits is */
	double *owed;   /* between two meets, by rank: what others wait for it, because of uneven work */
	uint64_t steps;
	double booked, all; /* waits: looked at; of all ranks */
	bool failed;
};

struct wanted {
	const struct booking *b;
	uint32_t key[3];
};

static bool equal_part(const void *context, uint32_t number)
{
	const struct wanted *w = context;
	const struct blame_part *p = &w->b->out->parts[number];
	return p->behind == w->key[0] && p->site == w->key[1] && p->rank == w->key[2];
}

static bool equal_wait(const void *context, uint32_t number)
{
	const struct wanted *w = context;
	const struct blame_wait *p = &w->b->out->waits[number];
	return p->site == w->key[0] && p->wait_site == w->key[1];
}

static struct blame_part *part_at(struct booking *b, uint32_t behind, uint32_t site, uint32_t rank)
{
	const struct wanted w = {b, {behind, site, rank}};
	uint64_t hash = hash_bytes(w.key, sizeof w.key);
	uint32_t at = index_find(&b->parts, hash, equal_part, &w);
	if (at != INDEX_NONE)
		return &b->out->parts[at];
	if (!budget_grow(&b->out->parts, b->part_count, &b->part_capacity, sizeof *b->out->parts) ||
	    index_add(&b->parts, hash, b->part_count) != 0) {
		b->failed = true;
		return NULL;
	}
	struct blame_part *p = &b->out->parts[b->part_count++];
	*p = (struct blame_part){.behind = behind, .site = site, .rank = rank};
	return p;
}

static void add_wait(struct booking *b, uint32_t site, uint32_t wait_site, double ns)
{
	const struct wanted w = {b, {site, wait_site, 0}};
	uint64_t hash = hash_bytes(w.key, 2 * sizeof *w.key);
	uint32_t at = index_find(&b->waits, hash, equal_wait, &w);
	if (at == INDEX_NONE) {
		at = b->wait_count;
		if (!budget_grow(&b->out->waits, at, &b->wait_capacity, sizeof *b->out->waits) ||
		    index_add(&b->waits, hash, at) != 0) {
			b->failed = true;
			return;
		}
		b->out->waits[b->wait_count++] = (struct blame_wait){site, wait_site, 0};
	}
	b->out->waits[at].ns += ns;
}

/* The number of stretches of a rank that ended by then. */
static uint32_t stretches_by(const struct ideal_rank *r, uint64_t at)
{
	uint32_t low = 0, high = r->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (r->list[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A wait in calls of a site, behind so many meets: how much of it counts, and how much of that is because of uneven
 * work. */
struct wait {
	uint32_t site, meets;
	double factor, uneven;
};

/* The meets before a wait that ended then; one that ended with a meet was before it. */
static uint32_t meets_before(const struct ideal *i, uint64_t at)
{
	uint32_t low = 0, high = i->meet_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (i->meets[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Between two meets: what a rank computes, from its stretch *at on. */
static double computed_until(const struct ideal_rank *r, uint32_t *at, uint64_t end)
{
	double sum = 0;
	for (; *at < r->count && r->list[*at].end <= end; ++*at)
		sum += r->list[*at].from == IDEAL_NOBODY ? (double)r->list[*at].ns : 0;
	return sum;
}

/* Which part of the waits is uneven work, between any two meets. */
static int find_uneven(struct booking *b)
{
	const struct ideal *i = b->ideal;
	uint32_t *at = budget_calloc((size_t)i->size + 1, sizeof *at);
	b->uneven = budget_calloc((size_t)i->meet_count + 1, sizeof *b->uneven);
	for (uint32_t k = 0; at && b->uneven && k <= i->meet_count && budget_step(i->size); k++) {
		uint64_t begin = k ? i->meets[k - 1] : 0, end = k < i->meet_count ? i->meets[k] : i->run_ns;
		double most = 0, sum = 0, length = (double)(end - begin);
		for (uint32_t r = 0; r < i->size; r++) {
			double ns = computed_until(&i->ranks[r], &at[r], end);
			most = ns > most ? ns : most;
			sum += ns;
		}
		b->uneven[k] = length * i->size > sum ? (most * i->size - sum) / (length * i->size - sum) : 0;
	}
	b->owed = budget_calloc(((size_t)i->meet_count + 1) * i->size + 1, sizeof *b->owed);
	bool done = at && b->uneven && b->owed;
	budget_free(at);
	return done ? 0 : -1;
}

static void book(struct booking *b, const struct ideal_stretch *s, uint32_t rank, const struct wait *w, double ns)
{
	struct blame_part *p = part_at(b, s->behind, s->site, rank);
	if (!p)
		return;
	b->owed[(size_t)w->meets * b->ideal->size + rank] += w->factor * w->uneven * ns;
	p->turn_ns += w->factor * (1 - w->uneven) * ns;
	p->length_ns += w->factor * (1 - w->uneven) * ns * (double)s->ns; /* divided at the end */
	add_wait(b, s->site, w->site, w->factor * ns);
}

/* Books the time from `begin` to `end`, in which somebody waits for that rank. A chain of waits is followed at once, as
 * each has only one moment to go on from; the moments before are looked at in turn. */
static void follow(struct booking *b, uint32_t rank, uint64_t begin, uint64_t end, const struct wait *w, unsigned depth)
{
	const struct ideal_rank *r = &b->ideal->ranks[rank];
	if (begin >= r->ns || depth > DEPTH)
		return;
	for (uint32_t i = stretches_by(r, begin); i < r->count && !b->failed; i++) {
		const struct ideal_stretch *s = &r->list[i];
		uint64_t from = s->end - s->ns > begin ? s->end - s->ns : begin, to = s->end < end ? s->end : end;
		if (from >= end)
			break;
		b->steps++;
		if (s->from == IDEAL_NOBODY)
			book(b, s, rank, w, (double)(to - from));
		else
			follow(b, s->from, from, to, w, depth + 1);
	}
}

static void add_computation(struct booking *b, uint32_t rank)
{
	const struct ideal_rank *r = &b->ideal->ranks[rank];
	for (uint32_t i = 0; i < r->count && !b->failed; i++) {
		const struct ideal_stretch *s = &r->list[i];
		struct blame_part *p = s->from == IDEAL_NOBODY ? part_at(b, s->behind, s->site, rank) : NULL;
		if (p) {
			p->ns += s->ns;
			p->squares += (double)s->ns * (double)s->ns;
			p->visits++;
		} else {
			b->all += s->from == IDEAL_NOBODY ? 0 : (double)s->ns;
		}
	}
}

static void book_rank(struct booking *b, uint32_t rank, uint32_t last, const double *factor)
{
	const struct ideal_rank *r = &b->ideal->ranks[rank];
	for (uint32_t i = 0; i < r->count && !b->failed; i++) {
		const struct ideal_stretch *s = &r->list[i];
		if (s->from == IDEAL_NOBODY)
			continue;
		uint32_t meets = meets_before(b->ideal, s->end);
		const struct wait w = {s->site, meets, factor[s->site], b->uneven[meets]};
		b->booked += (double)s->ns;
		follow(b, s->from, s->end - s->ns, s->end, &w, 0);
	}
	const struct wait w = {r->count ? r->list[r->count - 1].site : 0, b->ideal->meet_count,
	                       factor[b->trace->site_count], b->uneven[b->ideal->meet_count]};
	if (r->ns < b->ideal->run_ns && r->count) {
		b->booked += (double)(b->ideal->run_ns - r->ns);
		follow(b, last, r->ns, b->ideal->run_ns, &w, 0);
	}
}

/* --- where a rank that is waited for has more to do than the others --- */

/* Between two meets. */
struct settling {
	struct booking *b;
	uint32_t *from, *to; /* by rank: its stretches */
	double *own, *all;   /* by site: what a rank computes before its calls; what all do */
	double *more;        /* by rank: how much more than the mean, over all sites where it is more */
};

static void sum_sites(const struct settling *x, uint32_t rank, double *sums, double sign)
{
	const struct ideal_rank *r = &x->b->ideal->ranks[rank];
	for (uint32_t i = x->from[rank]; i < x->to[rank]; i++)
		if (r->list[i].from == IDEAL_NOBODY)
			sums[r->list[i].site] = sign > 0 ? sums[r->list[i].site] + (double)r->list[i].ns : 0;
}

/* How much of what it computes before calls of a site is more than the mean. */
static double part_more(const struct settling *x, uint32_t site)
{
	double more = x->own[site] - x->all[site] / x->b->ideal->size;
	return more > 0 ? more / x->own[site] : 0;
}

/* What a rank computes more than the mean; ns > 0: books so much of waits on it, where it does. */
static double go_through(const struct settling *x, uint32_t rank, double ns)
{
	const struct ideal_rank *r = &x->b->ideal->ranks[rank];
	double sum = 0;
	sum_sites(x, rank, x->own, 1);
	for (uint32_t i = x->from[rank]; i < x->to[rank]; i++) {
		const struct ideal_stretch *s = &r->list[i];
		double part = s->from == IDEAL_NOBODY ? part_more(x, s->site) : 0;
		struct blame_part *p = part > 0 && ns > 0 ? part_at(x->b, s->behind, s->site, rank) : NULL;
		if (p)
			p->uneven_ns += ns * part * (double)s->ns / x->more[rank];
		sum += part * (double)s->ns;
	}
	sum_sites(x, rank, x->own, 0);
	return sum;
}

/* Who waits for a rank that has nothing more to do than others waits for what that one waited for before. */
static void settle_between(const struct settling *x, double *owed)
{
	const uint32_t size = x->b->ideal->size;
	double over = 0, room = 0;
	for (uint32_t r = 0; r < size; r++)
		sum_sites(x, r, x->all, 1);
	for (uint32_t r = 0; r < size; r++) {
		x->more[r] = go_through(x, r, 0);
		double most = x->more[r] * size;
		over += owed[r] > most ? owed[r] - most : 0;
		room += owed[r] < most ? most - owed[r] : 0;
	}
	for (uint32_t r = 0; r < size; r++) {
		double most = x->more[r] * size;
		if (owed[r] > most && room > 0)
			owed[r] = most;
		else if (owed[r] < most && room > 0)
			owed[r] += over * (most - owed[r]) / room;
		if (owed[r] > 0 && x->more[r] > 0)
			go_through(x, r, owed[r]);
	}
	for (uint32_t r = 0; r < size; r++)
		sum_sites(x, r, x->all, 0);
}

static int settle(struct booking *b)
{
	const struct ideal *i = b->ideal;
	struct settling x = {.b = b};
	x.from = budget_calloc((size_t)i->size + 1, sizeof *x.from);
	x.to = budget_calloc((size_t)i->size + 1, sizeof *x.to);
	x.own = budget_calloc((size_t)b->trace->site_count + 1, sizeof *x.own);
	x.all = budget_calloc((size_t)b->trace->site_count + 1, sizeof *x.all);
	x.more = budget_calloc((size_t)i->size + 1, sizeof *x.more);
	bool room = x.from && x.to && x.own && x.all && x.more;
	for (uint32_t k = 0; room && k <= i->meet_count && budget_step(i->size); k++) {
		uint64_t end = k < i->meet_count ? i->meets[k] : i->run_ns;
		for (uint32_t r = 0; r < i->size; r++) {
			x.from[r] = x.to[r];
			computed_until(&i->ranks[r], &x.to[r], end);
		}
		settle_between(&x, &b->owed[(size_t)k * i->size]);
	}
	budget_free(x.from);
	budget_free(x.to);
	budget_free(x.own);
	budget_free(x.all);
	budget_free(x.more);
	return room ? 0 : -1;
}

static int by_part(const void *a, const void *b)
{
	const struct blame_part *x = a, *y = b;
	if (x->behind != y->behind)
		return x->behind > y->behind ? 1 : -1;
	if (x->site != y->site)
		return x->site > y->site ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_time(const void *a, const void *b)
{
	const struct blame_wait *x = a, *y = b;
	if (x->site != y->site)
		return x->site > y->site ? 1 : -1;
	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1)
	                      : (x->wait_site > y->wait_site) - (x->wait_site < y->wait_site);
}

/* The ranks whose waits were looked at stand for the others. */
static void finish(struct booking *b)
{
	struct blame *out = b->out;
	double times = b->booked > 0 && b->all > b->booked ? b->all / b->booked : 1;
	out->part_count = b->part_count;
	out->wait_count = b->wait_count;
	for (size_t i = 0; i < out->part_count; i++) {
		struct blame_part *p = &out->parts[i];
		p->length_ns = p->turn_ns > 0 ? p->length_ns / p->turn_ns : 0;
		p->uneven_ns *= times;
		p->turn_ns *= times;
	}
	for (size_t i = 0; i < out->wait_count; i++)
		out->waits[i].ns *= times;
	if (out->part_count)
		qsort(out->parts, out->part_count, sizeof *out->parts, by_part);
	if (out->wait_count)
		qsort(out->waits, out->wait_count, sizeof *out->waits, by_time);
}

static uint32_t divisor(uint32_t a, uint32_t b)
{
	return b ? divisor(b, a % b) : a;
}

int blame_make(struct blame *out, const struct trace *t, const struct ideal *i, const double *factor,
               struct error *error)
{
	struct booking b = {.out = out, .trace = t, .ideal = i};
	uint32_t last = 0, size = i->size, stride;
	*out = (struct blame){.meets = i->meet_count};
	for (uint32_t r = 0; r < size; r++) {
		last = i->ranks[r].ns > i->ranks[last].ns ? r : last;
		b.all += (double)(i->run_ns - i->ranks[r].ns);
		add_computation(&b, r);
	}
	/* ranks far from each other first: by steps of about 0.618 of them, with which all are met */
	for (stride = (uint32_t)(0.618 * size) | 1; divisor(stride, size) > 1; stride++)
		;
	b.failed = b.failed || find_uneven(&b) != 0;
	for (uint32_t n = 0, r = 0; n < size && b.steps < BLAME_STEPS && !b.failed; n++, r = (r + stride) % size)
		book_rank(&b, r, last, factor);
	b.failed = b.failed || settle(&b) != 0;
	finish(&b);
	budget_free(b.uneven);
	budget_free(b.owed);
	index_free(&b.parts);
	index_free(&b.waits);
	return b.failed ? error_set(error, "no memory") : 0;
}

void blame_free(struct blame *b)
{
	budget_free(b->parts);
	budget_free(b->waits);
	*b = (struct blame){.parts = NULL};
}
