/* SPDX-License-Identifier: BSD-3-Clause
 * record_class - the computations of an edge, sorted into few classes by how long they took
 *
 * Two values are far from each other if one is half as long again as the other, and the difference is more than a call
 * or a page fault makes: 100 ns and 300 ns are noise, 1 ms and 1.2 ms are, too.
 */
#include "trace/record/record_class.h"

#include "trace/model/trace.h"

/* Ticks of a counter, some 2 us. */
#define FAR_TICKS 6000
/* The edge has as many values when they become a histogram. */
#define FIRST_VALUES (TIME_FEW + TIME_LIST)
/* Tokens of a pattern that are no matter, and how many runs of equal classes a further one must be worth. */
#define TOKENS_FREE 64
#define TOKEN_RUNS  4
#define TOKENS_LOOK 16 /* runs between two looks at that */
/* Call paths come first: classes may take this part of the arena, and nothing of a small one. A pattern is counted as
 * so many bytes. */
#define CLASSES_PART  128
#define CLASSES_LEAST (UINT64_C(4) << 20)
#define PATTERN_BYTES 1024

static bool is_far(uint64_t a, uint64_t b)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;
	return high - low > FAR_TICKS && high - low > low / 2;
}

static struct record_classes *classes_of(const struct arena *a, const struct record_edge *e)
{
	ref at = record_edge_classes(e, record_no_times(a));
	return at ? arena_at(a, struct record_classes, at) : NULL;
}

static struct record_time *class_time(const struct arena *a, const struct record_classes *k, uint64_t class)
{
	return arena_at(a, struct record_time, k->each[class].time);
}

/* Is a nearer to v than b is, as a factor? Without floating point, which would leave flags in the program's
 * environment. No value has more than 62 bits. */
static bool is_nearer(uint64_t v, uint64_t a, uint64_t b)
{
	uint64_t low_a = (a < v ? a : v) + 1, high_a = (a < v ? v : a) + 1, low_b = (b < v ? b : v) + 1,
		 high_b = (b < v ? v : b) + 1;
	return (uint128)high_a * low_b < (uint128)high_b * low_a;
}

/* The class whose center is nearest; *far: it is far, nevertheless. */
static uint32_t class_nearest(const struct record_classes *k, uint64_t ticks, bool *far)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < k->count; i++)
		if (is_nearer(ticks, k->each[i].center, k->each[best].center))
			best = i;
	*far = is_far(k->each[best].center, ticks);
	return best;
}

/* more: bytes that will be needed besides. */
static ref class_alloc(struct columns *x, uint64_t n, uint64_t more)
{
	const uint64_t size = x->arena->size, most = size < CLASSES_LEAST ? 0 : size / CLASSES_PART;
	if (x->class_bytes + n + more > most)
		return 0;
	ref at = arena_alloc(x->arena, n);
	arena_commit(x->arena);
	x->class_bytes += at ? n + more : 0;
	return at;
}

/* A class without values; false: no room. */
static bool class_begin(struct columns *x, struct record_classes *k, uint64_t center)
{
	ref time = k->count < RECORD_CLASSES ? class_alloc(x, sizeof(struct record_time), 0) : 0;
	if (!time)
		return false;
	k->each[k->count] = (struct record_class){.time = time, .center = center};
	arena_barrier();
	k->count++;
	return true;
}

static struct record_classes *classes_begin(struct columns *x, ref *at)
{
	*at = class_alloc(x, sizeof(struct record_classes), PATTERN_BYTES);
	if (!*at)
		return NULL;
	struct record_classes *k = arena_at(x->arena, struct record_classes, *at);
	cell_init(&k->column);
	k->column.role = ROLE_VALUE | ROLE_EXACT;
	return k;
}

/* Which histogram is compared with from now on. */
static void expect_class(const struct arena *a, struct record_edge *e, const struct record_classes *k)
{
	int64_t next = k->mixed ? 0 : k->column.expect;
	ref never = record_no_times(a).never;
	e->compute.at = next >= 0 && next < k->count ? class_time(a, k, (uint64_t)next)
	                                             : arena_at(a, struct record_time, never);
}

/* The first values in ascending order, cut where one is far above the one before. Returns the centers; 1: they are of
 * one class. */
