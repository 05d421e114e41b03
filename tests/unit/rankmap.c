/* SPDX-License-Identifier: BSD-3-Clause
 * rankmap - maps from rank to value against plain arrays: every operation on random and on regular maps, in every order
 * of joining
 */
#include "trace/model/rankmap.h"
#include "trace/model/ordinals.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trace/model/value.h"
#include "trace/file/rankmap_file.h"

enum { RANKS = 700 };

struct plain {
	bool in[RANKS];
	int64_t value[RANKS];
};

static uint32_t pick(uint32_t n)
{
	return (uint32_t)random_below(n);
}

/* Maps of all kinds: grids with and without borders, strided, constants among numbers, references, chance. */
static void plain_make(struct plain *p, bool *references, bool *chance)
{
	uint32_t kind = pick(7), n = 1 + pick(RANKS), x = 1 + pick(12), y = 1 + pick(12), slope = pick(50),
		 step = 1 + pick(5);
	*references = kind == 5;
	*chance = kind == 6;
	memset(p, 0, sizeof *p);
	for (uint32_t r = 0; r < n; r++) {
		p->in[r] = kind != 3 || r % step == 0;
		p->value[r] = kind == 0   ? (r % x == x - 1 ? -(int64_t)x + 1 : 1)
		              : kind == 1 ? ((r / x) % y == 0 ? VALUE_CONSTANT + 3 : -(int64_t)x)
		              : kind == 2 ? (int64_t)r * slope - 100
		              : kind == 3 ? (int64_t)(r ^ x) - r
		              : kind == 4 ? (pick(3) ? (int64_t)pick(4) : VALUE_CONSTANT + pick(2))
		              : kind == 5 ? pick(3)
		                          : (int64_t)(random_next() >> 1);
		if (kind >= 4 && pick(4) == 0)
			p->in[r] = false;
	}
}

static struct rankmap map_of(const struct plain *p, bool references, uint32_t from, uint32_t to)
{
	struct rankmap_builder b = {.references = references};
	struct rankmap m;
	for (uint32_t r = from; r < to; r++)
		if (p->in[r])
			rankmap_add(&b, (struct rank_piece){.first = r, .count = 1, .step = 1, .value = p->value[r]});
	if (rankmap_take(&b, &m) != 0)
		abort();
	return m;
}

static bool holds(const struct rankmap *m, const struct plain *p)
{
	uint64_t next = 0, size = 0, not_zero = 0;
	int64_t value, last = 0;
	bool all_equal = true, numbered = true;
	struct ordinals order;
	if (ordinals_init(&order, m) != 0)
		return false;
	for (uint32_t r = 0, n = 0; r < RANKS; n += p->in[r], r++)
		numbered &= ordinals_number(&order, r) == n && (!p->in[r] || ordinals_rank(&order, n) == r);
	numbered &= ordinals_rank(&order, rankmap_size(m)) == UINT32_MAX;
	ordinals_free(&order);
	if (!numbered)
		return false;
	for (uint32_t r = 0; r < RANKS; r++) {
		bool in = rankmap_get(m, r, &value);
		if (in != p->in[r] || (in && value != p->value[r]))
			return false;
		if (!in)
			continue;
		if (!rankmap_next(m, &next, &value) || next != r || value != p->value[r])
			return false;
		if (size == 0 && rankmap_first(m) != r)
			return false;
		not_zero += value != 0;
		all_equal &= size == 0 || value == last;
		last = value;
		next++;
		size++;
		if (rankmap_last(m) < r)
			return false;
	}
	bool constant = rankmap_constant(m, &value);
	return rankmap_size(m) == size && rankmap_size_not_zero(m) == not_zero && rankmap_empty(m) == (size == 0) &&
	       !rankmap_next(m, &next, &value) && constant == (size > 0 && all_equal) &&
	       (size == 0 || rankmap_last(m) < RANKS);
}

