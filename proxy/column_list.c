/* SPDX-License-Identifier: BSD-3-Clause
 * column_list - a column of numbers as the list of its values, where rules would be longer
 *
 *     list_3[at_most(v, 90)]                     one list for all ranks
 *     list_3[rank % 4][v % 6]                    so many lists as there are different ranks, all as long
 *     list_3[table_4[rank] + v % table_5[rank]]  of other lengths, one behind the other
 *
 * What has no rule is said once this way, and in few bytes. Lists may be relative to the rank, which makes ranks alike.
 */
#include "proxy/column_numbers.h"

#include "proxy/queues.h"
#include "proxy/torus.h"
#include "trace/base/budget.h"

#define VALUES_MOST   65536 /* in all lists */
#define PERIOD_MOST   64    /* that ranks are given in common, unless one of them has it */
#define LINE          24    /* values in a line */
#define REPEATS_LEAST 4     /* one in so many values is said by a period in common */
#define STENCIL_MOST  31    /* neighbours, of which each has a bit */
#define TORUS_MOST    4096  /* values for which a grid is looked for */

struct lists {
	struct numbers *n;
	struct queue_list *of_rank;
	uint32_t rows;
	bool relative;
	bool holes; /* relative: MPI_PROC_NULL is there, too */
};

/* How many values there are at most on ranks whose values are repeated, if a list of so many is not much longer than
 * `length`; 0: it is. */
static uint64_t all_values(const struct lists *x, uint64_t length)
{
	uint64_t most = 0;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		const struct runs *runs = x->n->of_rank[r];
		if (runs && runs->lead < runs->count && (uint64_t)runs->rest > most)
			most = (uint64_t)runs->rest;
	}
	return most - most / REPEATS_LEAST <= length ? most : 0;
}

/* Gives all lists the same lead and period. False: they are too different. */
static bool make_even(struct lists *x)
{
	uint64_t lead = 0, most = 1, period = 1;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		const struct queue_list *l = &x->of_rank[r];
		if (!x->n->of_rank[r])
			continue;
		uint64_t a = period, b = l->period;
		while (b > 0) {
			uint64_t rest = a % b;
			a = b;
			b = rest;
		}
		period = period / a * l->period;
		most = l->period > most ? l->period : most;
		lead = l->lead > lead ? l->lead : lead;
		if (period > (most > PERIOD_MOST ? most : PERIOD_MOST))
			return false;
	}
	uint64_t all = period > 1 ? all_values(x, lead + period) : 0;
	if (all) {
		lead = all > lead ? all - 1 : lead;
		period = 1;
	}
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		x->of_rank[r].lead = lead;
		x->of_rank[r].period = period;
	}
	return true;
}

static bool is_nobody(const struct lists *x, int64_t v)
{
	return trace_is_constant(x->n->c->structure->trace, v, CONST_MPI_PROC_NULL);
}

/* Values, and which ranks have the same. Returns 0; 1: there are too many; -1: no memory. */
static int fill_lists(struct lists *x)
{
	uint64_t all = 0;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		struct queue_list *l = &x->of_rank[r];
		if (!x->n->of_rank[r])
			continue;
		if ((all += l->lead + l->period) > VALUES_MOST || !budget_step(l->lead + l->period))
			return 1;
		if (!(l->values = budget_malloc((l->lead + l->period) * sizeof *l->values)))
			return -1;
		struct runs_walk walk = {.runs = x->n->of_rank[r]};
		for (uint64_t i = 0; i < l->lead + l->period; i++) {
			int64_t v = runs_next(&walk);
			bool moved = x->relative && !value_is_constant(v);
			l->values[i] = moved ? v - (x->n->x ? x->n->x[r] : r) : v;
			if (x->relative && !moved && !is_nobody(x, v))
				return 1;
			x->holes |= x->relative && !moved;
		}
	}
	return queues_find_rows(x->of_rank, x->n->c->structure->ranks, &x->rows);
}

static void add_values(const struct lists *x, const struct queue_list *l, struct definition *list)
{
	struct tree *t = x->n->c->tree;
	for (uint64_t i = 0; i < l->lead + l->period; i++) {
		bool nobody = x->relative && value_is_constant(l->values[i]);
		const struct tree_node *v = nobody ? node_name(t, "NOBODY") : numbers_element(x->n, l->values[i]);
		definition_value(t, list, v->number, v->form == NODE_NUMBER ? NULL : v);
	}
}

