/* SPDX-License-Identifier: BSD-3-Clause
 * tally - how often each value came
 */
#include "trace/model/tally.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

void tally_free(struct tally *t)
{
	budget_free(t->bins);
	*t = (struct tally){0};
}

uint32_t tally_constants(const struct tally *t)
{
	uint32_t n = 0;
	while (n < t->count && value_is_constant(t->bins[n].min))
		n++;
	return n;
}

bool tally_coarse(const struct tally *t)
{
	if (t->count == 0)
		return false;
	uint32_t constants = tally_constants(t);
	if (t->count - constants > TALLY_EXACT)
		return true;
	for (uint32_t i = constants; i < t->count; i++)
		if (t->bins[i].min != t->bins[i].max)
			return true;
	return false;
}

uint64_t tally_count(const struct tally *t)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < t->count; i++)
		n += t->bins[i].count;
	return n;
}

uint64_t tally_sum(const struct tally *t)
{
	uint64_t sum = 0;
	for (uint32_t i = tally_constants(t); i < t->count; i++)
		sum += t->bins[i].sum;
	return sum;
}

int32_t tally_cell(int64_t value)
{
	uint64_t u = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	int32_t cell;
	if (u < TALLY_CELLS) {
		cell = (int32_t)u;
	} else {
		int power = 63 - __builtin_clzll(u); /* at least 3 */
		cell = (power - 2) * TALLY_CELLS + (int32_t)(u >> (power - 3) & (TALLY_CELLS - 1));
	}
	return value < 0 ? -cell : cell;
}

/* The greatest number of the cell that value is in. */
static int64_t cell_end(int64_t value)
{
	uint64_t u = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	if (u < TALLY_CELLS)
		return value;
	int shift = 63 - __builtin_clzll(u) - 3;
	uint64_t first = u >> shift << shift;
	return value < 0 ? (int64_t)(0 - first) : (int64_t)(first + ((UINT64_C(1) << shift) - 1));
}

static bool reserve(struct tally *t, uint32_t n)
{
	if (n <= t->capacity)
		return true;
	uint32_t capacity = t->capacity ? t->capacity * 2 : 4;
	while (capacity < n)
		capacity *= 2;
	struct tally_bin *bins = budget_realloc(t->bins, capacity * sizeof *bins);
	if (!bins)
		return false;
	t->bins = bins;
	t->capacity = capacity;
	return true;
}

int tally_copy(struct tally *t, const struct tally *from)
{
	*t = (struct tally){.bins = NULL};
	if (!reserve(t, from->count + 1))
		return -1;
	if (from->count)
		memcpy(t->bins, from->bins, from->count * sizeof *t->bins);
	t->count = from->count;
	return 0;
}

/* Counts are below 2^63, as a file can have them: more than that only damaged memory has. */
static uint64_t count_clamped(uint64_t count)
{
	return count < INT64_MAX ? count : INT64_MAX;
}

static uint64_t count_times(uint64_t count, uint64_t times)
{
	uint64_t all;
	return count_clamped(__builtin_mul_overflow(count, times, &all) ? UINT64_MAX : all);
}

