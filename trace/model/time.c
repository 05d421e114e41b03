/* SPDX-License-Identifier: BSD-3-Clause
 * time - histograms of durations
 */
#include "trace/model/time.h"

#include <string.h>

#include "trace/base/budget.h"

uint64_t time_floor(unsigned index)
{
	unsigned octave = index / TIME_PER_OCTAVE, sub = index % TIME_PER_OCTAVE;
	if (octave > 63)
		return UINT64_MAX;
	if (index == 0)
		return 0;
	uint64_t power = UINT64_C(1) << octave;
	return octave >= 3 ? power + (power >> 3) * sub : power + ((uint64_t)sub * power + 7) / 8;
}

void trace_time_free(struct trace_time *t)
{
	budget_free(t->bins);
	*t = (struct trace_time){0};
}

int trace_time_copy(struct trace_time *to, const struct trace_time *t)
{
	*to = (struct trace_time){0};
	return trace_time_add(to, t);
}

/* In the arena. */

/* Makes the window reach bin i. False if there is no room. */
static bool window_reach(struct arena *a, struct record_time *t, unsigned i)
{
	unsigned from = t->count && t->first < i ? t->first : i,
		 end = t->count && t->first + t->count > i ? t->first + t->count : i + 1;
	unsigned count = 4;
	while (count < end - from)
		count *= 2;
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

/* A bin's word is full. */
static void spill(struct arena *a, struct record_time *t, uint64_t *bin)
{
	unsigned index = t->first + (unsigned)(bin - arena_at(a, uint64_t, t->bins));
	ref at = t->spilled;
	while (at && arena_at(a, struct record_spill, at)->index != index)
		at = arena_at(a, struct record_spill, at)->next;
	if (!at) {
		at = arena_alloc(a, sizeof(struct record_spill));
		arena_commit(a);
		if (!at) { /* the count stops, rather than run into the next field */
			*bin -= TIME_ONE + *bin % TIME_ONE / (TIME_FULL / TIME_ONE);
			return;
		}
		*arena_at(a, struct record_spill, at) = (struct record_spill){.next = t->spilled, .index = index};
		arena_set(a, t->spilled, at);
		arena_commit(a);
	}
	struct record_spill *s = arena_at(a, struct record_spill, at);
	arena_set(a, s->count, s->count + *bin / TIME_ONE);
	arena_set(a, s->parts, s->parts + *bin % TIME_ONE);
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
	uint64_t low = t->min ? t->min : 1, high = t->max < TIME_EXACT ? t->max : TIME_EXACT;
	bool all = low <= high && time_index(low) >= t->first && time_index(high) < t->first + t->count;
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
	unsigned index = time_index(ticks), at = index - t->first;
	if (at >= t->count && !window_reach(a, t, index)) {
		if (first)
			return;
		at = index < t->first ? 0 : t->count - 1U;
	} else {
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
	*bin += TIME_ONE + ((ticks | 1) << shift >> 40) % TIME_PARTS;
	t->sum += ticks;
	t->squares[1] +=
		(uint64_t)(square >> 64) + __builtin_add_overflow(t->squares[0], (uint64_t)square, &t->squares[0]);
	if (*bin >= TIME_FULL)
		spill(a, t, bin);
}

/* From the arena to a trace. */

/* The bins of an arena, one by one, with those that spilled. Returns how many there are, or SIZE_MAX if something is
 * damaged. */
static size_t bins_read(const struct arena *a, const struct record_time *t, struct record_spill *out)
{
	size_t n = 0;
	if (t->count && !arena_valid(a, t->bins, t->count * sizeof(uint64_t)))
		return SIZE_MAX;
	for (unsigned i = 0; i < t->count; i++) {
		uint64_t word = arena_at(a, uint64_t, t->bins)[i];
		out[i] = (struct record_spill){
			.index = t->first + i, .count = word / TIME_ONE, .parts = word % TIME_ONE};
	}
	unsigned limit = t->count;
	for (ref at = t->spilled; at; at = arena_at(a, struct record_spill, at)->next) {
		if (limit-- == 0 || !arena_valid(a, at, sizeof(struct record_spill)))
			return SIZE_MAX;
		const struct record_spill *s = arena_at(a, struct record_spill, at);
		if (s->index - t->first >= t->count)
			return SIZE_MAX;
		out[s->index - t->first].count += s->count;
		out[s->index - t->first].parts += s->parts;
	}
	for (unsigned i = 0; i < t->count; i++)
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

int trace_time_extract(struct trace_time *to, const struct arena *a, const struct record_time *t, double ns_per_tick,
                       uint32_t rank)
{
	int rv = -1;
	*to = (struct trace_time){0};
	if (t->count == 0)
		return 0;
	if (t->count > 64 * TIME_PER_OCTAVE || t->first > 64 * TIME_PER_OCTAVE || t->min > t->max ||
	    t->max > TIME_SANE || t->sum > TIME_SANE)
		return -1;
	struct record_spill *read = budget_malloc(t->count * sizeof *read);
	size_t n = read ? bins_read(a, t, read) : SIZE_MAX;
	if (n == SIZE_MAX || n == 0) {
		rv = n == 0 ? 0 : -1;
		goto done;
	}
	to->bins = budget_calloc(n, sizeof *to->bins);
	if (!to->bins)
		goto done;
	to->min = ns_of((double)t->min, ns_per_tick);
	to->max = ns_of((double)t->max, ns_per_tick);
	to->sum = ns_of((double)t->sum, ns_per_tick);
	to->min_rank = to->max_rank = rank;
	to->min_visit = t->min_visit;
	to->max_visit = t->max_visit;
	uint64_t ticks = 0, largest = 0, sum = 0;
	double spread = 0;
	uint128 between = 0;
	for (size_t i = 0; i < n; i++) {
		struct time_bin *b = &to->bins[i];
		uint64_t floor = time_floor(read[i].index), width = time_floor(read[i].index + 1) - floor,
			 end = floor + width - 1;
		double mean = (double)floor + (double)width *
		                                      ((double)read[i].parts / (double)read[i].count +
		                                       (width >= TIME_PARTS ? 0.5 : 0)) /
		                                      (double)TIME_PARTS;
		floor = floor < t->min ? t->min : floor;
		end = end > t->max ? t->max : end;
		mean = mean < (double)floor ? (double)floor : mean > (double)end ? (double)end : mean;
		b->count = read[i].count;
		b->min = ns_of((double)floor, ns_per_tick);
		b->max = ns_of((double)end, ns_per_tick);
		b->sum = ns_of(mean * (double)b->count, ns_per_tick);
		to->count += b->count;
		ticks += b->count;
		sum += b->sum;
		if (b->sum >= to->bins[largest].sum)
			largest = i;
		if (b->count > 1)
			spread += (double)b->count * ((double)b->max - (double)b->min) *
			          ((double)b->max - (double)b->min) / 12;
	}
	/* the parts are cut off: the sum is the exact one */
	to->bins[largest].sum += to->sum - sum;
	if ((int64_t)to->bins[largest].sum < 0 || to->bins[largest].sum > TIME_SANE)
		to->bins[largest].sum = to->bins[largest].min * to->bins[largest].count;
	for (size_t i = 0; i < n; i++)
		between += square_over(to->bins[i].sum, to->bins[i].count);
	/* what the bins' means leave of the sum of squares is the spread inside of bins: shared among them by their
	 * widths, at most as much as evenly spread values have */
	uint128 total = (uint128)t->squares[1] << 64 | t->squares[0];
	double mean = (double)t->sum / (double)ticks, variance = 0;
	uint64_t whole = t->sum / ticks;
	uint128 around = total - 2 * (uint128)whole * t->sum + (uint128)ticks * whole * whole;
	if (around >> 120 == 0) /* not damaged */
		variance = (double)around / (double)ticks - (mean - (double)whole) * (mean - (double)whole);
	variance = variance > 0 ? variance * ns_per_tick * ns_per_tick : 0;
	to->squares = square_over(to->sum, to->count) + whole_of(variance * (double)to->count);
	double inside = to->squares > between ? (double)(to->squares - between) : 0,
	       share = spread > inside ? inside / spread : 1;
	for (size_t i = 0; i < n; i++) {
		struct time_bin *b = &to->bins[i];
		double own = b->count > 1 ? (double)b->count * ((double)b->max - (double)b->min) *
		                                    ((double)b->max - (double)b->min) / 12
		                          : 0;
		b->squares = square_over(b->sum, b->count) + whole_of(own * share);
	}
	to->bin_count = (uint32_t)n;
	rv = 0;
done:
	budget_free(read);
	if (rv != 0)
		trace_time_free(to);
	return rv;
}

/* In a trace. */

static unsigned bin_index(const struct time_bin *b)
{
	return time_index(b->sum / b->count);
}

static void bin_add(struct time_bin *to, const struct time_bin *b)
{
	to->count += b->count;
	to->sum += b->sum;
	to->squares += b->squares;
	to->min = b->min < to->min ? b->min : to->min;
	to->max = b->max > to->max ? b->max : to->max;
}

static int bins_add(struct trace_time *to, const struct trace_time *t)
{
	if (t->bin_count == 0)
		return 0;
	struct time_bin *bins = budget_malloc((to->bin_count + (size_t)t->bin_count) * sizeof *bins);
	uint32_t n = 0;
	if (!bins)
		return -1;
	for (uint32_t i = 0, k = 0; i < to->bin_count || k < t->bin_count;) {
		bool ours =
			k == t->bin_count || (i < to->bin_count && bin_index(&to->bins[i]) <= bin_index(&t->bins[k]));
		const struct time_bin *b = ours ? &to->bins[i++] : &t->bins[k++];
		if (n > 0 && bin_index(&bins[n - 1]) == bin_index(b))
			bin_add(&bins[n - 1], b);
		else
			bins[n++] = *b;
	}
	budget_free(to->bins);
	to->bins = bins;
	to->bin_count = n;
	return 0;
}

/* True if (rank, visit) of an extreme value comes before the other. */
static bool before(uint32_t rank, uint64_t visit, uint32_t other_rank, uint64_t other_visit)
{
	return rank != other_rank ? rank < other_rank : visit < other_visit;
}

int trace_time_add(struct trace_time *to, const struct trace_time *t)
{
	if (t->count == 0)
		return 0;
	if (to->count == 0 || t->min < to->min ||
	    (t->min == to->min && before(t->min_rank, t->min_visit, to->min_rank, to->min_visit))) {
		to->min = t->min;
		to->min_rank = t->min_rank;
		to->min_visit = t->min_visit;
	}
	if (to->count == 0 || t->max > to->max ||
	    (t->max == to->max && before(t->max_rank, t->max_visit, to->max_rank, to->max_visit))) {
		to->max = t->max;
		to->max_rank = t->max_rank;
		to->max_visit = t->max_visit;
	}
	to->count += t->count;
	to->sum += t->sum;
	to->squares += t->squares;
	return bins_add(to, t);
}

void trace_time_balance(struct trace_time *t, unsigned k)
{
	/* the loss: how much the values' spread inside of bins grows, relative to their size */
	while (t->bin_count > k) {
		uint32_t best = 0;
		double least = 0;
		for (uint32_t i = 0; i + 1 < t->bin_count; i++) {
			const struct time_bin *a = &t->bins[i], *b = a + 1;
			double n = (double)a->count * (double)b->count / ((double)a->count + (double)b->count);
			double far = time_bin_mean(b) / (time_bin_mean(a) + 1) - 1, cost = n * far * far;
			if (i == 0 || cost < least) {
				best = i;
				least = cost;
			}
		}
		bin_add(&t->bins[best], &t->bins[best + 1]);
		memmove(&t->bins[best + 1], &t->bins[best + 2], (t->bin_count - best - 2) * sizeof *t->bins);
		t->bin_count--;
	}
}

static double root(double v)
{
	/* no libm in a user's process */
	if (!(v > 0))
		return 0;
	double x = v > 1 ? v : 1;
	for (int i = 0; i < 2000; i++) {
		double next = (x + v / x) / 2;
		if (next >= x)
			break;
		x = next;
	}
	return x;
}

static double deviation(uint64_t count, uint64_t sum, uint128 squares)
{
	/* n * squares - sum^2 cancels in floating point: sums of squares around the mean, in integers */
	if (count == 0)
		return 0;
	uint128 mean = sum / count, rest = sum % count;
	/* squares - 2 mean sum + count mean^2, around the mean rounded down, is at least 0 */
	uint128 around = squares - 2 * mean * sum + (uint128)count * mean * mean;
	double fraction = (double)rest / (double)count, variance = (double)around / (double)count - fraction * fraction;
	return root(variance);
}

double trace_time_mean(const struct trace_time *t)
{
	return t->count ? (double)t->sum / (double)t->count : 0;
}

double trace_time_deviation(const struct trace_time *t)
{
	return deviation(t->count, t->sum, t->squares);
}

double time_bin_mean(const struct time_bin *b)
{
	return b->count ? (double)b->sum / (double)b->count : 0;
}

double time_bin_deviation(const struct time_bin *b)
{
	return deviation(b->count, b->sum, b->squares);
}

double trace_time_quantile(const struct trace_time *t, double q)
{
	if (t->count == 0)
		return 0;
	double wanted = q * (double)t->count;
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct time_bin *b = &t->bins[i];
		if (wanted <= (double)b->count) {
			double v = (double)b->min +
			           ((double)b->max - (double)b->min) * (wanted > 0 ? wanted / (double)b->count : 0);
			return v < (double)t->min ? (double)t->min : v > (double)t->max ? (double)t->max : v;
		}
		wanted -= (double)b->count;
	}
	return q < 0.5 ? (double)t->min : (double)t->max;
}

/* The value at a place (0 .. 1) of the histogram but for its extremes: a point of the bin such that its mean is kept.
 * */
static double value_at(const struct trace_time *t, double place)
{
	double rest = (double)t->count - 2, at = place * rest;
	if (rest <= 0)
		return trace_time_mean(t);
	for (uint32_t i = 0; i < t->bin_count; i++) {
		const struct time_bin *b = &t->bins[i];
		double count = (double)b->count - (i == 0) - (i + 1 == t->bin_count);
		double sum =
			(double)b->sum - (i == 0 ? (double)t->min : 0) - (i + 1 == t->bin_count ? (double)t->max : 0);
		if (count <= 0)
			continue;
		if (at >= count) {
			at -= count;
			continue;
		}
		double mean = sum / count, down = mean - (double)b->min, up = (double)b->max - mean,
		       width = down < up ? down : up;
		return width > 0 ? mean + (2 * at / count - 1) * width : mean;
	}
	return ((double)t->sum - (double)t->min - (double)t->max) / rest;
}

#define GOLDEN 0.6180339887498949 /* the fraction that spreads points most evenly, however many there are */

double trace_time_draw(const struct trace_time *t, uint32_t rank, uint64_t visit, double *place)
{
	if (t->count == 0)
		return 0;
	if (t->max_rank == rank && t->max_visit == visit)
		return (double)t->max;
	if (t->min_rank == rank && t->min_visit == visit)
		return (double)t->min;
	*place += GOLDEN;
	*place -= *place >= 1;
	double v = value_at(t, *place);
	return v > 0 ? v : 0;
}
