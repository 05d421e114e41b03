/* SPDX-License-Identifier: BSD-3-Clause
 * refine - gives ranks whose columns repeat different values at the same places one common pattern
 *
 * Patterns are not written out: each is looked at as a beginning, a loop, and an end (shape). Of a loop only one turn
 * is compared; loops with different periods are compared over the least common multiple. What does not have that form,
 * or is too long, stays as it is.
 */
#include "merge/refine.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/record/grammar.h"
#include "trace/model/pattern.h"

/* Values of a refined column at most: beyond, ranks have nothing in common. */
#define MAX_CLASSES 64
/* Tokens that are written out, of a beginning, an end, or one turn of a loop. */
#define MAX_TOKENS 4096

/* A pattern: `head` tokens, then `turns` times `body` tokens, then `tail` tokens. Tokens are classes: numbers of
 * dictionary values. */
struct shape {
	uint8_t *classes; /* head, one turn, tail */
	uint64_t head, body, turns, tail, length;
};

static void shape_free(struct shape *s)
{
	budget_free(s->classes);
	*s = (struct shape){0};
}

static unsigned class_at(const struct shape *s, uint64_t at)
{
	if (at < s->head)
		return s->classes[at];
	at -= s->head;
	if (at < s->body * s->turns)
		return s->classes[s->head + at % s->body];
	return s->classes[s->head + s->body + (at - s->body * s->turns)];
}

static uint64_t symbol_length(const struct pattern *p, const struct pattern_symbol *s)
{
	return (s->rule ? p->rules[s->id].length : 1) * s->exponent;
}

static bool class_of(uint32_t token, unsigned *known, uint8_t **out)
{
	if (token != PATTERN_NEW && token - 1 >= *known)
		return false;
	*(*out)++ = (uint8_t)(token == PATTERN_NEW ? (*known)++ : token - 1);
	return true;
}

/* Writes a symbol out, `times` for its exponent. *known counts new values. Returns 0, 1 if a token means nothing, -1 on
 * no memory. */
static int expand(const struct pattern *p, const struct pattern_symbol *s, uint64_t times, uint8_t **out,
                  unsigned *known)
{
	for (; times > 0; times--) {
		struct pattern rule = *p;
		struct pattern_cursor cursor;
		uint32_t token = s->id;
		uint64_t count = 1;
		if (!s->rule) {
			if (!class_of(token, known, out))
				return 1;
			continue;
		}
		rule.rule_count = s->id + 1; /* the last rule is what a cursor walks */
		if (pattern_begin(&cursor, &rule) != 0)
			return -1;
		bool sound = true;
		while (sound && pattern_next(&cursor, &token, &count) == 0)
			for (; sound && count > 0; count--)
				sound = class_of(token, known, out);
		pattern_end(&cursor);
		if (!sound)
			return 1;
	}
	return 0;
}

/* Returns 0, 1 if the pattern has not this form, -1 on no memory. */
static int shape_of(struct shape *s, const struct pool_item *bytes)
{
	struct pattern p;
	int rv = 1;
	*s = (struct shape){0};
	if (pattern_parse(&p, bytes->bytes, bytes->size) != 0 || pattern_news(&p) > MAX_CLASSES)
		goto done;
	const struct pattern_rule *start = &p.rules[p.rule_count - 1];
	size_t loop = start->end;
	s->length = s->head = pattern_length(&p);
	if (s->length > MAX_TOKENS) {
		loop = start->first;
		for (size_t i = start->first; i < start->end; i++)
			if (symbol_length(&p, &p.symbols[i]) > symbol_length(&p, &p.symbols[loop]))
				loop = i;
		const struct pattern_symbol *x = &p.symbols[loop];
		s->head = 0;
		for (size_t i = start->first; i < loop; i++)
			s->head += symbol_length(&p, &p.symbols[i]);
		s->turns = x->exponent;
		s->body = symbol_length(&p, x) / x->exponent;
		s->tail = s->length - s->head - s->body * s->turns;
		/* a loop in which new values come is none */
		if (s->turns < 2 || s->head > MAX_TOKENS || s->body > MAX_TOKENS || s->tail > MAX_TOKENS ||
		    (x->rule ? p.rules[x->id].news > 0 : x->id == PATTERN_NEW))
			goto done;
	}
	uint8_t *out = s->classes = budget_malloc(s->head + s->body + s->tail + 1);
	unsigned known = 0;
	rv = out ? 0 : -1;
	for (size_t i = start->first; rv == 0 && i < start->end; i++)
		rv = expand(&p, &p.symbols[i], i == loop ? 1 : p.symbols[i].exponent, &out, &known);
done:
	pattern_free(&p);
	if (rv != 0)
		shape_free(s);
	return rv;
}