static void join(struct tally_bin *to, const struct tally_bin *from)
{
	if (from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count = count_clamped(to->count + from->count);
	to->sum += from->sum;
}

/* Joins neighbours that are in one cell or overlap. */
static void coarsen(struct tally *t)
{
	uint32_t n = tally_constants(t);
	for (uint32_t i = n; i < t->count; i++) {
		struct tally_bin *last = &t->bins[n ? n - 1 : 0];
		if (n > 0 && !value_is_constant(last->min) &&
		    (t->bins[i].min <= last->max || tally_cell(last->max) == tally_cell(t->bins[i].min)))
			join(last, &t->bins[i]);
		else
			t->bins[n++] = t->bins[i];
	}
	t->count = n;
}

/* The first bin that does not end before value. */
static uint32_t place_of(const struct tally *t, int64_t value)
{
	uint32_t low = 0, n = t->count;
	while (n > 0) { /* without a branch that nobody can predict */
		uint32_t half = (n + 1) / 2;
		low += half & -(uint32_t)(t->bins[low + half - 1].max < value);
		n -= half;
	}
	return low;
}

static int add_bin(struct tally *t, struct tally_bin b, bool coarse)
{
	b.count = count_clamped(b.count);
	coarse = coarse || tally_coarse(t);
	uint32_t at = place_of(t, b.min);
	bool constant = value_is_constant(b.min);
	if (at < t->count && t->bins[at].min <= b.max &&
	    (constant || coarse || (b.min == b.max && t->bins[at].min == t->bins[at].max))) {
		bool inside = t->bins[at].min <= b.min && b.max <= t->bins[at].max;
		join(&t->bins[at], &b);
		if (!inside)
			coarsen(t);
		return 0;
	}
	if (coarse && !constant) {
		if (at < t->count && tally_cell(t->bins[at].min) == tally_cell(b.max)) {
			join(&t->bins[at], &b);
			return 0;
		}
		if (at > 0 && !value_is_constant(t->bins[at - 1].max) &&
		    tally_cell(t->bins[at - 1].max) == tally_cell(b.min)) {
			join(&t->bins[at - 1], &b);
			return 0;
		}
	}
	if (!reserve(t, t->count + 1))
		return -1;
	memmove(&t->bins[at + 1], &t->bins[at], (t->count - at) * sizeof *t->bins);
	t->bins[at] = b;
	t->count++;
	if (!coarse && tally_coarse(t))
		coarsen(t);
	return 0;
}

int tally_add(struct tally *t, int64_t value, uint64_t count)
{
	if (count == 0)
		return 0;
	return add_bin(t, (struct tally_bin){value, value, count, (uint64_t)value * count}, false);
}

/* Once this is known to make the tally coarse, all that falls into one cell is one bin. */
int tally_add_run(struct tally *t, int64_t start, int64_t stride, uint64_t count, uint64_t times)
{
	if (count == 0 || times == 0)
		return 0;
	if (count == 1 || stride == 0)
		return tally_add(t, start, count_times(count, times));
	if (stride < 0) {
		start = (int64_t)((uint64_t)start + (uint64_t)stride * (count - 1));
		stride = (int64_t)(0 - (uint64_t)stride);
	}
	bool coarse = count > TALLY_EXACT;
	while (count > 0) {
		uint64_t n = 1;
		if (coarse) {
			uint64_t room = (uint64_t)cell_end(start) - (uint64_t)start;
			n = stride == INT64_MIN ? 1 : room / (uint64_t)stride + 1; /* which is its own opposite */
			n = n < count ? n : count;
		}
		/* start n + stride n (n - 1) / 2, the division before it can overflow */
		uint64_t pairs = n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1);
		struct tally_bin b = {start, (int64_t)((uint64_t)start + (uint64_t)stride * (n - 1)),
		                      count_times(n, times), ((uint64_t)start * n + (uint64_t)stride * pairs) * times};
		if (b.max < b.min || value_is_constant(b.min)) /* arithmetic on damaged numbers */
			b.max = b.min;
		if (add_bin(t, b, coarse) != 0)
			return -1;
		start = (int64_t)((uint64_t)start + (uint64_t)stride * n);
		count -= n;
	}
	if (coarse)
		coarsen(t);
	return 0;
}

int tally_merge(struct tally *t, const struct tally *from)
{
	bool coarse = tally_coarse(t) || tally_coarse(from);
	if (!reserve(t, t->count + from->count))
		return -1;
	for (uint32_t i = 0; i < from->count; i++)
		if (add_bin(t, from->bins[i], coarse) != 0)
			return -1;
	if (tally_coarse(t))
		coarsen(t);
	return 0;
}

