/* SPDX-License-Identifier: BSD-3-Clause
 * statements - the calls and loops of a trace as statements
 */
#include "proxy/statements.h"

#include <string.h>

#include "proxy/call_parts.h"
#include "proxy/call_site.h"
#include "proxy/passes.h"
#include "trace/base/budget.h"

#define NAMELESS_MOST 8 /* statements of a function without a name that are no function of the program */

/* Where statements go. indent: of them; for how long they are. */
struct written_at {
	struct nodes *out;
	uint32_t home;
	int indent;
};

static int make_range(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, struct written_at at);

static const struct tree_node *variable(struct program_text *w, uint32_t loop)
{
	return node_of(&w->tree, NODE_LOOP, w->loop[loop] - 1);
}

/* The variable of a loop around a node, or of the node itself. */
static bool has_variable(const struct program_text *w, uint32_t loop, uint32_t home)
{
	return loop != w->structure.nest.sites && !w->structure.nest.nodes[loop].any_order && w->loop[loop] &&
	       w->home[loop] == home;
}

/* What is written next is at visits that are the turns of a loop: where ranks make other numbers of these, visits may
 * be counted from the last one. */
static void set_turns(struct program_text *w, uint32_t loop)
{
	w->columns.turns_column = w->structure.times[loop];
	w->columns.turns_name = w->ends[loop];
}

/* The variable that counts what a node's turns count: that of the loop around it, if there is no more than one run of
 * that, or if all is the same again in the next one. NULL: there is none. */
static const struct tree_node *turns_of(struct program_text *w, uint32_t node, uint32_t home, uint64_t *turns)
{
	uint32_t parent = w->structure.nest.nodes[node].parent;
	bool single = has_variable(w, parent, home) && structure_is_single(&w->structure, parent);
	if (single)
		set_turns(w, parent);
	*turns = has_variable(w, parent, home) && !single ? w->turns[parent] : 0;
	if (*turns && !structure_is_periodic(&w->structure, w->structure.times[node], *turns, NULL))
		*turns = 0;
	return single || *turns ? variable(w, parent) : NULL;
}

/* The same for the values of a call: each turn of the loop is one visit. */
static const struct tree_node *visits_of(struct program_text *w, uint32_t node, uint32_t home, uint64_t *turns)
{
	uint32_t loop = w->loop[node] ? node : w->structure.nest.nodes[node].parent;
	bool each = has_variable(w, loop, home) && (w->loop[node] || passes_plain(&w->structure, node));
	bool single = each && structure_is_single(&w->structure, loop);
	if (single)
		set_turns(w, loop);
	*turns = each && !single ? w->turns[loop] : 0;
	if (*turns && !call_is_periodic(&w->structure, &w->structure.sites[node], *turns))
		*turns = 0;
	return single || *turns ? variable(w, loop) : NULL;
}

/* alone: the block that it is in has nothing else. */
static int make_site(struct program_text *w, uint32_t node, struct written_at at, bool alone)
{
	uint64_t turns;
	const struct tree_node *visit = visits_of(w, node, at.home, &turns);
	bool shared = !visit && w->in_visit[node] == at.home + 1;
	struct call_place place = {.number = w->sites,
	                           .visit = shared ? node_of(&w->tree, NODE_VISIT, 0) : visit,
	                           .turns = turns,
	                           .counters = &w->counters,
	                           .indent = at.indent,
	                           .used = shared ? &w->visit_used : NULL,
	                           .alone = alone};
	w->site_of[w->sites++] = w->structure.sites[node].site;
	int rv = call_make(&w->columns, &w->structure.sites[node], &place, at.out);
	w->columns.turns_name = NULL;
	return rv;
}

static uint32_t loops_around(const struct program_text *w, uint32_t node, uint32_t home)
{
	uint32_t most = 0;
	for (uint32_t n = w->structure.nest.nodes[node].parent; n != NEST_NONE; n = w->structure.nest.nodes[n].parent)
		if (w->loop[n] && w->home[n] == home)
			most = w->loop[n] > most ? w->loop[n] : most;
	return most;
}

static const struct tree_node *make_loop(struct program_text *w, uint32_t node, const struct expression *times,
                                         const struct tree_node *turns, uint32_t home, enum node_form *form)
{
	w->loop[node] = loops_around(w, node, home) + 1;
	w->home[node] = home;
	w->turns[node] = times->known && times->value > 0 ? (uint64_t)times->value : 0;
	*form = times->simple ? NODE_FOR : NODE_FOR_END;
	if (!times->simple)
		w->ends[node] = node_of(&w->tree, NODE_LOOP_END, w->loop[node] - 1);
	else if (!times->known)
		w->ends[node] = times->node;
	return times->simple ? times->node : turns;
}

/* A number that is 0 or 1, as a condition. */
static const struct tree_node *condition_of(struct tree *t, const struct tree_node *n)
{
	const struct tree_node *choice = n->form == NODE_IN_BRACKETS ? n->at[0] : n;
	if (choice->form != NODE_CHOICE)
		return n;
	if (node_is_number(choice->at[1], 1) && node_is_number(choice->at[2], 0))
		return choice->at[0];
	if (node_is_number(choice->at[1], 0) && node_is_number(choice->at[2], 1))
		return node_1(t, NODE_NEGATED, node_1(t, NODE_IN_BRACKETS, choice->at[0]));
	return n;
}

