/* SPDX-License-Identifier: BSD-3-Clause
 * rankset - sets of ranks by value, against plain arrays; what has constants or too many values is said to; and
 * ordinals: ranks by number
 */
#include "trace/model/rankset.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/model/ordinals.h"
#include "trace/model/value.h"

enum { RANKS = 300, VALUES = 9, NOBODY = 100 };

/* The value of each rank; NOBODY: it is not in the map. */
struct plain {
	int64_t value[RANKS];
};

static struct rankmap map_of(const struct plain *p, int64_t only)
{
	struct rankmap_builder b = {.references = false};
	struct rankmap m;
	for (uint32_t r = 0; r < RANKS; r++)
		if (p->value[r] != NOBODY && (only == NOBODY || p->value[r] == only))
			rankmap_add(&b, (struct rank_piece){r, 1, 1, only == NOBODY ? p->value[r] : 0, 0});
	if (rankmap_take(&b, &m) != 0)
		abort();
	return m;
}

/* Borders of grids, every n-th rank, chance. */
static void plain_make(struct plain *p)
{
	uint32_t kind = (uint32_t)random_below(3), n = 2 + (uint32_t)random_below(20);
	for (uint32_t r = 0; r < RANKS; r++) {
		p->value[r] = kind == 0   ? (r % n == 0 ? -3 : (int64_t)(r / n % 4))
		              : kind == 1 ? (int64_t)(r % n % 5)
		                          : (int64_t)random_below(5);
		if (random_below(n) == 0 && kind != 0)
			p->value[r] = NOBODY;
	}
}

static bool values_agree(const struct rankmap *m, const struct plain *p)
{
	int64_t values[VALUES];
	int n = rankset_values(m, values, VALUES), found = 0;
	bool right = n >= 0;
	for (int64_t v = -VALUES; v < VALUES; v++) {
		bool some = false;
		for (uint32_t r = 0; r < RANKS; r++)
			some |= p->value[r] == v;
		right &= !some || (found < n && values[found] == v);
		found += some;
	}
	/* one less than there are: too many */
	return right && found == n && (n < 2 || rankset_values(m, values, (unsigned)n - 1) == 0);
}

static bool sets_agree(const struct rankmap *m, const struct plain *p)
{
	bool right = true;
	for (int64_t v = -4; v < 6; v++) {
		struct rankmap wanted = map_of(p, v), set, rest, all;
		right &= rankset_where(&set, m, v) == 0 && rankmap_equal(&set, &wanted);
		right &= rankset_without(&rest, m, &set) == 0 && rankmap_restrict(&all, &set, &rest) == 0 &&
		         rankmap_empty(&all);
		rankmap_free(&all);
		right &= rankmap_union(&all, &set, &rest) == 0 && rankmap_same_ranks(&all, m);
		rankmap_free(&all);
		rankmap_free(&rest);
		right &= rankset_without(&rest, &set, m) == 0 && rankmap_empty(&rest);
		rankmap_free(&rest);
		rankmap_free(&set);
		rankmap_free(&wanted);
	}
	return right;
}

static bool order_agrees(const struct rankmap *m)
{
	struct ordinals o;
	int64_t unused;
	uint32_t n = 0;
	bool right = ordinals_init(&o, m) == 0;
	for (uint32_t r = 0; right && r < 2 * RANKS; r++) {
		right &= ordinals_number(&o, r) == n;
		if (rankmap_get(m, r, &unused))
			right &= ordinals_rank(&o, n++) == r;
	}
	right &= ordinals_rank(&o, n) == UINT32_MAX && ordinals_rank(&o, UINT64_MAX) == UINT32_MAX;
	ordinals_free(&o);
	return right;
}

static void test_refused(void)
{
	struct rankmap empty = {0}, constant, set;
	struct ordinals o;
	int64_t values[VALUES];
	if (rankmap_single(&constant, 3, VALUE_CONSTANT + 1, false) != 0)
		abort();
	ok(rankset_values(&empty, values, VALUES) == 0 && rankset_values(&constant, values, VALUES) == 0,
	   "no values, no numbers");
	ok(rankset_where(&set, &constant, VALUE_CONSTANT + 1) == 0 && rankmap_empty(&set), "a constant is no value");
	ok(rankset_without(&set, &constant, &empty) == 0 && rankmap_equal(&set, &constant), "without nobody");
	rankmap_free(&set);
	ok(rankset_without(&set, &empty, &constant) == 0 && rankmap_empty(&set), "nobody without somebody");
	ok(ordinals_init(&o, &empty) == 0 && ordinals_rank(&o, 0) == UINT32_MAX && ordinals_number(&o, 9) == 0,
	   "the order of nobody");
	ordinals_free(&o);
	rankmap_free(&constant);
}

static int sets(void *context)
{
	int64_t values[VALUES];
	struct rankmap set = {0}, rest = {0};
	struct ordinals o = {.share = NULL};
	int rv = rankset_values(context, values, VALUES) <= 0 || rankset_where(&set, context, 1) != 0 ||
	         rankset_without(&rest, context, &set) != 0 || ordinals_init(&o, context) != 0;
	ordinals_free(&o);
	rankmap_free(&set);
	rankmap_free(&rest);
	return rv ? -1 : 0;
}

int main(void)
{
	size_t values = 0, right = 0, ordered = 0;
	struct plain p;
	struct rankmap m;
	random_seed(77);
	test_refused();
	for (int i = 0; i < 200; i++) {
		plain_make(&p);
		m = map_of(&p, NOBODY);
		values += values_agree(&m, &p);
		right += sets_agree(&m, &p);
		ordered += order_agrees(&m);
		if (i < 199)
			rankmap_free(&m);
	}
	ok(values == 200, "the values of %zu of 200 maps", values);
	ok(right == 200, "the ranks that have a value, and the others: of %zu of 200", right);
	ok(ordered == 200, "ranks by number: of %zu of 200", ordered);
	ok(fails_well(sets, &m), "no memory");
	rankmap_free(&m);
	return tap_end();
}