static struct definition *make_list(const struct lists *x)
{
	struct columns *c = x->n->c;
	struct definition *list = definition_table(c->tables, c->tree, "list", c->table_count++);
	list->wrap = LINE;
	return list;
}

/* Of each row, the first rank that has it. */
static bool is_first(const struct lists *x, uint32_t rank, uint32_t *seen)
{
	if (!x->n->of_rank[rank] || x->of_rank[rank].row != *seen)
		return false;
	(*seen)++;
	return true;
}

/* A number of each rank, as a function of the rank. It is an index, or leads to one: a rank whose values do not matter
 * has that of another. bare: it needs no brackets. NULL: no memory. */
static const struct tree_node *number_of_rank(const struct lists *x,
                                              uint64_t (*number)(const struct queue_list *l, const uint64_t *of_row),
                                              const uint64_t *of_row, bool bare)
{
	uint32_t ranks = x->n->c->structure->ranks;
	struct point *points = budget_malloc(ranks * sizeof *points);
	struct fit fit = numbers_fit(x->n);
	size_t count = 0;
	const struct queue_list *any = NULL;
	if (!points)
		return NULL;
	fit.x = node_name(x->n->c->tree, "rank");
	for (uint32_t r = 0; r < ranks && !any; r++)
		any = x->n->of_rank[r] ? &x->of_rank[r] : NULL;
	for (uint32_t r = 0; r < ranks; r++) {
		any = x->n->of_rank[r] ? &x->of_rank[r] : any;
		if (any && (x->n->of_rank[r] || x->n->passes[r]))
			points[count++] = (struct point){r, (int64_t)number(any, of_row)};
	}
	const struct tree_node *made = fit_make(&fit, points, count, NULL);
	budget_free(points);
	return bare && made->form == NODE_IN_BRACKETS ? made->at[0] : made;
}

static uint64_t row_of(const struct queue_list *l, const uint64_t *of_row)
{
	(void)of_row;
	return l->row;
}

static uint64_t first_of(const struct queue_list *l, const uint64_t *of_row)
{
	return of_row[l->row];
}

static uint64_t period_of(const struct queue_list *l, const uint64_t *of_row)
{
	(void)of_row;
	return l->period;
}

static uint64_t lead_of(const struct queue_list *l, const uint64_t *of_row)
{
	(void)of_row;
	return l->lead;
}

static const struct tree_node *make_index(struct tree *t, const struct queue_list *l)
{
	const struct tree_node *v = node_of(t, NODE_VISIT, 0), *lead = node_number(t, (int64_t)l->lead),
			       *period = node_number(t, (int64_t)l->period);
	if (l->lead == 0)
		return node_2(t, NODE_MODULO, v, period);
	return l->period == 1 ? node_call(t, "at_most", NODES(v, lead))
	                      : node_call(t, "again_from", NODES(v, lead, period));
}

/* Where no rank's neighbours are others than those of other ranks, but some lack some: the distance of each. Returns 0;
 * 1: they are others; -1: no memory. The caller frees *out in any case. */
static int find_stencil(const struct lists *x, uint64_t length, int64_t **out)
{
	uint64_t known = 0;
	if (!x->holes || x->rows < 2 || length > STENCIL_MOST)
		return 1;
	if (!(*out = budget_calloc(length, sizeof **out)))
		return -1;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++)
		for (uint64_t i = 0; x->n->of_rank[r] && i < length; i++) {
			int64_t v = x->of_rank[r].values[i];
			if (value_is_constant(v))
				continue;
			if (known >> i & 1 && (*out)[i] != v)
				return 1;
			known |= UINT64_C(1) << i;
			(*out)[i] = v;
		}
	return 0;
}

/* One list of distances, and for each row which of them are there: a bit each. */
static int make_stencil(struct lists *x, const struct queue_list *any, const int64_t *distances,
                        const struct tree_node **out)
{
	struct columns *c = x->n->c;
	struct tree *t = c->tree;
	struct definition *list = make_list(x), *masks = make_list(x);
	uint32_t seen = 0;
	list->wrap = masks->wrap = 0;
	for (uint64_t i = 0; i < any->lead + any->period; i++)
		definition_value(t, list, distances[i], NULL);
	for (uint32_t r = 0; r < c->structure->ranks; r++) {
		uint64_t mask = 0;
		if (!is_first(x, r, &seen))
			continue;
		for (uint64_t i = 0; i < any->lead + any->period; i++)
			mask |= (uint64_t)!value_is_constant(x->of_rank[r].values[i]) << i;
		definition_value(t, masks, (int64_t)mask, NULL);
	}
	masks->hexadecimal = true;
	masks->note = node_format(t, " /* bit by bit: which of $ */", NODES(node_use(t, list)));
	const struct tree_node *row = number_of_rank(x, row_of, NULL, true), *index = make_index(t, any);
	if (!row)
		return -1;
	const struct tree_node *mask = node_2(t, NODE_AT, node_use(t, masks), row),
			       *bit = node_2(t, NODE_BITS,
	                                     node_2(t, NODE_SHIFTED, mask, node_1(t, NODE_IN_BRACKETS, index)),
	                                     node_number(t, 1));
	*out = node_choice(t, bit, node_2(t, NODE_AT, node_use(t, list), index), node_name(t, "NOBODY"));
	return 0;
}