static int64_t sum_of(const struct plain *p)
{
	int64_t sum = 0;
	for (uint32_t r = 0; r < RANKS; r++)
		sum += p->in[r] && p->value[r] >= -(1 << 20) && p->value[r] <= 1 << 20 ? p->value[r] : 0;
	return sum;
}

/* Splits the ranks among several maps by chance or by range, and joins those in random order. */
static bool joins(const struct plain *p, bool references, const struct rankmap *whole)
{
	struct rankmap part[8];
	struct plain some[8];
	uint32_t n = 2 + pick(7), ranges = pick(2);
	memset(some, 0, sizeof some);
	for (uint32_t r = 0; r < RANKS; r++) {
		uint32_t i = ranges ? r * n / RANKS : pick(n);
		some[i].in[r] = p->in[r];
		some[i].value[r] = p->value[r];
	}
	for (uint32_t i = 0; i < n; i++)
		part[i] = map_of(&some[i], references, 0, RANKS);
	for (uint32_t left = n; left > 1; left--) {
		uint32_t a = pick(left), b = pick(left);
		if (a == b) {
			left++;
			continue;
		}
		if (rankmap_union(&part[a], &part[a], &part[b]) != 0)
			return false;
		rankmap_free(&part[b]);
		part[b] = part[left - 1];
	}
	bool same = rankmap_equal(&part[0], whole);
	rankmap_free(&part[0]);
	return same;
}

static int64_t more(void *context, int64_t v)
{
	return v + *(int64_t *)context;
}

/* The nodes of many maps, written and read again; cut short they are refused. */
static bool nodes_come_back(const struct diagram_file *d)
{
	struct writer w = {0};
	struct diagram_file read = {.height = NULL}, part = {.height = NULL};
	const struct diagram *a = &d->diagram, *b = &read.diagram;
	diagram_file_put(&w, d);
	struct reader r = reader_of(w.data, w.size), cut = reader_of(w.data, w.size / 2);
	bool same = !w.failed && diagram_file_get(&r, &read) == 0 && a->count == b->count &&
	            (a->count == 0 || memcmp(a->nodes, b->nodes, a->count * sizeof *a->nodes) == 0);
	same &= w.size > diagram_file_bytes(d, 0) && diagram_file_get(&cut, &part) != 0;
	writer_free(&w);
	diagram_file_free(&read);
	diagram_file_free(&part);
	return same;
}

/* A map and its ranks, written and read again. */
static bool comes_back(const struct rankmap *m, bool references)
{
	struct writer w = {0};
	struct diagram_file d = {.height = NULL}, read = {.height = NULL};
	struct rankmap ranks = {0}, again = {0}, all = {0};
	struct rankmap_builder b = {0};
	rankmap_add(&b, (struct rank_piece){.count = RANKS, .step = 1});
	bool same = rankmap_take(&b, &all) == 0;
	rankmap_file_put_ranks(&w, &d, m, &all);
	rankmap_file_put(&w, &d, m);
	struct writer nodes = {0};
	diagram_file_put(&nodes, &d);
	struct reader n = reader_of(nodes.data, nodes.size), r = reader_of(w.data, w.size);
	same &= diagram_file_get(&n, &read) == 0 && rankmap_file_get_ranks(&r, &read, &ranks, &all) == 0 &&
	        rankmap_same_ranks(&ranks, m) && rankmap_file_get(&r, &read, &again, &ranks, references) == 0 &&
	        rankmap_equal(&again, m) && r.at == r.end;
	writer_free(&w);
	writer_free(&nodes);
	diagram_file_free(&d);
	diagram_file_free(&read);
	rankmap_free(&ranks);
	rankmap_free(&again);
	rankmap_free(&all);
	return same;
}