/* What is around the body of a node: `form` is that of a condition, or of a loop with a number of turns. */
struct head {
	enum node_form form;
	const struct tree_node *of;
	uint32_t loop;
	bool block; /* else there is nothing */
};

static int make_head(struct program_text *w, uint32_t node, struct written_at at, struct head *head)
{
	struct expression e;
	struct tree *t = &w->tree;
	uint64_t turns;
	*head = (struct head){.block = false};
	if (w->given[node])
		return 0;
	const struct tree_node *visit = turns_of(w, node, at.home, &turns);
	int rv = column_times(&w->columns, w->structure.times[node], &e);
	w->columns.turns_name = NULL;
	if (rv != 0)
		return -1;
	bool set = w->structure.nest.nodes[node].any_order, own_counter = e.visits && !visit;
	head->block = !e.known || e.value != 1 || set;
	if (!head->block)
		return 0;
	const struct tree_node *condition = condition_of(t, e.node);
	if (own_counter) {
		visit = call_next_visit(t, w->counters++);
		if (node_count(e.node, NODE_VISIT, -1) != 1) { /* it is counted in front of it */
			nodes_add(t, at.out, node_1(t, NODE_STATEMENT, visit));
			visit = node_1(t, NODE_IN_BRACKETS, node_sum(t, visit->at[0], -1));
		}
	}
	visit = visit ? visit : node_number(t, 0);
	if (passes_once(&w->structure, node) && !set) {
		head->form = NODE_IF;
		head->of = node_visit(t, condition, visit, turns);
	} else {
		head->of = make_loop(w, node, &e, node_visit(t, e.node, visit, turns), at.home, &head->form);
		head->loop = w->loop[node] - 1;
	}
	return 0;
}

/* Adds a body with what is around it. */
static void add_body(struct program_text *w, const struct head *head, struct nodes *body, struct written_at at)
{
	struct tree *t = &w->tree;
	const struct tree_node *block = nodes_end(t, NODE_BLOCK, body);
	nodes_add(t, at.out,
	          node_new(t, head->form, &(struct tree_node){.number = head->loop}, NODES(head->of, block)));
}

/* A range that is a block of its own. Calls in it that come once in each turn are at the same visit. */
static int make_shared(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, struct written_at at)
{
	struct nodes body = {0};
	bool used = w->visit_used;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = w->structure.nest.nodes[c].next)
		if (w->given[c] || passes_always(&w->structure, c))
			w->in_visit[c] = at.home + 1;
	w->visit_used = false;
	int rv = make_range(w, first, end, depth, (struct written_at){&body, at.home, at.indent});
	if (w->visit_used)
		nodes_add(&w->tree, at.out,
		          node_declare(&w->tree, "const long ", "v", false, call_next_visit(&w->tree, w->counters++)));
	w->visit_used = used;
	for (uint32_t i = 0; i < body.count; i++)
		nodes_add(&w->tree, at.out, body.each[i]);
	budget_free(body.each);
	return rv;
}

static int make_any_order(struct program_text *w, uint32_t node, struct written_at at);

static int make_node(struct program_text *w, uint32_t node, uint32_t depth, struct written_at at)
{
	const struct loop_nest *nest = &w->structure.nest;
	struct nodes body = {0};
	struct head head;
	if (make_head(w, node, at, &head) != 0)
		return -1;
	struct written_at inner = {head.block ? &body : at.out, at.home, at.indent + head.block};
	int rv;
	if (node < nest->sites)
		rv = make_site(w, node, inner, head.block);
	else if (nest->nodes[node].any_order)
		rv = make_any_order(w, node, inner);
	else
		rv = (head.block ? make_shared : make_range)(w, nest->nodes[node].first, NEST_NONE, depth, inner);
	if (head.block)
		add_body(w, &head, &body, at);
	return rv;
}

static int make_case(struct program_text *w, uint32_t node, struct written_at at, struct nodes *cases)
{
	struct nodes body = {0};
	struct written_at inner = {&body, at.home, at.indent + 1};
	bool chain = node >= w->structure.nest.sites && !w->structure.nest.nodes[node].any_order &&
	             passes_always(&w->structure, node);
	int rv = chain ? make_shared(w, w->structure.nest.nodes[node].first, NEST_NONE, UINT32_MAX, inner)
	               : make_node(w, node, UINT32_MAX, inner);
	nodes_add(&w->tree, cases,
	          node_1(&w->tree, NODE_CASE, nodes_end(&w->tree, chain ? NODE_BLOCK : NODE_SEQUENCE, &body)));
	return rv;
}

