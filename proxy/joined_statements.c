/* SPDX-License-Identifier: BSD-3-Clause
 * joined_statements - statements of a large program that stand in several places, but for numbers: one function
 *
 * All statements stand in one list, each in front of those in it. In each turn the function is made by which the
 * program becomes shortest.
 */
#include "proxy/joined_statements.h"

#include <stdlib.h>
#include <string.h>

#include "proxy/passage.h"
#include "proxy/short_functions.h"
#include "proxy/spots.h"
#include "trace/base/budget.h"

#define LINES_MOST  80  /* in a function */
#define LOOKED_MOST 400 /* candidates of which is looked how short they make the program */

/* Statements that stand in several places. */
struct repeated_part {
	uint32_t first, length, places;
	uint64_t hash;
	uint32_t end;  /* behind the last place: they do not overlap */
	int64_t about; /* not fewer letters than it could save */
};

struct joining {
	struct tree *t, scratch;
	struct routines *functions, *made;
	const struct routines *calls;
	struct names *names;
	uint64_t steps, most;
	struct spots all; /* statements of all functions */
	struct repeated_part *each;
	uint32_t each_count, each_capacity;
	struct index index;
	struct passage passage;                     /* that is looked at */
	uint32_t places_capacity, *at, at_capacity; /* at: the spot of each place */
	uint32_t next;                              /* of the places that are replaced */
};

/* So many steps more. Returns false: the trace's budget has run out. */
static bool join_step(struct joining *x, uint64_t steps)
{
	x->steps += steps;
	return budget_step(steps);
}

static int collect_spots(struct joining *x)
{
	struct routines *const both[] = {x->functions, x->made};
	spots_begin(&x->all);
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < both[k]->count; i++)
			if (!both[k]->each[i].gone && spots_add(&x->all, both[k]->each[i].body) != 0)
				return -1;
	return spots_find_alike(&x->all) == 0 && join_step(x, x->all.count) ? 0 : -1;
}

/* ---- candidates ---- */

struct candidate_key {
	const struct joining *x;
	uint32_t length;
	uint64_t hash;
};

/* Others that have its hash by chance make a guess wrong, not the program. */
static bool is_candidate(const void *context, uint32_t i)
{
	const struct candidate_key *k = context;
	return k->x->each[i].length == k->length && k->x->each[i].hash == k->hash;
}

static int add_candidate(struct joining *x, uint32_t first, uint32_t length, uint32_t end, uint64_t hash,
                         uint64_t letters)
{
	struct candidate_key key = {x, length, hash};
	uint32_t i = index_find(&x->index, hash, is_candidate, &key);
	if (i == INDEX_NONE) {
		if (!budget_grow(&x->each, x->each_count, &x->each_capacity, sizeof *x->each) ||
		    index_add(&x->index, hash, x->each_count) != 0)
			return -1;
		i = x->each_count++;
		x->each[i] = (struct repeated_part){.first = first, .length = length, .hash = hash};
	}
	struct repeated_part *c = &x->each[i];
	if (c->end <= first) {
		c->about += c->places ? (int64_t)letters : 0;
		c->places++;
		c->end = end;
	}
	return 0;
}

static int find_candidates(struct joining *x)
{
	x->each_count = 0;
	index_free(&x->index);
	for (uint32_t first = 0; first < x->all.count; first++) {
		uint64_t hash = 7, letters = 0;
		uint32_t lines = 0, at = first;
		for (uint32_t length = 1; length <= x->all.each[first].left && x->all.each[at].same > 1; length++) {
			lines += spots_facts(&x->all, at)->lines;
			if (lines > LINES_MOST)
				break;
			hash = hash_mix(hash, spots_facts(&x->all, at)->shape);
			letters += spots_letters(&x->all, at);
			at += x->all.each[at].span;
			if (!join_step(x, lines) || add_candidate(x, first, length, at, hash, letters) != 0)
				return -1;
			if (length == x->all.each[first].left)
				break;
		}
	}
	return 0;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct repeated_part *x = a, *y = b;
	return x->about != y->about ? (x->about < y->about) - (x->about > y->about)
	                            : (x->first > y->first) - (x->first < y->first);
}

/* ---- places ---- */

/* Do statements of one spot have the shapes of those of another one? */
static bool stands_at(const struct joining *x, uint32_t a, uint32_t b, uint32_t length)
{
	const struct spot *p = &x->all.each[a], *q = &x->all.each[b];
	if (q->left < length)
		return false;
	for (uint32_t i = 0; i < length; i++)
		if (!shape_same(p->each[i], p->loops, q->each[i], q->loops))
			return false;
	return true;
}

/* Finds all places of a candidate, which do not overlap, and what a function for them is given. Returns 1; 0: they
 * cannot be one; -1: no memory, or no steps. */