static int make_rows(struct lists *x, const struct queue_list *any, const struct tree_node **out)
{
	struct tree *t = x->n->c->tree;
	struct definition *list = make_list(x);
	uint32_t seen = 0;
	list->open = true;
	if (x->rows > 1) {
		list->sides = 2;
		list->side[1] = (int64_t)(any->lead + any->period);
	}
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++)
		if (is_first(x, r, &seen))
			add_values(x, &x->of_rank[r], list);
	*out = node_use(t, list);
	if (x->rows > 1) {
		const struct tree_node *row = number_of_rank(x, row_of, NULL, true);
		if (!row)
			return -1;
		*out = node_2(t, NODE_AT, *out, row);
	}
	*out = node_2(t, NODE_AT, *out, make_index(t, any));
	return 0;
}

static int make_even_lists(struct lists *x, const struct tree_node **out)
{
	const struct queue_list *any = x->of_rank;
	int64_t *distances = NULL;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++)
		any = x->n->of_rank[r] ? &x->of_rank[r] : any;
	int rv = find_stencil(x, any->lead + any->period, &distances);
	if (rv == 0)
		rv = make_stencil(x, any, distances, out);
	else if (rv > 0)
		rv = make_rows(x, any, out);
	budget_free(distances);
	return rv;
}

/* Where a rank's list is at a visit, behind its first place. NULL: no memory. */
static const struct tree_node *make_place(struct lists *x)
{
	struct tree *t = x->n->c->tree;
	const struct tree_node *v = node_of(t, NODE_VISIT, 0);
	bool again = true, once = true;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		again &= !x->n->of_rank[r] || x->of_rank[r].lead == 0;
		once &= !x->n->of_rank[r] || x->of_rank[r].period == 1;
	}
	const struct tree_node *lead = number_of_rank(x, again ? period_of : lead_of, NULL, !again), *period = NULL;
	if (!lead || (!again && !once && !(period = number_of_rank(x, period_of, NULL, true))))
		return NULL;
	if (again)
		return node_2(t, NODE_MODULO, v, lead);
	return once ? node_call(t, "at_most", NODES(v, lead)) : node_call(t, "again_from", NODES(v, lead, period));
}

/* Lists of different lengths, one behind the other. Returns 0, or -1: no memory. */
static int make_uneven(struct lists *x, const struct tree_node **out)
{
	struct tree *t = x->n->c->tree;
	uint64_t *first = budget_calloc(x->rows + UINT64_C(1), sizeof *first), at = 0;
	struct definition *list = make_list(x);
	uint32_t seen = 0;
	list->open = true;
	for (uint32_t r = 0; first && r < x->n->c->structure->ranks; r++)
		if (is_first(x, r, &seen)) {
			first[seen - 1] = at;
			at += x->of_rank[r].lead + x->of_rank[r].period;
			add_values(x, &x->of_rank[r], list);
		}
	const struct tree_node *begin = first ? number_of_rank(x, first_of, first, false) : NULL,
			       *place = begin ? make_place(x) : NULL;
	budget_free(first);
	if (!place)
		return -1;
	*out = node_2(t, NODE_AT, node_use(t, list), node_2(t, NODE_PLUS, begin, place));
	return 0;
}

/* Finds the lists of all ranks. Returns 0; 1: there are none; -1: no memory. The caller frees them in any case. */
static int lists_begin(struct lists *x, bool even)
{
	struct numbers *n = x->n;
	uint32_t ranks = n->c->structure->ranks;
	int rv = (x->of_rank = budget_calloc(ranks, sizeof *x->of_rank)) ? 0 : -1;
	for (uint32_t r = 0; r < ranks && rv == 0; r++)
		if (n->of_rank[r] &&
		    !runs_length(n->of_rank[r], VALUES_MOST, &x->of_rank[r].lead, &x->of_rank[r].period))
			rv = 1;
	if (rv == 0 && even && !make_even(x))
		rv = 1;
	if (rv == 0)
		rv = fill_lists(x);
	return rv == 0 && x->rows == 0 ? 1 : rv;
}

