/* SPDX-License-Identifier: BSD-3-Clause
 * column_value - what a column is at a call site, as C
 */
#include "proxy/column_value.h"
#include "proxy/column_numbers.h"
#include "proxy/drawn.h"

#include "trace/base/budget.h"

int column_times(struct columns *c, uint32_t number, struct expression *out)
{
	struct numbers n;
	*out = (struct expression){0};
	int rv = numbers_begin(&n, c, number);
	if (rv == 0)
		rv = numbers_write(&n, out);
	numbers_end(&n);
	return rv;
}

/* Values of kind p as they are passed, as a function of what they are relative to. Returns false if they are not that:
 * then they are as they were recorded. */
static bool make_absolute(struct numbers *n, const struct proxy_site *site, const struct tree_node *base)
{
	uint32_t ranks = n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	bool world = true, fits = points && (n->x = budget_malloc(ranks * sizeof *n->x));
	for (uint32_t r = 0; r < ranks && fits; r++) {
		fits = !n->of_rank[r] || site->base[r] != BASE_VARIES;
		world &= !n->of_rank[r] || site->base[r] == r;
		n->x[r] = site->base[r];
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count && fits; i++) {
			int64_t *v = &n->of_rank[r]->each[i].start;
			if (i == 0)
				points[0] = (struct point){0, 0};
			*v += value_is_constant(*v) ? 0 : site->base[r];
		}
	}
	budget_free(points);
	n->x_name = world ? node_name(n->c->tree, "rank") : base;
	return fits;
}

/* In communicators that are several, two ranks may be the same there and have other neighbours. */
static bool x_decides(const struct numbers *n)
{
	uint32_t ranks = n->c->structure->ranks;
	for (uint32_t r = 0; r < ranks; r++)
		for (uint32_t q = 0; q < r; q++) {
			const struct runs *a = n->of_rank[r], *b = n->of_rank[q];
			if (!a || !b || n->x[r] != n->x[q] || !numbers_share(a, b))
				continue;
			for (int64_t i = 0; i < a->count; i++)
				if (a->each[i].start != b->each[i].start)
					return false;
		}
	return true;
}

static int make_peer(struct numbers *n, const struct proxy_site *site, const struct tree_node *base, uint32_t number,
                     struct expression *out)
{
	struct columns *c = n->c;
	/* Functions of the program do not know the own rank. */
	if (base->form != NODE_OWN_RANK && make_absolute(n, site, base)) {
		if (!x_decides(n)) {
			budget_free(n->x);
			n->x = NULL;
			n->x_name = node_name(c->tree, "rank");
		}
		return numbers_write(n, out);
	}
	/* relative to a communicator that is not always the same */
	numbers_end(n);
	if (numbers_begin(n, c, number) != 0)
		return -1;
	for (uint32_t r = 0; r < c->structure->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++)
			n->kept |= value_is_constant(n->of_rank[r]->each[i].start);
	if (numbers_write(n, out) != 0)
		return -1;
	if (n->kept)
		out->node = node_call(c->tree, "peer", NODES(base, out->node));
	else
		out->node = node_1(c->tree, NODE_IN_BRACKETS,
		                   node_2(c->tree, NODE_PLUS, base, node_1(c->tree, NODE_IN_BRACKETS, out->node)));
	out->simple = out->known = false;
	return 0;
}

static int make_handle(struct numbers *n, const struct schema_column *column, struct expression *out)
{
	struct columns *c = n->c;
	int64_t value = 0;
	bool any = false, one = numbers_uniform(n, &value);
	for (uint32_t r = 0; r < c->structure->ranks; r++)
		any |= n->of_rank[r] != NULL;
	if (!any || (one && value_is_constant(value))) {
		out->simple = out->known = true;
		out->value = value;
		struct tree_node null = {.name = handles_null(column->kind), .number = column->kind};
		out->node = any ? columns_constant(c, column->kind, value)
		                : node_new(c->tree, NODE_CONSTANT, &null, NULL, 0);
		return 0;
	}
	for (uint32_t r = 0; r < c->structure->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++)
			n->of_rank[r]->each[i].start = handles_number(c, column->kind, n->of_rank[r]->each[i].start);
	if (numbers_write(n, out) != 0)
		return -1;
	out->node = handles_at(c, column->kind, out->node);
	out->known = false;
	return 0;
}

