/* SPDX-License-Identifier: BSD-3-Clause
 * lossy - columns of an arena that gave up their order
 */
#include "trace/lossy.h"

#include <stdlib.h>
#include <string.h>

#include "trace/pattern.h"
#include "trace/record.h"
#include "trace/trace.h"

static struct lossy *lossy_of(const struct columns *x, const struct column *c)
{
	return arena_at(x->arena, struct lossy, c->lossy);
}

/* A tally of the arena, to be looked at. */
static struct tally view(const struct columns *x, const struct lossy_tally *t)
{
	return (struct tally){arena_at(x->arena, struct tally_bin, t->bins), t->count, t->count};
}

/* Blocks that an operation has given up: they are not free before it ends, for until then it can be undone. */
struct retired {
	struct {
		ref at;
		uint64_t capacity;
	} block[4];
	unsigned count;
};

static void retire(struct columns *x, struct retired *old, ref at, uint64_t capacity)
{
	if (at && old->count < sizeof old->block / sizeof *old->block) {
		old->block[old->count].at = at;
		old->block[old->count++].capacity = capacity;
	} else {
		arena_free_block(x->arena, at, capacity);
	}
}

static void commit(struct columns *x, struct retired *old)
{
	for (unsigned i = 0; i < old->count; i++)
		arena_free_block(x->arena, old->block[i].at, old->block[i].capacity);
	arena_commit(x->arena);
}

/* Makes `t` hold what `from` holds, in a new block. */
static bool store(struct columns *x, struct lossy_tally *t, const struct tally *from, struct retired *old)
{
	struct arena *a = x->arena;
	uint64_t bytes = from->count * sizeof *from->bins, capacity;
	if (bytes == 0)
		return true;
	ref at = arena_alloc_block(a, bytes, &capacity);
	if (!at)
		return false;
	memcpy(arena_at(a, struct tally_bin, at), from->bins, bytes);
	retire(x, old, t->bins, t->capacity);
	arena_set(a, t->bins, at);
	arena_set(a, t->capacity, (uint32_t)capacity);
	arena_set(a, t->count, from->count);
	return true;
}

/* Values of one cell have one hint, those of other cells mostly others. */
static inline unsigned hint_of(int64_t value)
{
	uint64_t u = (uint64_t)value;
	if (value >= TALLY_CELLS) {
		unsigned power = 63 - (unsigned)__builtin_clzll(u);
		u = power * TALLY_CELLS + (u >> (power - 3)); /* the latter is 8 to 15 */
	}
	return (unsigned)(u % LOSSY_HINTS);
}

/* As tally_place, but most values are found with one look: those of one cell are mostly in one bin. */
static inline int64_t find_bin(const struct tally *t, uint8_t *hint, int64_t value)
{
	uint8_t *h = &hint[hint_of(value)];
	if (__builtin_expect(*h < t->count && t->bins[*h].min <= value && value <= t->bins[*h].max, 1))
		return *h;
	int64_t at = t->count ? tally_place(t, value) : -1;
	if (at >= 0)
		*h = (uint8_t)at;
	return at;
}

static inline void count_in(struct arena *a, struct tally_bin *b, int64_t value, uint64_t count)
{
	if (value < b->min)
		arena_set(a, b->min, value);
	if (value > b->max)
		arena_set(a, b->max, value);
	arena_set(a, b->count, b->count + count);
	arena_set(a, b->sum, b->sum + (uint64_t)value * count);
}

/* Adds to the nearest bin, without memory. False: there is none. */
static bool squeeze(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count)
{
	struct tally v = view(x, t);
	struct tally_bin *b = NULL;
	for (uint32_t i = 0; i < v.count; i++)
		if (!value_is_constant(v.bins[i].min) && (!b || v.bins[i].min <= value))
			b = &v.bins[i];
	if (!b || value_is_constant(value))
		return false;
	count_in(x->arena, b, value, count);
	return true;
}