static int look_at_places(struct joining *x, const struct repeated_part *c, struct tree *t)
{
	struct passage *p = &x->passage;
	uint32_t behind = 0; /* the last place */
	passage_end(p);
	p->count = 0;
	p->length = c->length;
	for (uint32_t i = c->first; i != SPOT_NONE; i = x->all.each[i].alike) {
		if (!join_step(x, 1))
			return -1;
		if (i < behind || !stands_at(x, c->first, i, c->length))
			continue;
		if (!join_step(x, c->length) ||
		    !budget_grow(&p->places, p->count, &x->places_capacity, sizeof *p->places) ||
		    !budget_grow(&x->at, p->count, &x->at_capacity, sizeof *x->at))
			return -1;
		const struct spot *s = &x->all.each[i];
		x->at[p->count] = i;
		p->places[p->count++] = (struct passage_place){s->each, s->loops, s->left == c->length, {0}};
		behind = i;
		for (uint32_t k = 0; k < c->length; k++)
			behind += x->all.each[behind].span;
	}
	return p->count < 2 ? 0 : passage_find_given(p, t);
}

/* A function that is called there. */
static const char *callee_in(const struct joining *x, const struct tree_node *n)
{
	const struct routines *const both[] = {x->calls, x->made};
	if (n->form == NODE_TEXT && names_without_mpi(n->name) != n->name)
		return names_without_mpi(n->name);
	for (int k = 0; k < 2 && n->form == NODE_CALL; k++)
		for (uint32_t i = 0; i < both[k]->count; i++)
			if (both[k]->each[i].name == n->name)
				return n->name;
	const char *name = NULL;
	for (uint32_t i = 0; i < n->count && !name; i++)
		name = callee_in(x, n->at[i]);
	return name;
}

/* What the function is about: the first call that is not about a datatype, an operation, or who there is. */
static void name_passage(const struct joining *x, char out[40])
{
	char name[40];
	snprintf(out, 40, "part");
	for (uint32_t i = 0; i < x->passage.length; i++) {
		const char *callee = callee_in(x, x->passage.places[0].each[i]);
		if (!callee)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)names_plain_length(callee), callee);
		bool other = names_is_of_objects(name);
		if (!other || strcmp(out, "part") == 0)
			snprintf(out, 40, "%s", name);
		if (!other)
			return;
	}
}

/* How many letters fewer the program has; 0: not fewer, or it cannot be a function; -1: no memory. */
static int64_t gain_of(struct joining *x, const struct repeated_part *c)
{
	char title[40], name[48];
	struct printer p = {.out = NULL};
	struct routines made = {0};
	int64_t before = 0;
	tree_free(&x->scratch);
	int rv = look_at_places(x, c, &x->scratch);
	if (rv < 1)
		return rv;
	name_passage(x, title);
	snprintf(name, sizeof name, "%s_100", title);
	passage_function(&x->passage, &x->scratch, name, &made);
	routines_print(&p, &made);
	routines_free(&made);
	for (uint32_t i = 0; i < x->passage.count; i++) {
		print_node(&p, passage_call(&x->passage, &x->scratch, i, name)->at[0]);
		p.size++; /* ; */
		for (uint32_t k = 0, at = x->at[i]; k < c->length; k++, at += x->all.each[at].span)
			before += (int64_t)spots_letters(&x->all, at);
		before -= x->all.each[x->at[i]].indent + 1;
	}
	if (x->scratch.failed || !join_step(x, p.size + (uint64_t)before))
		return -1;
	return before > (int64_t)p.size ? before - (int64_t)p.size : 0;
}

/* ---- joining ---- */

static void put_calls(struct joining *x, const struct tree_node *const *each, uint32_t count, uint32_t *spot,
                      const char *name, struct nodes *out);

/* A statement with calls of the function in it. */
static const struct tree_node *with_calls(struct joining *x, const struct tree_node *n, uint32_t *spot,
                                          const char *name)
{
	const struct tree_node *made = n;
	++*spot;
	for (uint32_t k = 0, count; k < spots_lists(n); k++) {
		const struct tree_node *const *list = spots_list(n, k, &count);
		const struct tree_node *of = n->form == NODE_SWITCH  ? n->at[k + 1]->at[0]
		                             : n->form == NODE_BLOCK ? n
		                                                     : n->at[1];
		struct nodes all = {0};
		put_calls(x, list, count, spot, name, &all);
		bool bare = of->form != NODE_BLOCK && of->form != NODE_SEQUENCE;
		const struct tree_node *body = bare ? all.each[0] : node_new(x->t, of->form, of, all.each, all.count);
		budget_free(all.each);
		if (n->form == NODE_BLOCK)
			return body;
		struct nodes children = {0};
		for (uint32_t i = 0; i < n->count; i++)
			nodes_add(x->t, &children,
			          n->form == NODE_SWITCH && i == k + 1 ? node_1(x->t, NODE_CASE, body)
			          : n->form != NODE_SWITCH && i == 1   ? body
			                                               : made->at[i]);
		made = node_new(x->t, n->form, n, children.each, children.count);
		budget_free(children.each);
	}
	return made;
}

