/* SPDX-License-Identifier: BSD-3-Clause
 * series - the values that something has at its visits, as the shortest list of runs
 *
 * What is repeated at the end is found by the failure function (Knuth, Morris, Pratt) of the values from the last to
 * the first: the last L values have period L - fail[L]. The L is taken that leaves least to be written: the values
 * before them (the lead), and one period.
 *
 * The values come one by one. Whenever a part has twice as many as before, its last half is looked at in the same way.
 * If that has a period, what follows is compared with it, and not kept, until a value is another one:
 *
 *     1 2 3 1 2 3 1 2 3 ... 7 7 7 ...    part 0: kept 1 2 3 1 2 3, period 3; part 1: kept 7 7 7 7, period 1
 */
#include "proxy/series.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

#define REPEATS_LEAST 4  /* one in so many values is said by a repetition */
#define LOOKED_LEAST  16 /* values of a part, before a period is looked for */
/* A part with so many values that turns out to have no period stays as it is, and another one begins. */
#define UNFOLDED_MOST (1 << 14)
/* Of longer series, only that is taken for a repetition which was one when the values came: to look for others takes
 * as much memory as they have values. */
#define SEARCHED_MOST (UINT64_C(1) << 20)

/* ---- values as they come ---- */

/* The failure function of n values from the last to the first; fail has room for n + 1. */
static void find_failures(const int64_t *last, uint64_t n, uint64_t *fail)
{
	fail[0] = fail[1] = 0;
	for (uint64_t i = 1, k = 0; i < n; i++) {
		while (k > 0 && last[-(ptrdiff_t)i] != last[-(ptrdiff_t)k])
			k = fail[k];
		k += last[-(ptrdiff_t)i] == last[-(ptrdiff_t)k];
		fail[i + 1] = k;
	}
}

/* Has the last half of a part a period? It may come twice in it. */
static int part_find_period(const struct series *s, struct series_part *p)
{
	uint64_t n = p->kept / 2, *fail = budget_malloc((n + 1) * sizeof *fail);
	if (!fail)
		return -1;
	find_failures(s->values + p->at + p->kept - 1, n, fail);
	p->period = 2 * (n - fail[n]) <= n ? n - fail[n] : 0;
	budget_free(fail);
	return 0;
}

static int64_t part_value(const struct series *s, const struct series_part *p, uint64_t i)
{
	i -= p->first;
	return s->values[p->at + (i < p->kept ? i : p->kept - p->period + (i - p->kept) % p->period)];
}

/* Values from one on, for whoever asks for them nearly in order. */
struct view {
	const struct series *s;
	uint32_t part; /* that of the last one */
};

static int64_t view_at(struct view *v, uint64_t i)
{
	const struct series *s = v->s;
	while (i < s->parts[v->part].first)
		v->part--;
	while (v->part + 1 < s->part_count && i >= s->parts[v->part + 1].first)
		v->part++;
	return part_value(s, &s->parts[v->part], i);
}

static int series_begin_part(struct series *s)
{
	if (!budget_grow(&s->parts, s->part_count, &s->part_capacity, sizeof *s->parts))
		return -1;
	s->parts[s->part_count++] = (struct series_part){.first = s->count, .at = s->kept};
	return 0;
}

static int series_put(struct series *s, int64_t value)
{
	if (s->kept == s->capacity) {
		uint64_t capacity = 2 * s->kept + 4;
		int64_t *more = budget_realloc(s->values, capacity * sizeof *more);
		if (!more)
			return -1;
		s->values = more;
		s->capacity = capacity;
	}
	s->values[s->kept++] = value;
	s->parts[s->part_count - 1].kept++;
	return 0;
}

/* What had a period has none, as another value comes. In a short part there may be a longer one: 0 0 0 1 0 0 0 1. */
static int series_unfold(struct series *s)
{
	struct series_part *p = &s->parts[s->part_count - 1];
	uint64_t period = p->period;
	p->period = 0;
	while (p->kept < s->count - p->first)
		if (series_put(s, s->values[s->kept - period]) != 0)
			return -1;
	return 0;
}

int series_append(struct series *s, int64_t value)
{
	struct series_part *p = s->part_count ? &s->parts[s->part_count - 1] : NULL;
	if (p && p->period && part_value(s, p, s->count) == value) {
		s->count++;
		return 0;
	}
	bool begins = !p || (p->period && s->count - p->first > UNFOLDED_MOST);
	if ((begins ? series_begin_part(s) : p->period ? series_unfold(s) : 0) != 0 || series_put(s, value) != 0)
		return -1;
	p = &s->parts[s->part_count - 1];
	s->count++;
	return p->kept >= LOOKED_LEAST && (p->kept & (p->kept - 1)) == 0 ? part_find_period(s, p) : 0;
}