/* Adds to a tally, as part of the operation under way; *others counts what no memory can be had for (NULL: nothing does). */
static void add(struct columns *x, struct lossy_tally *t, int64_t value, uint64_t count, uint64_t *others, struct retired *old)
{
	struct tally v = view(x, t), grown;
	int64_t at = v.count ? tally_place(&v, value) : -1;
	if (__builtin_expect(at >= 0, 1)) {
		count_in(x->arena, &v.bins[at], value, count);
		return;
	}
	bool done = tally_copy(&grown, &v) == 0 && tally_add(&grown, value, count) == 0;
	if (done && x->bins)
		tally_balance(&grown, x->bins);
	if (!(done && store(x, t, &grown, old)) && !squeeze(x, t, value, count) && others)
		arena_set(x->arena, *others, *others + count);
	tally_free(&grown);
}

/* The runs of a successor. */
static struct lossy_tally *runs_of(struct columns *x, struct column *c, int64_t to)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	int64_t i = column_slot(x, c, to);
	if (i >= 0 && i < l->next_count)
		return &arena_at(a, struct lossy_next, l->next)[i].runs;
	if ((l->next_count + UINT64_C(1)) * sizeof(struct lossy_next) > l->next_capacity) {
		uint64_t capacity;
		ref more = arena_alloc_block(a, (l->next_count + UINT64_C(1)) * sizeof(struct lossy_next), &capacity);
		if (!more) {
			arena_commit(a);
			return NULL;
		}
		if (l->next_count)
			memcpy(a->base + more, a->base + l->next, l->next_count * sizeof(struct lossy_next));
		if (l->next)
			arena_free_block(a, l->next, l->next_capacity);
		arena_set(a, l->next, more);
		arena_set(a, l->next_capacity, capacity);
		arena_commit(a); /* what was given back must not be used again while it could still be wanted back */
	}
	struct lossy_next *next = &arena_at(a, struct lossy_next, l->next)[l->next_count];
	*next = (struct lossy_next){.to = (uint32_t)to};
	column_slot_add(x, c, to, l->next_count);
	arena_set(a, l->next_count, l->next_count + 1);
	return &next->runs;
}

/* A run has ended. */
static void count_run(struct columns *x, struct column *c, int64_t value, uint64_t length, struct retired *old)
{
	struct lossy *l = lossy_of(x, c);
	if ((c->role & ROLE_KINDS) == ROLE_NEXT) {
		struct lossy_tally *t = runs_of(x, c, value);
		if (t)
			add(x, t, (int64_t)length, 1, NULL, old);
	} else {
		add(x, &l->tally, value, length, &l->others[0], old);
	}
}

/* The queue. */

/* Runs that a column has before they are to wait: most columns have few. */
#define QUEUE_AFTER 16

static void begin_queue(struct columns *x, struct column *c, uint64_t visits)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	ref at = arena_alloc_block(a, LOSSY_QUEUE * sizeof(struct lossy_run), &capacity);
	arena_commit(a);
	if (!at)
		return;
	bool run = c->expect != VALUE_NONE && visits >= c->start;
	if (run)
		*arena_at(a, struct lossy_run, at) = (struct lossy_run){c->expect, c->start};
	lossy_of(x, c)->counted = 0;
	arena_barrier();
	union {
		struct {
			ref queue;
			uint32_t queued;
		};
		uint64_t word;
	} both = {.queue = at, .queued = run};
	c->lead = both.word; /* from here on the run under way is what is in the queue */
}

/* Counts run i of the queue, for which there is no bin: an operation of its own. */
static __attribute__((noinline)) void count_queued(struct columns *x, struct column *c, struct lossy *l, const struct lossy_run *q, uint32_t i)
{
	struct retired old = {.count = 0};
	arena_set(x->arena, l->counted, i); /* those before it */
	commit(x, &old);
	count_run(x, c, q[i].value, q[i + 1].start - q[i].start, &old);
	arena_set(x->arena, l->counted, i + 1);
	commit(x, &old);
}