int main(void)
{
	struct diagram_file nodes = {.height = NULL};
	bool stored = true;
	random_seed(7);
	bool all = true, joined = true, restricted = true, filled = true, translated = true, overlaps = true,
	     added = true;
	for (int round = 0; round < 3000; round++) {
		struct plain p, q;
		bool references, chance, unused;
		plain_make(&p, &references, &chance);
		plain_make(&q, &unused, &unused);
		struct rankmap m = map_of(&p, references, 0, RANKS), set = map_of(&q, false, 0, RANKS), other;
		all &= holds(&m, &p) && (references || chance || rankmap_sum(&m) == sum_of(&p));
		joined &= joins(&p, references, &m);
		stored &= rankmap_empty(&m) || comes_back(&m, references);
		struct plain both = p;
		for (uint32_t r = 0; r < RANKS; r++)
			both.in[r] &= q.in[r];
		restricted &= rankmap_restrict(&other, &m, &set) == 0 && holds(&other, &both);
		bool common = !rankmap_empty(&other);
		rankmap_free(&other);
		overlaps &= (rankmap_union(&other, &m, &set) != 0) == common;
		if (!common)
			rankmap_free(&other);
		int64_t value = pick(2) ? 17 : VALUE_CONSTANT + 9;
		struct plain same = p;
		for (uint32_t r = 0; r < RANKS; r++)
			same.value[r] = value;
		filled &= rankmap_fill(&other, &m, value, references) == 0 && holds(&other, &same) &&
		          rankmap_same_ranks(&other, &m) &&
		          (common || rankmap_empty(&m) || rankmap_empty(&set) || !rankmap_same_ranks(&m, &set));
		rankmap_free(&other);
		struct plain twice = p;
		for (uint32_t r = 0; r < RANKS; r++)
			twice.value[r] = (int64_t)((uint64_t)p.value[r] + 3 * (uint64_t)(int64_t)(r / 7));
		struct rankmap_builder slow = {.references = false};
		for (uint32_t r = 0; r < RANKS; r++)
			if (p.in[r])
				rankmap_add(&slow,
				            (struct rank_piece){.first = r, .count = 1, .step = 1, .value = r / 7});
		struct rankmap second, third;
		bool constants = references;
		for (uint32_t r = 0; r < RANKS; r++)
			constants |= p.in[r] && value_is_constant(p.value[r]);
		added &= rankmap_take(&slow, &second) == 0;
		if (!constants) {
			added &= rankmap_sum_of(&third, &m, &second, 3) == 0 && holds(&third, &twice);
			rankmap_free(&third);
		}
		rankmap_free(&second);
		int64_t by = 2;
		struct plain moved = p;
		for (uint32_t r = 0; r < RANKS; r++)
			moved.value[r] += references || value_is_constant(p.value[r]) ? by : 0;
		translated &= rankmap_translate(&other, &m, more, &by) == 0 && holds(&other, &moved);
		rankmap_free(&other);
		if (round < 300)
			free(rankmap_add_nodes(&nodes.diagram, &m));
		rankmap_free(&m);
		rankmap_free(&set);
	}
	ok(stored, "maps and sets that are written come back");
	ok(nodes.diagram.count > 1000 && nodes_come_back(&nodes), "%u nodes come back", nodes.diagram.count);
	diagram_file_free(&nodes);
	ok(all, "maps hold what was put in: get, next, size, sum, first, last, constant");
	ok(joined, "joining parts in any order gives the same nodes");
	ok(restricted, "restrict keeps the ranks of a set");
	ok(overlaps, "a rank in both maps is noticed, and nothing else");
	ok(filled, "fill gives all ranks one value");
	ok(added, "sums of two maps");
	ok(translated, "translate changes constants and references");

	struct rankmap_builder b = {.references = false};
	struct rankmap ring;
	rankmap_add(&b, (struct rank_piece){.count = (1 << 20) - 1, .step = 1, .value = 1});
	rankmap_add(&b, (struct rank_piece){.first = (1 << 20) - 1, .count = 1, .step = 1, .value = 1 - (1 << 20)});
	ok(rankmap_take(&b, &ring) == 0 && ring.node_count <= 20 && rankmap_size(&ring) == 1 << 20 &&
	           rankmap_sum(&ring) == 0,
	   "a ring of 2^20 ranks is 20 nodes");
	rankmap_free(&ring);
	return tap_end();
}
