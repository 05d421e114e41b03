/* SPDX-License-Identifier: BSD-3-Clause
 * array - arrays that calls are given, as C
 *
 * Each array that a site has is a place: on ranks whose runs and lengths are alike, the arrays of one run are one
 * place, in which each element is a function of the rank. If there is one place, its elements are written where it is
 * used; else a function makes it, of the number of the place.
 */
#include <string.h>

#include "proxy/array_queue.h"
#include "proxy/column_value.h"
#include "proxy/places.h"
#include "proxy/print.h"
#include "trace/base/budget.h"

#define IN_PLACE_MOST 16  /* elements that are written where they are used */
#define IN_PLACE_LONG 250 /* letters of them and of their tables, at most */
#define ELEMENTS_MOST 4   /* that are columns of their own */
#define ELEMENTS_FEW  16  /* fewer are written one by one */
#define FOLLOWER      150 /* letters of an array that follows from another one */
#define WHICH         60  /* letters of which one it is, besides its expression */
#define LONGER        100 /* what is no queue is longer by so much: there is one more function for those */

static const struct tree_node *element_leaf(void *context, int64_t v)
{
	const struct places *p = context;
	struct columns *c = p->n->c;
	if (p->column->kind == 'r')
		return node_number(c->tree, value_is_constant(v) ? -1 : v);
	if (handles_name(p->column->kind) && !value_is_constant(v))
		return handles_at(c, p->column->kind, node_number(c->tree, v));
	if (handles_name(p->column->kind) && !columns_is_absent(c->structure, v))
		return columns_constant(c, p->column->kind, v);
	return numbers_value(c, v);
}

static struct fit element_fit(const struct places *p, const char *x)
{
	struct fit f = numbers_fit(p->n);
	f.x = node_name(p->n->c->tree, x);
	f.leaf = element_leaf;
	f.context = (void *)p;
	f.plain = handles_name(p->column->kind) && p->column->kind != 'r';
	return f;
}

/* An element as a function of the rank. NULL: no memory. */
static const struct tree_node *make_element(const struct places *p, const struct place *place, size_t i)
{
	uint32_t ranks = p->n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	struct fit f = element_fit(p, "rank");
	size_t count = 0;
	if (!points)
		return NULL;
	for (uint32_t r = 0; r < ranks; r++)
		if (p->n->of_rank[r] && p->group[r] == place->group)
			points[count++] = (struct point){r, places_element(places_vector(p, r, place->run), i)};
	const struct tree_node *made = fit_make(&f, points, count, NULL);
	budget_free(points);
	return made;
}

/* A loop that fills an array with a function of the place in it. */
static const struct tree_node *fill_in_loop(const struct places *p, const struct place *place,
                                            const struct tree_node *value)
{
	struct tree *t = p->n->c->tree;
	return node_format(t, "\t\tfor (int e = 0; e < $; e++)\n\t\t\ta[e] = $;\n",
	                   NODES(node_number(t, (int64_t)place->width),
	                         node_new(t, NODE_CAST, &(struct tree_node){.name = p->type}, &value, 1)));
}

static const struct tree_node *fill_shared(const struct places *p, const struct place *place, uint32_t rank)
{
	struct point *points = budget_malloc((place->width + 1) * sizeof *points);
	struct fit f = element_fit(p, "e");
	if (!points)
		return NULL;
	for (size_t i = 0; i < place->width; i++)
		points[i] = (struct point){(int64_t)i, places_element(places_vector(p, rank, place->run), i)};
	const struct tree_node *value = fit_make(&f, points, place->width, NULL);
	budget_free(points);
	return fill_in_loop(p, place, value);
}

static struct definition *add_table(const struct places *p, int sides)
{
	struct columns *c = p->n->c;
	struct definition *table = definition_table(c->tables, c->tree, "table", c->table_count++);
	table->sides = sides;
	table->open = true;
	return table;
}

/* Elements that are no functions of the rank: one table for all. */
static const struct tree_node *fill_from_table(const struct places *p, const struct place *place)
{
	struct tree *t = p->n->c->tree;
	struct definition *table = add_table(p, 2);
	table->side[1] = (int64_t)place->width;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++) {
		bool there = p->n->of_rank[r] && p->group[r] == place->group;
		for (size_t i = 0; i < place->width; i++) {
			const struct tree_node *v =
				there ? element_leaf((void *)p, places_element(places_vector(p, r, place->run), i))
				      : node_number(t, 0);
			definition_value(t, table, v->number, v->form == NODE_NUMBER ? NULL : v);
		}
	}
	return fill_in_loop(p, place, node_format(t, "$[rank][e]", NODES(node_use(t, table))));
}

