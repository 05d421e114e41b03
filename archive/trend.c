/* SPDX-License-Identifier: BSD-3-Clause
 * trend - does an application take longer than it did, since when, and is a node slow?
 */
#include "archive/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double trend_median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof *values, compare_values);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Median and spread of n logs. A spread of few values is made wider, for it is not well known. */
static double median_spread(const double *logs, size_t n, double *spread)
{
	double sorted[TREND_REFERENCE];
	memcpy(sorted, logs, n * sizeof *sorted);
	double median = trend_median(sorted, n);
	for (size_t i = 0; i < n; i++)
		sorted[i] = fabs(logs[i] - median);
	*spread = 1.4826 * trend_median(sorted, n) * (1 + 2.0 / (double)n);
	*spread = *spread > TREND_SPREAD ? *spread : TREND_SPREAD;
	return median;
}

static double median_of(const double *values, size_t n, double *room)
{
	memcpy(room, values, n * sizeof *room);
	return trend_median(room, n);
}

struct cusum {
	double sum[2];   /* slower, faster */
	size_t begin[2]; /* the first run since the sum was 0 */
};

/* Takes run i. Returns 1 if it is certain now that runs are slower, -1 faster, 0 neither. */
static int cusum_take(struct cusum *c, double z, size_t i)
{
	z = z > 3 ? 3 : z < -3 ? -3 : z;
	for (int side = 0; side < 2; side++) {
		if (c->sum[side] <= 0)
			c->begin[side] = i;
		c->sum[side] += (side ? -z : z) - 1;
		if (c->sum[side] < 0)
			c->sum[side] = 0;
	}
	return c->sum[0] > TREND_LIMIT ? 1 : c->sum[1] > TREND_LIMIT ? -1 : 0;
}

int trend_changes(const double *times, size_t n, struct trend_change *out, size_t most)
{
	double *logs = malloc((n + 1) * sizeof *logs), *room = malloc((n + 1) * sizeof *room);
	struct cusum c = {.sum = {0, 0}};
	size_t start = 0, count = 0;

	for (size_t i = 0; logs && i < n; i++)
		logs[i] = log(times[i] > 0 ? times[i] : 1e-9);
	for (size_t i = 0; logs && room && i < n && count < most; i++) {
		if (i < start + TREND_LAG + TREND_LEAST)
			continue;
		size_t end = i - TREND_LAG, first = end - start > TREND_REFERENCE ? end - TREND_REFERENCE : start;
		double spread, median = median_spread(logs + first, end - first, &spread);
		double more = logs[i] - median, beyond = fabs(more) - TREND_DRIFT;
		int side = cusum_take(&c, beyond > 0 ? copysign(beyond, more) / spread : 0, i);
		if (side == 0)
			continue;
		size_t begin = c.begin[side < 0];
		if (fabs(median_of(logs + begin, i + 1 - begin, room) - median) < TREND_EFFECT)
			continue;
		out[count++] = (struct trend_change){.first = begin, .found = i, .before = exp(median)};
		start = begin;
		c = (struct cusum){.sum = {0, 0}};
	}
	for (size_t k = 0; logs && room && k < count; k++) {
		size_t end = k + 1 < count ? out[k + 1].first : n;
		out[k].after = exp(median_of(logs + out[k].first, end - out[k].first, room));
	}
	free(logs);
	free(room);
	return logs && room ? (int)count : -1;
}

/* --- input --- */

struct run_events {
	uint64_t events;
	size_t run;
};

static int compare_events(const void *a, const void *b)
{
	const struct run_events *x = a, *y = b;
	return (x->events > y->events) - (x->events < y->events);
}

int trend_inputs(const uint64_t *events, size_t n, unsigned *input)
{
	struct run_events *sorted = malloc((n + 1) * sizeof *sorted);
	unsigned group = 0;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct run_events){events[i], i};
	qsort(sorted, n, sizeof *sorted, compare_events);
	for (size_t i = 0; i < n; i++) {
		group += i > 0 && (double)sorted[i].events > TREND_INPUT * (double)sorted[i - 1].events + 1;
		input[sorted[i].run] = group;
	}
	free(sorted);
	return 0;
}

/* --- nodes --- */

/* P(at least `late` successes) of independent trials with chances p: by adding one trial after another. */
static double chance_of(const double *p, size_t n, unsigned late)
{
	double *chance = calloc((size_t)late + 1, sizeof *chance), sure = 0; /* chance[k]: k successes so far */
	if (!chance)
		return 1;
	chance[0] = 1;
	for (size_t i = 0; i < n; i++) {
		if (late > 0)
			sure += chance[late - 1] * p[i];
		for (unsigned k = late; k-- > 0;)
			chance[k] = chance[k] * (1 - p[i]) + (k > 0 ? chance[k - 1] * p[i] : 0);
	}
	free(chance);
	return late > 0 ? sure : 1;
}

void trend_node_test(struct trend_node *out, const struct trend_seat *seats, size_t n)
{
	double *p = malloc((n + 1) * sizeof *p);
	size_t used = 0;

	*out = (struct trend_node){.p = 1};
	for (size_t i = 0; p && i < n; i++) {
		const struct trend_seat *s = &seats[i];
		if (s->nodes < 2 || (s->late && (s->elsewhere < 0 || s->elsewhere > 0.5)))
			continue;
		p[used] = 1 / (double)s->nodes;
		if (s->late && s->elsewhere > p[used])
			p[used] = s->elsewhere;
		out->expected += p[used++];
		out->late += s->late;
	}
	out->jobs = (unsigned)used;
	if (p)
		out->p = chance_of(p, used, out->late);
	free(p);
}

bool trend_node_slow(const struct trend_node *node, size_t nodes)
{
	return node->late >= 3 && node->p * (double)nodes < 0.001;
}