static void put_calls(struct joining *x, const struct tree_node *const *each, uint32_t count, uint32_t *spot,
                      const char *name, struct nodes *out)
{
	const struct passage *p = &x->passage;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t end = *spot + x->all.each[*spot].span;
		if (x->next < p->count && x->at[x->next] == *spot) {
			nodes_add(x->t, out, passage_call(p, x->t, x->next++, name));
			for (uint32_t k = 0; k < p->length; k++)
				*spot += x->all.each[*spot].span;
			i += p->length - 1;
		} else if (x->next < p->count && x->at[x->next] < end) {
			nodes_add(x->t, out, with_calls(x, each[i], spot, name));
		} else {
			nodes_add(x->t, out, each[i]);
			*spot = end;
		}
	}
}

/* The calls of a function take the places of its statements. */
static void replace_places(struct joining *x, const char *name, uint32_t functions)
{
	struct routines *const both[] = {x->functions, x->made};
	uint32_t spot = 0;
	x->next = 0;
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < (k ? functions : both[k]->count); i++) {
			struct routine *r = &both[k]->each[i];
			struct nodes all = {0};
			uint32_t before = x->next;
			if (r->gone)
				continue;
			put_calls(x, r->body->at, r->body->count, &spot, name, &all);
			if (x->next != before) {
				r->body = node_new(x->t, NODE_BLOCK, NULL, all.each, all.count);
				r->lines = 0;
			}
			budget_free(all.each);
		}
}

/* Makes the function by which the program becomes shortest. Returns 1; 0: there is none, or it takes too much; -1: no
 * memory, or no steps. */
static int make_best(struct joining *x)
{
	int64_t best = 0;
	uint32_t which = 0, functions = x->made->count;
	char title[40];
	if (x->steps >= x->most)
		return 0;
	if (collect_spots(x) != 0 || find_candidates(x) != 0)
		return -1;
	if (x->each_count)
		qsort(x->each, x->each_count, sizeof *x->each, compare_candidates);
	for (uint32_t i = 0; i < x->each_count && i < LOOKED_MOST && x->each[i].about > best && x->steps < x->most;
	     i++) {
		int64_t gain = gain_of(x, &x->each[i]);
		if (gain < 0)
			return -1;
		which = gain > best ? i : which;
		best = gain > best ? gain : best;
	}
	if (best == 0)
		return 0;
	if (look_at_places(x, &x->each[which], x->t) != 1)
		return -1;
	name_passage(x, title);
	const char *made = names_make(x->names, title);
	if (!made)
		return -1;
	made = tree_name(x->t, made, strlen(made));
	passage_function(&x->passage, x->t, made, x->made);
	replace_places(x, made, functions);
	return x->t->failed ? -1 : 1;
}

/* ---- their order ---- */

/* Adds a function behind those that it calls. */
static void put_in_order(struct tree *t, struct routines *all, struct routine *r, struct routines *out);

static void put_called(struct tree *t, struct routines *all, const struct tree_node *n, struct routines *out)
{
	for (uint32_t i = 0; i < all->count && n->form == NODE_CALL; i++)
		if (all->each[i].name == n->name)
			put_in_order(t, all, &all->each[i], out);
	for (uint32_t i = 0; i < n->count; i++)
		put_called(t, all, n->at[i], out);
}

static void put_in_order(struct tree *t, struct routines *all, struct routine *r, struct routines *out)
{
	if (r->gone)
		return;
	r->gone = true;
	put_called(t, all, r->body, out);
	routine_add(out, t, r->name, r->parameters, r->parameter_count, r->body);
}

int joined_statements_make(struct tree *t, struct routines *functions, const struct routines *calls,
                           struct names *names, uint64_t steps, struct routines *made)
{
	struct routines own = {0};
	struct joining x = {.t = t,
	                    .functions = functions,
	                    .made = &own,
	                    .calls = calls,
	                    .names = names,
	                    .most = steps,
	                    .passage = {.known = {calls, &own}}};
	int rv = short_functions_take_in(t, functions, &own, &x.steps);
	while (rv == 0 && (rv = make_best(&x)) == 1)
		rv = x.steps < steps ? short_functions_take_in(t, functions, &own, &x.steps) : 0;
	for (uint32_t i = 0; i < own.count && rv == 0; i++)
		put_in_order(t, &own, &own.each[i], made);
	passage_end(&x.passage);
	budget_free(x.passage.places);
	spots_free(&x.all);
	budget_free(x.each);
	budget_free(x.at);
	index_free(&x.index);
	tree_free(&x.scratch);
	routines_free(&own);
	return rv == 0 && !t->failed ? 0 : -1;
}
