/* SPDX-License-Identifier: BSD-3-Clause
 * grammar - compresses a sequence of runs online: Sequitur with powers
 *
 * An append changes the end of the start rule and queues the symbols whose pair with the next symbol is new. Each
 * queued pair is looked up; where it stands elsewhere already, both places are replaced by a rule, which queues further
 * pairs. Work is queued, not recursive, so that no symbol is held across a change; a queued symbol that is gone by then
 * is skipped (exponent 0).
 *
 *     a b c a          S -> a b c a
 *     append b         the pair `a b` stands twice: R -> a b, S -> R c R
 *     append c         so does `R c`, and R is then used once only: R -> a b c, S -> R R, which is S -> R^2
 *
 * Invariant between appends: neighbours are different symbols, no pair of neighbours stands twice in a grammar, and no
 * rule is used only once with exponent 1. Where memory is short a pair may stand twice; the sequence is always right.
 */
#include "trace/record/grammar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record/grammar_order.h"

/* The index: open addressing with linear probing over references to the first symbol of each pair. */

static size_t pair_hash(const struct node *a, const struct node *b)
{
	uint64_t h = a->owner;
	h = (h ^ a->symbol) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 29 ^ a->exponent) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 32 ^ b->symbol) * UINT64_C(0x94d049bb133111eb);
	h = (h ^ h >> 29 ^ b->exponent) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h ^ h >> 32);
}

static bool pair_equal(const struct grammar_index *g, ref x, ref y)
{
	const struct node *a = grammar_node(g, x), *b = grammar_node(g, y);
	const struct node *c = grammar_node(g, a->next), *d = grammar_node(g, b->next);
	return a->symbol == b->symbol && a->exponent == b->exponent && a->owner == b->owner && c->symbol == d->symbol &&
	       c->exponent == d->exponent;
}

/* The slot where x's pair is, or where it would be put. */
static size_t index_slot(const struct grammar_index *g, ref x)
{
	const struct node *a = grammar_node(g, x);
	size_t i = pair_hash(a, grammar_node(g, a->next)) & g->mask;
	while (g->slots[i] && g->slots[i] != x && !pair_equal(g, g->slots[i], x))
		i = (i + 1) & g->mask;
	return i;
}

static int index_grow(struct grammar_index *g)
{
	size_t old_size = g->slots ? g->mask + 1 : 0, size = old_size ? old_size * 2 : 1024;
	ref *old = g->slots, *slots = calloc(size, sizeof *slots);
	if (!slots)
		return -1;
	assert(size > 2 * g->count); /* a free slot ends each search */
	g->slots = slots;
	g->mask = size - 1;
	for (size_t i = 0; i < old_size; i++)
		if (old[i])
			g->slots[index_slot(g, old[i])] = old[i];
	free(old);
	return 0;
}

static void index_remove_slot(struct grammar_index *g, size_t i)
{
	assert(g->count > 0 && g->slots[i]);
	g->count--;
	for (size_t j = i;;) {
		g->slots[i] = 0;
		for (;;) {
			j = (j + 1) & g->mask;
			if (!g->slots[j])
				return;
			const struct node *a = grammar_node(g, g->slots[j]);
			size_t home = pair_hash(a, grammar_node(g, a->next)) & g->mask;
			/* may the entry at j move to i? only if its home is not in (i, j] */
			if (i <= j ? (home <= i || home > j) : (home <= i && home > j))
				break;
		}
		g->slots[i] = g->slots[j];
		i = j;
	}
}

/* Forgets the pair that begins at x, if x is what the index has for it. To be called before x or its next symbol
 * changes. */
static void index_remove(struct grammar_index *g, ref x)
{
	const struct node *a = grammar_node(g, x);
	if (!g->slots || grammar_is_guard(a) || grammar_is_guard(grammar_node(g, a->next)))
		return;
	size_t i = index_slot(g, x);
	if (g->slots[i] == x)
		index_remove_slot(g, i);
}

void grammar_index_free(struct grammar_index *g)
{
	free(g->slots);
	free(g->queue);
	*g = (struct grammar_index){.arena = g->arena};
}

/* Changes of the arena. */