/* A constant group, of ranks that all have the same number of visits. */
static int shape_constant(struct shape *s, uint64_t length)
{
	*s = (struct shape){.length = length, .head = length};
	if (length > MAX_TOKENS) {
		s->head = 1;
		s->body = 1;
		s->turns = length - 1;
	}
	s->classes = budget_calloc(1, s->head + s->body + 1);
	return s->classes ? 0 : -1;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	return b ? gcd(b, a % b) : a;
}

/* Where the written out part of a refinement is: the shapes' longest head and tail, and turns that all can make. */
static bool frame_of(struct shape *frame, const struct shape *shapes, size_t n)
{
	uint64_t end = shapes[0].length, body = 1;
	*frame = (struct shape){.length = shapes[0].length, .head = shapes[0].length};
	if (frame->length <= MAX_TOKENS)
		return true;
	frame->head = 0;
	for (size_t i = 0; i < n; i++) {
		const struct shape *s = &shapes[i];
		uint64_t stop = s->head + s->body * s->turns;
		frame->head = s->head > frame->head ? s->head : frame->head;
		end = stop < end ? stop : end;
		body = body / gcd(body, s->body) * s->body;
		if (body > MAX_TOKENS)
			return false;
	}
	if (end <= frame->head || (end - frame->head) / body < 3)
		return false;
	frame->body = body;
	frame->turns = (end - frame->head) / body;
	frame->tail = frame->length - frame->head - frame->body * frame->turns;
	return frame->tail <= 2 * MAX_TOKENS;
}

/* The classes of the common refinement, in order of first appearance; *first[k]: where class k appears first. Returns
 * the number of classes, 0 if there are too many, -1 on no memory. */
static int refine(struct shape *frame, const struct shape *shapes, size_t n, uint64_t first[MAX_CLASSES])
{
	uint64_t explicit = frame->head + frame->body + frame->tail;
	unsigned classes = 1;
	frame->classes = budget_calloc(1, explicit + 1);
	if (!frame->classes)
		return -1;
	for (size_t i = 0; i < n; i++) {
		/* (class so far, class in this shape) -> new class */
		int16_t pair[MAX_CLASSES][MAX_CLASSES + 1];
		memset(pair, -1, sizeof pair);
		classes = 0;
		for (uint64_t at = 0; at < explicit; at++) {
			uint64_t place = at < frame->head + frame->body
			                         ? at
			                         : at + frame->body * (frame->turns ? frame->turns - 1 : 0);
			int16_t *class = &pair[frame->classes[at]][class_at(&shapes[i], place)];
			if (*class < 0) {
				if (classes == MAX_CLASSES)
					return 0;
				first[classes] = place;
				*class = (int16_t)classes++;
			}
			frame->classes[at] = (uint8_t) * class;
		}
	}
	return (int)classes;
}

static int append_run(struct grammar_index *g, ref start, const uint8_t *classes, uint64_t n, uint32_t *known)
{
	for (uint64_t i = 0; i < n;) {
		uint64_t run = 1;
		uint32_t token = classes[i] + 1u;
		if (classes[i] == *known) {
			token = PATTERN_NEW;
			++*known;
		}
		while (i + run < n &&
		       (token == PATTERN_NEW ? classes[i + run] == *known : classes[i + run] == classes[i])) {
			run++;
			*known += token == PATTERN_NEW;
		}
		if (grammar_append(g, start, token, run) != 0)
			return -1;
		i += run;
	}
	return 0;
}

/* The shortest sequence that, repeated, is one turn. */
static uint64_t period_of(const uint8_t *turn, uint64_t body)
{
	for (uint64_t period = 1; period < body; period++)
		if (body % period == 0 && memcmp(turn, turn + period, body - period) == 0)
			return period;
	return body;
}

/* Turns that are appended one by one before it is given up to wait for a loop. */
#define FEW_TURNS 6

/* Appends n tokens that are turns of a loop. As soon as the grammar has the loop as a rule, it is what is appended: so
 * the outcome is the grammar of the tokens one by one, as the ranks have it that needed no refinement. Returns 0, 1 if
 * there is no such rule, -1 on no memory. */
