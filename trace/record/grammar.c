/* SPDX-License-Identifier: BSD-3-Clause
 * grammar - compresses a sequence of runs online: Sequitur with powers
 *
 * An append changes the end of the start rule and queues the symbols whose pair with the next symbol is new. Each
 * queued pair is looked up; where it stands elsewhere already, both places are replaced by a rule, which queues further
 * pairs. Work is queued, not recursive, so that no symbol is held across a change; a queued symbol that is gone by then
 * is skipped (exponent 0).
 */
#include "trace/record/grammar.h"

#include <stdlib.h>
#include <string.h>

static inline struct node *node_at(const struct grammar_index *g, ref r)
{
	return arena_at(g->arena, struct node, r);
}

static inline bool is_guard(const struct node *n)
{
	return n->exponent == 0;
}

static inline bool is_rule(uint32_t symbol)
{
	return symbol & 1;
}

static inline ref rule_of(uint32_t symbol)
{
	return symbol & ~UINT32_C(1);
}

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
	const struct node *a = node_at(g, x), *b = node_at(g, y);
	const struct node *c = node_at(g, a->next), *d = node_at(g, b->next);
	return a->symbol == b->symbol && a->exponent == b->exponent && a->owner == b->owner && c->symbol == d->symbol &&
	       c->exponent == d->exponent;
}

