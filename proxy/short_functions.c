/* SPDX-License-Identifier: BSD-3-Clause
 * short_functions - functions of a large program that are short, where they are called
 */
#include "proxy/short_functions.h"

#include "trace/base/budget.h"

#define SHORT_MOST 8 /* lines of a function without a name that is none of the program */
#define NAMED_MOST 1 /* and of one with a name: what is around its line is longer than that */

struct taking_in {
	struct tree *t;
	struct routines *functions;
	struct index by_name; /* of those that are short */
	uint32_t *calls;      /* of each function */
};

/* Are there few lines, without a variable for all of them? */
static bool is_short(struct routine *r)
{
	if (r->gone || r->body->count == 0 || routine_lines(r) > (r->nameless ? SHORT_MOST : NAMED_MOST))
		return false;
	for (uint32_t i = 0; i < r->body->count; i++)
		if (r->body->at[i]->form == NODE_DECLARE)
			return false;
	return true;
}

struct routine_key {
	const struct routines *all;
	const char *name;
};

static bool has_name(const void *context, uint32_t i)
{
	const struct routine_key *k = context;
	return k->all->each[i].name == k->name;
}

/* The short function that a statement calls; INDEX_NONE: none. */
static uint32_t called_by(const struct taking_in *x, const struct tree_node *n)
{
	if (n->form != NODE_STATEMENT || n->at[0]->form != NODE_CALL || n->at[0]->count)
		return INDEX_NONE;
	struct routine_key key = {x->functions, n->at[0]->name};
	return index_find(&x->by_name, hash_mix(5, (uint64_t)(uintptr_t)key.name), has_name, &key);
}

static void count_calls(struct taking_in *x, const struct tree_node *n)
{
	uint32_t called = called_by(x, n);
	if (called != INDEX_NONE)
		x->calls[called]++;
	for (uint32_t i = 0; i < n->count && n->form != NODE_STATEMENT && n->form != NODE_DECLARE; i++)
		count_calls(x, n->at[i]);
}

static bool has_loop(const struct tree_node *n)
{
	bool has = node_is_loop(n);
	for (uint32_t i = 0; i < n->count && !has; i++)
		has = has_loop(n->at[i]);
	return has;
}

/* A function's statements in place of its call, which is in so many loops; alone: no others can be there. */
static const struct tree_node *put_in_place(struct taking_in *x, const struct tree_node *n, int loops, bool alone)
{
	uint32_t called = called_by(x, n);
	if (called != INDEX_NONE) {
		struct routine *r = &x->functions->each[called];
		bool single = r->body->count == 1 && routine_lines(r) == 1;
		if (x->calls[called] != 1 || (loops && has_loop(r->body)) || (alone && !single))
			return n;
		const struct tree_node *body = put_in_place(x, r->body, loops, false);
		r->gone = true;
		return alone ? body->at[0] : node_new(x->t, NODE_SEQUENCE, NULL, body->at, body->count);
	}
	if (n->form == NODE_STATEMENT || n->form == NODE_DECLARE || n->form == NODE_DO)
		return n;
	bool loop = node_is_loop(n);
	struct nodes all = {0};
	for (uint32_t i = 0; i < n->count; i++) {
		const struct tree_node *one = put_in_place(x, n->at[i], loops + loop, loop || n->form == NODE_IF);
		bool list = one != n->at[i] && one->form == NODE_SEQUENCE && n->form != NODE_CASE;
		for (uint32_t k = 0; list && k < one->count; k++)
			nodes_add(x->t, &all, one->at[k]);
		if (!list)
			nodes_add(x->t, &all, one);
	}
	const struct tree_node *made = n;
	bool same = all.count == n->count;
	for (uint32_t i = 0; i < all.count && same; i++)
		same = all.each[i] == n->at[i];
	if (!same)
		made = node_new(x->t, n->form, n, all.each, all.count);
	budget_free(all.each);
	return made;
}

static void take_in(struct taking_in *x, struct routines *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		struct routine *r = &all->each[i];
		const struct tree_node *body = r->gone ? r->body : put_in_place(x, r->body, 0, false);
		if (body != r->body) {
			r->body = body;
			r->lines = 0;
		}
	}
}

int short_functions_take_in(struct tree *t, struct routines *functions, struct routines *made, uint64_t *steps)
{
	struct taking_in x = {.t = t, .functions = functions};
	struct routines *const both[] = {functions, made};
	uint64_t lines = 0;
	bool any = false;
	int rv = 0;
	for (uint32_t i = 0; i < functions->count && rv == 0; i++)
		if (is_short(&functions->each[i])) {
			any = true;
			rv = index_add(&x.by_name, hash_mix(5, (uint64_t)(uintptr_t)functions->each[i].name), i);
		}
	if (any && rv == 0) {
		x.calls = budget_calloc(functions->count, sizeof *x.calls);
		rv = x.calls ? 0 : -1;
	}
	for (int k = 0; k < 2 && any && rv == 0; k++)
		for (uint32_t i = 0; i < both[k]->count; i++) {
			lines += routine_lines(&both[k]->each[i]) + UINT64_C(1);
			if (!both[k]->each[i].gone)
				count_calls(&x, both[k]->each[i].body);
		}
	for (int k = 0; k < 2 && any && rv == 0; k++)
		take_in(&x, both[k]);
	*steps += lines;
	budget_free(x.calls);
	index_free(&x.by_name);
	return rv == 0 && budget_step(lines) && !t->failed ? 0 : -1;
}
