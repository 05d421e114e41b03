/* SPDX-License-Identifier: BSD-3-Clause
 * record_time - a histogram that grows in an arena, of counter ticks
 */
#include "trace/record/record_time.h"

#include <string.h>

#include "trace/base/budget.h"

/* A window of so many bins may have any bins that are near. */
#define WINDOW_SMALL 8

/* To look at a bin that is kept apart takes a cache line, which is so many in a window. */
#define SPILL_BINS 8

/* Makes the window reach bin i, if it is near, or if that is worth so many bins. False if not, or if there is no room.
 */
static bool window_reach(struct arena *a, struct record_time *t, unsigned i, uint64_t worth)
{
	unsigned from = t->count && t->first < i ? t->first : i,
		 end = t->count && t->first + t->count > i ? t->first + t->count : i + 1;
	unsigned count = 4;
	while (count < end - from)
		count *= 2;
	if (count > WINDOW_SMALL && count > worth)
		return false;
	/* what is left over is on the side that it grew to */
	if (from == i && t->count)
		from = end > count ? end - count : 0;
	uint64_t capacity;
	ref bins = arena_alloc_block(a, count * sizeof(uint64_t), &capacity);
	if (!bins) {
		arena_commit(a);
		return false;
	}
	struct record_time now = {.bins = bins, .first = (uint16_t)from, .count = (uint16_t)count};
	memset(a->base + bins, 0, count * sizeof(uint64_t));
	if (t->count) {
		memcpy(arena_at(a, uint64_t, bins) + (t->first - from), a->base + t->bins, t->count * sizeof(uint64_t));
		arena_free_block(a, t->bins, t->count * sizeof(uint64_t));
	}
	arena_save(a, &t->bins);
	arena_barrier();
	memcpy(&t->bins, &now.bins, sizeof(uint64_t));
	arena_commit(a);
	return true;
}

/* What is kept apart of bin i; NULL: nothing. *seen: how many bins were looked at that the window does not have. */
static struct record_spill *spill_find(const struct arena *a, const struct record_time *t, unsigned index,
                                       unsigned *seen)
{
	ref at = t->spilled;
	*seen = 0;
	while (at && arena_at(a, struct record_spill, at)->index != index) {
		*seen += arena_at(a, struct record_spill, at)->index - t->first >= t->count;
		at = arena_at(a, struct record_spill, at)->next;
	}
	return at ? arena_at(a, struct record_spill, at) : NULL;
}

/* The same, made if there is nothing. NULL: no room. */
static struct record_spill *spill_at(struct arena *a, struct record_time *t, unsigned index)
{
	unsigned seen;
	struct record_spill *s = spill_find(a, t, index, &seen);
	if (s)
		return s;
	ref at = arena_alloc(a, sizeof(struct record_spill));
	arena_commit(a);
	if (!at)
		return NULL;
	s = arena_at(a, struct record_spill, at);
	*s = (struct record_spill){.next = t->spilled, .index = index};
	arena_barrier();
	t->spilled = at;
	return s;
}

/* A bin's word is full. */
static void spill(struct arena *a, struct record_time *t, uint64_t *bin)
{
	unsigned index = t->first + (unsigned)(bin - arena_at(a, uint64_t, t->bins));
	struct record_spill *s = spill_at(a, t, index);
	uint64_t one = time_word(index);
	if (!s) { /* the count stops, rather than begin again */
		*bin -= one + *bin % one / (*bin / one);
		return;
	}
	arena_set(a, s->count, s->count + *bin / one);
	arena_set(a, s->parts, s->parts + *bin % one);
	arena_set(a, *bin, 0);
	arena_commit(a);
}

void record_time_empty(struct arena *a, struct record_time *t)
{
	for (unsigned i = 0; i < t->count; i++)
		if (arena_at(a, uint64_t, t->bins)[i] >= TIME_FULL)
			spill(a, t, &arena_at(a, uint64_t, t->bins)[i]);
}