/* Bins that runs of a queue are added up for before they are counted: the journal has each bin once. */
#define SUMS 64

struct sums {
	struct {
		uint64_t count, sum;
	} bin[SUMS];
	uint32_t bins; /* how many there are */
};

static inline void sums_begin(struct sums *s, const struct tally *t)
{
	s->bins = t->count < SUMS ? t->count : SUMS;
	memset(s->bin, 0, s->bins * sizeof s->bin[0]);
}

static inline void sums_store(struct columns *x, const struct sums *s, struct tally_bin *bins)
{
	for (uint32_t i = 0; i < s->bins; i++)
		if (s->bin[i].count) {
			arena_set(x->arena, bins[i].count, bins[i].count + s->bin[i].count);
			arena_set(x->arena, bins[i].sum, bins[i].sum + s->bin[i].sum);
		}
}

static void count_values(struct columns *x, struct column *c, struct lossy *l, const struct lossy_run *q, uint32_t n)
{
	struct tally v = view(x, &l->tally);
	struct sums sums;
	sums_begin(&sums, &v);
	for (uint32_t i = (uint32_t)l->counted; i < n; i++) {
		uint64_t length = q[i + 1].start - q[i].start;
		int64_t value = q[i].value;
		uint8_t h = l->hint[hint_of(value)];
		if (__builtin_expect(h < sums.bins && v.bins[h].min <= value && value <= v.bins[h].max, 1)) {
			sums.bin[h].count += length;
			sums.bin[h].sum += (uint64_t)value * length;
			continue;
		}
		int64_t at = find_bin(&v, l->hint, value);
		if (__builtin_expect(at >= 0, 1)) {
			count_in(x->arena, &v.bins[at], value, length);
			continue;
		}
		sums_store(x, &sums, v.bins);
		count_queued(x, c, l, q, i);
		v = view(x, &l->tally);
		sums_begin(&sums, &v);
	}
	sums_store(x, &sums, v.bins);
}

static void store_ones(struct columns *x, const struct lossy *l, uint64_t touched, uint8_t *ones)
{
	for (; touched; touched &= touched - 1) {
		int i = __builtin_ctzll(touched);
		struct tally_bin *b = arena_at(x->arena, struct tally_bin, arena_at(x->arena, struct lossy_next, l->next)[i].runs.bins);
		arena_set(x->arena, b->count, b->count + ones[i]);
		arena_set(x->arena, b->sum, b->sum + ones[i]);
		ones[i] = 0;
	}
}

/* Most runs are of one visit, which is the first bin of most tallies. */
static void count_successors(struct columns *x, struct column *c, struct lossy *l, const struct lossy_run *q, uint32_t n)
{
	uint8_t ones[SUMS] = {0}; /* runs of one visit, by successor */
	uint64_t touched = 0;
	_Static_assert(LOSSY_QUEUE < UINT8_MAX, "runs are counted in bytes");
	for (uint32_t i = (uint32_t)l->counted; i < n; i++) {
		const struct lossy_next *next = arena_at(x->arena, struct lossy_next, l->next);
		int64_t length = (int64_t)(q[i + 1].start - q[i].start), value = q[i].value;
		uint8_t *hint = &l->hint[(uint64_t)value % LOSSY_HINTS];
		int64_t k = *hint;
		if (__builtin_expect(k >= l->next_count || next[k].to != value, 0)) {
			k = column_slot(x, c, value);
			k = k < l->next_count ? k : -1;
			if (k >= 0 && k <= UINT8_MAX)
				*hint = (uint8_t)k;
		}
		struct tally v = k >= 0 ? view(x, &next[k].runs) : (struct tally){.count = 0};
		if (__builtin_expect(length == 1 && v.count && k < SUMS && v.bins[0].min == 1 && v.bins[0].max == 1, 1)) {
			ones[k]++;
			touched |= UINT64_C(1) << k;
			continue;
		}
		int64_t at = v.count ? tally_place(&v, length) : -1;
		if (__builtin_expect(at >= 0, 1)) {
			count_in(x->arena, &v.bins[at], length, 1);
		} else {
			store_ones(x, l, touched, ones);
			touched = 0;
			count_queued(x, c, l, q, i);
		}
	}
	store_ones(x, l, touched, ones);
}

