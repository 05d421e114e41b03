/* SPDX-License-Identifier: BSD-3-Clause
 * model - a law by which a figure grows with the number of ranks
 */
#include "insight/model.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POWERS 10
#define LOGS   3
#define BASES  (POWERS * LOGS) /* base i: model_powers[i / LOGS], log2(p)^(i % LOGS); base 0 is the constant */

const double model_powers[POWERS] = {0, 0.25, 1 / 3.0, 0.5, 2 / 3.0, 0.75, 1, 1.5, 2, 3};
static const char *const power_names[POWERS] = {"",      "p^1/4", "p^1/3", "p^1/2", "p^2/3",
                                                "p^3/4", "p",     "p^3/2", "p^2",   "p^3"};

/* How unusual a base is in programs, 0 .. 7/4: by which they may be told apart where noise hides the rest. Trees, grids
 * and exchanges of all with all have the first ones. */
static const double unusual[POWERS][LOGS] = {
	{0, 0.3, 1},        /* 1 */
	{1.75, 1.75, 1.75}, /* p^1/4 */
	{1, 1.75, 1.75},    /* p^1/3 */
	{0, 1, 1.75},       /* p^1/2 */
	{1, 1.75, 1.75},    /* p^2/3 */
	{1.75, 1.75, 1.75}, /* p^3/4 */
	{0, 0.6, 1.75},     /* p */
	{0.4, 1.75, 1.75},  /* p^3/2 */
	{0.4, 1, 1.75},     /* p^2 */
	{1, 1.75, 1.75},    /* p^3 */
};

/* These and `unusual` were chosen by what they do with ten of the laws of tests/unit/model.c and a noise of 5 %: lower
 * ones find terms in the noise, higher ones miss terms that are there. Its other laws had no part in that. In the unit
 * of n * log(error^2). */
#define EACH_TERM 8
#define UNUSUAL   14
#define DOUBT     4    /* so much worse is as good */
#define MATTERS   0.1  /* so much must two laws differ at four times the largest size */
#define MEETS     1e-9 /* relative; counts are whole numbers below 2^53 */
#define NOTHING   1e-18
#define DRAWS     200
#define TAIL      0.05

/* The runs by size. */
struct points {
	size_t n, runs;
	double p[MODEL_SIZES], mean[MODEL_SIZES], times[MODEL_SIZES]; /* times: runs of a size */
	double within;                   /* the sum of squares, relative, of runs to the mean of their size */
	long double weight[MODEL_SIZES]; /* sqrt(times) / mean */
	double base[BASES][MODEL_SIZES]; /* values */
};

/* Which bases a law has, in ascending order. */
struct hypothesis {
	unsigned count, base[MODEL_TERMS];
};

struct fitted {
	struct hypothesis h;
	double factor[MODEL_TERMS];
	double press, worst; /* the error as in model_score; the largest relative residual */
};

static double base_value(unsigned base, double p)
{
	const double x = log2(p), power = model_powers[base / LOGS];
	return pow(p, power) * (base % LOGS == 0 ? 1 : base % LOGS == 1 ? x : x * x);
}

/* --- runs by size --- */

static int numbers_by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static size_t size_at(const struct points *d, double p)
{
	size_t i = 0;
	while (i < d->n && d->p[i] != p)
		i++;
	return i;
}

/* Different sizes in ascending order; the largest ones if they are too many. */
static void find_sizes(struct points *d, const double *p, size_t n)
{
	double least = 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i] <= least || size_at(d, p[i]) < d->n)
			continue;
		if (d->n == MODEL_SIZES) {
			least = d->p[0];
			memmove(d->p, d->p + 1, --d->n * sizeof *d->p);
			if (p[i] <= least)
				continue;
		}
		d->p[d->n++] = p[i];
		qsort(d->p, d->n, sizeof *d->p, numbers_by_value);
	}
}

/* So that a size at which the figure is nearly 0 does not decide all. */
static double relative_to(const struct points *d, size_t i)
{
	double all = 0;
	for (size_t k = 0; k < d->n; k++)
		all += d->mean[k] / (double)d->n;
	return d->mean[i] > all / 100 ? d->mean[i] : all > 0 ? all / 100 : 1;
}

static void points_weigh(struct points *d, const double *p, const double *y, size_t n)
{
	d->within = 0;
	memset(d->mean, 0, sizeof d->mean);
	for (size_t i = 0; i < n; i++) {
		size_t at = size_at(d, p[i]);
		if (at < d->n)
			d->mean[at] += y[i] / d->times[at];
	}
	for (size_t i = 0; i < d->n; i++)
		d->weight[i] = sqrtl((long double)d->times[i]) / (long double)relative_to(d, i);
	for (size_t i = 0; i < n; i++) {
		size_t at = size_at(d, p[i]);
		if (at < d->n)
			d->within += pow((y[i] - d->mean[at]) / relative_to(d, at), 2);
	}
}