static ref node_create(struct grammar_index *g, ref owner, uint32_t symbol, uint64_t exponent)
{
	struct arena *a = g->arena;
	uint64_t capacity;
	ref r = arena_alloc_block(a, sizeof(struct node), &capacity);
	if (!r)
		return 0;
	struct node *n = grammar_node(g, r);
	g->nodes++;
	arena_set(a, n->symbol, symbol); /* one word: symbol and owner */
	n->owner = owner;
	arena_set(a, n->exponent, exponent);
	if (grammar_is_rule(symbol)) {
		struct node *guard = grammar_node(g, grammar_rule_of(symbol));
		arena_set(a, guard->symbol, guard->symbol + 1);
	}
	return r;
}

/* Takes away one reference to a rule. */
static void rule_unuse(struct grammar_index *g, uint32_t symbol)
{
	if (grammar_is_rule(symbol)) {
		struct node *guard = grammar_node(g, grammar_rule_of(symbol));
		arena_set(g->arena, guard->symbol, guard->symbol - 1);
	}
}

static void node_free(struct grammar_index *g, ref r)
{
	assert(arena_valid(g->arena, r, sizeof(struct node)));
	arena_set(g->arena, grammar_node(g, r)->exponent, 0); /* a queued reference to it is skipped */
	arena_free_block(g->arena, r, sizeof(struct node));
	g->nodes--;
}

static void nodes_join(struct grammar_index *g, ref left, ref right)
{
	arena_set(g->arena, grammar_node(g, left)->next, right);
	arena_set(g->arena, grammar_node(g, right)->prev, left);
}

static void pair_enqueue(struct grammar_index *g, ref x)
{
	if (g->queued == g->queue_capacity) {
		size_t capacity = g->queue_capacity ? g->queue_capacity * 2 : 64;
		ref *queue = realloc(g->queue, capacity * sizeof *queue);
		if (!queue)
			return; /* the pair stays unchecked: less compression, nothing wrong */
		g->queue = queue;
		g->queue_capacity = capacity;
	}
	g->queue[g->queued++] = x;
}

/* x and its next symbol may be equal now: makes them one. */
static void symbols_coalesce(struct grammar_index *g, ref x)
{
	struct node *a = grammar_node(g, x);
	ref y = a->next;
	struct node *b = grammar_node(g, y);
	if (grammar_is_guard(a) || grammar_is_guard(b) || a->symbol != b->symbol)
		return;
	index_remove(g, a->prev);
	index_remove(g, x);
	index_remove(g, y);
	arena_set(g->arena, a->exponent, a->exponent + b->exponent);
	nodes_join(g, x, b->next);
	rule_unuse(g, b->symbol);
	node_free(g, y);
	pair_enqueue(g, a->prev);
	pair_enqueue(g, x);
}

/* Replaces the pair that begins at x by rule. Returns false (nothing changed) if there is no memory. */
static bool pair_replace(struct grammar_index *g, ref x, ref rule)
{
	struct node *a = grammar_node(g, x);
	ref before = a->prev, y = a->next;
	struct node *b = grammar_node(g, y);
	ref after = b->next;
	ref r = node_create(g, a->owner, rule | 1, 1);
	if (!r)
		return false;
	index_remove(g, before);
	index_remove(g, x);
	index_remove(g, y);
	rule_unuse(g, a->symbol);
	rule_unuse(g, b->symbol);
	node_free(g, x);
	node_free(g, y);
	nodes_join(g, before, r);
	nodes_join(g, r, after);
	pair_enqueue(g, before);
	pair_enqueue(g, r);
	symbols_coalesce(g, r);
	symbols_coalesce(g, before);
	return true;
}

/* If x refers to a rule that is used nowhere else, and once: puts the rule's symbols in x's place. */
static void inline_rule(struct grammar_index *g, ref x)
{
	struct node *a = grammar_node(g, x);
	if (grammar_is_guard(a) || !grammar_is_rule(a->symbol) || a->exponent != 1)
		return;
	ref rule = grammar_rule_of(a->symbol);
	struct node *guard = grammar_node(g, rule);
	if (guard->symbol != 1)
		return;
	ref before = a->prev, after = a->next, first = guard->next, last = guard->prev;
	index_remove(g, before);
	index_remove(g, x);
	nodes_join(g, before, first);
	nodes_join(g, last, after);
	node_free(g, x);
	node_free(g, rule);
	pair_enqueue(g, before);
	pair_enqueue(g, last);
	symbols_coalesce(g, last);
	symbols_coalesce(g, before);
}

