/* SPDX-License-Identifier: BSD-3-Clause
 * grammar_order - the rules of a grammar, children before parents: how they are written, and checked on the way
 *
 * The walk keeps its own stack, for a made up grammar may be as deep as its arena is large. A rule is entered once: its
 * place in the map is taken then, with number UINT32_MAX, and it gets its number when all of its symbols were seen. To
 * meet a rule that has no number yet is to meet it inside itself.
 */
#include "trace/record/grammar_order.h"

#include <stdlib.h>

struct frame {
	ref guard, at;
};

struct frames {
	struct frame *frames;
	size_t depth, capacity;
};

void grammar_order_free(struct grammar_order *o)
{
	free(o->rules);
	free(o->map);
}

static size_t order_slot(const struct grammar_order *o, ref rule)
{
	size_t i = (rule * UINT32_C(2654435761) >> 7) & o->mask;
	while (o->map[i].rule && o->map[i].rule != rule)
		i = (i + 1) & o->mask;
	return i;
}

static int order_grow(struct grammar_order *o)
{
	size_t old_size = o->map ? o->mask + 1 : 0, size = old_size ? old_size * 2 : 16;
	struct grammar_order bigger = *o;
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

/* The walk goes on with the first symbol of a rule that it has not met yet. */
static int rule_enter(struct grammar_order *o, struct frames *stack, ref rule, ref start)
{
	const struct arena *arena = o->g->arena;
	const struct node *guard = grammar_node(o->g, rule);
	if (!arena_valid(arena, rule, sizeof *guard) || !grammar_is_guard(guard) || guard->owner != start ||
	    !arena_valid(arena, guard->next, sizeof *guard) || grammar_node(o->g, guard->next)->prev != rule)
		return -1;
	if (stack->depth == stack->capacity) {
		size_t capacity = stack->capacity ? stack->capacity * 2 : 64;
		struct frame *more = realloc(stack->frames, capacity * sizeof *more);
		if (!more)
			return -1;
		stack->frames = more;
		stack->capacity = capacity;
	}
	if ((o->used + 1) * 2 > (o->map ? o->mask + 1 : 0) && order_grow(o) != 0)
		return -1;
	size_t i = order_slot(o, rule);
	o->map[i].rule = rule;
	o->map[i].number = UINT32_MAX;
	o->map[i].uses = 1; /* what it was entered by */
	o->used++;
	stack->frames[stack->depth++] = (struct frame){rule, guard->next};
	return 0;
}

/* All symbols of a rule were seen: it gets the next number. */
static int rule_leave(struct grammar_order *o, ref rule)
{
	if (o->count == o->capacity) {
		size_t capacity = o->capacity ? o->capacity * 2 : 16;
		ref *more = realloc(o->rules, capacity * sizeof *more);
		if (!more)
			return -1;
		o->rules = more;
		o->capacity = capacity;
	}
	o->map[order_slot(o, rule)].number = (uint32_t)o->count + 1;
	o->rules[o->count++] = rule;
	return 0;
}

int grammar_order_make(struct grammar_order *o, const struct grammar_index *g, ref start)
{
	struct frames stack = {0};
	uint64_t limit = g->arena->header->used / sizeof(struct node) + 1; /* so that no damage makes it endless */
	o->g = g;
	int rv = rule_enter(o, &stack, start, start);
	while (rv == 0 && stack.depth > 0) {
		struct frame *top = &stack.frames[stack.depth - 1];
		if (top->at == top->guard) {
			rv = rule_leave(o, top->guard);
			stack.depth--;
			continue;
		}
		const struct node *a = grammar_node(g, top->at);
		if (!arena_valid(g->arena, top->at, sizeof *a) || grammar_is_guard(a) || a->owner != start ||
		    limit-- == 0 || !arena_valid(g->arena, a->next, sizeof *a) ||
		    grammar_node(g, a->next)->prev != top->at) {
			rv = -1;
			break;
		}
		top->at = a->next;
		if (!grammar_is_rule(a->symbol))
			continue;
		ref rule = grammar_rule_of(a->symbol);
		size_t i = order_slot(o, rule);
		if (!o->map[i].rule)
			rv = rule_enter(o, &stack, rule, start);
		else if (o->map[i].number == UINT32_MAX || ++o->map[i].uses > grammar_node(g, rule)->symbol)
			rv = -1; /* a rule inside itself, or one that would be taken for unused while it is not */
	}
	free(stack.frames);
	return rv;
}

int grammar_write(const struct grammar_index *g, ref start, struct writer *out)
{
	struct grammar_order o = {0};
	int rv = grammar_order_make(&o, g, start);
	if (rv == 0)
		writer_uint(out, o.count);
	for (size_t i = 0; rv == 0 && i < o.count; i++) {
		uint64_t n = 0;
		for (ref x = grammar_node(g, o.rules[i])->next; x != o.rules[i]; x = grammar_node(g, x)->next)
			n++;
		writer_uint(out, n);
		for (ref x = grammar_node(g, o.rules[i])->next; x != o.rules[i]; x = grammar_node(g, x)->next) {
			const struct node *a = grammar_node(g, x);
			uint64_t symbol =
				grammar_is_rule(a->symbol)
					? (uint64_t)(o.map[order_slot(&o, grammar_rule_of(a->symbol))].number - 1)
							  << 1 |
						  1
					: (uint64_t)(a->symbol >> 1) << 1;
			writer_uint(out, symbol << 1 | (a->exponent > 1));
			if (a->exponent > 1)
				writer_uint(out, a->exponent);
		}
	}
	grammar_order_free(&o);
	return rv == 0 && !out->failed ? 0 : -1;
}

uint32_t grammar_size(const struct grammar_index *g, ref start, uint32_t limit)
{
	struct grammar_order o = {0};
	uint32_t n = 0;
	for (ref x = grammar_node(g, start)->next; x != start && n <= limit; x = grammar_node(g, x)->next)
		n++;
	if (n <= limit && grammar_order_make(&o, g, start) == 0)
		for (size_t i = 0; i + 1 < o.count && n <= limit; i++)
			for (ref x = grammar_node(g, o.rules[i])->next; x != o.rules[i]; x = grammar_node(g, x)->next)
				n++;
	grammar_order_free(&o);
	return n;
}

int grammar_find_end(const struct grammar_index *g, ref start, uint64_t least, struct grammar_end *out)
{
	struct grammar_order o = {0};
	struct grammar_end *rules = NULL; /* of each rule: what is in it */
	int rv = -1;
	if (grammar_order_make(&o, g, start) != 0 || !(rules = calloc(o.count, sizeof *rules)))
		goto done;
	for (size_t i = 0; i < o.count; i++)
		for (ref x = grammar_node(g, o.rules[i])->next; x != o.rules[i]; x = grammar_node(g, x)->next) {
			const struct node *a = grammar_node(g, x);
			struct grammar_end one = {.length = 1, .news = a->symbol == 0};
			if (grammar_is_rule(a->symbol))
				one = rules[o.map[order_slot(&o, grammar_rule_of(a->symbol))].number - 1];
			uint64_t before = rules[i].length, times = a->exponent;
			rules[i].last = x;
			/* the last one only as often as it is needed */
			bool last = i + 1 == o.count && before + one.length * times >= least;
			if (last && least > before)
				times = (least - before + one.length - 1) / one.length;
			rules[i].exponent = times;
			rules[i].length = before + one.length * times;
			rules[i].news += one.news * times;
			if (last)
				break;
		}
	*out = rules[o.count - 1];
	rv = 0;
done:
	free(rules);
	grammar_order_free(&o);
	return rv;
}