/* Says which values are plain from now on. */
static void plain_set(const struct arena *a, struct record_time *t)
{
	uint64_t low = t->min ? t->min : 1, high = t->max < TIME_EXACT ? t->max : TIME_EXACT,
		 floor = histogram_floor(t->first), end = histogram_floor(t->first + t->count);
	low = low < floor ? floor : low;
	high = high >= end ? end - 1 : high;
	bool all = low <= high;
	t->width = 0; /* nothing is plain as long as the others change */
	arena_barrier();
	t->low = low;
	t->origin = (uintptr_t)a->base + t->bins - sizeof(uint64_t) * (t->first + TIME_BIAS);
	arena_barrier();
	t->width = all ? high - low + 1 : 0;
}

void record_time_turn(struct arena *a, struct record_time *t, uint64_t ticks, uint64_t visit)
{
	bool first = t->count == 0;
	unsigned index = histogram_index(ticks), at = index - t->first;
	unsigned seen = 0;
	struct record_spill *apart = at >= t->count && !first ? spill_find(a, t, index, &seen) : NULL;
	/* a bin that comes often is worth the others in between, and so are bins that are a long way to look for */
	uint64_t far = SPILL_BINS * (uint64_t)seen, worth = apart && apart->count > far ? apart->count : far;
	if (at >= t->count && !window_reach(a, t, index, worth)) {
		if (first)
			return;
		apart = apart ? apart : spill_at(a, t, index);
		at = index < t->first ? 0 : t->count - 1U; /* without room: in the nearest bin */
	} else {
		apart = NULL;
		at = index - t->first;
	}
	if (first || ticks > t->max) {
		t->max = ticks;
		t->max_visit = visit;
	}
	if (first || ticks < t->min) {
		t->min = ticks;
		t->min_visit = visit;
	}
	plain_set(a, t);
	uint64_t *bin = arena_at(a, uint64_t, t->bins) + at;
	unsigned shift = (unsigned)__builtin_clzll(ticks | 1);
	uint128 square = (uint128)ticks * ticks;
	uint64_t parts = ((ticks | 1) << shift >> 40) % TIME_PARTS;
	if (apart) {
		arena_set(a, apart->count, apart->count + 1);
		arena_set(a, apart->parts, apart->parts + parts);
		arena_commit(a);
	} else {
		*bin += time_word(t->first + (unsigned)at) + parts;
	}
	t->sum += ticks;
	t->squares[1] +=
		(uint64_t)(square >> 64) + __builtin_add_overflow(t->squares[0], (uint64_t)square, &t->squares[0]);
	if (!apart && *bin >= TIME_FULL)
		spill(a, t, bin);
}

/* From the arena to a trace. */

#define BINS (64 * HISTOGRAM_PER_OCTAVE)

/* Adds to the bin with this index, if it is one of the `count` from `first` on. */
static bool bins_put(struct record_spill *out, unsigned first, unsigned count, unsigned index, uint64_t n,
                     uint64_t parts)
{
	if (index - first >= count)
		return n == 0;
	out[index - first].count += n;
	out[index - first].parts += parts;
	return true;
}

/* The bins of an arena, one by one, with those that are kept apart: those of the smallest value, `first`, and of
 * `range` - 1 more, for which *out has room. Returns how many are not empty, or SIZE_MAX if something is damaged. */
static size_t bins_read(const struct arena *a, const struct record_time *t, unsigned first, unsigned range,
                        struct record_spill *out)
{
	size_t n = 0;
	for (unsigned i = 0; i < range; i++)
		out[i] = (struct record_spill){.index = first + i};
	if (t->count && !arena_valid(a, t->bins, t->count * sizeof(uint64_t)))
		return SIZE_MAX;
	for (unsigned i = 0; i < t->count; i++) {
		uint64_t word = arena_at(a, uint64_t, t->bins)[i], one = time_word(t->first + i);
		if (!bins_put(out, first, range, t->first + i, word / one, word % one))
			return SIZE_MAX;
	}
	unsigned limit = BINS;
	for (ref at = t->spilled; at; at = arena_at(a, struct record_spill, at)->next) {
		if (limit-- == 0 || !arena_valid(a, at, sizeof(struct record_spill)))
			return SIZE_MAX;
		const struct record_spill *s = arena_at(a, struct record_spill, at);
		if (!bins_put(out, first, range, s->index, s->count, s->parts))
			return SIZE_MAX;
	}
	for (unsigned i = 0; i < range; i++)
		if (out[i].count)
			out[n++] = out[i];
	return n;
}