/* Counts all runs but the one under way. What needs no memory is one operation; each run that does is one of its own. */
static __attribute__((noinline)) void empty_queue(struct columns *x, struct column *c)
{
	struct arena *a = x->arena;
	struct lossy *l = lossy_of(x, c);
	struct lossy_run *q = arena_at(a, struct lossy_run, c->queue);
	uint32_t n = c->queued - 1;
	((c->role & ROLE_KINDS) == ROLE_NEXT ? count_successors : count_values)(x, c, l, q, n);
	arena_set(a, q[0].value, q[n].value);
	arena_set(a, q[0].start, q[n].start);
	arena_set(a, l->counted, 0);
	arena_set(a, c->queued, 1);
	arena_commit(a);
}

static __attribute__((noinline)) void queue_put(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	c->queued -= c->queued > 0 && c->start >= visits; /* the event that the last one was put for was taken back */
	lossy_append(x, c, visits, value);
	if (c->queued == LOSSY_QUEUE)
		empty_queue(x, c);
}

static const struct record_vector *vector_at(const struct columns *x, int64_t i)
{
	const struct table *t = x->record ? &x->record->vectors : NULL;
	if (!t || i < 0 || i >= t->count)
		return NULL;
	return arena_at(x->arena, struct record_vector, *(ref *)table_at(x->arena, t, (uint32_t)i, sizeof(ref)));
}

static void put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n);

void lossy_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	struct retired old;
	if (c->queue) {
		if (!lossy_wait(x, c, visits, value))
			queue_put(x, c, visits, value);
		return;
	}
	if (c->lossy == LOSSY_FORGOTTEN)
		return;
	if ((c->role & ROLE_KINDS) == ROLE_VECTOR) {
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(x, value);
		if (v)
			put_vector(x, c, visits, v->values, v->count);
		else if (value != c->expect || visits == c->start)
			put_vector(x, c, visits, &value, SIZE_MAX);
		return;
	}
	if (value == c->expect) /* the column has just become lossy, and its last run goes on */
		return;
	old.count = 0;
	if (c->expect != VALUE_NONE && visits > c->start)
		count_run(x, c, c->expect, visits - c->start, &old);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, value);
	commit(x, &old);
	if (++c->appends == QUEUE_AFTER)
		begin_queue(x, c, visits);
}

/* Vectors of more elements than this are counted in a copy of the tally: the journal has no room for each of them. */
#define PLAIN_ELEMENTS 64

/* The vector under way came `times` times. */
static void count_vector(struct columns *x, struct lossy *l, const struct record_vector *v, uint64_t times, struct retired *old)
{
	struct tally elements = view(x, &l->elements), grown = {0}, lengths = {0};
	struct tally_bin *place[PLAIN_ELEMENTS];
	bool plain = v->count <= PLAIN_ELEMENTS;
	for (uint32_t i = 0; plain && i < v->count; i++) {
		int64_t at = i > 0 && v->values[i] == v->values[i - 1] ? place[i - 1] - elements.bins : find_bin(&elements, l->element_hint, v->values[i]);
		plain = at >= 0;
		place[i] = elements.bins + (at < 0 ? 0 : at);
	}
	add(x, &l->tally, v->count, times, &l->others[0], old);
	if (plain) {
		for (uint32_t i = 0, k; i < v->count; i = k) {
			for (k = i + 1; k < v->count && v->values[k] == v->values[i]; k++) {
			}
			count_in(x->arena, place[i], v->values[i], (k - i) * times);
		}
		return;
	}
	bool done = tally_copy(&grown, &elements) == 0 && lossy_add_vector(&lengths, &grown, v->values, v->count, times);
	if (done && x->bins)
		tally_balance(&grown, x->bins);
	if (!(done && store(x, &l->elements, &grown, old)))
		for (uint32_t i = 0; i < v->count; i++)
			if (!squeeze(x, &l->elements, v->values[i], times))
				arena_set(x->arena, l->others[1], l->others[1] + times);
	tally_free(&grown);
	tally_free(&lengths);
}