int64_t tally_place(const struct tally *t, int64_t value)
{
	uint32_t at = place_of(t, value);
	if (at < t->count && t->bins[at].min <= value)
		return at;
	if (value_is_constant(value) || !tally_coarse(t))
		return -1;
	if (at < t->count && tally_cell(t->bins[at].min) == tally_cell(value))
		return at;
	if (at > 0 && !value_is_constant(t->bins[at - 1].max) && tally_cell(t->bins[at - 1].max) == tally_cell(value))
		return at - 1;
	return -1;
}

void tally_fold(struct tally *t, int64_t constant)
{
	uint32_t constants = tally_constants(t), at = 0;
	struct tally_bin b = {constant, constant, 0, 0};
	for (uint32_t i = constants; i < t->count; i++)
		b.count = count_clamped(b.count + t->bins[i].count);
	if (b.count == 0)
		return;
	b.sum = (uint64_t)constant * b.count;
	t->count = constants;
	at = place_of(t, constant);
	if (at < t->count && t->bins[at].min == constant) {
		join(&t->bins[at], &b);
		return;
	}
	memmove(&t->bins[at + 1], &t->bins[at], (t->count - at) * sizeof b); /* a number's bin is free */
	t->bins[at] = b;
	t->count++;
}

void tally_balance(struct tally *t, uint32_t bins)
{
	if (!tally_coarse(t))
		return;
	uint32_t constants = tally_constants(t), n = constants, old = t->count;
	if (old - constants <= bins)
		return;
	uint64_t left = 0;
	for (uint32_t i = constants; i < old; i++)
		left += t->bins[i].count;
	/* each bin takes its share of what is left, and one more of the old ones if that is nearer to the share */
	for (uint32_t i = constants; i < old; bins--) {
		struct tally_bin b = t->bins[i++];
		uint64_t share = bins > 1 ? left / bins : left;
		while (i < old && old - i >= bins &&
		       (bins <= 1 || (b.count < share && t->bins[i].count / 2 <= share - b.count)))
			join(&b, &t->bins[i++]);
		left -= b.count;
		t->bins[n++] = b;
	}
	t->count = n;
}

void tally_put(struct writer *w, const struct tally *t)
{
	int64_t before = 0;
	writer_uint(w, t->count);
	for (uint32_t i = 0; i < t->count; i++) {
		const struct tally_bin *b = &t->bins[i];
		uint64_t width = (uint64_t)b->max - (uint64_t)b->min;
		value_put(w, i > 0 && !value_is_constant(before) ? (int64_t)((uint64_t)b->min - (uint64_t)before)
		                                                 : b->min);
		writer_uint(w, (b->count - 1) << 1 | (width > 0));
		if (width > 0) {
			writer_uint(w, width);
			writer_uint(w, b->sum - (uint64_t)b->min * b->count);
		}
		before = b->max;
	}
}

int tally_get(struct reader *r, struct tally *t)
{
	int64_t before = 0;
	size_t n = reader_count(r);
	if (r->bad || n > UINT32_MAX || !reserve(t, (uint32_t)n))
		return -1;
	while (t->count < n) {
		struct tally_bin *b = &t->bins[t->count];
		int64_t v = value_get(r);
		if (t->count > 0 && !value_is_constant(before) && !value_is_constant(v))
			v = (int64_t)((uint64_t)v + (uint64_t)before);
		uint64_t tag = reader_uint(r), width = tag & 1 ? reader_uint(r) : 0,
			 over = tag & 1 ? reader_uint(r) : 0;
		if (r->bad || tag >> 1 >= INT64_MAX)
			return -1;
		b->min = v;
		b->max = (int64_t)((uint64_t)v + width);
		b->count = (tag >> 1) + 1;
		b->sum = (uint64_t)v * b->count + over;
		before = b->max;
		t->count++;
	}
	return 0;
}