/* Makes each element; *irregular: how many are tables. NULL: no memory. */
static const struct tree_node *fill_each(const struct places *p, const struct place *place, size_t *irregular)
{
	struct tree *t = p->n->c->tree;
	struct nodes all = {0};
	*irregular = 0;
	for (size_t i = 0; i < place->width; i++) {
		const struct tree_node *one = make_element(p, place, i);
		if (!one) {
			budget_free(all.each);
			return NULL;
		}
		nodes_add(t, &all, node_format(t, "\t\ta[$] = $;\n", NODES(node_number(t, (int64_t)i), one)));
		*irregular += one->form == NODE_AT && one->at[0]->form == NODE_USE;
	}
	return nodes_end(t, NODE_SEQUENCE, &all);
}

/* NULL: no memory. */
static const struct tree_node *fill_place(const struct places *p, const struct place *place)
{
	struct columns *c = p->n->c;
	bool plain = element_fit(p, "e").plain;
	uint32_t first;
	struct aside tables;
	size_t irregular;
	if (place->width > 4 && places_shared(p, place, &first) && (!plain || place->width > IN_PLACE_MOST))
		return fill_shared(p, place, first);
	aside_begin(c, &tables);
	const struct tree_node *made = fill_each(p, place, &irregular);
	aside_end(c, &tables);
	if (made && (irregular <= 1 || plain))
		aside_keep(c, &tables);
	else if (made)
		made = fill_from_table(p, place);
	aside_drop(&tables);
	return made;
}

/* NULL: no memory. */
static const struct tree_node *fill_cases(const struct places *p)
{
	struct tree *t = p->n->c->tree;
	struct nodes cases = {0};
	for (uint32_t i = 0; i < p->count; i++) {
		const struct tree_node *one = fill_place(p, &p->each[i]);
		if (!one) {
			budget_free(cases.each);
			return NULL;
		}
		nodes_add(t, &cases,
		          node_format(t, p->each[i].absent ? "\tcase $:\n$\t\treturn 0;\n" : "\tcase $:\n$\t\tbreak;\n",
		                      NODES(node_number(t, i), one)));
	}
	return node_format(t, "\tswitch (which) {\n$\t}\n", NODES(nodes_end(t, NODE_SEQUENCE, &cases)));
}

/* Are all arrays numbers that have the same sum? */
static bool have_sum(const struct places *p, size_t width, int64_t *sum)
{
	bool any = false;
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t r = 0; r < p->n->c->structure->ranks; r++) {
			int64_t all = 0;
			if (!p->n->of_rank[r] || p->group[r] != p->each[i].group)
				continue;
			for (size_t k = 0; k < width; k++) {
				int64_t v = places_element(places_vector(p, r, p->each[i].run), k);
				all = v < 0 || v > INT32_MAX || all > INT32_MAX ? INT64_MAX - INT32_MAX : all + v;
			}
			if (all > INT32_MAX || (any && all != *sum))
				return false;
			*sum = all;
			any = true;
		}
	return any;
}

/* All elements of all places on all ranks, without the last one if it is what is left of a sum. What is behind the end
 * of a shorter one is nobody's. */
static const struct tree_node *fill_from_one_table(const struct places *p, const struct array *a)
{
	struct tree *t = p->n->c->tree;
	struct definition *table = add_table(p, 3);
	uint32_t ranks = p->n->c->structure->ranks;
	int64_t sum = 0;
	bool rest = a->fixed && a->most > 1 && have_sum(p, a->most, &sum);
	size_t width = a->most - rest;
	table->side[1] = ranks;
	table->side[2] = (int64_t)width;
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t r = 0; r < ranks; r++) {
			bool there = p->n->of_rank[r] && p->group[r] == p->each[i].group;
			const struct pool_item *item = there ? places_vector(p, r, p->each[i].run) : NULL;
			for (size_t k = 0; k < width; k++)
				definition_value(t, table, item && k < p->each[i].width ? places_number(item, k) : 0,
				                 NULL);
		}
	const struct tree_node *last = node_number(t, (int64_t)width), *type = node_named(t, NODE_TEXT, p->type),
			       *of = node_use(t, table);
	if (rest)
		return node_format(t,
		                   "\ta[$] = $; /* less the others */\n\tfor (int e = 0; e < $; e++)\n"
		                   "\t\ta[$] -= a[e] = ($)$[which][rank][e];\n",
		                   NODES(last, node_number(t, sum), last, last, type, of));
	return node_format(t, "\tfor (int e = 0; e < $; e++)\n\t\ta[e] = ($)$[which][rank][e];\n",
	                   NODES(last, type, of));
}