/* The shortest list of which n values are whole repetitions; fail has room for n + 1. */
static uint64_t whole_period(const int64_t *last, uint64_t n, uint64_t *fail)
{
	find_failures(last, n, fail);
	return n % (n - fail[n]) == 0 ? n - fail[n] : n;
}

int series_repeat(struct series *s, uint64_t since, uint64_t turns)
{
	const uint64_t n = s->count - since;
	const struct series_part *p = s->part_count ? &s->parts[s->part_count - 1] : NULL;
	if (n == 0 || turns == 0)
		return 0;
	if (p->period && n % p->period == 0 && since >= p->first + p->kept - p->period) {
		s->count += turns * n;
		return 0;
	}
	int64_t *values = budget_malloc(n * sizeof *values);
	uint64_t *fail = budget_malloc((n + 1) * sizeof *fail), period = 0;
	struct view view = {.s = s, .part = s->part_count - 1};
	for (uint64_t i = n; values && i > 0; i--)
		values[i - 1] = view_at(&view, since + i - 1);
	int rv = values && fail && series_begin_part(s) == 0 ? 0 : -1;
	if (rv == 0)
		period = whole_period(values + n - 1, n, fail);
	for (uint64_t i = 0; rv == 0 && i < period; i++)
		rv = series_put(s, values[i]);
	if (rv == 0) {
		s->parts[s->part_count - 1].period = period;
		s->count += turns * n;
	}
	budget_free(values);
	budget_free(fail);
	return rv;
}

void series_free(struct series *s)
{
	budget_free(s->values);
	budget_free(s->parts);
	*s = (struct series){0};
}

/* ---- runs of them ---- */

static bool is_constant_series(const struct series *s)
{
	uint64_t same = s->part_count == 1 && s->parts[0].period == 1;
	while (same && same < s->kept && s->values[same] == s->values[0])
		same++;
	return same && same == s->kept;
}

/* Are values from `i` on in equal steps for longer? */
static bool goes_on(struct view *v, uint64_t i, uint64_t stride)
{
	int64_t value = view_at(v, i);
	return !value_is_constant(value) && (uint64_t)value - (uint64_t)view_at(v, i - 1) == stride;
}

/* How many values from i on, which the view has just been asked for, are known to be equal. */
static uint64_t alike_from(const struct view *v, uint64_t i, uint64_t end)
{
	const struct series *s = v->s;
	const struct series_part *p = &s->parts[v->part];
	uint64_t stop = v->part + 1 < s->part_count ? p[1].first : s->count;
	return p->period == 1 && i >= p->first + p->kept - 1 ? (stop < end ? stop : end) - i : 1;
}

/* The most values of which a run is, from `from` to the one before `end`: equal ones, or at least three in equal
 * steps. */
static struct run first_run(struct view *v, uint64_t from, uint64_t end, bool numbers)
{
	struct run r = {view_at(v, from), 0, 1};
	uint64_t n = end - from;
	if (n > 1 && view_at(v, from + 1) == r.start) {
		for (uint64_t i = from + 1; i < end && view_at(v, i) == r.start; i = from + (uint64_t)r.count)
			r.count += (int64_t)alike_from(v, i, end);
		return r;
	}
	if (!numbers || n < 3 || value_is_constant(r.start) || value_is_constant(view_at(v, from + 1)))
		return r;
	uint64_t stride = (uint64_t)view_at(v, from + 1) - (uint64_t)r.start;
	if (!goes_on(v, from + 2, stride))
		return r;
	for (r.count = 3; (uint64_t)r.count < n && goes_on(v, from + (uint64_t)r.count, stride);)
		r.count++;
	r.stride = (int64_t)stride;
	return r;
}

/* Appends the runs of the values from `from` to the one before `end`; returns how many, or a number above `most`; less
 * than 0: they are more than the budget allows. */
static int64_t split_runs(const struct series *s, uint64_t from, uint64_t end, bool numbers, int64_t most,
                          struct run *out)
{
	struct view v = {.s = s};
	int64_t count = 0;
	for (uint64_t i = from; i < end && count <= most; count++) {
		struct run r = first_run(&v, i, end, numbers);
		if (!budget_step(1))
			return -1;
		if (out)
			out[count] = r;
		i += (uint64_t)r.count;
	}
	return count;
}