/* The slot where x's pair is, or where it would be put. */
static size_t index_slot(const struct grammar_index *g, ref x)
{
	const struct node *a = node_at(g, x);
	size_t i = pair_hash(a, node_at(g, a->next)) & g->mask;
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
	g->count--;
	for (size_t j = i;;) {
		g->slots[i] = 0;
		for (;;) {
			j = (j + 1) & g->mask;
			if (!g->slots[j])
				return;
			const struct node *a = node_at(g, g->slots[j]);
			size_t home = pair_hash(a, node_at(g, a->next)) & g->mask;
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
	const struct node *a = node_at(g, x);
	if (!g->slots || is_guard(a) || is_guard(node_at(g, a->next)))
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
	struct node *n = node_at(g, r);
	arena_set(a, n->symbol, symbol); /* one word: symbol and owner */
	n->owner = owner;
	arena_set(a, n->exponent, exponent);
	if (is_rule(symbol)) {
		struct node *guard = node_at(g, rule_of(symbol));
		arena_set(a, guard->symbol, guard->symbol + 1);
	}
	return r;
}

/* Takes away one reference to a rule. */
static void unuse(struct grammar_index *g, uint32_t symbol)
{
	if (is_rule(symbol)) {
		struct node *guard = node_at(g, rule_of(symbol));
		arena_set(g->arena, guard->symbol, guard->symbol - 1);
	}
}

static void node_free(struct grammar_index *g, ref r)
{
	arena_set(g->arena, node_at(g, r)->exponent, 0); /* a queued reference to it is skipped */
	arena_free_block(g->arena, r, sizeof(struct node));
}

static void join(struct grammar_index *g, ref left, ref right)
{
	arena_set(g->arena, node_at(g, left)->next, right);
	arena_set(g->arena, node_at(g, right)->prev, left);
}

static void enqueue(struct grammar_index *g, ref x)
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
static void coalesce(struct grammar_index *g, ref x)
{
	struct node *a = node_at(g, x);
	ref y = a->next;
	struct node *b = node_at(g, y);
	if (is_guard(a) || is_guard(b) || a->symbol != b->symbol)
		return;
	index_remove(g, a->prev);
	index_remove(g, x);
	index_remove(g, y);
	arena_set(g->arena, a->exponent, a->exponent + b->exponent);
	join(g, x, b->next);
	unuse(g, b->symbol);
	node_free(g, y);
	enqueue(g, a->prev);
	enqueue(g, x);
}

/* Replaces the pair that begins at x by rule. Returns false (nothing changed) if there is no memory. */
static bool replace(struct grammar_index *g, ref x, ref rule)
{
	struct node *a = node_at(g, x);
	ref before = a->prev, y = a->next;
	struct node *b = node_at(g, y);
	ref after = b->next;
	ref r = node_create(g, a->owner, rule | 1, 1);
	if (!r)
		return false;
	index_remove(g, before);
	index_remove(g, x);
	index_remove(g, y);
	unuse(g, a->symbol);
	unuse(g, b->symbol);
	node_free(g, x);
	node_free(g, y);
	join(g, before, r);
	join(g, r, after);
	enqueue(g, before);
	enqueue(g, r);
	coalesce(g, r);
	coalesce(g, before);
	return true;
}

/* If x refers to a rule that is used nowhere else, and once: puts the rule's symbols in x's place. */
static void inline_rule(struct grammar_index *g, ref x)
{
	struct node *a = node_at(g, x);
	if (is_guard(a) || !is_rule(a->symbol) || a->exponent != 1)
		return;
	ref rule = rule_of(a->symbol);
	struct node *guard = node_at(g, rule);
	if (guard->symbol != 1)
		return;
	ref before = a->prev, after = a->next, first = guard->next, last = guard->prev;
	index_remove(g, before);
	index_remove(g, x);
	join(g, before, first);
	join(g, last, after);
	node_free(g, x);
	node_free(g, rule);
	enqueue(g, before);
	enqueue(g, last);
	coalesce(g, last);
	coalesce(g, before);
}

/* The pair at x stands also at y. */
static void match(struct grammar_index *g, ref x, ref y)
{
	struct node *a = node_at(g, y), *b = node_at(g, a->next);
	ref rule = a->prev;
	if (a->prev == b->next && rule != a->owner) { /* y is the whole of a rule */
		if (!replace(g, x, rule))
			return;
	} else {
		rule = node_create(g, a->owner, 0, 0);
		ref first = rule ? node_create(g, a->owner, a->symbol, a->exponent) : 0;
		ref second = first ? node_create(g, a->owner, b->symbol, b->exponent) : 0;
		if (!second)
			return; /* leaks up to two nodes; there is no memory left anyway */
		join(g, rule, first);
		join(g, first, second);
		join(g, second, rule);
		size_t i = index_slot(g, y);
		if (g->slots[i])
			g->slots[i] = first;
		if (!replace(g, y, rule))
			return;
		/* x may have been coalesced by that, if it stood next to y */
		if (!is_guard(node_at(g, x)) && !is_guard(node_at(g, node_at(g, x)->next)) && pair_equal(g, x, first))
			replace(g, x, rule);
	}
	ref first = node_at(g, rule)->next, last = node_at(g, rule)->prev;
	if (last != first)
		inline_rule(g, last);
	inline_rule(g, first);
}

/* Checks queued pairs until none is left. */
static void settle(struct grammar_index *g)
{
	for (size_t i = 0; i < g->queued; i++) {
		ref x = g->queue[i];
		const struct node *a = node_at(g, x);
		if (is_guard(a) || is_guard(node_at(g, a->next)))
			continue;
		if ((g->count + 1) * 2 > (g->slots ? g->mask + 1 : 0) && index_grow(g) != 0)
			continue;
		size_t slot = index_slot(g, x);
		ref y = g->slots[slot];
		if (!y) {
			g->slots[slot] = x;
			g->count++;
		} else if (y != x && node_at(g, y)->next != x && a->next != y) {
			match(g, x, y);
		}
	}
	g->queued = 0;
}

ref grammar_create(struct grammar_index *g)
{
	ref start = node_create(g, 0, 0, 0);
	if (start) {
		node_at(g, start)->owner = start;
		join(g, start, start);
	}
	arena_commit(g->arena);
	return start;
}

static int append(struct grammar_index *g, ref start, uint32_t symbol, uint64_t count)
{
	if (count == 0)
		return 0;
	ref last = node_at(g, start)->prev;
	struct node *n = node_at(g, last);
	if (last != start && n->symbol == symbol) {
		index_remove(g, n->prev);
		arena_set(g->arena, n->exponent, n->exponent + count);
		enqueue(g, n->prev);
	} else {
		ref r = node_create(g, start, symbol, count);
		if (!r) {
			arena_commit(g->arena);
			return -1;
		}
		join(g, last, r);
		join(g, r, start);
		enqueue(g, last);
	}
	settle(g);
	arena_commit(g->arena);
	return 0;
}

int grammar_append(struct grammar_index *g, ref start, uint32_t token, uint64_t count)
{
	return append(g, start, token << 1, count);
}

int grammar_append_rule(struct grammar_index *g, ref start, ref rule, uint64_t count)
{
	return append(g, start, rule | 1, count);
}

ref grammar_loop(const struct grammar_index *g, ref start)
{
	const struct node *last = node_at(g, node_at(g, start)->prev);
	return last->exponent >= 2 && is_rule(last->symbol) ? rule_of(last->symbol) : 0;
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
	stack[0].at = node_at(g, rule)->next;
	stack[0].times = 1;
	while (depth >= 0) {
		if (stack[depth].at == stack[depth].guard) {
			if (--stack[depth].times > 0)
				stack[depth].at = node_at(g, stack[depth].guard)->next;
			else
				depth--;
			continue;
		}
		if (steps-- == 0)
			return 0;
		const struct node *a = node_at(g, stack[depth].at);
		stack[depth].at = a->next;
		if (is_rule(a->symbol)) {
			if (++depth == MAX_DEPTH)
				return 0;
			stack[depth].guard = rule_of(a->symbol);
			stack[depth].at = node_at(g, stack[depth].guard)->next;
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

/* Rules in the order in which they are finished by a depth-first walk: children before parents. */
struct order {
	const struct grammar_index *g;
	ref *rules;
	size_t count, capacity;
	/* open addressing from rule to its number + 1; under way: UINT32_MAX */
	struct {
		ref rule;
		uint32_t number, uses;
	} * map;
	size_t mask;
};

static void order_free(struct order *o)
{
	free(o->rules);
	free(o->map);
}

static size_t order_slot(const struct order *o, ref rule)
{
	size_t i = (rule * UINT32_C(2654435761) >> 7) & o->mask;
	while (o->map[i].rule && o->map[i].rule != rule)
		i = (i + 1) & o->mask;
	return i;
}

static int order_grow(struct order *o)
{
	size_t old_size = o->map ? o->mask + 1 : 0, size = old_size ? old_size * 2 : 16;
	struct order bigger = *o;
	bigger.map = calloc(size, sizeof *bigger.map);
	bigger.mask = size - 1;
	if (!bigger.map)
		return -1;
	for (size_t i = 0; i < old_size; i++)
		if (o->map[i].rule)
			bigger.map[order_slot(&bigger, o->map[i].rule)] = o->map[i];
	free(o->map);
	*o = bigger;
	return 0;
}

/* Walks all rules below start, checking every reference. `limit` bounds the nodes seen, so that no damage makes it
 * endless. */
static int order_rules(struct order *o, ref start)
{
	const struct grammar_index *g = o->g;
	struct arena *arena = g->arena;
	int rv = -1;
	size_t depth = 0, capacity = 0, used = 0;
	uint64_t limit = arena->header->used / sizeof(struct node) + 1;
	struct frame {
		ref guard, at;
	} *stack = NULL;
	ref enter = start;
	for (;;) {
		if (enter) {
			const struct node *guard = node_at(g, enter);
			if (!arena_valid(arena, enter, sizeof *guard) || !is_guard(guard) || guard->owner != start ||
			    !arena_valid(arena, guard->next, sizeof *guard) || node_at(g, guard->next)->prev != enter)
				goto done;
			if (depth == capacity) {
				capacity = capacity ? capacity * 2 : 64;
				struct frame *more = realloc(stack, capacity * sizeof *stack);
				if (!more)
					goto done;
				stack = more;
			}
			if ((used + 1) * 2 > (o->map ? o->mask + 1 : 0) && order_grow(o) != 0)
				goto done;
			size_t i = order_slot(o, enter);
			o->map[i].rule = enter;
			o->map[i].number = UINT32_MAX;
			o->map[i].uses = 1; /* what it was entered by */
			used++;
			stack[depth].guard = enter;
			stack[depth++].at = guard->next;
			enter = 0;
		}
		struct frame *top = &stack[depth - 1];
		if (top->at == top->guard) {
			if (o->count == o->capacity) {
				o->capacity = o->capacity ? o->capacity * 2 : 16;
				ref *more = realloc(o->rules, o->capacity * sizeof *more);
				if (!more)
					goto done;
				o->rules = more;
			}
			o->map[order_slot(o, top->guard)].number = (uint32_t)o->count + 1;
			o->rules[o->count++] = top->guard;
			if (--depth == 0)
				break;
			continue;
		}
		const struct node *a = node_at(g, top->at);
		if (!arena_valid(arena, top->at, sizeof *a) || is_guard(a) || a->owner != start || limit-- == 0 ||
		    !arena_valid(arena, a->next, sizeof *a) || node_at(g, a->next)->prev != top->at)
			goto done;
		top->at = a->next;
		if (is_rule(a->symbol)) {
			size_t i = order_slot(o, rule_of(a->symbol));
			if (!o->map[i].rule)
				enter = rule_of(a->symbol);
			else if (o->map[i].number == UINT32_MAX ||
			         ++o->map[i].uses > node_at(g, rule_of(a->symbol))->symbol)
				/* a rule inside itself, or one that would be taken for unused while it is not */
				goto done;
		}
	}
	rv = 0;
done:
	free(stack);
	return rv;
}

int grammar_index_add(struct grammar_index *g, ref start)
{
	struct order o = {.g = g};
	int rv = order_rules(&o, start);
	for (size_t i = 0; rv == 0 && i < o.count; i++)
		for (ref x = node_at(g, o.rules[i])->next; x != o.rules[i]; x = node_at(g, x)->next) {
			if (is_guard(node_at(g, node_at(g, x)->next)))
				continue;
			if ((g->count + 1) * 2 > (g->slots ? g->mask + 1 : 0) && index_grow(g) != 0)
				break;
			size_t slot = index_slot(g, x);
			if (!g->slots[slot]) {
				g->slots[slot] = x;
				g->count++;
			}
		}
	order_free(&o);
	return rv;
}

int grammar_write(const struct grammar_index *g, ref start, struct writer *out)
{
	struct order o = {.g = g};
	int rv = order_rules(&o, start);
	if (rv == 0)
		writer_uint(out, o.count);
	for (size_t i = 0; rv == 0 && i < o.count; i++) {
		uint64_t n = 0;
		for (ref x = node_at(g, o.rules[i])->next; x != o.rules[i]; x = node_at(g, x)->next)
			n++;
		writer_uint(out, n);
		for (ref x = node_at(g, o.rules[i])->next; x != o.rules[i]; x = node_at(g, x)->next) {
			const struct node *a = node_at(g, x);
			uint64_t symbol =
				is_rule(a->symbol)
					? (uint64_t)(o.map[order_slot(&o, rule_of(a->symbol))].number - 1) << 1 | 1
					: (uint64_t)(a->symbol >> 1) << 1;
			writer_uint(out, symbol << 1 | (a->exponent > 1));
			if (a->exponent > 1)
				writer_uint(out, a->exponent);
		}
	}
	order_free(&o);
	return rv == 0 && !out->failed ? 0 : -1;
}

uint32_t grammar_size(const struct grammar_index *g, ref start, uint32_t limit)
{
	struct order o = {.g = g};
	uint32_t n = 0;
	for (ref x = node_at(g, start)->next; x != start && n <= limit; x = node_at(g, x)->next)
		n++;
	if (n <= limit && order_rules(&o, start) == 0)
		for (size_t i = 0; i + 1 < o.count && n <= limit; i++)
			for (ref x = node_at(g, o.rules[i])->next; x != o.rules[i]; x = node_at(g, x)->next)
				n++;
	order_free(&o);
	return n;
}

uint32_t grammar_length(const struct grammar_index *g, ref start, uint32_t most)
{
	uint32_t n = 0;
	for (ref x = node_at(g, start)->next; x != start && n < most; x = node_at(g, x)->next)
		n++;
	return n;
}

void grammar_destroy(struct grammar_index *g, ref start)
{
	struct order o = {.g = g};
	if (order_rules(&o, start) == 0) {
		/* the pairs first, while all of them stand as they were put into the index */
		for (size_t i = 0; i < o.count; i++)
			for (ref x = node_at(g, o.rules[i])->next; x != o.rules[i]; x = node_at(g, x)->next)
				index_remove(g, x);
		for (size_t i = 0; i < o.count; i++) {
			for (ref x = node_at(g, o.rules[i])->next, next; x != o.rules[i]; x = next) {
				next = node_at(g, x)->next;
				node_free(g, x);
				arena_commit(g->arena);
			}
			node_free(g, o.rules[i]);
			arena_commit(g->arena);
		}
	}
	order_free(&o);
}