/* What fills an array: cases, or one table if that is shorter. NULL: no memory. */
static const struct tree_node *fill_array(const struct places *p, const struct array *a)
{
	struct columns *c = p->n->c;
	struct aside cases, table = {0};
	bool one_table = p->count * a->most >= ELEMENTS_FEW && !element_fit(p, "rank").plain && places_are_numbers(p);
	aside_begin(c, &cases);
	const struct tree_node *made = fill_cases(p), *other = NULL;
	aside_end(c, &cases);
	if (made && one_table) {
		aside_begin(c, &table);
		other = fill_from_one_table(p, a);
		aside_end(c, &table);
	}
	if (other && print_size(other) + aside_size(c, &table) < print_size(made) + aside_size(c, &cases)) {
		made = other;
		aside_keep(c, &table);
	} else if (made) {
		aside_keep(c, &cases);
	}
	aside_drop(&cases);
	aside_drop(&table);
	return made;
}

static void make_length(const struct places *p, struct array *a, uint32_t number)
{
	struct tree *t = p->n->c->tree;
	struct nodes lengths = {0};
	for (uint32_t i = 0; i < p->count; i++)
		nodes_add(t, &lengths, node_number(t, (int64_t)p->each[i].width));
	a->length = definition_add(p->n->c->tables, t, "length", number);
	a->length->lengths = true;
	a->length->text = node_format(t,
	                              "static int $(long which)\n{\n\tstatic const int lengths[] = $;\n\n\treturn "
	                              "lengths[which];\n}\n\n",
	                              NODES(node_use(t, a->length), nodes_end(t, NODE_LIST, &lengths)));
}

static int make_array_function(const struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct tree *t = c->tree;
	uint32_t number = c->table_count++;
	const struct tree_node *type = node_named(t, NODE_TEXT, p->type), *body = fill_array(p, a);
	if (!body)
		return -1;
	a->made = definition_add(c->tables, t, "array", number);
	a->made->call = c->call;
	a->made->text = node_format(
		t, "static $ *$(long which)\n{\n\tstatic $ a[$];\n\n$\treturn a;\n}\n\n",
		NODES(type, node_use(t, a->made), type, node_number(t, a->most ? (int64_t)a->most : 1), body));
	if (!a->fixed && p->lengths)
		make_length(p, a, number);
	return 0;
}

/* Returns 0; 1: there is nothing, since it would be too long; -1: no memory. */
static int make_in_place(const struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct aside tables;
	struct nodes all = {0};
	int rv = 0;
	aside_begin(c, &tables);
	for (size_t i = 0; i < a->most && rv == 0; i++) {
		const struct tree_node *one = make_element(p, &p->each[0], i);
		rv = one ? 0 : -1;
		nodes_add(c->tree, &all, one);
	}
	if (a->most == 0)
		nodes_add(c->tree, &all, node_number(c->tree, 0));
	aside_end(c, &tables);
	a->elements = rv == 0 ? nodes_end(c->tree, NODE_LIST, &all) : NULL;
	if (rv == 0 && places_are_numbers(p) && print_size(a->elements) - 2 + aside_size(c, &tables) > IN_PLACE_LONG) {
		a->elements = NULL;
		rv = 1;
	} else if (rv == 0) {
		aside_keep(c, &tables);
	}
	budget_free(all.each);
	aside_drop(&tables);
	return rv;
}

static int make_which(struct places *p, struct array *a)
{
	struct numbers places;
	int rv = numbers_copy(&places, p->n);
	places.again = true; /* by arrays that follow from this one */
	for (uint32_t r = 0; rv == 0 && r < p->n->c->structure->ranks; r++) {
		struct runs *runs = places.of_rank[r];
		for (int64_t i = 0; runs && i < runs->count; i++)
			runs->each[i].start = p->of_run[p->group[r]][i];
		rv = places_find_runs(p, r, &places.of_rank[r]);
	}
	if (rv == 0)
		rv = numbers_write(&places, &a->which);
	numbers_end(&places);
	return rv;
}

/* One element of the arrays as a column of its own. */
static int element_numbers(const struct places *p, size_t i, struct numbers *out)
{
	if (numbers_copy(out, p->n) != 0)
		return -1;
	for (uint32_t r = 0; r < p->n->c->structure->ranks; r++) {
		struct runs *runs = out->of_rank[r];
		for (int64_t k = 0; runs && k < runs->count; k++)
			runs->each[k].start = places_element(places_vector(p, r, k), i);
		if (places_find_runs(p, r, &out->of_rank[r]) != 0)
			return -1;
	}
	return 0;
}