static void points_make(struct points *d, const double *p, const double *y, size_t n)
{
	memset(d, 0, sizeof *d);
	find_sizes(d, p, n);
	for (size_t i = 0; i < n; i++) {
		size_t at = size_at(d, p[i]);
		if (at < d->n) {
			d->times[at]++;
			d->runs++;
		}
	}
	points_weigh(d, p, y, n);
	for (unsigned b = 0; b < BASES; b++)
		for (size_t i = 0; i < d->n; i++)
			d->base[b][i] = base_value(b, d->p[i]);
}

/* --- one hypothesis --- */

/* Columns become orthonormal (modified Gram-Schmidt); r: upper triangle. False: they depend on each other. */
static bool orthogonalise(const struct points *d, const struct hypothesis *h, long double q[][MODEL_SIZES],
                          long double r[][MODEL_TERMS])
{
	for (unsigned k = 0; k < h->count; k++) {
		long double norm = 0, before = 0;
		for (size_t i = 0; i < d->n; i++) {
			q[k][i] = (long double)d->base[h->base[k]][i] * d->weight[i];
			before += q[k][i] * q[k][i];
		}
		for (unsigned j = 0; j < k; j++) {
			r[j][k] = 0;
			for (size_t i = 0; i < d->n; i++)
				r[j][k] += q[j][i] * q[k][i];
			for (size_t i = 0; i < d->n; i++)
				q[k][i] -= r[j][k] * q[j][i];
		}
		for (size_t i = 0; i < d->n; i++)
			norm += q[k][i] * q[k][i];
		if (norm <= before * 1e-14L)
			return false;
		r[k][k] = sqrtl(norm);
		for (size_t i = 0; i < d->n; i++)
			q[k][i] /= r[k][k];
	}
	return true;
}

/* What is left of a size is divided by what the size itself does not decide: its error if it had not been there. */
static void find_errors(const struct points *d, struct fitted *f, long double q[][MODEL_SIZES], const long double *rest)
{
	long double press = (long double)d->within;
	f->worst = 0;
	for (size_t i = 0; i < d->n; i++) {
		long double decides = 0;
		for (unsigned k = 0; k < f->h.count; k++)
			decides += q[k][i] * q[k][i];
		long double free = 1 - decides, relative = fabsl(rest[i]) / sqrtl((long double)d->times[i]);
		press += free > 1e-12L ? rest[i] * rest[i] / (free * free) : rest[i] * rest[i] > 0 ? 1e12L : 0;
		f->worst = (double)relative > f->worst ? (double)relative : f->worst;
	}
	f->press = (double)press;
}

static bool fit(const struct points *d, const struct hypothesis *h, struct fitted *f)
{
	long double q[MODEL_TERMS][MODEL_SIZES], r[MODEL_TERMS][MODEL_TERMS], along[MODEL_TERMS], rest[MODEL_SIZES];
	f->h = *h;
	if (!orthogonalise(d, h, q, r))
		return false;
	for (size_t i = 0; i < d->n; i++)
		rest[i] = (long double)d->mean[i] * d->weight[i];
	for (unsigned k = 0; k < h->count; k++) {
		along[k] = 0;
		for (size_t i = 0; i < d->n; i++)
			along[k] += q[k][i] * rest[i];
		for (size_t i = 0; i < d->n; i++)
			rest[i] -= along[k] * q[k][i];
	}
	for (unsigned k = h->count; k-- > 0;) {
		for (unsigned j = k + 1; j < h->count; j++)
			along[k] -= r[k][j] * along[j];
		along[k] /= r[k][k];
		f->factor[k] = (double)along[k];
	}
	find_errors(d, f, q, rest);
	return true;
}

/* --- all of them --- */

/* By the error and the terms alone: what the data say. */
static double data_score(const struct points *d, const struct fitted *f)
{
	double error = f->press / (double)d->runs;
	return (double)d->runs * log(error > NOTHING ? error : NOTHING) + EACH_TERM * (double)(f->h.count - 1);
}

static double model_score(const struct points *d, const struct fitted *f)
{
	double more = 0;
	for (unsigned k = 0; k < f->h.count; k++)
		more += unusual[f->h.base[k] / LOGS][f->h.base[k] % LOGS];
	return data_score(d, f) + UNUSUAL * more;
}

