/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap - a value for each rank of a set of ranks, as strided pieces
 */
#include "trace/rankmap.h"

#include <stdlib.h>
#include <string.h>

#include "trace/column.h"

static inline int64_t plus(int64_t value, int64_t slope, uint64_t times)
{
	return (int64_t)((uint64_t)value + (uint64_t)slope * times);
}

static inline uint32_t last_rank(const struct rank_piece *p)
{
	return p->first + (p->count - 1) * p->step;
}

void rankmap_free(struct rankmap *m)
{
	free(m->pieces);
	*m = (struct rankmap){0};
}

static void flush(struct rankmap_builder *b)
{
	if (b->last.count == 0 || b->failed)
		return;
	if (b->map.count == b->capacity) {
		size_t capacity = b->capacity ? b->capacity * 2 : 1;
		struct rank_piece *pieces = realloc(b->map.pieces, capacity * sizeof *pieces);
		if (!pieces) {
			b->failed = true;
			return;
		}
		b->map.pieces = pieces;
		b->capacity = capacity;
	}
	if (b->last.count == 1) {
		b->last.step = 1;
		b->last.slope = 0;
	}
	b->map.pieces[b->map.count++] = b->last;
	b->last.count = 0;
}

/* Takes the first n elements off a piece. */
static void piece_drop(struct rank_piece *p, uint32_t n)
{
	p->count -= n;
	if (p->count) {
		p->first += n * p->step;
		p->value = plus(p->value, p->slope, n);
	}
}

void rankmap_add(struct rankmap_builder *b, struct rank_piece p)
{
	struct rank_piece *last = &b->last;
	while (p.count > 0) {
		if (last->count == 0) {
			*last = (struct rank_piece){.first = p.first, .count = 1, .step = 1, .value = p.value};
			piece_drop(&p, 1);
		} else if (last->count == 1) {
			bool slope_ok = p.value == last->value ||
			                (!b->references && !value_is_constant(p.value) && !value_is_constant(last->value));
			if (!slope_ok) {
				flush(b);
				continue;
			}
			last->step = p.first - last->first;
			last->slope = (int64_t)((uint64_t)p.value - (uint64_t)last->value);
			last->count = 2;
			piece_drop(&p, 1);
		} else if (p.first == last_rank(last) + last->step && p.value == plus(last->value, last->slope, last->count) &&
		           (last->slope == 0 || !value_is_constant(p.value))) {
			uint32_t n = p.count > 1 && p.step == last->step && p.slope == last->slope ? p.count : 1;
			last->count += n;
			piece_drop(&p, n);
		} else {
			flush(b);
		}
	}
}

int rankmap_take(struct rankmap_builder *b, struct rankmap *out)
{
	flush(b);
	bool failed = b->failed;
	if (failed)
		rankmap_free(&b->map);
	*out = b->map;
	*b = (struct rankmap_builder){.references = b->references};
	return failed ? -1 : 0;
}

int rankmap_single(struct rankmap *m, uint32_t rank, int64_t value)
{
	struct rankmap_builder b = {0};
	rankmap_add(&b, (struct rank_piece){.first = rank, .count = 1, .step = 1, .value = value});
	return rankmap_take(&b, m);
}

int rankmap_copy(struct rankmap *m, const struct rankmap *from)
{
	*m = (struct rankmap){.pieces = malloc((from->count ? from->count : 1) * sizeof *from->pieces), .count = from->count};
	if (!m->pieces) {
		m->count = 0;
		return -1;
	}
	if (from->count)
		memcpy(m->pieces, from->pieces, from->count * sizeof *from->pieces);
	return 0;
}

int rankmap_union(struct rankmap *out, const struct rankmap *a, const struct rankmap *b, bool references)
{
	struct rankmap_builder builder = {.references = references};
	const struct rankmap *map[2] = {a, b};
	size_t next[2] = {0, 0};
	struct rank_piece rest[2] = {{0}, {0}};
	bool overlap = false;
	for (;;) {
		for (int i = 0; i < 2; i++)
			if (rest[i].count == 0 && next[i] < map[i]->count)
				rest[i] = map[i]->pieces[next[i]++];
		if (rest[0].count == 0 && rest[1].count == 0)
			break;
		int i = rest[0].count == 0 || (rest[1].count > 0 && rest[1].first < rest[0].first);
		struct rank_piece *p = &rest[i], *other = &rest[!i], part = *p;
		if (other->count > 0) {
			if (other->first == p->first) {
				overlap = true;
				break;
			}
			/* as far as p goes before the other one comes */
			uint32_t n = (other->first - 1 - p->first) / p->step + 1;
			if (n < part.count)
				part.count = n;
		}
		rankmap_add(&builder, part);
		piece_drop(p, part.count);
	}
	struct rankmap result;
	if (rankmap_take(&builder, &result) != 0)
		return -1;
	if (overlap) {
		rankmap_free(&result);
		return -1;
	}
	if (out == a || out == b)
		rankmap_free(out);
	*out = result;
	return 0;
}

bool rankmap_get(const struct rankmap *m, uint32_t rank, int64_t *value)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct rank_piece *p = &m->pieces[middle];
		if (rank < p->first) {
			high = middle;
		} else if (rank > last_rank(p)) {
			low = middle + 1;
		} else {
			if ((rank - p->first) % p->step)
				return false;
			*value = plus(p->value, p->slope, (rank - p->first) / p->step);
			return true;
		}
	}
	return false;
}

uint64_t rankmap_size(const struct rankmap *m)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->count; i++)
		n += m->pieces[i].count;
	return n;
}

int64_t rankmap_sum(const struct rankmap *m)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < m->count; i++) {
		uint64_t n = m->pieces[i].count;
		sum += (uint64_t)m->pieces[i].value * n + (uint64_t)m->pieces[i].slope * (n * (n - 1) / 2);
	}
	return (int64_t)sum;
}

bool rankmap_constant(const struct rankmap *m, int64_t *value)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->pieces[i].slope != 0 || m->pieces[i].value != m->pieces[0].value)
			return false;
	if (m->count && value)
		*value = m->pieces[0].value;
	return m->count > 0;
}

/* The ranks of a map, as a canonical map of zeroes. */
static int ranks_of(const struct rankmap *m, struct rankmap *out)
{
	struct rankmap_builder b = {0};
	for (size_t i = 0; i < m->count; i++) {
		struct rank_piece p = m->pieces[i];
		p.value = p.slope = 0;
		rankmap_add(&b, p);
	}
	return rankmap_take(&b, out);
}

bool rankmap_same_ranks(const struct rankmap *a, const struct rankmap *b)
{
	struct rankmap x = {0}, y = {0};
	bool same = ranks_of(a, &x) == 0 && ranks_of(b, &y) == 0 && x.count == y.count;
	for (size_t i = 0; same && i < x.count; i++)
		same = x.pieces[i].first == y.pieces[i].first && x.pieces[i].count == y.pieces[i].count && x.pieces[i].step == y.pieces[i].step;
	rankmap_free(&x);
	rankmap_free(&y);
	return same;
}