/* The pair at x stands also at y. */
static void pair_match(struct grammar_index *g, ref x, ref y)
{
	struct node *a = grammar_node(g, y), *b = grammar_node(g, a->next);
	ref rule = a->prev;
	if (a->prev == b->next && rule != a->owner) { /* y is the whole of a rule */
		if (!pair_replace(g, x, rule))
			return;
	} else {
		rule = node_create(g, a->owner, 0, 0);
		ref first = rule ? node_create(g, a->owner, a->symbol, a->exponent) : 0;
		ref second = first ? node_create(g, a->owner, b->symbol, b->exponent) : 0;
		if (!second)
			return; /* leaks up to two nodes; there is no memory left anyway */
		nodes_join(g, rule, first);
		nodes_join(g, first, second);
		nodes_join(g, second, rule);
		assert(pair_equal(g, first, x));
		size_t i = index_slot(g, y);
		if (g->slots[i])
			g->slots[i] = first;
		if (!pair_replace(g, y, rule))
			return;
		/* x may have been coalesced by that, if it stood next to y */
		if (!grammar_is_guard(grammar_node(g, x)) &&
		    !grammar_is_guard(grammar_node(g, grammar_node(g, x)->next)) && pair_equal(g, x, first))
			pair_replace(g, x, rule);
	}
	ref first = grammar_node(g, rule)->next, last = grammar_node(g, rule)->prev;
	if (last != first)
		inline_rule(g, last);
	inline_rule(g, first);
}

/* Checks queued pairs until none is left. */
static void queue_settle(struct grammar_index *g)
{
	for (size_t i = 0; i < g->queued; i++) {
		ref x = g->queue[i];
		const struct node *a = grammar_node(g, x);
		if (grammar_is_guard(a) || grammar_is_guard(grammar_node(g, a->next)))
			continue;
		if ((g->count + 1) * 2 > (g->slots ? g->mask + 1 : 0) && index_grow(g) != 0)
			continue;
		size_t slot = index_slot(g, x);
		ref y = g->slots[slot];
		if (!y) {
			g->slots[slot] = x;
			g->count++;
		} else if (y != x && grammar_node(g, y)->next != x && a->next != y) {
			pair_match(g, x, y);
		}
	}
	g->queued = 0;
}

ref grammar_create(struct grammar_index *g)
{
	ref start = node_create(g, 0, 0, 0);
	if (start) {
		grammar_node(g, start)->owner = start;
		nodes_join(g, start, start);
	}
	arena_commit(g->arena);
	return start;
}

static int symbol_append(struct grammar_index *g, ref start, uint32_t symbol, uint64_t count)
{
	if (count == 0)
		return 0;
	assert(g->queued == 0 && grammar_is_guard(grammar_node(g, start)));
	ref last = grammar_node(g, start)->prev;
	struct node *n = grammar_node(g, last);
	if (last != start && n->symbol == symbol) {
		index_remove(g, n->prev);
		arena_set(g->arena, n->exponent, n->exponent + count);
		pair_enqueue(g, n->prev);
	} else {
		ref r = node_create(g, start, symbol, count);
		if (!r) {
			arena_commit(g->arena);
			return -1;
		}
		nodes_join(g, last, r);
		nodes_join(g, r, start);
		pair_enqueue(g, last);
	}
	queue_settle(g);
	arena_commit(g->arena);
	return 0;
}

int grammar_append(struct grammar_index *g, ref start, uint32_t token, uint64_t count)
{
	return symbol_append(g, start, token << 1, count);
}

int grammar_append_rule(struct grammar_index *g, ref start, ref rule, uint64_t count)
{
	return symbol_append(g, start, rule | 1, count);
}

ref grammar_loop(const struct grammar_index *g, ref start)
{
	const struct node *last = grammar_node(g, grammar_node(g, start)->prev);
	return last->exponent >= 2 && grammar_is_rule(last->symbol) ? grammar_rule_of(last->symbol) : 0;
}

/* Walks a rule's symbols, rules inside it included. The depth of a grammar is small; deeper ones are not expanded. */
#define MAX_DEPTH 64

