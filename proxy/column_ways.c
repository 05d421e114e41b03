/* SPDX-License-Identifier: BSD-3-Clause
 * column_ways - a column of numbers is said in each way that there is, and the shortest one is taken
 */
#include "proxy/column_numbers.h"

#include "proxy/print.h"

/* Rules that are no longer than this are what a person would write; in a large program, those of the visit that are
 * shorter. Lists must be shorter by so much, and those of other lengths by more. Tables of runs must be, too: they are
 * read by functions. */
#define RULES_SHORT  100
#define VISITS_SHORT 24
#define VISITS_COST  12 /* a large program has no variable for them then */
#define DRAWN_COST   1.5
#define LISTS_COST   1.2
#define UNEVEN_COST  1.5

enum way { WAY_RULES, WAY_SHAPES, WAY_TORUS, WAY_QUEUE, WAY_EVEN, WAY_EVEN_RELATIVE, WAY_UNEVEN, WAYS };

struct attempt {
	const struct tree_node *node;
	size_t size, tables_size; /* tables_size: as they will be packed */
	struct aside tables;
	int level;
	bool visits, drawn;
};

static int make_way(struct numbers *n, enum way way, const struct tree_node **out)
{
	if (way <= WAY_SHAPES)
		return numbers_rules(n, way == WAY_SHAPES, out);
	if (way == WAY_TORUS)
		return numbers_torus(n, out);
	if (way == WAY_QUEUE)
		return n->c->queues ? numbers_queue(n, out) : 1;
	return numbers_list(n, way <= WAY_EVEN_RELATIVE, way == WAY_EVEN_RELATIVE, out);
}

/* Tries one way; what it adds to the tables of the program is kept aside. Returns 0; 1: it is none; -1: no memory. */
static int attempt_way(struct numbers *n, enum way way, struct attempt *a)
{
	aside_begin(n->c, &a->tables);
	n->level = 0;
	n->visits = n->local = n->drawn = false;
	int rv = make_way(n, way, &a->node);
	aside_end(n->c, &a->tables);
	a->size = rv == 0 ? print_size(a->node) : 0;
	a->tables_size = rv == 0 ? aside_size(n->c, &a->tables) : 0;
	a->tables_size += n->c->queues && n->visits ? VISITS_COST : 0;
	a->level = n->level;
	a->visits = n->visits;
	a->drawn = n->drawn;
	return rv;
}

static double attempt_cost(const struct attempt *a, enum way way)
{
	return (double)(a->size + a->tables_size) * (a->drawn                   ? DRAWN_COST
	                                             : way <= WAY_QUEUE         ? 1
	                                             : way <= WAY_EVEN_RELATIVE ? LISTS_COST
	                                                                        : UNEVEN_COST);
}

/* Is there to be no other way? */
static bool is_short(const struct numbers *n, const struct attempt *rules)
{
	return attempt_cost(rules, WAY_RULES) <= (n->c->queues && rules->visits ? VISITS_SHORT : RULES_SHORT);
}

int numbers_write(struct numbers *n, struct expression *out)
{
	struct attempt each[WAYS] = {{.node = NULL}};
	int rv = attempt_way(n, WAY_RULES, &each[WAY_RULES]);
	enum way best = WAY_RULES;
	for (enum way way = WAY_SHAPES; rv == 0 && way < WAYS; way++) {
		if (way == WAY_SHAPES ? n->groups < 2 : best <= WAY_SHAPES && is_short(n, &each[best]))
			continue;
		struct tree_mark before = tree_mark(n->c->tree);
		int tried = attempt_way(n, way, &each[way]);
		if (tried == 0 && attempt_cost(&each[way], way) < attempt_cost(&each[best], best)) {
			best = way;
		} else {
			aside_drop(&each[way].tables);
			tree_release(n->c->tree, before);
		}
		rv = tried < 0 ? -1 : 0;
	}
	out->known = numbers_uniform(n, &out->value);
	if (rv == 0) {
		struct attempt *a = &each[best];
		aside_keep(n->c, &a->tables);
		out->node = a->node;
		out->visits = a->visits;
		out->simple = a->level < 2;
	}
	for (enum way way = WAY_RULES; way < WAYS; way++)
		aside_drop(&each[way].tables);
	return rv == 0 && !n->c->tree->failed ? 0 : error_set(n->c->error, "no memory");
}