static bool all_positive(const struct fitted *f)
{
	for (unsigned k = 0; k < f->h.count; k++)
		if (f->factor[k] < 0 || (f->factor[k] == 0 && f->h.count > 1))
			return false;
	return true;
}

/* Calls `take` for each hypothesis of `count` bases. */
static void each_of(unsigned count, void (*take)(void *context, const struct hypothesis *h), void *context)
{
	struct hypothesis h = {.count = count};
	for (h.base[0] = 0; h.base[0] < BASES; h.base[0]++) {
		if (count == 1)
			take(context, &h);
		for (h.base[1] = h.base[0] + 1; count > 1 && h.base[1] < BASES; h.base[1]++) {
			if (count == 2)
				take(context, &h);
			for (h.base[2] = h.base[1] + 1; count > 2 && h.base[2] < BASES; h.base[2]++)
				take(context, &h);
		}
	}
}

struct law_choice {
	const struct points *d;
	struct fitted best;
	double score;
	bool any;
	const struct fitted *rival; /* looks for another one beside this, by data_score; NULL: the best */
	double at_rival, far;       /* far: the size at which they are compared */
};

static double value_at(const struct fitted *f, double p)
{
	double sum = 0;
	for (unsigned k = 0; k < f->h.count; k++)
		sum += f->factor[k] * base_value(f->h.base[k], p);
	return sum;
}

static void choose_law(void *context, const struct hypothesis *h)
{
	struct law_choice *c = context;
	struct fitted f;
	if (!fit(c->d, h, &f) || !all_positive(&f))
		return;
	double score = c->rival ? data_score(c->d, &f) : model_score(c->d, &f);
	if (c->any && score >= c->score)
		return;
	if (c->rival && fabs(value_at(&f, c->far) - c->at_rival) <= MATTERS * c->at_rival)
		return;
	c->best = f;
	c->score = score;
	c->any = true;
}

/* No more terms than leave two sizes to check them. */
static void choose_all(struct law_choice *c)
{
	for (unsigned count = 1; count <= 2 && count + 2 <= c->d->n; count++)
		each_of(count, choose_law, c);
}

/* An exact law: of those with fewest terms the most usual one. */
static void choose_exact(void *context, const struct hypothesis *h)
{
	struct law_choice *c = context;
	struct fitted f;
	double more = 0;
	for (unsigned k = 0; k < h->count; k++)
		more += unusual[h->base[k] / LOGS][h->base[k] % LOGS];
	if ((c->any && more >= c->score) || !fit(c->d, h, &f) || f.worst > MEETS || f.factor[h->count - 1] <= 0)
		return;
	c->best = f;
	c->score = more;
	c->any = true;
}

static bool find_exact(struct law_choice *c)
{
	for (unsigned count = 1; count <= MODEL_TERMS && count < c->d->n && !c->any; count++)
		each_of(count, choose_exact, c);
	return c->any;
}

/* --- laws --- */

/* Bases in ascending order grow ever faster, but that p^a log^b of a smaller a is behind p^a. */
static void law_of(struct model_law *law, const struct fitted *f)
{
	law->terms = f->h.count;
	for (unsigned k = 0; k < f->h.count; k++)
		law->term[k] = (struct model_term){f->factor[k], f->h.base[k] / LOGS, f->h.base[k] % LOGS};
}

double model_at(const struct model_law *law, double p)
{
	double sum = 0;
	for (unsigned k = 0; k < law->terms; k++)
		sum += law->term[k].factor * base_value(law->term[k].power * LOGS + law->term[k].logs, p);
	return sum;
}

static bool all_zero(const struct points *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->mean[i] != 0)
			return false;
	return true;
}

static void find_other(struct model *m, const struct points *d, const struct fitted *best)
{
	struct law_choice c = {.d = d, .rival = best, .far = 4 * m->p_most, .at_rival = value_at(best, 4 * m->p_most)};
	choose_all(&c);
	if (!c.any || c.score > data_score(d, best) + DOUBT)
		return;
	law_of(&m->other, &c.best);
	m->answer = MODEL_TWO_LAWS;
}

