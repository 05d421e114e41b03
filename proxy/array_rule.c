/* SPDX-License-Identifier: BSD-3-Clause
 * array_rule - arrays that follow from another one of the same call
 */
#include "proxy/array_rule.h"

#include <string.h>

#include "proxy/column_numbers.h"

/* The arrays of a rank in a run; NULL: it is none. */
static const struct pool_item *array_in_run(const struct numbers *n, uint32_t rank, int64_t run)
{
	int64_t v = n->of_rank[rank]->each[run].start;
	return value_is_constant(v) ? NULL : &n->c->structure->vectors.items[v];
}

static int64_t array_element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

/* Runs of two columns that hold at the same visits of a rank. */
struct overlap {
	const struct runs *a, *b;
	int64_t i, j;         /* runs of each */
	int64_t past, past_b; /* so many visits of them are over */
};

/* The visits that are left of a run; the last one goes on for ever. */
static int64_t visits_left(const struct runs *r, int64_t run, int64_t past)
{
	return run + 1 == r->count && r->lead == r->count ? INT64_MAX : r->each[run].count - past;
}

/* Goes on to the next two runs. False: there are none. */
static bool overlap_next(struct overlap *o)
{
	int64_t a = visits_left(o->a, o->i, o->past), b = visits_left(o->b, o->j, o->past_b), both = a < b ? a : b;
	if (both == INT64_MAX)
		return false;
	o->i += a == both;
	o->j += b == both;
	o->past = a == both ? 0 : o->past + both;
	o->past_b = b == both ? 0 : o->past_b + both;
	return o->i < o->a->count && o->j < o->b->count;
}

static bool has_width(const struct pool_item *x, size_t width)
{
	return x && x->size == width * sizeof(int64_t);
}

/* Have both columns arrays of `width` elements, on the same ranks? What is repeated must be so at the same visits. */
static bool arrays_in_step(const struct numbers *n, const struct numbers *from, size_t width)
{
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		const struct runs *a = n->of_rank[r], *b = from->of_rank[r];
		if (!a != !b || (a && (a->lead < a->count || b->lead < b->count) && !numbers_alike(a, b)))
			return false;
		for (int64_t i = 0; a && i < a->count; i++)
			if (!has_width(array_in_run(n, r, i), width))
				return false;
		for (int64_t i = 0; b && i < b->count; i++)
			if (!has_width(array_in_run(from, r, i), width))
				return false;
	}
	return true;
}

static bool is_sum(const struct pool_item *x, const struct pool_item *y, size_t width)
{
	int64_t sum = 0;
	for (size_t k = 0; k < width; k++) {
		int64_t v = array_element(y, k);
		if (array_element(x, k) != sum || v < 0 || v > INT32_MAX)
			return false;
		sum += v;
	}
	return true;
}

static bool are_sums(const struct numbers *n, const struct numbers *from, size_t width)
{
	for (uint32_t r = 0; r < n->c->structure->ranks; r++) {
		struct overlap o = {n->of_rank[r], from->of_rank[r], 0, 0, 0, 0};
		if (!o.a)
			continue;
		do
			if (!is_sum(array_in_run(n, r, o.i), array_in_run(from, r, o.j), width))
				return false;
		while (overlap_next(&o));
	}
	return true;
}

static bool is_exchanged(const struct numbers *n, const struct numbers *from, uint32_t rank, const struct overlap *o)
{
	for (uint32_t k = 0; k < n->c->structure->ranks; k++)
		if (array_element(array_in_run(n, rank, o->i), k) != array_element(array_in_run(from, k, o->j), rank))
			return false;
	return true;
}

/* Is element k of rank r element r of rank k? All ranks are to have as many runs. */
static bool are_exchanged(const struct numbers *n, const struct numbers *from, size_t width)
{
	uint32_t ranks = n->c->structure->ranks;
	for (uint32_t r = 0; r < ranks; r++)
		if (width != ranks || !from->of_rank[r] || !numbers_alike(from->of_rank[0], from->of_rank[r]))
			return false;
	for (uint32_t r = 0; r < ranks; r++) {
		struct overlap o = {n->of_rank[r], from->of_rank[r], 0, 0, 0, 0};
		do
			if (!is_exchanged(n, from, r, &o))
				return false;
		while (overlap_next(&o));
	}
	return true;
}

static struct definition *make_rule(struct columns *c, const char *type, const struct array *from,
                                    const char *from_type, bool sums)
{
	struct tree *t = c->tree;
	struct definition *made = definition_add(c->tables, t, "array", c->table_count++);
	const struct tree_node *of = node_named(t, NODE_TEXT, type), *from_of = node_named(t, NODE_TEXT, from_type),
			       *array = node_use(t, from->made), *most = node_number(t, (int64_t)from->most), *body;
	if (sums)
		body = node_format(t,
		                   "\tconst $ *const of = $(which);\n\n\tfor (int e = 1; e < $; e++)\n"
		                   "\t\ta[e] = a[e - 1] + of[e - 1];\n",
		                   NODES(from_of, array, most));
	else
		body = node_format(t,
		                   "\tconst long own = rank;\n\n\tfor (rank = 0; rank < $; rank++)\n"
		                   "\t\ta[rank] = $(which)[own];\n\trank = own;\n"
		                   "\t$(which); /* which is what it was again */\n",
		                   NODES(most, array, array));
	made->call = c->call;
	made->text = node_format(t, "static $ *$(long which)\n{\n\tstatic $ a[$];\n$\treturn a;\n}\n\n",
	                         NODES(of, node_use(t, made), of, most, body));
	return made;
}

enum rule { RULE_NONE, RULE_SUMS, RULE_EXCHANGED };

/* Returns 0, or -1 with columns.error set. */
static int find_rule(struct columns *c, uint32_t number, uint32_t from_number, size_t width, enum rule *rule)
{
	struct numbers n, of;
	*rule = RULE_NONE;
	int rv = numbers_begin(&n, c, number);
	if (numbers_begin(&of, c, from_number) != 0)
		rv = -1;
	if (rv == 0 && width > 0 && arrays_in_step(&n, &of, width)) {
		if (are_sums(&n, &of, width))
			*rule = RULE_SUMS;
		else if (are_exchanged(&n, &of, width))
			*rule = RULE_EXCHANGED;
	}
	numbers_end(&n);
	numbers_end(&of);
	return rv;
}

int array_followers(struct columns *c, const struct schema *schema, const struct recipe *recipe, uint32_t first,
                    size_t i, size_t *followers)
{
	uint32_t from = first + (uint32_t)i;
	*followers = 0;
	for (size_t k = i + 1; k < schema->count && schema->column[i].kind == 'i'; k++) {
		const struct schema_column *column = &schema->column[k];
		enum rule rule;
		if (!column->vector || column->kind != 'i' || !recipe_uses(recipe, column))
			continue;
		if (find_rule(c, first + (uint32_t)k, from, column_most(c, from), &rule) != 0)
			return -1;
		*followers += rule != RULE_NONE;
	}
	return 0;
}

int array_by_rule(struct columns *c, uint32_t number, const char *type, uint32_t from_number, const struct array *from,
                  const char *from_type, struct array *out)
{
	enum rule rule;
	*out = (struct array){.none = false};
	int rv = find_rule(c, number, from_number, from->most, &rule);
	if (rv != 0 || rule == RULE_NONE)
		return rv;
	*out = (struct array){.which = from->which, .fixed = true, .most = from->most};
	out->made = make_rule(c, type, from, from_type, rule == RULE_SUMS);
	return 1;
}