/* What is under way has ended: a constant, a vector, or a vector that there was no memory to keep. */
static void count_under_way(struct columns *x, struct column *c, uint64_t times, struct retired *old)
{
	struct lossy *l = lossy_of(x, c);
	const struct lossy_vector *v = &l->vector[l->which & 1];
	if (c->expect != VALUE_NONE)
		add(x, &l->tally, c->expect, times, &l->others[0], old);
	else if (v->at)
		count_vector(x, l, arena_at(x->arena, struct record_vector, v->at), times, old);
	else
		arena_set(x->arena, l->others[0], l->others[0] + times);
}

/* Keeps a vector where nobody reads it yet. */
static void keep_vector(struct columns *x, struct lossy_vector *to, const int64_t *values, size_t n)
{
	struct arena *a = x->arena;
	uint64_t capacity;
	if (!to->at || sizeof(struct record_vector) + n * sizeof *values > to->capacity) {
		ref at = n < UINT32_MAX / 16 ? arena_alloc_block(a, sizeof(struct record_vector) + n * sizeof *values, &capacity) : 0;
		ref unused = to->at;
		uint64_t unused_capacity = to->capacity;
		arena_set(a, to->at, at);
		arena_set(a, to->capacity, at ? (uint32_t)capacity : 0);
		arena_free_block(a, unused, unused_capacity);
		arena_commit(a);
		if (!at)
			return;
	}
	struct record_vector *v = arena_at(a, struct record_vector, to->at);
	v->count = (uint32_t)n;
	if (n)
		memcpy(v->values, values, n * sizeof *values);
}

static void put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	struct retired old;
	struct lossy *l = lossy_of(x, c);
	uint32_t other = !(l->which & 1);
	uint64_t run = visits > c->start ? visits - c->start : 0;
	const struct lossy_vector *now = &l->vector[!other];
	if (n != SIZE_MAX) {
		const struct record_vector *v = run && c->expect == VALUE_NONE && now->at ? arena_at(x->arena, struct record_vector, now->at) : NULL;
		if (v && v->count == n && (n == 0 || memcmp(v->values, values, n * sizeof *values) == 0))
			return;
		keep_vector(x, &l->vector[other], values, n);
	}
	old.count = 0; /* no more of it: this is often */
	if (run)
		count_under_way(x, c, run, &old);
	arena_set(x->arena, l->which, other);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, n == SIZE_MAX ? *values : VALUE_NONE);
	commit(x, &old);
}

void lossy_put_vector(struct columns *x, struct column *c, uint64_t visits, const int64_t *values, size_t n)
{
	if (c->lossy != LOSSY_FORGOTTEN)
		put_vector(x, c, visits, values, n);
}

/* Making one. */

struct making {
	struct columns *x;
	struct column *c;
	struct tally values, elements;
	struct lossy_runs *next;
	size_t next_count, next_capacity;
};

static int make_value(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times)
{
	struct making *m = context;
	if ((m->c->role & ROLE_KINDS) != ROLE_VECTOR)
		return tally_add_run(&m->values, start, stride, count, times);
	for (uint64_t i = 0; i < count; i++) {
		int64_t value = (int64_t)((uint64_t)start + (uint64_t)stride * i);
		const struct record_vector *v = value_is_constant(value) ? NULL : vector_at(m->x, value);
		if (!lossy_add_vector(&m->values, &m->elements, v ? v->values : &value, v ? v->count : SIZE_MAX, times))
			return -1;
	}
	return 0;
}

