/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_queue - what waits to be counted in a column without order
 */
#include <string.h>

#include "trace/record/lossy_count.h"
#include "trace/record/dictionary.h"

/* So many runs of so many visits, on average, and there is a queue; if there are not even half as many in a full one,
 * it ends. */
#define RUNS       16
#define RUN_VISITS 4
#define RUNS_LEAST 8

bool lossy_queue_due(struct column *c, uint64_t visits)
{
	if (++c->appends < RUNS)
		return false;
	bool due = visits - c->synced <= (uint64_t)RUNS * RUN_VISITS;
	c->appends = 0;
	c->synced = visits;
	return due;
}

static int64_t *queue_at(const struct columns *x, const struct column *c)
{
	return arena_at(x->arena, int64_t, c->queue);
}

/* Whatever was put before is in the tally, but the last run of a successor. */
static ref make_queue(struct columns *x, struct column *c)
{
	uint64_t capacity;
	ref at = arena_alloc_block(x->arena, lossy_queue_bytes(c), &capacity);
	arena_commit(x->arena);
	struct lossy *l = lossy_of(x, c);
	l->counted = l->last = l->run_length = 0;
	arena_barrier();
	return at;
}

static void set_queue(struct arena *a, struct column *c, ref at, uint32_t queued, uint64_t start, int64_t expect)
{
	arena_set(a, c->queue, at); /* the word has `queued`, too */
	c->queued = queued;
	arena_set(a, c->start, start);
	arena_set(a, c->expect, expect);
	arena_commit(a);
}

void lossy_queue_begin(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	ref at = make_queue(x, c);
	if (!at)
		return;
	*arena_at(x->arena, int64_t, at) = value;
	set_queue(x->arena, c, at, 0, visits, VALUE_NONE);
	c->token = TOKEN_WAITS;
}

static void end_queue(struct columns *x, struct column *c, uint64_t start, int64_t expect)
{
	ref at = c->queue;
	c->token = 0;
	set_queue(x->arena, c, 0, 0, start, expect);
	arena_free_block(x->arena, at, lossy_queue_bytes(c));
	arena_commit(x->arena);
}

/* Values are added up for each bin before they are counted: the journal has each bin once. A word has how many there
 * are and by how much they are more than the bin's least, in sum; values of bins that are wider than that allows are
 * counted at once. */
#define SUMS      64
#define SUM_ONE   (UINT64_C(1) << 48)
#define SUM_WIDTH (SUM_ONE / LOSSY_QUEUE_WORDS)

struct sums {
	struct lossy_tally *of;
	struct tally tally;
	uint32_t bins; /* how many of them there are here */
	bool moved;    /* by the operation under way: what it would be put back to is in `other` */
	uint8_t *hint;
	uint64_t *hinted;
	int64_t min[SUMS];
	uint64_t width[SUMS], sum[SUMS];
};

static inline void sums_bin(struct sums *s, uint32_t i)
{
	const struct tally_bin *b = &s->tally.bins[i];
	uint64_t width = (uint64_t)b->max - (uint64_t)b->min;
	s->min[i] = width < SUM_WIDTH ? b->min : VALUE_NONE;
	s->width[i] = width < SUM_WIDTH ? width : 0;
}

static inline uint64_t hinted_of(const struct lossy_tally *t)
{
	return (uint64_t)t->bins << 32 | t->count;
}

/* Numbers of bins in hints must be ones of this tally. */
static inline void sums_begin(struct sums *s, const struct columns *x, struct lossy_tally *t, uint8_t hint[LOSSY_HINTS],
                              uint64_t *hinted)
{
	uint64_t now = hinted_of(t);
	s->of = t;
	s->tally = lossy_view(x, t);
	s->moved = false;
	s->hint = hint;
	s->hinted = hinted;
	s->bins = t->count < SUMS ? t->count : SUMS;
	if (*hinted != now) {
		memset(hint, 0, LOSSY_HINTS);
		*hinted = now;
	}
	s->min[0] = VALUE_NONE; /* if there is no bin at all */
	s->width[0] = 0;
	for (uint32_t i = 0; i < s->bins; i++) {
		sums_bin(s, i);
		s->sum[i] = 0;
	}
}

static inline void sums_apply(struct sums *s, struct tally_bin *to, const struct tally_bin *from)
{
	for (uint32_t i = 0; i < s->bins; i++) {
		uint64_t count = s->sum[i] / SUM_ONE;
		to[i] = from[i];
		to[i].count += count;
		to[i].sum += (uint64_t)s->min[i] * count + s->sum[i] % SUM_ONE;
		s->sum[i] = 0;
	}
}