/* Counters are used for at most this many ticks or ns: a day times 2^11. Anything larger is damage, and would not fit
 * sums. */
#define TIME_SANE (UINT64_C(1) << 58)

static uint64_t ns_of(double ticks, double ns_per_tick)
{
	double ns = ticks * ns_per_tick + 0.5;
	return ns < (double)(UINT64_C(1) << 63) ? (uint64_t)ns : UINT64_C(1) << 63;
}

/* What is no number of this world becomes 0. */
static uint128 whole_of(double v)
{
	return v > 0 && v < 0x1p126 ? (uint128)v : 0;
}

static uint128 square_over(uint64_t sum, uint64_t count)
{
	return (uint128)sum * sum / count;
}

/* A bin in ns, but for its squares. */
static void bin_extract(struct histogram_bin *to, const struct record_time *t, const struct record_spill *bin,
                        double ns_per_tick)
{
	uint64_t floor = histogram_floor(bin->index), width = histogram_floor(bin->index + 1) - floor,
		 end = floor + width - 1;
	double mean = (double)floor +
	              (double)width * ((double)bin->parts / (double)bin->count + (width >= TIME_PARTS ? 0.5 : 0)) /
	                      (double)TIME_PARTS;
	floor = floor < t->min ? t->min : floor;
	end = end > t->max ? t->max : end;
	mean = mean < (double)floor ? (double)floor : mean > (double)end ? (double)end : mean;
	to->count = bin->count;
	to->min = ns_of((double)floor, ns_per_tick);
	to->max = ns_of((double)end, ns_per_tick);
	to->sum = ns_of(mean * (double)bin->count, ns_per_tick);
}

/* Joins bin i and the next one. */
static void bins_join(struct histogram *to, uint32_t i)
{
	struct histogram_bin *b = &to->bins[i], *next = b + 1;
	b->count += next->count;
	b->sum += next->sum;
	b->max = next->max;
	memmove(next, next + 1, (--to->bin_count - i - 1) * sizeof *next);
}

/* Adds what the bins' sums lack, or have too much (modulo 2^64), to one of them: parts are cut off, and the sum of all
 * is the exact one. Where there was no room, values are in a bin that is only near: then it is joined with its
 * neighbours, until their range has the mean. */
static void bins_correct(struct histogram *to, struct histogram_bin *bin, uint64_t rest)
{
	uint32_t i = (uint32_t)(bin - to->bins);
	bin->sum += rest;
	while (to->bin_count > 1) {
		const struct histogram_bin *b = &to->bins[i];
		double mean = (double)(int64_t)b->sum / (double)b->count; /* 1: ends and sum are rounded */
		bool more = mean > (double)b->max + 1, less = mean + 1 < (double)b->min;
		if (!more && !less)
			return;
		i -= i > 0 && (less || i + 1 == to->bin_count);
		bins_join(to, i);
	}
	to->bins->min = to->min;
	to->bins->max = to->max;
}

/* The bins of `to`, whose own sum is set, and its count. */
static void bins_extract(struct histogram *to, const struct record_time *t, const struct record_spill *bins,
                         double ns_per_tick)
{
	uint64_t sum = 0;
	struct histogram_bin *largest = to->bins;
	for (uint32_t i = 0; i < to->bin_count; i++) {
		struct histogram_bin *b = &to->bins[i];
		bin_extract(b, t, &bins[i], ns_per_tick);
		to->count += b->count;
		sum += b->sum;
		if (b->sum >= largest->sum)
			largest = b;
	}
	bins_correct(to, largest, to->sum - sum);
}

/* The sum of squares around the mean that values have which are spread evenly over the bin. */
static double spread_of(const struct histogram_bin *b)
{
	double width = (double)b->max - (double)b->min;
	return b->count > 1 ? (double)b->count * width * width / 12 : 0;
}

/* Variance in ns, from the exact sums in ticks. */
static double variance_of(const struct record_time *t, uint64_t count, double ns_per_tick)
{
	uint128 total = (uint128)t->squares[1] << 64 | t->squares[0];
	double mean = (double)t->sum / (double)count, variance = 0;
	uint64_t whole = t->sum / count;
	uint128 around = total - 2 * (uint128)whole * t->sum + (uint128)count * whole * whole;
	if (around >> 120 == 0) /* not damaged */
		variance = (double)around / (double)count - (mean - (double)whole) * (mean - (double)whole);
	return variance > 0 ? variance * ns_per_tick * ns_per_tick : 0;
}