/* A loop in whose turns there is one call each, or one chain of calls. */
static int make_any_order(struct program_text *w, uint32_t node, struct written_at at)
{
	const struct nest_node *nodes = w->structure.nest.nodes;
	struct tree *t = &w->tree;
	struct nodes cases = {0};
	struct expression e;
	int rv = column_times(&w->columns, w->structure.choice[node], &e);
	if (rv != 0)
		return -1;
	if (e.visits)
		nodes_add(t, at.out, node_declare(t, "const long ", "v", false, call_next_visit(t, w->counters++)));
	nodes_add(t, &cases, e.node);
	for (uint32_t c = nodes[node].first; c != NEST_NONE && rv == 0; c = nodes[c].next)
		rv = make_case(w, c, at, &cases);
	nodes_add(t, at.out, nodes_end(t, NODE_SWITCH, &cases));
	return rv;
}

/* The children from `first` on that are in one function below that of `depth`; returns the one behind them. */
static uint32_t end_of_function(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	const struct nest_node *nodes = w->structure.nest.nodes;
	uint32_t inside = paths_node(&w->paths, first, depth), c = first;
	do
		c = nodes[c].next;
	while (c != end && c != NEST_NONE && w->paths.lengths[c] > depth && paths_node(&w->paths, c, depth) == inside);
	return c;
}

/* The name of the function at a depth. One without a name that only calls another one is left out: *depth is that of
 * the other one then. */
static void name_function(const struct program_text *w, uint32_t first, uint32_t end, uint32_t *depth, char *out,
                          size_t size)
{
	for (;; ++*depth) {
		out[0] = '\0';
		w->function(w->context, paths_node(&w->paths, first, *depth), out, size);
		if (names_is_known(out) || !paths_go_on(&w->paths, &w->structure.nest, first, end, *depth))
			return;
	}
}

static int make_routine(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, struct written_at at)
{
	char readable[512];
	struct nodes body = {0};
	name_function(w, first, end, &depth, readable, sizeof readable);
	if (!names_is_known(readable) && passes_count(&w->structure, first, end) <= NAMELESS_MOST)
		return make_range(w, first, end, depth, at);
	const char *name = names_make(&w->names, readable);
	if (!name)
		return error_set(w->error, "no memory");
	name = tree_name(&w->tree, name, strlen(name));
	int rv = make_shared(w, first, end, depth, (struct written_at){&body, ++w->home_count, 1});
	routine_add(&w->functions, &w->tree, name, NULL, 0, nodes_end(&w->tree, NODE_BLOCK, &body));
	if (w->functions.count)
		w->functions.each[w->functions.count - 1].nameless = !names_is_known(readable);
	nodes_add(&w->tree, at.out, node_1(&w->tree, NODE_STATEMENT, node_call(&w->tree, name, NULL, 0)));
	return rv;
}

/* What is written in one statement: a function's children, or one node. */
static uint32_t end_of_unit(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	return w->paths.lengths[first] > depth ? end_of_function(w, first, end, depth)
	                                       : w->structure.nest.nodes[first].next;
}

/* The end of the statements from `first` on that have its condition; `first`: it has none, or is alone. */
static uint32_t end_of_block(const struct program_text *w, uint32_t first, uint32_t end, uint32_t depth)
{
	uint32_t at = first;
	if (first == 0 || w->given[first] || passes_always(&w->structure, first) || !passes_once(&w->structure, first))
		return first;
	while (at != end && at != NEST_NONE) {
		uint32_t behind = end_of_unit(w, at, end, depth);
		if (!passes_together(&w->structure, first, at, behind))
			break;
		at = behind;
	}
	return at == w->structure.nest.nodes[first].next ? first : at;
}

/* Statements that have a condition in common; calls among them are at the same visit. */
static int make_block(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, struct written_at at)
{
	struct nodes body = {0};
	struct head head;
	if (make_head(w, first, at, &head) != 0)
		return -1;
	for (uint32_t c = first; c != end && c != NEST_NONE; c = w->structure.nest.nodes[c].next)
		w->given[c] = true;
	int rv = make_shared(w, first, end, depth, (struct written_at){&body, at.home, at.indent + 1});
	add_body(w, &head, &body, at);
	return rv;
}

/* Children of a loop, from `first` to the one before `end`. depth: of the function that they are in. */
static int make_range(struct program_text *w, uint32_t first, uint32_t end, uint32_t depth, struct written_at at)
{
	for (uint32_t c = first, next; c != end && c != NEST_NONE; c = next) {
		int rv = 0;
		next = end_of_block(w, c, end, depth);
		if (next != c) {
			rv = make_block(w, c, next, depth, at);
		} else {
			next = c == 0 ? w->structure.nest.nodes[c].next : end_of_unit(w, c, end, depth);
			if (c != 0)
				rv = w->paths.lengths[c] > depth ? make_routine(w, c, next, depth + 1, at)
				                                 : make_node(w, c, depth, at);
		}
		if (rv != 0)
			return -1;
	}
	return 0;
}

int statements_make(struct program_text *w, const struct tree_node **body)
{
	const struct loop_nest *nest = &w->structure.nest;
	struct nodes all = {0};
	int rv = make_range(w, nest->nodes[nest->sites].first, NEST_NONE, w->paths.lengths[nest->sites],
	                    (struct written_at){&all, 0, 1});
	*body = nodes_end(&w->tree, NODE_BLOCK, &all);
	return rv;
}