static int append_turns(struct grammar_index *g, ref start, const uint8_t *turn, uint64_t period, uint64_t n,
                        uint32_t *known)
{
	struct grammar_run *runs = budget_malloc(period * sizeof *runs);
	int rv = runs ? 0 : -1;
	bool found = period == 1;
	if (rv == 0 && found)
		rv = append_run(g, start, turn, 1, known) != 0 || grammar_append(g, start, turn[0] + 1u, n - 1) != 0
		             ? -1
		             : 0;
	for (uint64_t at = 0; rv == 0 && period > 1 && at < n; at++) {
		ref rule = found || at < 2 * period ? 0 : grammar_loop(g, start);
		uint64_t length = 0;
		for (size_t i = rule ? grammar_expand(g, rule, PATTERN_NEW, runs, period) : 0; i-- > 0;)
			length += runs[i].length;
		if (length == period && n - at >= period) {
			rv = grammar_append_rule(g, start, rule, (n - at) / period);
			at += (n - at) / period * period;
			found = true;
		}
		if (rv == 0 && at < n)
			rv = append_run(g, start, &turn[at % period], 1, known);
		if (rv == 0 && !found && at > FEW_TURNS * period)
			rv = 1;
	}
	budget_free(runs);
	return rv;
}

/* The pattern of a refinement. Returns 0, 1 if it would have to be written out, -1 on no memory. */
static int pattern_of(const struct shape *s, struct writer *out)
{
	int rv = -1;
	struct arena a;
	struct grammar_index g = {.arena = &a};
	uint32_t known = 0;
	if (arena_create(&a, NULL, UINT64_C(16) << 20, NULL) != 0)
		return -1;
	ref start = grammar_create(&g);
	const uint8_t *turn = s->classes + s->head;
	if (start && append_run(&g, start, s->classes, s->head, &known) == 0)
		rv = s->body ? append_turns(&g, start, turn, period_of(turn, s->body), s->turns * s->body, &known) : 0;
	if (rv == 0)
		rv = append_run(&g, start, turn + s->body, s->tail, &known);
	if (rv == 0)
		rv = grammar_write(&g, start, out);
	grammar_index_free(&g);
	arena_close(&a);
	return rv;
}

/* The first value of a stretch. */
static int stretch_copy(struct trace_stretch *to, const struct trace_stretch *s)
{
	*to = (struct trace_stretch){.count = 1, .vector = s->vector};
	if (rankmap_copy(&to->start, &s->start) != 0)
		return -1;
	if (trace_stretch_room(to, s) != 0)
		return -1;
	for (; s->vector && to->width < s->width; to->width++)
		if (rankmap_copy(&to->elements[to->width], &s->elements[to->width]) != 0)
			return -1;
	return 0;
}

/* The refined group: the value of a class is, in each group, the value that the group has at the place where the class
 * appears first. */
static int group_of(struct trace_group *out, const struct trace_group *groups, const struct shape *shapes, size_t n,
                    const uint64_t *first, unsigned classes)
{
	*out = (struct trace_group){.dict = budget_calloc(classes, sizeof *out->dict)};
	if (!out->dict)
		return -1;
	for (; out->count < classes; out->count++) {
		struct trace_stretch *s = &out->dict[out->count];
		for (size_t i = 0; i < n; i++) {
			const struct trace_group *g = &groups[i];
			unsigned value = class_at(&shapes[i], first[out->count]);
			if (value >= g->count || (i > 0 && !trace_stretch_alike(s, &g->dict[value]))) {
				out->count++;
				return 1;
			}
			if (i == 0 ? stretch_copy(s, &g->dict[value]) != 0
			           : trace_stretch_join(s, &g->dict[value]) != 0) {
				out->count++;
				return -1;
			}
		}
	}
	return 0;
}

static uint64_t values_of(const struct trace_group *g)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < g->count && n <= MAX_CLASSES; i++)
		n += g->dict[i].count <= MAX_CLASSES ? g->dict[i].count : MAX_CLASSES + 1;
	return n;
}

/* The same group with one stretch for each of its values. Returns 0 or -1. */
static int group_spread(struct trace_group *out, const struct trace_group *g)
{
	*out = (struct trace_group){.pattern = g->pattern, .dict = budget_calloc(values_of(g), sizeof *out->dict)};
	if (!out->dict)
		return -1;
	for (uint32_t i = 0; i < g->count; i++)
		for (uint64_t k = 0; k < g->dict[i].count; k++) {
			struct trace_stretch *s = &out->dict[out->count++];
			s->count = 1;
			if (k == 0 ? stretch_copy(s, &g->dict[i])
			           : rankmap_sum_of(&s->start, &g->dict[i].start, &g->dict[i].stride, k))
				return -1;
		}
	return 0;
}

/* Visits of a group's ranks, if it is the same number for all; else 0. Returns -1 on no memory. */
static int64_t visits_of(const struct trace_site *s, const struct trace_group *g)
{
	struct rankmap visits;
	int64_t all = 0;
	if (rankmap_restrict(&visits, &s->visits, trace_group_ranks(g)) != 0)
		return -1;
	if (!rankmap_constant(&visits, &all) || all < 0)
		all = 0;
	rankmap_free(&visits);
	return all;
}