/* What the bins' means leave of the sum of squares is the spread inside of bins: shared among them by their widths, at
 * most as much as evenly spread values have. */
static void squares_extract(struct histogram *to, const struct record_time *t, double ns_per_tick)
{
	double spread = 0;
	uint128 between = 0;
	for (uint32_t i = 0; i < to->bin_count; i++) {
		spread += spread_of(&to->bins[i]);
		between += square_over(to->bins[i].sum, to->bins[i].count);
	}
	to->squares =
		square_over(to->sum, to->count) + whole_of(variance_of(t, to->count, ns_per_tick) * (double)to->count);
	double inside = to->squares > between ? (double)(to->squares - between) : 0,
	       share = spread > inside ? inside / spread : 1;
	for (uint32_t i = 0; i < to->bin_count; i++) {
		struct histogram_bin *b = &to->bins[i];
		b->squares = square_over(b->sum, b->count) + whole_of(spread_of(b) * share);
	}
}

int record_time_extract(struct histogram *to, const struct arena *a, const struct record_time *t, double ns_per_tick,
                        uint32_t rank)
{
	*to = (struct histogram){0};
	if (t->count == 0)
		return 0;
	if (t->count > BINS || t->first >= BINS || t->min > t->max || t->max > TIME_SANE || t->sum > TIME_SANE)
		return -1;
	unsigned first = histogram_index(t->min), range = histogram_index(t->max) - first + 1;
	struct record_spill *read = budget_malloc(range * sizeof *read);
	size_t n = read ? bins_read(a, t, first, range, read) : SIZE_MAX;
	int rv = n == SIZE_MAX ? -1 : 0;
	if (rv == 0 && n > 0) {
		to->bins = budget_calloc(n, sizeof *to->bins);
		rv = to->bins ? 0 : -1;
	}
	if (to->bins) {
		to->bin_count = (uint32_t)n;
		to->min = ns_of((double)t->min, ns_per_tick);
		to->max = ns_of((double)t->max, ns_per_tick);
		to->sum = ns_of((double)t->sum, ns_per_tick);
		to->min_rank = to->max_rank = rank;
		to->min_visit = t->min_visit;
		to->max_visit = t->max_visit;
		bins_extract(to, t, read, ns_per_tick);
		squares_extract(to, t, ns_per_tick);
	}
	budget_free(read);
	return rv;
}

int record_time_one(struct histogram *to, uint64_t ticks, double ns_per_tick, uint32_t rank, uint64_t visit)
{
	if (ticks > TIME_SANE)
		return -1;
	uint64_t ns = ns_of((double)ticks, ns_per_tick);
	struct histogram_bin bin = {.count = 1, .min = ns, .max = ns, .sum = ns, .squares = square_over(ns, 1)};
	struct histogram one = {.count = 1,
	                        .sum = ns,
	                        .min = ns,
	                        .max = ns,
	                        .min_rank = rank,
	                        .max_rank = rank,
	                        .min_visit = visit,
	                        .max_visit = visit,
	                        .squares = bin.squares,
	                        .bins = &bin,
	                        .bin_count = 1};
	return histogram_add(to, &one);
}

int record_time_sum(struct histogram *to, uint64_t count, uint64_t sum, double ns_per_tick, uint32_t rank)
{
	*to = (struct histogram){0};
	if (sum > TIME_SANE || count > TIME_SANE)
		return -1;
	if (count == 0)
		return 0;
	uint64_t ns = ns_of((double)sum, ns_per_tick), mean = ns / count;
	struct histogram_bin bin = {.count = count,
	                            .min = mean,
	                            .max = mean + (ns % count > 0),
	                            .sum = ns,
	                            .squares = square_over(ns, count)};
	struct histogram all = {.count = count,
	                        .sum = ns,
	                        .min = bin.min,
	                        .max = bin.max,
	                        .min_rank = rank,
	                        .max_rank = rank,
	                        .squares = bin.squares,
	                        .bins = &bin,
	                        .bin_count = 1};
	return histogram_add(to, &all);
}