/* Each bin by way of the journal. */
static __attribute__((noinline)) void sums_store_slowly(struct arena *a, struct sums *s)
{
	for (uint32_t i = 0; i < s->bins; i++)
		if (s->sum[i]) {
			arena_save(a, &s->tally.bins[i].count);
			arena_save(a, &s->tally.bins[i].sum);
		}
	sums_apply(s, s->tally.bins, s->tally.bins);
}

static void sums_store(struct arena *a, struct sums *s)
{
	struct lossy_tally *t = s->of;
	struct tally_bin *bins = s->tally.bins;
	uint64_t capacity;
	if (s->moved) { /* it is not undone bin by bin */
		sums_apply(s, bins, bins);
		return;
	}
	if (!t->other && t->count && t->count <= SUMS)
		t->other = arena_alloc_block(a, t->capacity, &capacity);
	if (!t->other || t->count > SUMS) {
		sums_store_slowly(a, s);
		return;
	}
	ref old = t->bins;
	s->tally.bins = arena_at(a, struct tally_bin, t->other);
	sums_apply(s, s->tally.bins, bins);
	arena_set(a, t->bins, t->other);
	t->other = old;
	s->moved = true;
	*s->hinted = hinted_of(t);
}

/* Adds value * times in the arena, if there is a bin for it. */
static __attribute__((noinline)) bool sums_find(struct arena *a, struct sums *s, int64_t value, uint64_t times)
{
	int64_t at = s->tally.count ? tally_place(&s->tally, value) : -1;
	if (at < 0)
		return false;
	const struct tally_bin *now = &s->tally.bins[at];
	bool grows = value < now->min || value > now->max;
	if (grows && at < s->bins && s->sum[at])
		sums_store(a, s); /* what its values are more than may become something else */
	lossy_count_in(a, &s->tally.bins[at], value, times);
	if (at < s->bins)
		s->hint[lossy_hint(value)] = (uint8_t)at;
	if (grows && at < s->bins)
		sums_bin(s, (uint32_t)at);
	return true;
}

/* Adds values up to the first that there is no bin for, or that is not where those like it were the last time. Returns
 * where that is, or `end`. */
static inline const int64_t *sums_add(struct sums *s, const int64_t *p, const int64_t *end)
{
	const uint8_t *hint = s->hint;
	uint64_t one = SUM_ONE;
	__asm__("" : "+r"(one)); /* in a register */
	for (; p < end; p++) {
		uint32_t h = hint[lossy_hint(*p)];
		uint64_t more = (uint64_t)*p - (uint64_t)s->min[h];
		if (__builtin_expect(more > s->width[h], 0))
			break;
		s->sum[h] += one + more;
	}
	return p;
}

/* The same, `times` times, up to the first that there is no bin for. */
static inline const int64_t *sums_add_times(struct arena *a, struct sums *s, const int64_t *p, const int64_t *end,
                                            uint64_t times)
{
	while (p < end) {
		if (__builtin_expect(times == 1, 1))
			p = sums_add(s, p, end);
		if (p == end || !sums_find(a, s, *p, times))
			break;
		p++;
	}
	return p;
}

/* ROLE_VALUE, ROLE_STRING. */
static void count_values(struct columns *x, struct column *c, struct lossy *l, const int64_t *q, unsigned n)
{
	struct arena *a = x->arena;
	struct sums sums;
	sums_begin(&sums, x, &l->tally, l->hint, &l->hinted);
	for (const int64_t *p = q + l->counted; (p = sums_add_times(a, &sums, p, q + n, 1)) < q + n; p++) {
		/* each value that needs memory is an operation of its own */
		struct retired old = {.count = 0};
		sums_store(a, &sums);
		arena_set(a, l->counted, (uint64_t)(p - q));
		arena_commit(a);
		lossy_count_run(x, c, *p, 1, &old);
		arena_set(a, l->counted, (uint64_t)(p - q) + 1);
		lossy_commit(x, &old);
		sums_begin(&sums, x, &l->tally, l->hint, &l->hinted);
	}
	sums_store(a, &sums);
}

/* Runs of up to SHORT visits of the first NEXT successors are added up. */
#define NEXT  32
#define SHORT 8

struct short_runs {
	uint8_t count[NEXT * SHORT], bin[NEXT * SHORT];
	uint64_t touched[NEXT * SHORT / 64];
};