size_t grammar_expand(const struct grammar_index *g, ref rule, uint32_t refused, struct grammar_run *out, size_t max)
{
	struct {
		ref guard, at;
		uint64_t times;
	} stack[MAX_DEPTH];
	size_t n = 0, steps = 4 * max; /* runs may join across rules: bound the walk too */
	int depth = 0;
	stack[0].guard = rule;
	stack[0].at = grammar_node(g, rule)->next;
	stack[0].times = 1;
	while (depth >= 0) {
		if (stack[depth].at == stack[depth].guard) {
			if (--stack[depth].times > 0)
				stack[depth].at = grammar_node(g, stack[depth].guard)->next;
			else
				depth--;
			continue;
		}
		if (steps-- == 0)
			return 0;
		const struct node *a = grammar_node(g, stack[depth].at);
		stack[depth].at = a->next;
		if (grammar_is_rule(a->symbol)) {
			if (++depth == MAX_DEPTH)
				return 0;
			stack[depth].guard = grammar_rule_of(a->symbol);
			stack[depth].at = grammar_node(g, stack[depth].guard)->next;
			stack[depth].times = a->exponent;
			continue;
		}
		uint32_t token = a->symbol >> 1;
		if (token == refused || a->exponent > UINT32_MAX)
			return 0;
		if (n > 0 && out[n - 1].token == token && a->exponent <= UINT32_MAX - out[n - 1].length) {
			out[n - 1].length += (uint32_t)a->exponent;
			continue;
		}
		if (n == max)
			return 0;
		out[n++] = (struct grammar_run){token, (uint32_t)a->exponent};
	}
	return n;
}

int grammar_index_add(struct grammar_index *g, ref start)
{
	struct grammar_order o = {0};
	int rv = grammar_order_make(&o, g, start);
	for (size_t i = 0; rv == 0 && i < o.count; i++)
		for (ref x = grammar_node(g, o.rules[i])->next; x != o.rules[i]; x = grammar_node(g, x)->next) {
			if (grammar_is_guard(grammar_node(g, grammar_node(g, x)->next)))
				continue;
			if ((g->count + 1) * 2 > (g->slots ? g->mask + 1 : 0) && index_grow(g) != 0)
				break;
			size_t slot = index_slot(g, x);
			if (!g->slots[slot]) {
				g->slots[slot] = x;
				g->count++;
			}
		}
	grammar_order_free(&o);
	return rv;
}

uint32_t grammar_length(const struct grammar_index *g, ref start, uint32_t most)
{
	uint32_t n = 0;
	for (ref x = grammar_node(g, start)->next; x != start && n < most; x = grammar_node(g, x)->next)
		n++;
	return n;
}

/* All pairs of a grammar, while they stand as they were put into the index. */
static void index_remove_all(struct grammar_index *g, const struct grammar_order *o)
{
	for (size_t i = 0; i < o->count; i++)
		for (ref x = grammar_node(g, o->rules[i])->next; x != o->rules[i]; x = grammar_node(g, x)->next)
			index_remove(g, x);
}

/* Takes the last symbol off a rule. */
static void symbol_drop(struct grammar_index *g, ref rule)
{
	ref last = grammar_node(g, rule)->prev;
	nodes_join(g, grammar_node(g, last)->prev, rule);
	rule_unuse(g, grammar_node(g, last)->symbol);
	node_free(g, last);
	arena_commit(g->arena);
}

void grammar_cut(struct grammar_index *g, ref start, const struct grammar_end *end)
{
	struct grammar_order o = {0};
	if (grammar_order_make(&o, g, start) == 0) {
		index_remove_all(g, &o);
		while (grammar_node(g, start)->prev != end->last)
			symbol_drop(g, start);
		grammar_node(g, end->last)->exponent = end->exponent;
		/* parents before children: whose last use was in an unused rule is unused as well */
		for (size_t i = o.count - 1; i-- > 0;) {
			ref rule = o.rules[i];
			if (grammar_node(g, rule)->symbol)
				continue;
			while (grammar_node(g, rule)->next != rule)
				symbol_drop(g, rule);
			node_free(g, rule);
			arena_commit(g->arena);
		}
	}
	grammar_order_free(&o);
}

void grammar_destroy(struct grammar_index *g, ref start)
{
	struct grammar_order o = {0};
	if (grammar_order_make(&o, g, start) == 0) {
		index_remove_all(g, &o);
		for (size_t i = 0; i < o.count; i++) {
			for (ref x = grammar_node(g, o.rules[i])->next, next; x != o.rules[i]; x = next) {
				next = grammar_node(g, x)->next;
				node_free(g, x);
				arena_commit(g->arena);
			}
			node_free(g, o.rules[i]);
			arena_commit(g->arena);
		}
	}
	grammar_order_free(&o);
}