static uint32_t find_centers(const uint64_t *values, uint32_t n, uint64_t centers[RECORD_CLASSES])
{
	uint64_t sorted[FIRST_VALUES], sum = 0;
	uint32_t count = 0, first = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;
		for (; at > 0 && sorted[at - 1] > values[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = values[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		sum += sorted[i];
		if (i + 1 < n && (count + 1 == RECORD_CLASSES || !is_far(sorted[i], sorted[i + 1])))
			continue;
		centers[count++] = sum / (i + 1 - first);
		first = i + 1;
		sum = 0;
	}
	return count;
}

/* The class of one of the first values. Classes are begun as their values appear, so that they are numbered as a
 * dictionary numbers values. RECORD_CLASSES: no room. */
static uint32_t class_appear(struct columns *x, struct record_classes *k, uint64_t ticks, const uint64_t *centers,
                             uint32_t count)
{
	bool far = true;
	uint32_t class = k->count ? class_nearest(k, ticks, &far) : 0, c = 0;
	if (!far)
		return class;
	while (c < count && is_far(centers[c], ticks))
		c++;
	if (class_begin(x, k, c < count ? centers[c] : ticks))
		return k->count - 1;
	return k->count ? class : RECORD_CLASSES;
}

/* Sorts the first values, if they are of several classes. */
static void classes_split(struct columns *x, struct record_edge *e)
{
	struct arena *a = x->arena;
	uint64_t values[FIRST_VALUES], visits[FIRST_VALUES], centers[RECORD_CLASSES];
	uint32_t n = time_cell_values(a, &e->compute, values, visits), count = n ? find_centers(values, n, centers) : 0;
	ref at;
	if (count < 2 || n < FIRST_VALUES)
		return;
	struct record_classes *k = classes_begin(x, &at);
	for (uint32_t i = 0; k && i < n; i++) {
		uint32_t class = class_appear(x, k, values[i], centers, count);
		if (class == RECORD_CLASSES)
			return; /* what was made is lost: there is hardly any memory */
		record_time_add(a, class_time(a, k, class), values[i], visits[i]);
		cell_put(x, &k->column, i, class);
		k->runs += class != k->last;
		k->last = class;
	}
	if (!k)
		return;
	arena_barrier();
	time_cell_become(a, &e->compute, k->each[0].time, at, n);
	expect_class(a, e, k);
}

/* The histogram that all values are in becomes class 0. NULL: no room. */
static struct record_classes *classes_of_one(struct columns *x, struct record_edge *e, uint64_t mean)
{
	ref at;
	struct record_classes *k = classes_begin(x, &at);
	if (!k)
		return NULL;
	k->each[0] = (struct record_class){.time = e->compute.full, .center = mean};
	k->count = 1;
	cell_put(x, &k->column, 0, 0);
	arena_barrier();
	e->compute.list = at;
	return k;
}

/* Is the order of the classes worth its tokens no more? */
static bool is_noise(struct columns *x, const struct record_classes *k)
{
	const struct column *c = cell_column(x, &k->column);
	uint64_t most = TOKENS_FREE + k->runs / TOKEN_RUNS;
	if (!c || c->lossy)
		return true; /* memory was short */
	return c->grammar && k->runs % TOKENS_LOOK == 0 && most < UINT32_MAX &&
	       grammar_size(&x->grammars, c->grammar, (uint32_t)most) > most;
}

static void classes_mix(struct columns *x, struct record_edge *e, struct record_classes *k)
{
	struct column *c = cell_column(x, &k->column);
	k->mixed = 1;
	arena_barrier();
	if (c && !c->lossy && lossy_make(x, c, e->compute.few[0], WHY_THRESHOLD))
		cell_refresh(x, &k->column);
}

static void classes_add(struct columns *x, struct record_edge *e, struct record_classes *k, uint64_t ticks,
                        uint64_t visit)
{
	struct arena *a = x->arena;
	bool far = false, plain = record_time_plain(e->compute.at, ticks);
	uint32_t class = k->mixed ? 0 : plain ? (uint32_t)k->column.expect : class_nearest(k, ticks, &far);
	if (far && class_begin(x, k, ticks))
		class = k->count - 1;
	record_time_add(a, class_time(a, k, class), ticks, visit);
	if (k->mixed)
		return;
	cell_put(x, &k->column, e->compute.few[0], class);
	k->runs += class != k->last;
	if (class != k->last && is_noise(x, k))
		classes_mix(x, e, k);
	k->last = class;
	expect_class(a, e, k);
}

static bool has_histogram(const struct record_edge *e, struct time_none none)
{
	return e->compute.full != none.never && e->compute.full != none.poor;
}

void record_edge_add(struct columns *x, struct record_edge *e, uint64_t ticks, uint64_t visit)
{
	struct arena *a = x->arena;
	const struct time_none none = record_no_times(a);
	if (e->compute.full == none.never)
		classes_split(x, e);
	struct record_classes *k = classes_of(a, e);
	if (!k && has_histogram(e, none) && !record_time_plain(e->compute.at, ticks)) {
		uint64_t mean = e->compute.at->sum / (e->compute.few[0] ? e->compute.few[0] : 1);
		k = is_far(mean, ticks) ? classes_of_one(x, e, mean) : NULL;
	}
	if (k)
		classes_add(x, e, k, ticks, visit);
	else
		time_cell_add(a, &e->compute, none, ticks, visit);
	arena_barrier();
	e->compute.few[0] += has_histogram(e, none);
}

struct record_time *record_edge_counts(struct columns *x, const struct record_edge *e, unsigned counters)
{
	const struct arena *a = x->arena;
	struct record_classes *k = classes_of(a, e);
	if (!k || counters == 0)
		return NULL;
	ref *counts = &k->each[k->mixed ? 0 : k->last].counts;
	ref new = *counts ? 0 : class_alloc(x, counters * sizeof(struct record_time), 0);
	arena_barrier();
	*counts = *counts ? *counts : new;
	return *counts ? arena_at(a, struct record_time, *counts) : NULL;
}

void record_edge_empty(struct arena *a, const struct record_edge *e)
{
	const struct record_classes *k = classes_of(a, e);
	record_time_empty(a, e->compute.at);
	for (uint32_t i = 0; k && i < k->count; i++)
		record_time_empty(a, class_time(a, k, i));
}