static void short_store(struct columns *x, struct lossy *l, struct short_runs *s)
{
	for (size_t w = 0; w < NEXT * SHORT / 64; w++)
		for (; s->touched[w]; s->touched[w] &= s->touched[w] - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(s->touched[w]);
			struct lossy_tally *t = &arena_at(x->arena, struct lossy_next, l->next)[i / SHORT].runs;
			lossy_count_in(x->arena, arena_at(x->arena, struct tally_bin, t->bins) + s->bin[i],
			               (int64_t)(i % SHORT) + 1, s->count[i]);
			s->count[i] = 0;
		}
}

/* A run of a successor. False: there is no bin for it. */
static inline bool short_add(struct columns *x, struct column *c, struct lossy *l, struct short_runs *s, int64_t value,
                             uint64_t length)
{
	const struct lossy_next *next = arena_at(x->arena, struct lossy_next, l->next);
	uint8_t *hint = &l->hint[(uint64_t)value % LOSSY_HINTS];
	int64_t k = *hint;
	if (__builtin_expect(k >= l->next_count || next[k].to != value, 0)) {
		k = dictionary_slot(x, c, value);
		if (k < 0 || k >= l->next_count)
			return false;
		if (k <= UINT8_MAX)
			*hint = (uint8_t)k;
	}
	bool is_short = k < NEXT && length <= SHORT;
	size_t i = is_short ? (size_t)k * SHORT + length - 1 : 0;
	if (__builtin_expect(is_short && s->count[i] > 0, 1)) {
		s->count[i]++;
		return true;
	}
	struct tally v = lossy_view(x, &next[k].runs);
	int64_t at = (int64_t)length - 1; /* mostly */
	if (at >= v.count || v.bins[at].min != (int64_t)length)
		at = v.count ? tally_place(&v, (int64_t)length) : -1;
	if (at < 0)
		return false;
	if (is_short && at <= UINT8_MAX) {
		s->bin[i] = (uint8_t)at;
		s->count[i] = 1;
		s->touched[i / 64] |= UINT64_C(1) << i % 64;
	} else {
		lossy_count_in(x->arena, &v.bins[at], (int64_t)length, 1);
	}
	return true;
}

/* The run under way is left in run_value and run_length. */
static void count_successors(struct columns *x, struct column *c, struct lossy *l, const int64_t *q, unsigned n)
{
	struct arena *a = x->arena;
	struct short_runs runs = {.count = {0}};
	uint8_t first[LOSSY_QUEUE + 1]; /* where runs begin: first all of them, for nobody can predict where */
	_Static_assert(LOSSY_QUEUE <= UINT8_MAX, "runs are counted in bytes");
	unsigned from = (unsigned)l->counted, m = 0;
	int64_t value = l->run_value, before = l->run_length ? value : ~q[from];
	for (unsigned i = from; i < n; i++) {
		first[m] = (uint8_t)i;
		m += q[i] != before;
		before = q[i];
	}
	first[m] = (uint8_t)n;
	uint64_t length = l->run_length + first[0] - from;
	for (unsigned i = 0; i < m; i++) {
		if (__builtin_expect(length > 0 && !short_add(x, c, l, &runs, value, length), 0)) {
			struct retired old = {.count = 0};
			short_store(x, l, &runs);
			arena_set(a, l->run_value, value);
			arena_set(a, l->run_length, length);
			arena_set(a, l->counted, first[i]);
			arena_commit(a);
			lossy_count_run(x, c, value, length, &old);
			arena_set(a, l->run_length, 0);
			lossy_commit(x, &old);
		}
		value = q[first[i]];
		length = (uint64_t)first[i + 1] - first[i];
	}
	short_store(x, l, &runs);
	arena_set(a, l->run_value, value);
	arena_set(a, l->run_length, length);
}

/* Are there few runs of equal values in a full queue? Then the last values are mostly equal. */
static bool few_runs(const int64_t *q)
{
	unsigned runs = 1;
	if (q[LOSSY_QUEUE - 1] != q[LOSSY_QUEUE - 2] || q[LOSSY_QUEUE - 1] != q[LOSSY_QUEUE - 3])
		return false;
	for (unsigned i = 1; i < LOSSY_QUEUE; i++)
		runs += q[i] != q[i - 1];
	return runs < RUNS_LEAST;
}

__attribute__((noinline)) void lossy_queue_empty(struct columns *x, struct column *c)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	const int64_t *q = queue_at(x, c);
	bool next = (c->role & ROLE_KINDS) == ROLE_NEXT, ends = few_runs(q);
	int64_t last = q[LOSSY_QUEUE - 1];
	unsigned n = LOSSY_QUEUE;
	uint64_t visits = c->start + n;
	while (ends && !next && n > 0 && q[n - 1] == last)
		n--; /* it is the run under way */
	(next ? count_successors : count_values)(x, c, l, q, n);
	arena_set(a, l->counted, 0);
	if (ends) {
		end_queue(x, c, next ? visits - l->run_length : c->start + n, last);
		return;
	}
	arena_set(a, c->start, visits);
	arena_commit(a);
}