/* A text as C has it. */
static const struct tree_node *make_string(struct tree *t, const struct pool_item *item)
{
	char *text = tree_room(t, 4 * item->size + 3), *to = text;
	if (!text)
		return node_name(t, "\"\"");
	*to++ = '"';
	for (size_t i = 0; i < item->size; i++) {
		unsigned char b = item->bytes[i];
		if (b < 0x20 || b >= 0x7f || b == '"' || b == '\\' || b == '?')
			to += snprintf(to, 5, "\\%03o", b);
		else
			*to++ = (char)b;
	}
	*to++ = '"';
	*to = '\0';
	return node_name(t, text);
}

static int make_strings(struct numbers *n, struct expression *out)
{
	struct columns *c = n->c;
	const struct structure *s = c->structure;
	uint32_t count = 0;
	struct nodes each = {0};
	struct definition *texts = definition_add(c->tables, c->tree, "text", c->table_count++);
	int64_t *seen = budget_calloc(s->trace->strings.count + UINT64_C(1), sizeof *seen);
	if (!seen)
		return error_set(c->error, "no memory");
	for (uint32_t r = 0; r < s->ranks; r++)
		for (int64_t i = 0; n->of_rank[r] && i < n->of_rank[r]->count; i++) {
			int64_t *v = &n->of_rank[r]->each[i].start, key = value_is_constant(*v) ? 0 : *v;
			if (!seen[key]) {
				nodes_add(c->tree, &each, make_string(c->tree, &s->trace->strings.items[key]));
				seen[key] = ++count;
			}
			*v = seen[key] - 1;
		}
	if (count == 0)
		nodes_add(c->tree, &each, node_name(c->tree, "\"\""));
	texts->text = node_format(c->tree, "static const char *const $[] = $;\n",
	                          NODES(node_use(c->tree, texts), nodes_end(c->tree, NODE_LIST, &each)));
	budget_free(seen);
	if (numbers_write(n, out) != 0)
		return -1;
	out->node = node_2(c->tree, NODE_AT, node_use(c->tree, texts), out->node);
	out->known = false;
	return 0;
}

int column_scalar(struct columns *c, const struct proxy_site *site, const struct schema_column *column, uint32_t number,
                  const struct tree_node *base, struct expression *out)
{
	struct numbers n;
	*out = (struct expression){0};
	if (column_is_drawn(c, number))
		return column_drawn(c, site, number, out);
	int rv = numbers_begin(&n, c, number);
	if (rv == 0 && column->kind == 'p')
		rv = make_peer(&n, site, base, number, out);
	else if (rv == 0 && handles_name(column->kind))
		rv = make_handle(&n, column, out);
	else if (rv == 0 && column->kind == 's')
		rv = make_strings(&n, out);
	else if (rv == 0 && column->kind == 'b') {
		for (uint32_t r = 0; r < c->structure->ranks; r++)
			for (int64_t i = 0; n.of_rank[r] && i < n.of_rank[r]->count; i++)
				n.of_rank[r]->each[i].start = value_is_constant(n.of_rank[r]->each[i].start);
		rv = numbers_write(&n, out);
	} else if (rv == 0)
		rv = numbers_write(&n, out);
	numbers_end(&n);
	return rv;
}

size_t column_most(const struct columns *c, uint32_t number)
{
	const struct structure *s = c->structure;
	size_t most = 0;
	for (uint32_t r = 0; r < s->ranks; r++) {
		const struct runs *x = structure_runs(s, number, r);
		for (int64_t i = 0; x && i < x->count; i++)
			if (!value_is_constant(x->each[i].start)) {
				size_t width = s->vectors.items[x->each[i].start].size / sizeof(int64_t);
				most = width > most ? width : most;
			}
	}
	return most;
}