static int make_run(void *context, int64_t value, uint64_t length, uint64_t runs)
{
	struct making *m = context;
	size_t i = 0;
	while (i < m->next_count && m->next[i].to != (uint32_t)value)
		i++;
	if (i == m->next_count) {
		if (m->next_count == m->next_capacity) {
			size_t capacity = m->next_capacity ? m->next_capacity * 2 : 8;
			struct lossy_runs *more = realloc(m->next, capacity * sizeof *more);
			if (!more)
				return -1;
			m->next = more;
			m->next_capacity = capacity;
		}
		m->next[m->next_count++] = (struct lossy_runs){.to = (uint32_t)value};
	}
	return tally_add(&m->next[i].runs, (int64_t)length, runs);
}

/* What the column holds, but for the run under way in *value, *length (0: it is in what was made). */
static bool gather(struct making *m, uint64_t visits, int64_t *value, uint64_t *length)
{
	struct columns *x = m->x;
	struct column *c = m->c;
	struct pattern p = {0};
	bool done = false;
	*length = 0;
	if (visits == 0)
		return true;
	if (column_pattern(x, c, visits, &p) != 0)
		goto done;
	if ((c->role & ROLE_KINDS) == ROLE_NEXT) {
		int64_t last = VALUE_NONE;
		done = pattern_runs(&p, column_dict(x, c), c->dict_count, make_run, m, &last, length) == 0;
		*value = last;
	} else {
		done = pattern_each(&p, column_dict(x, c), c->dict_count, make_value, m) == 0;
	}
done:
	pattern_free(&p);
	return done;
}

static void making_free(struct making *m)
{
	tally_free(&m->values);
	tally_free(&m->elements);
	for (size_t i = 0; i < m->next_count; i++)
		tally_free(&m->next[i].runs);
	free(m->next);
}

/* Gives a tally's block back. */
static void release(struct columns *x, struct lossy_tally *t)
{
	arena_free_block(x->arena, t->bins, t->capacity);
	t->bins = 0;
}

/* Gives back what a lossy column has that no column refers to (any more). */
static void lossy_free(struct columns *x, ref at, ref queue)
{
	struct arena *a = x->arena;
	struct lossy *l = arena_at(a, struct lossy, at);
	for (uint32_t i = 0; i < l->next_count; i++) {
		release(x, &arena_at(a, struct lossy_next, l->next)[i].runs);
		arena_commit(a); /* there may be many */
	}
	arena_free_block(a, l->next, l->next_capacity);
	release(x, &l->tally);
	release(x, &l->elements);
	for (int i = 0; i < 2; i++)
		arena_free_block(a, l->vector[i].at, l->vector[i].capacity);
	arena_free_block(a, queue, LOSSY_QUEUE * sizeof(struct lossy_run));
	arena_free_block(a, at, sizeof *l);
	arena_commit(a);
}

bool lossy_make(struct columns *x, struct column *c, uint64_t visits, uint32_t why)
{
	struct arena *a = x->arena;
	struct making m = {.x = x, .c = c};
	struct retired none = {.count = 0};
	uint64_t capacity, length = 0;
	int64_t value = VALUE_NONE;
	bool done = false;
	if (c->lossy || !gather(&m, visits, &value, &length))
		goto done;
	if (x->bins) {
		tally_balance(&m.values, x->bins);
		tally_balance(&m.elements, x->bins);
	}
	ref at = arena_alloc_block(a, sizeof(struct lossy), &capacity);
	arena_commit(a);
	if (!at)
		goto done;
	struct lossy *l = arena_at(a, struct lossy, at);
	*l = (struct lossy){.why = why, .since = x->record ? x->record->events : 0};
	done = store(x, &l->tally, &m.values, &none) && store(x, &l->elements, &m.elements, &none);
	if (done && m.next_count) {
		l->next = arena_alloc_block(a, m.next_count * sizeof(struct lossy_next), &l->next_capacity);
		done = l->next;
	}
	for (size_t i = 0; done && i < m.next_count; i++) {
		struct lossy_next *next = &arena_at(a, struct lossy_next, l->next)[l->next_count++];
		*next = (struct lossy_next){.to = m.next[i].to};
		if (x->bins)
			tally_balance(&m.next[i].runs, x->bins);
		done = store(x, &next->runs, &m.next[i].runs, &none);
		arena_commit(a);
	}
	arena_commit(a);
	if (!done) {
		lossy_free(x, at, 0);
		goto done;
	}
	column_release(x, c, at, visits - length, length ? value : VALUE_NONE);
	for (uint32_t i = 0; i < l->next_count; i++)
		column_slot_add(x, c, arena_at(a, struct lossy_next, l->next)[i].to, i);
done:
	making_free(&m);
	return done;
}