static void lists_end(struct lists *x)
{
	for (uint32_t r = 0; x->of_rank && r < x->n->c->structure->ranks; r++)
		budget_free(x->of_rank[r].values);
	budget_free(x->of_rank);
}

int numbers_list(struct numbers *n, bool even, bool relative, const struct tree_node **out)
{
	struct lists x = {.n = n, .relative = relative};
	struct tree *t = n->c->tree;
	/* beside() would take its marks for ranks */
	int rv = relative && n->kept ? 1 : lists_begin(&x, even);
	if (rv == 0 && relative && !x.holes && n->rows && x.rows >= n->rows)
		rv = 1; /* no ranks have become alike */
	if (!relative)
		n->rows = rv == 0 ? x.rows : 0;
	if (rv == 0)
		rv = even ? make_even_lists(&x, out) : make_uneven(&x, out);
	if (rv == 0 && relative)
		*out = x.holes ? node_call(t, "beside", NODES(n->x_name, *out))
		               : node_1(t, NODE_IN_BRACKETS, node_2(t, NODE_PLUS, n->x_name, *out));
	lists_end(&x);
	n->visits = true;
	n->level = 2;
	return rv;
}

/* Do ranks only have numbers, no constants? */
static bool are_numbers(const struct lists *x)
{
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++)
		for (uint64_t i = 0; x->n->of_rank[r] && i < x->of_rank[r].lead + x->of_rank[r].period; i++)
			if (value_is_constant(x->of_rank[r].values[i]))
				return false;
	return true;
}

static int make_queue(struct lists *x, const struct tree_node **out)
{
	struct columns *c = x->n->c;
	uint32_t ranks = c->structure->ranks;
	bool *none = budget_calloc(ranks, 1);
	for (uint32_t r = 0; none && r < ranks; r++)
		none[r] = !x->n->of_rank[r];
	int64_t number = none ? queues_add(c->queues, x->of_rank, none, ranks, x->rows) : -1;
	budget_free(none);
	if (number < 0)
		return number == -1 ? -1 : 1;
	*out = node_call(c->tree, "next", NODES(queues_use(c->queues, c->tree, c->tables, (uint32_t)number)));
	return 0;
}

int numbers_queue(struct numbers *n, const struct tree_node **out)
{
	struct lists x = {.n = n};
	int rv = n->again || n->kept ? 1 : lists_begin(&x, false);
	if (rv == 0)
		rv = !are_numbers(&x) ? 1 : make_queue(&x, out);
	lists_end(&x);
	n->level = 2;
	return rv;
}

/* All values as points. Returns how many they are; 0: not all are numbers. */
static size_t make_points(const struct lists *x, struct torus_point *points)
{
	size_t count = 0;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++) {
		const struct queue_list *l = &x->of_rank[r];
		for (uint64_t i = 0; x->n->of_rank[r] && i < l->lead + l->period; i++) {
			if (value_is_constant(l->values[i]))
				return 0;
			points[count++] = (struct torus_point){x->n->x ? x->n->x[r] : r, (int64_t)i, l->values[i]};
		}
	}
	return count;
}

static int make_torus(struct lists *x, const struct tree_node **out)
{
	uint64_t all = 0;
	struct queue_list any = {0};
	struct torus t;
	struct tree *tree = x->n->c->tree;
	for (uint32_t r = 0; r < x->n->c->structure->ranks; r++)
		if (x->n->of_rank[r]) {
			any = x->of_rank[r];
			all += any.lead + any.period;
		}
	if (all > TORUS_MOST)
		return 1;
	struct torus_point *points = budget_malloc(all * sizeof *points);
	if (!points)
		return -1;
	bool found = torus_find(&t, points, make_points(x, points), x->n->c->structure->ranks);
	budget_free(points);
	if (!found)
		return 1;
	*out = node_1(tree, NODE_IN_BRACKETS, torus_make(&t, tree, x->n->x_name, make_index(tree, &any)));
	x->n->visits = t.low.visit || t.high.visit;
	return 0;
}

int numbers_torus(struct numbers *n, const struct tree_node **out)
{
	struct lists x = {.n = n};
	int rv = n->kept ? 1 : lists_begin(&x, true);
	if (rv == 0)
		rv = make_torus(&x, out);
	lists_end(&x);
	n->level = 2;
	return rv;
}
