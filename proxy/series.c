/* SPDX-License-Identifier: BSD-3-Clause
 * series - the values that something has at its visits, as the shortest list of runs
 *
 * What is repeated at the end is found by the failure function (Knuth, Morris, Pratt) of the values from the last to
 * the first: the last L values have period L - fail[L]. The L is taken that leaves least to be written: the values
 * before them (the lead), and one period.
 */
#include "proxy/series.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

#define REPEATS_LEAST 4 /* one in so many values is said by a repetition */

int series_append(struct series *s, int64_t value)
{
	if (s->count == 0)
		s->first = value;
	if (!s->values && value == s->first) {
		s->count++;
		return 0;
	}
	if (s->count >= s->capacity) {
		uint64_t capacity = 2 * s->count + 64;
		int64_t *more = budget_realloc(s->values, capacity * sizeof *more);
		if (!more)
			return -1;
		if (!s->values)
			for (uint64_t i = 0; i < s->count; i++)
				more[i] = s->first;
		s->values = more;
		s->capacity = capacity;
	}
	s->values[s->count++] = value;
	return 0;
}

void series_free(struct series *s)
{
	budget_free(s->values);
	*s = (struct series){0};
}

/* The most values of which a run is, from the first one on: equal ones, or at least three in equal steps. */
static struct run first_run(const int64_t *v, uint64_t n, bool numbers)
{
	struct run r = {v[0], 0, 1};
	if (n > 1 && v[1] == v[0]) {
		while ((uint64_t)r.count < n && v[r.count] == v[0])
			r.count++;
		return r;
	}
	if (!numbers || n < 3 || value_is_constant(v[0]) || value_is_constant(v[1]) || value_is_constant(v[2]))
		return r;
	uint64_t stride = (uint64_t)v[1] - (uint64_t)v[0];
	if ((uint64_t)v[2] - (uint64_t)v[1] != stride)
		return r;
	for (r.count = 3; (uint64_t)r.count < n && !value_is_constant(v[r.count]) &&
	                  (uint64_t)v[r.count] - (uint64_t)v[r.count - 1] == stride;)
		r.count++;
	r.stride = (int64_t)stride;
	return r;
}

/* Appends the runs of n values; returns how many. */
static int64_t split_runs(const int64_t *v, uint64_t n, bool numbers, struct run *out)
{
	int64_t count = 0;
	for (uint64_t i = 0; i < n; count++) {
		struct run r = first_run(v + i, n - i, numbers);
		if (out)
			out[count] = r;
		i += (uint64_t)r.count;
	}
	return count;
}

/* How many values there are before what is repeated, and its period; false: nothing is, or so little that it may be by
 * chance, or no memory (*failed). */
static bool find_repeat(const struct series *s, uint64_t *lead, uint64_t *period, bool *failed)
{
	uint64_t n = s->count, best = n;
	uint64_t *fail = budget_malloc((n + 1) * sizeof *fail);
	const int64_t *v = s->values;
	*failed = !fail;
	if (!fail)
		return false;
	fail[0] = fail[1] = 0;
	for (uint64_t i = 1, k = 0; i < n; i++) { /* v from the last to the first */
		while (k > 0 && v[n - 1 - i] != v[n - 1 - k])
			k = fail[k];
		k += v[n - 1 - i] == v[n - 1 - k];
		fail[i + 1] = k;
	}
	for (uint64_t l = 2; l <= n; l++) {
		uint64_t p = l - fail[l];
		if (2 * p <= l && n - l + p < best) {
			best = n - l + p;
			*lead = n - l;
			*period = p;
		}
	}
	budget_free(fail);
	return best < n && n - best >= n / REPEATS_LEAST;
}

struct runs *series_runs(const struct series *s, bool numbers, size_t *bytes)
{
	uint64_t lead = 0, period = 0;
	bool failed = false, repeats = s->values && find_repeat(s, &lead, &period, &failed);
	if (failed || !budget_step(s->values ? s->count : 1))
		return NULL;
	if (!s->values || (repeats && lead == 0 && period == 1)) {
		struct runs *r = budget_calloc(1, *bytes = runs_size(1));
		if (r)
			*r = (struct runs){.count = 1, .lead = 1}, r->each[0] = (struct run){s->first, 0, 0};
		return r;
	}
	uint64_t rest = repeats ? period : 0, front = repeats ? lead : s->count;
	int64_t a = split_runs(s->values, front, numbers, NULL), b = split_runs(s->values + front, rest, numbers, NULL);
	struct runs *whole = NULL, *r = budget_calloc(1, *bytes = runs_size((size_t)(a + b)));
	if (!r)
		return NULL;
	*r = (struct runs){.count = a + b, .lead = a, .rest = (int64_t)s->count};
	split_runs(s->values, front, numbers, r->each);
	split_runs(s->values + front, rest, numbers, r->each + a);
	/* What is as simple without a period: 0 0 0 5 5 5 5, or 3 2 1 0. One says its length, and where it begins. */
	int64_t plain = split_runs(s->values, s->count, numbers, NULL), saved = plain - (a + b);
	if (!repeats || saved <= 1 + (lead > 0) || saved < plain / REPEATS_LEAST) {
		whole = budget_calloc(1, *bytes = runs_size((size_t)plain));
		if (whole) {
			*whole = (struct runs){.count = plain, .lead = plain};
			split_runs(s->values, s->count, numbers, whole->each);
			whole->rest = whole->each[plain - 1].stride ? whole->each[plain - 1].count : 0;
			whole->each[plain - 1].count = 0;
		}
		budget_free(r);
		return whole;
	}
	return r;
}

int64_t runs_next(struct runs_walk *w)
{
	const struct runs *r = w->runs;
	for (;; w->visit = 0, w->run = w->run + 1 < r->count ? w->run + 1 : r->lead) {
		const struct run *one = &r->each[w->run];
		if (one->count == 0 || w->visit < (uint64_t)one->count)
			return (int64_t)((uint64_t)one->start + w->visit++ * (uint64_t)one->stride);
		if (w->run + 1 == r->count && r->lead == r->count)
			return one->start;
	}
}

bool runs_are_periodic(const struct runs *r, uint64_t turns)
{
	uint64_t total = 0;
	if (r->count == 1 && r->each[0].stride == 0)
		return true;
	for (int64_t i = 0; i < r->count; i++)
		total += (uint64_t)r->each[i].count;
	return r->lead == 0 && turns % total == 0;
}

bool runs_length(const struct runs *r, uint64_t most, uint64_t *lead, uint64_t *period)
{
	uint64_t total = 0;
	*lead = 0;
	for (int64_t i = 0; i < r->count; i++) {
		*lead = i == r->lead ? total : *lead;
		if ((uint64_t)r->each[i].count > most || total > most)
			return false;
		total += (uint64_t)r->each[i].count;
	}
	*period = 1;
	if (r->lead < r->count) {
		*period = total - *lead;
		return *period > 0;
	}
	*lead = total + (r->rest ? (uint64_t)r->rest - 1 : 0); /* the last value goes on for ever */
	return *lead <= most;
}