static void note_since(struct columns *x)
{
	if (x->record && !x->record->stage[STAGE_COLUMNS])
		x->record->stage[STAGE_COLUMNS] = x->record->events + 1;
}

void lossy_force(struct columns *x, struct column *c, uint64_t visits)
{
	if (c->lossy)
		return;
	note_since(x);
	if (!lossy_make(x, c, visits, WHY_MEMORY))
		column_release(x, c, LOSSY_FORGOTTEN, visits, VALUE_NONE);
}

void lossy_forget(struct columns *x, struct column *c, uint64_t visits)
{
	ref at = c->lossy;
	if (!at || at == LOSSY_FORGOTTEN)
		return;
	note_since(x);
	const struct lossy *l = lossy_of(x, c);
	for (uint32_t i = 0; i < l->next_count; i++)
		column_slot_remove(x, c, arena_at(x->arena, struct lossy_next, l->next)[i].to);
	ref queue = c->queue;
	arena_set(x->arena, c->lossy, LOSSY_FORGOTTEN);
	arena_set(x->arena, c->lead, 0);
	arena_set(x->arena, c->start, visits);
	arena_set(x->arena, c->expect, VALUE_NONE);
	arena_commit(x->arena);
	c->raw = VALUE_NONE;
	lossy_free(x, at, queue);
}

static uint64_t tally_bytes(const struct lossy_tally *t)
{
	return t->bins ? t->capacity : 0;
}

uint64_t lossy_size(const struct columns *x, const struct column *c)
{
	if (!c->lossy || c->lossy == LOSSY_FORGOTTEN)
		return 0;
	const struct lossy *l = lossy_of(x, c);
	uint64_t bytes = sizeof *l + tally_bytes(&l->tally) + tally_bytes(&l->elements) + l->vector[0].capacity + l->vector[1].capacity + l->next_capacity +
	                 (c->queue ? LOSSY_QUEUE * sizeof(struct lossy_run) : 0);
	for (uint32_t i = 0; i < l->next_count; i++)
		bytes += tally_bytes(&arena_at(x->arena, struct lossy_next, l->next)[i].runs);
	return bytes;
}

static void shrink(struct columns *x, struct lossy_tally *t, uint32_t bins)
{
	struct tally v = view(x, t), small;
	struct retired old = {.count = 0};
	if (v.count <= bins || tally_copy(&small, &v) != 0)
		return;
	tally_balance(&small, bins);
	if (small.count < v.count)
		store(x, t, &small, &old);
	commit(x, &old);
	tally_free(&small);
}

void lossy_shrink(struct columns *x, struct column *c, uint32_t bins)
{
	if (!c->lossy || c->lossy == LOSSY_FORGOTTEN)
		return;
	struct lossy *l = lossy_of(x, c);
	shrink(x, &l->tally, bins);
	shrink(x, &l->elements, bins);
	for (uint32_t i = 0; i < l->next_count; i++)
		shrink(x, &arena_at(x->arena, struct lossy_next, l->next)[i].runs, bins);
}