static int find_shortest(const struct series *s, uint64_t *lead, uint64_t *period)
{
	uint64_t n = s->count, best = n;
	int64_t *copy = s->kept == n ? NULL : budget_malloc(n * sizeof *copy);
	const int64_t *v = s->kept == n ? s->values : copy;
	uint64_t *fail = budget_malloc((n + 1) * sizeof *fail);
	struct view view = {.s = s};
	int rv = v && fail ? 0 : -1;
	for (uint64_t i = 0; rv == 0 && copy && i < n; i++)
		copy[i] = view_at(&view, i);
	if (rv == 0)
		find_failures(v + n - 1, n, fail);
	for (uint64_t l = 2; rv == 0 && l <= n; l++) {
		uint64_t p = l - fail[l];
		if (2 * p <= l && n - l + p < best) {
			best = n - l + p;
			*lead = n - l;
			*period = p;
		}
	}
	budget_free(copy);
	budget_free(fail);
	return rv;
}

/* The period of the last part, as far as it goes to the front. */
static void find_last(const struct series *s, uint64_t *lead, uint64_t *period)
{
	const struct series_part *last = &s->parts[s->part_count - 1];
	struct view a = {.s = s, .part = s->part_count - 1}, b = a;
	if (last->period == 0)
		return;
	*period = last->period;
	*lead = last->first + last->kept - last->period;
	while (*lead > 0 && view_at(&a, *lead - 1) == view_at(&b, *lead - 1 + *period))
		--*lead;
}

/* How many values there are before what is repeated, and its period; false: nothing is, or so little that it may be by
 * chance, or no memory (*failed). */
static bool find_repeat(const struct series *s, uint64_t *lead, uint64_t *period, bool *failed)
{
	uint64_t n = s->count;
	*period = 0;
	if (n > SEARCHED_MOST && s->kept < n)
		find_last(s, lead, period);
	else if (find_shortest(s, lead, period) != 0)
		*failed = true;
	uint64_t best = *lead + *period;
	return *period && best < n && n - best >= n / REPEATS_LEAST;
}

struct runs *series_runs(const struct series *s, bool numbers, size_t *bytes)
{
	uint64_t lead = 0, period = 0;
	bool constant = is_constant_series(s), failed = false,
	     repeats = !constant && find_repeat(s, &lead, &period, &failed);
	if (failed || !budget_step(constant ? 1 : s->count < SEARCHED_MOST ? s->count : s->kept))
		return NULL;
	if (constant || s->count == 1 || (repeats && lead == 0 && period == 1)) {
		struct runs *r = budget_calloc(1, *bytes = runs_size(1));
		if (r)
			*r = (struct runs){.count = 1, .lead = 1}, r->each[0] = (struct run){s->values[0], 0, 0};
		return r;
	}
	uint64_t rest = repeats ? period : 0, front = repeats ? lead : s->count;
	int64_t a = split_runs(s, 0, front, numbers, INT64_MAX, NULL),
		b = split_runs(s, front, front + rest, numbers, INT64_MAX, NULL);
	struct runs *whole = NULL, *r = a < 0 || b < 0 ? NULL : budget_calloc(1, *bytes = runs_size((size_t)(a + b)));
	if (!r)
		return NULL;
	*r = (struct runs){.count = a + b, .lead = a, .rest = (int64_t)s->count};
	split_runs(s, 0, front, numbers, INT64_MAX, r->each);
	split_runs(s, front, front + rest, numbers, INT64_MAX, r->each + a);
	/* What is as simple without a period: 0 0 0 5 5 5 5, or 3 2 1 0. One says its length, and where it begins. */
	int64_t most = repeats ? 2 * (a + b) + 8 : INT64_MAX; /* from there on it is not as simple */
	int64_t plain = split_runs(s, 0, s->count, numbers, most, NULL), saved = plain - (a + b);
	if (plain < 0) {
		budget_free(r);
		return NULL;
	}
	if (!repeats || saved <= 1 + (lead > 0) || saved < plain / REPEATS_LEAST) {
		whole = budget_calloc(1, *bytes = runs_size((size_t)plain));
		if (whole) {
			*whole = (struct runs){.count = plain, .lead = plain};
			split_runs(s, 0, s->count, numbers, INT64_MAX, whole->each);
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