/* Puts one group, which is taken, in the place of several. */
static void groups_replace(struct trace_column *c, struct shape *all, const size_t *members, size_t n,
                           struct trace_group *made)
{
	trace_group_free(&c->groups[members[0]]);
	c->groups[members[0]] = *made;
	*made = (struct trace_group){0};
	shape_free(&all[members[0]]);
	for (size_t i = n; i-- > 1;) {
		trace_group_free(&c->groups[members[i]]);
		shape_free(&all[members[i]]);
		memmove(&c->groups[members[i]], &c->groups[members[i] + 1],
		        (c->count - members[i] - 1) * sizeof *c->groups);
		memmove(&all[members[i]], &all[members[i] + 1], (c->count - members[i] - 1) * sizeof *all);
		all[--c->count] = (struct shape){0};
	}
}

/* Refines the groups of a column that have length `length`. Returns 1 if that made one group of them, 0, or -1. */
static int refine_length(struct trace *t, struct trace_column *c, struct shape *all, uint64_t length)
{
	int rv = 0;
	size_t n = 0;
	uint64_t first[MAX_CLASSES], values = 0;
	struct shape frame = {0};
	struct writer bytes = {0};
	struct trace_group made = {0};
	size_t *members = budget_malloc(c->count * sizeof *members);
	struct shape *shapes = budget_malloc(c->count * sizeof *shapes);
	struct trace_group *spread = budget_calloc(c->count, sizeof *spread);
	if (!members || !shapes || !spread) {
		rv = -1;
		goto done;
	}
	for (uint32_t i = 0; i < c->count; i++)
		if (all[i].classes && all[i].length == length) {
			members[n] = i;
			shapes[n++] = all[i];
			values += c->groups[i].count;
		}
	if (n < 2 || !frame_of(&frame, shapes, n))
		goto done;
	rv = refine(&frame, shapes, n, first);
	if (rv <= 0)
		goto done;
	unsigned classes = (unsigned)rv;
	rv = 0;
	if (classes >= values)
		goto done; /* nothing is gained: the groups have little in common */
	for (size_t i = 0; i < n; i++)
		if (group_spread(&spread[i], &c->groups[members[i]]) != 0) {
			rv = -1;
			goto done;
		}
	rv = group_of(&made, spread, shapes, n, first, classes);
	if (rv > 0) { /* arrays of different lengths */
		rv = 0;
		goto done;
	}
	if (rv == 0)
		rv = pattern_of(&frame, &bytes);
	if (rv > 0) {
		rv = 0;
		goto done;
	}
	if (rv == 0 && (made.pattern = pool_intern(&t->patterns, bytes.data, bytes.size) + 1) == 0)
		rv = -1;
	if (rv != 0)
		goto done;
	groups_replace(c, all, members, n, &made);
	rv = 1;
done:
	trace_group_free(&made);
	writer_free(&bytes);
	shape_free(&frame);
	for (size_t i = 0; spread && i < n; i++)
		trace_group_free(&spread[i]);
	budget_free(spread);
	budget_free(members);
	budget_free(shapes);
	return rv;
}

static int refine_column(struct trace *t, const struct trace_site *s, struct trace_column *c, bool successor)
{
	int changed = 0;
	uint32_t n = c->count;
	struct shape *shapes = budget_calloc(n, sizeof *shapes);
	if (!shapes)
		return -1;
	for (uint32_t i = 0; changed == 0 && i < n; i++) {
		const struct trace_group *g = &c->groups[i];
		/* how long a constant successor column is depends on where the rank ends: left alone */
		int64_t visits = g->pattern == 0 && !successor ? visits_of(s, g) : 0;
		int rv = g->lossy || g->edits || values_of(g) > MAX_CLASSES ? 1
		         : g->pattern != 0 ? shape_of(&shapes[i], &t->patterns.items[g->pattern - 1])
		         : visits > 0      ? shape_constant(&shapes[i], (uint64_t)visits)
		                           : 1;
		if (rv < 0 || visits < 0)
			changed = -1;
	}
	/* each length once; a made group has no shape any more */
	for (uint32_t i = 0; changed >= 0 && i < c->count; i++) {
		if (!shapes[i].classes)
			continue;
		int rv = refine_length(t, c, shapes, shapes[i].length);
		changed = rv < 0 ? -1 : changed + rv;
	}
	for (uint32_t i = 0; i < n; i++)
		shape_free(&shapes[i]);
	budget_free(shapes);
	return changed;
}

int refine_site(struct trace *t, struct trace_site *s)
{
	int changed = 0;
	for (uint32_t k = 0; k < s->column_count; k++) {
		if (s->columns[k].count < 2)
			continue;
		int rv = refine_column(t, s, &s->columns[k], k + 1 == s->column_count);
		if (rv < 0)
			return -1;
		changed += rv;
	}
	return changed;
}
