/* SPDX-License-Identifier: BSD-3-Clause
 * torus - a number of a rank and a visit whose digits go round the sides of a grid of ranks
 *
 * The least value is the base. Divisors of the size are tried as width of the grid and as moduli, and then all factors;
 * the shift is that of the first point.
 */
#include "proxy/torus.h"

#include "trace/base/budget.h"

#define DIVISORS 12

struct digits {
	const struct torus_point *p;
	size_t n;
	int64_t width, base;
	int64_t part, rest; /* the digit is (y - base) / part % rest; rest 0: all that is left */
};

static int64_t modulo(int64_t a, int64_t b)
{
	return (a % b + b) % b;
}

static int64_t digit_of(const struct digits *d, size_t i)
{
	int64_t y = (d->p[i].y - d->base) / d->part;
	return d->rest ? y % d->rest : y;
}

static int64_t sum_of(const struct digits *d, const struct torus_digit *g, size_t i)
{
	const struct torus_point *p = &d->p[i];
	return g->column * (p->x % d->width) + g->row * (p->x / d->width) + g->visit * p->v;
}

static bool digit_holds(const struct digits *d, struct torus_digit *g)
{
	g->shift = modulo(digit_of(d, 0) - sum_of(d, g, 0), g->modulus);
	size_t i = 0;
	while (i < d->n && digit_of(d, i) == modulo(sum_of(d, g, i) + g->shift, g->modulus))
		i++;
	return budget_step(i + 1) && i == d->n;
}

static bool find_digit(const struct digits *d, int64_t modulus, struct torus_digit *g)
{
	static const int64_t factors[] = {0, 1, -1};
	for (int i = 1; i < 27; i++) {
		*g = (struct torus_digit){modulus, factors[i % 3], factors[i / 3 % 3], factors[i / 9], 0};
		if (digit_holds(d, g))
			return true;
	}
	return false;
}

size_t torus_divisors(int64_t size, int64_t *out, size_t most)
{
	size_t n = 0;
	for (int64_t d = 2; d * d <= size && n < most; d++)
		if (size % d == 0)
			out[n++] = d;
	for (size_t small = n; small-- > 0 && n < most;)
		if (out[small] * out[small] != size)
			out[n++] = size / out[small];
	if (size > 1 && n < most)
		out[n++] = size;
	return n;
}

/* With a width: one digit, or two. */
static bool find_digits(struct torus *t, const struct torus_point *p, size_t n, const int64_t *sides, size_t count)
{
	struct digits all = {p, n, t->width, t->base, 1, 0};
	for (size_t i = 0; i < count; i++)
		if (find_digit(&all, sides[i], &t->low)) {
			t->high.modulus = 0;
			return true;
		}
	for (size_t i = 0; i < count; i++) {
		struct digits low = {p, n, t->width, t->base, 1, sides[i]};
		struct digits high = {p, n, t->width, t->base, sides[i], 0};
		if (!find_digit(&low, sides[i], &t->low))
			continue;
		for (size_t k = 0; k < count; k++)
			if (find_digit(&high, sides[k], &t->high))
				return true;
	}
	return false;
}

bool torus_find(struct torus *t, const struct torus_point *p, size_t n, int64_t size)
{
	int64_t sides[DIVISORS];
	size_t count = torus_divisors(size, sides, DIVISORS);
	*t = (struct torus){.base = n ? p[0].y : 0};
	for (size_t i = 0; i < n; i++) {
		t->base = p[i].y < t->base ? p[i].y : t->base;
		t->most_x = p[i].x > t->most_x ? p[i].x : t->most_x;
		t->most_v = p[i].v > t->most_v ? p[i].v : t->most_v;
		if (p[i].y > INT32_MAX || p[i].y < -INT32_MAX)
			return false;
	}
	for (size_t i = 0; i < count && n > 0; i++) {
		t->width = sides[i];
		if (find_digits(t, p, n, sides, count))
			return true;
	}
	return false;
}

/* A sum with one more term, which is subtracted if the factor is negative. The first one is added. */
static const struct tree_node *add_term(struct tree *tree, const struct tree_node *sum, int64_t factor,
                                        const struct tree_node *term)
{
	if (factor == 0)
		return sum;
	return sum ? node_2(tree, factor < 0 ? NODE_MINUS : NODE_PLUS, sum, term) : term;
}

/* What is subtracted must not make it negative: the shift is large enough. */
static const struct tree_node *make_digit(const struct torus *t, const struct torus_digit *g, struct tree *tree,
                                          const struct tree_node *x, const struct tree_node *v)
{
	bool whole = t->width > t->most_x;
	int64_t less = (g->column < 0 ? t->width - 1 : 0) + (g->row < 0 ? t->most_x / t->width : 0) +
	               (g->visit < 0 ? t->most_v : 0);
	int64_t shift = g->shift + (less + g->modulus - 1) / g->modulus * g->modulus;
	const struct tree_node *width = node_number(tree, t->width), *sum = shift ? node_number(tree, shift) : NULL;
	sum = add_term(tree, sum, g->column, whole ? x : node_2(tree, NODE_MODULO, x, width));
	sum = add_term(tree, sum, whole ? 0 : g->row, node_2(tree, NODE_OVER, x, width));
	sum = add_term(tree, sum, g->visit, v);
	return node_2(tree, NODE_MODULO, node_1(tree, NODE_IN_BRACKETS, sum ? sum : node_number(tree, 0)),
	              node_number(tree, g->modulus));
}

const struct tree_node *torus_make(const struct torus *t, struct tree *tree, const struct tree_node *x,
                                   const struct tree_node *v)
{
	const struct tree_node *all = make_digit(t, &t->low, tree, x, v);
	if (t->base)
		all = node_2(tree, NODE_PLUS, node_number(tree, t->base), all);
	if (t->high.modulus)
		all = node_2(tree, NODE_PLUS, all,
		             node_2(tree, NODE_TIMES, node_number(tree, t->low.modulus),
		                    node_1(tree, NODE_IN_BRACKETS, make_digit(t, &t->high, tree, x, v))));
	return all;
}