/* Vectors. */

static size_t words_of(size_t n)
{
	return sizeof(struct lossy_waiting) / sizeof(int64_t) + (n == SIZE_MAX ? 1 : n);
}

/* `waiting` is behind those that wait already: in the queue's word `used`. */
static inline void add_waiting(struct column *c, struct lossy *l, struct lossy_waiting *waiting, uint64_t visits,
                               const int64_t *values, size_t n, uint32_t used)
{
	size_t words = n == SIZE_MAX ? 1 : n;
	waiting->visit = visits;
	waiting->count = n;
	for (size_t i = 0; i < words; i++)
		waiting->values[i] = values[i];
	l->last = used;
	arena_barrier();
	c->queued = used + (uint32_t)words_of(n);
}

void lossy_queue_begin_vectors(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	if (n != SIZE_MAX && words_of(n) > LOSSY_QUEUE_WORDS)
		return;
	ref at = make_queue(x, c);
	if (!at)
		return;
	/* as long as the visit does not count, nothing is under way that it could end */
	set_queue(x->arena, c, at, 0, visits, VALUE_NONE);
	add_waiting(c, lossy_of(x, c), arena_at(x->arena, struct lossy_waiting, at), visits, values, n, 0);
}

/* Those of visits up to here, each as often as it came. */
static void empty_vectors(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	const int64_t *q = queue_at(x, c);
	struct sums lengths, elements;
	sums_begin(&lengths, x, &l->tally, l->hint, &l->hinted);
	sums_begin(&elements, x, &l->elements, l->element_hint, &l->element_hinted);
	for (uint64_t at = l->counted, after; at < c->queued; at = after) {
		const struct lossy_waiting *w = (const struct lossy_waiting *)(const void *)(q + at);
		after = at + words_of(w->count);
		uint64_t visit = after < c->queued ? ((const struct lossy_waiting *)(const void *)(q + after))->visit
		                                   : visits,
			 times = visit - w->visit;
		const int64_t *end = w->values + (w->count == SIZE_MAX ? 0 : w->count),
			      *p = sums_add_times(a, &elements, w->values, end, times);
		int64_t first = w->count == SIZE_MAX ? w->values[0] : (int64_t)w->count;
		if (__builtin_expect(p == end && sums_add_times(a, &lengths, &first, &first + 1, times) > &first, 1))
			continue;
		while (p > w->values)
			sums_find(a, &elements, *--p, 0 - times); /* not those of a part of it */
		struct retired old = {.count = 0};
		sums_store(a, &lengths);
		sums_store(a, &elements);
		arena_set(a, l->counted, at);
		arena_commit(a);
		lossy_count_vector(x, l, w->values, w->count, times, &old);
		arena_set(a, l->counted, after);
		lossy_commit(x, &old);
		sums_begin(&lengths, x, &l->tally, l->hint, &l->hinted);
		sums_begin(&elements, x, &l->elements, l->element_hint, &l->element_hinted);
	}
	sums_store(a, &lengths);
	sums_store(a, &elements);
	arena_set(a, l->counted, 0);
	arena_save(a, &c->queued);
	c->queued = 0;
	arena_commit(a);
}

static bool same_values(const int64_t *a, const int64_t *b, size_t n)
{
	size_t i = 0;
	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

bool lossy_queue_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	struct lossy *l = lossy_of(x, c);
	int64_t *q = queue_at(x, c);
	uint32_t used = c->queued;
	if (used > 0) {
		const struct lossy_waiting *last = (const struct lossy_waiting *)(const void *)(q + l->last);
		if (__builtin_expect(last->visit >= visits, 0))
			used = (uint32_t)l->last; /* the event that it was put for was taken back */
		else if (last->count == n && same_values(last->values, values, words_of(n) - words_of(0)))
			return true;
	}
	if (__builtin_expect(words_of(n) > LOSSY_QUEUE_WORDS - used, 0)) {
		c->queued = used;
		empty_vectors(x, c, visits);
		used = 0;
		if (words_of(n) > LOSSY_QUEUE_WORDS) {
			end_queue(x, c, visits, VALUE_NONE);
			return false;
		}
	}
	add_waiting(c, l, (struct lossy_waiting *)(void *)(q + used), visits, values, n, used);
	return true;
}