/* Each element as an expression of the rank and the visit. */
static int make_by_element(const struct places *p, struct array *a)
{
	struct nodes all = {0};
	int rv = 0;
	for (size_t i = 0; i < a->most && rv == 0; i++) {
		struct numbers n;
		struct expression e = {0};
		rv = element_numbers(p, i, &n);
		if (rv == 0)
			rv = numbers_write(&n, &e);
		if (rv == 0)
			nodes_add(p->n->c->tree, &all, e.node);
		a->which.visits |= e.visits;
		numbers_end(&n);
	}
	a->elements = nodes_end(p->n->c->tree, NODE_LIST, &all);
	return rv;
}

/* The arrays in the way that is shorter: by a function, or, if they are short, element by element. Then those that
 * follow from them are as long. */
static int make_shorter(struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct array other = *a;
	struct aside tables, others = {0};
	bool plain = p->column->kind == 'r' || handles_name(p->column->kind);
	aside_begin(c, &tables);
	int rv = make_array_function(p, a);
	if (rv == 0)
		rv = make_which(p, a);
	aside_end(c, &tables);
	bool try = rv == 0 && a->fixed && a->most > 0 && a->most <= ELEMENTS_MOST && !plain;
	for (uint32_t i = 0; i < p->count; i++)
		try &= !p->each[i].absent;
	if (try) {
		aside_begin(c, &others);
		rv = make_by_element(p, &other);
		aside_end(c, &others);
	}
	if (rv == 0 && try &&
	    (p->followers + 1) * (aside_size(c, &others) + print_size(other.elements) - 2) <
	            aside_size(c, &tables) + print_size(a->which.node) + p->followers * FOLLOWER) {
		*a = other;
		aside_keep(c, &others);
	} else if (rv == 0) {
		aside_keep(c, &tables);
	}
	aside_drop(&tables);
	aside_drop(&others);
	return rv;
}

/* The next one of a queue, if that is shorter, also for those that follow from them. */
static int make_queued(struct places *p, struct array *a)
{
	struct columns *c = p->n->c;
	struct array other = *a;
	struct aside tables, queue = {0};
	bool try = c->queues && (a->fixed || !p->lengths) && strcmp(p->type, "int") == 0;
	aside_begin(c, &tables);
	int tried = 1, rv = make_shorter(p, a);
	aside_end(c, &tables);
	if (rv == 0 && try) {
		aside_begin(c, &queue);
		tried = array_queue_make(p, &other.queue);
		aside_end(c, &queue);
	}
	size_t size = rv != 0         ? 0
	              : a->elements   ? print_size(a->elements) - 2
	              : a->which.node ? print_size(a->which.node) + WHICH
	                              : 0;
	if (rv == 0 && tried == 0 &&
	    (p->followers + 1) * aside_size(c, &queue) + LONGER <
	            size + aside_size(c, &tables) + p->followers * FOLLOWER) {
		*a = other;
		aside_keep(c, &queue);
	} else if (rv == 0) {
		aside_keep(c, &tables);
	}
	aside_drop(&tables);
	aside_drop(&queue);
	return tried < 0 ? -1 : rv;
}

static int array_places(struct places *p, struct array *a)
{
	if (places_group_ranks(p) != 0)
		return -1;
	if (p->column->kind == 'r' && places_contiguous(p, &a->first)) {
		a->contiguous = true;
		return 0;
	}
	int64_t value;
	if (p->groups == 0 || (numbers_uniform(p->n, &value) && value_is_constant(value))) {
		a->none = true;
		a->constant = p->groups ? columns_constant(p->n->c, 0, value) : NULL;
		return 0;
	}
	if (places_find(p) != 0)
		return -1;
	a->fixed = true;
	for (uint32_t i = 0; i < p->count; i++) {
		a->most = p->each[i].width > a->most ? p->each[i].width : a->most;
		a->fixed &= p->each[i].width == p->each[0].width;
	}
	if (p->count != 1 || a->most > IN_PLACE_MOST)
		return make_queued(p, a);
	int rv = make_in_place(p, a);
	return rv <= 0 ? rv : make_queued(p, a);
}

int column_array(struct columns *c, const struct schema_column *column, uint32_t number, const char *type, bool lengths,
                 size_t followers, struct array *out)
{
	struct numbers n;
	struct places p = {
		.n = &n, .number = number, .column = column, .type = type, .lengths = lengths, .followers = followers};
	*out = (struct array){.none = false};
	int rv = numbers_begin(&n, c, number);
	p.group = budget_calloc(c->structure->ranks, sizeof *p.group);
	if (rv == 0 && (!p.group || array_places(&p, out) != 0))
		rv = error_set(c->error, "no memory");
	for (uint32_t g = 0; p.of_run && g < p.groups; g++)
		budget_free(p.of_run[g]);
	budget_free(p.of_run);
	budget_free(p.group);
	budget_free(p.each);
	numbers_end(&n);
	return rv;
}