void model_fit(struct model *m, const double *p, const double *y, size_t n, bool counts)
{
	struct points d;
	struct law_choice c = {.d = &d};
	*m = (struct model){.answer = MODEL_FEW_SIZES};
	points_make(&d, p, y, n);
	m->sizes = d.n;
	m->p_most = d.n ? d.p[d.n - 1] : 0;
	if (d.n < MODEL_LEAST)
		return;
	m->answer = MODEL_FOUND;
	if (all_zero(&d)) {
		m->law = (struct model_law){.terms = 1};
		m->exact = true;
		m->checked = d.n >= MODEL_ENOUGH;
		return;
	}
	m->exact = counts && d.within < MEETS * MEETS && find_exact(&c);
	if (!m->exact)
		choose_all(&c);
	if (!c.any) {
		m->answer = MODEL_FEW_SIZES;
		return;
	}
	law_of(&m->law, &c.best);
	/* a size more than it takes: the factors are the same without any one of them, and meet that */
	m->checked = m->exact && d.n >= MODEL_ENOUGH && d.n > m->law.terms;
	m->error = m->exact ? 0 : sqrt(c.best.press / (double)d.runs);
	if (m->error > MODEL_FAR)
		m->answer = MODEL_NO_LAW;
	else if (!m->exact)
		find_other(m, &d, &c.best);
}

/* --- what is likely --- */

/* splitmix64 */
static uint64_t draw_bits(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Relative residuals of runs, larger by what the law's factors took of them. */
static void find_residuals(const struct model *m, const double *p, const double *y, size_t n, double *residual)
{
	double more = n > m->law.terms ? sqrt((double)n / (double)(n - m->law.terms)) : 1;
	for (size_t i = 0; i < n; i++) {
		double at = model_at(&m->law, p[i]);
		residual[i] = at > 0 ? (y[i] / at - 1) * more : 0;
	}
}

/* One set of runs as noisy as these, and what its law says. */
static void draw_once(const struct model *m, struct points *d, const double *p, const double *residual, double *y,
                      size_t n, uint64_t *random, const double *at, size_t count, double *said)
{
	struct law_choice c = {.d = d};
	for (size_t i = 0; i < n; i++) {
		double drawn = model_at(&m->law, p[i]) * (1 + residual[draw_bits(random) % n]);
		y[i] = drawn > 0 ? drawn : 0;
	}
	points_weigh(d, p, y, n);
	choose_all(&c);
	for (size_t k = 0; k < count; k++)
		said[k * DRAWS] = c.any ? value_at(&c.best, at[k]) : model_at(&m->law, at[k]);
}

static void take_range(double *said, double *low, double *high)
{
	qsort(said, DRAWS, sizeof *said, numbers_by_value);
	*low = said[(size_t)(TAIL * DRAWS)];
	*high = said[DRAWS - 1 - (size_t)(TAIL * DRAWS)];
}

void model_range(const struct model *m, const double *p, const double *y, size_t n, const double *at, size_t count,
                 double *low, double *high)
{
	struct points d;
	uint64_t random = 1;
	for (size_t k = 0; k < count; k++)
		low[k] = high[k] = model_at(&m->law, at[k]);
	if (m->exact || m->answer == MODEL_FEW_SIZES)
		return;
	double *room = malloc((2 * n + count * DRAWS) * sizeof *room);
	if (!room)
		return;
	double *residual = room, *drawn = room + n, *said = room + 2 * n;
	points_make(&d, p, y, n);
	find_residuals(m, p, y, n, residual);
	for (size_t i = 0; i < DRAWS; i++)
		draw_once(m, &d, p, residual, drawn, n, &random, at, count, said + i);
	for (size_t k = 0; k < count; k++)
		take_range(said + k * DRAWS, &low[k], &high[k]);
	free(room);
}

/* --- text --- */

const char *model_growth(const struct model_term *term, char out[MODEL_TEXT])
{
	const char *const logs[] = {"", "log p", "log^2 p"};
	snprintf(out, MODEL_TEXT, "%s%s%s", power_names[term->power], term->power && term->logs ? " " : "",
	         logs[term->logs]);
	if (term->power == 0 && term->logs == 0)
		snprintf(out, MODEL_TEXT, "1");
	return out;
}

/* Whole factors of counts as they are. */
static void factor_text(char out[32], double factor)
{
	bool whole = fabs(factor - round(factor)) <= MEETS * factor && factor >= 1000 && factor < 1e9;
	snprintf(out, 32, whole ? "%.0f" : "%.4g", factor);
}

const char *model_text(const struct model_law *law, char out[MODEL_TEXT])
{
	char growth[MODEL_TEXT], factor[32];
	size_t used = 0;
	out[0] = '\0';
	for (unsigned k = 0; k < law->terms && used < MODEL_TEXT; k++) {
		const struct model_term *t = &law->term[k];
		const char *sign = t->factor < 0 ? (k ? " - " : "-") : k ? " + " : "";
		bool constant = t->power == 0 && t->logs == 0;
		factor_text(factor, fabs(t->factor));
		used += (size_t)snprintf(out + used, MODEL_TEXT - used, "%s%s%s%s", sign, factor, constant ? "" : " ",
		                         constant ? "" : model_growth(t, growth));
	}
	return out;
}
