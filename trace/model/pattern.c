/* SPDX-License-Identifier: BSD-3-Clause
 * pattern - a sequence of dictionary tokens as a grammar, as it is stored
 */
#include "trace/model/pattern.h"

#include <assert.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"

static int rule_measure(struct pattern *p, struct pattern_rule *rule)
{
	for (size_t i = rule->first; i < rule->end; i++) {
		const struct pattern_symbol *s = &p->symbols[i];
		uint64_t length = s->rule ? p->rules[s->id].length : 1;
		uint64_t news = s->rule ? p->rules[s->id].news : s->id == PATTERN_NEW,
			 needs = s->rule ? p->rules[s->id].needs : s->id;
		/* the first turn needs most */
		if (needs > rule->news && needs - rule->news > rule->needs)
			rule->needs = needs - rule->news;
		if (__builtin_mul_overflow(length, s->exponent, &length) ||
		    __builtin_add_overflow(rule->length, length, &rule->length) || rule->length > INT64_MAX)
			return -1;
		rule->news += news * s->exponent; /* at most length */
	}
	return rule->length > 0 ? 0 : -1; /* an empty rule would let a few bytes take for ever to walk */
}

int pattern_parse(struct pattern *p, const uint8_t *bytes, size_t n)
{
	*p = (struct pattern){0};
	struct reader r = reader_of(bytes, n);
	size_t rules = reader_count(&r), used = 0;
	if (r.bad || rules == 0)
		return -1;
	p->rules = budget_calloc(rules, sizeof *p->rules);
	p->symbols = budget_malloc(n * sizeof *p->symbols); /* each takes a byte at least */
	if (!p->rules || !p->symbols)
		return -1;
	for (size_t i = 0; i < rules; i++) {
		struct pattern_rule *rule = &p->rules[i];
		size_t count = reader_count(&r);
		rule->first = used;
		for (size_t k = 0; k < count; k++) {
			uint64_t v = reader_uint(&r);
			struct pattern_symbol s = {.exponent = v & 1 ? reader_uint(&r) : 1, .rule = v >> 1 & 1};
			if (r.bad || s.exponent == 0 || v >> 2 >= UINT32_MAX || (s.rule && v >> 2 >= i))
				return -1;
			s.id = (uint32_t)(v >> 2);
			p->symbols[used++] = s;
		}
		rule->end = used;
		if (r.bad || rule_measure(p, rule) != 0)
			return -1;
	}
	p->rule_count = rules;
	return r.at == r.end ? 0 : -1;
}

void pattern_free(struct pattern *p)
{
	budget_free(p->rules);
	budget_free(p->symbols);
	*p = (struct pattern){0};
}

uint64_t pattern_length(const struct pattern *p)
{
	assert(p->rule_count > 0);
	return p->rules[p->rule_count - 1].length;
}

uint64_t pattern_news(const struct pattern *p)
{
	return p->rules[p->rule_count - 1].news;
}

bool pattern_whole(const struct pattern *p)
{
	return p->rules[p->rule_count - 1].needs == 0;
}

uint64_t pattern_last(const struct pattern *p)
{
	assert(pattern_whole(p));
	const struct pattern_symbol *s = &p->symbols[p->rules[p->rule_count - 1].end - 1];
	while (s->rule)
		s = &p->symbols[p->rules[s->id].end - 1];
	return s->id == PATTERN_NEW ? pattern_news(p) - 1 : s->id - 1;
}

/* Weights of rules, from the whole down. */
int pattern_count(const struct pattern *p, uint64_t *counts)
{
	assert(pattern_whole(p));
	uint64_t *weights = budget_calloc(p->rule_count, sizeof *weights);
	if (!weights)
		return -1;
	for (uint64_t i = 0; i < pattern_news(p); i++)
		counts[i] = 1; /* each is new once */
	weights[p->rule_count - 1] = 1;
	for (size_t r = p->rule_count; r-- > 0;)
		for (size_t i = p->rules[r].first; i < p->rules[r].end; i++) {
			const struct pattern_symbol *s = &p->symbols[i];
			if (s->rule)
				weights[s->id] += weights[r] * s->exponent;
			else if (s->id != PATTERN_NEW)
				counts[s->id - 1] += weights[r] * s->exponent;
		}
	budget_free(weights);
	return 0;
}

size_t pattern_symbols(const struct pattern *p)
{
	return p->rules[p->rule_count - 1].end;
}

static int push(struct pattern_cursor *c, size_t rule, uint64_t times)
{
	if (c->depth == c->capacity) {
		size_t capacity = c->capacity ? c->capacity * 2 : 8;
		struct pattern_level *stack = budget_realloc(c->stack, capacity * sizeof *stack);
		if (!stack)
			return -1;
		c->stack = stack;
		c->capacity = capacity;
	}
	assert(times > 0 && c->depth < c->pattern->rule_count); /* a rule's symbols are rules before it */
	c->stack[c->depth++] = (struct pattern_level){rule, c->pattern->rules[rule].first, times};
	return 0;
}

int pattern_begin(struct pattern_cursor *c, const struct pattern *p)
{
	*c = (struct pattern_cursor){.pattern = p};
	return push(c, p->rule_count - 1, 1);
}

void pattern_end(struct pattern_cursor *c)
{
	budget_free(c->stack);
	*c = (struct pattern_cursor){0};
}

int pattern_next(struct pattern_cursor *c, uint32_t *token, uint64_t *count)
{
	while (c->depth > 0) {
		struct pattern_level *top = &c->stack[c->depth - 1];
		const struct pattern_rule *rule = &c->pattern->rules[top->rule];
		if (top->at == rule->end) {
			if (--top->times == 0)
				c->depth--;
			else
				top->at = rule->first;
			continue;
		}
		const struct pattern_symbol *s = &c->pattern->symbols[top->at++];
		if (!s->rule) {
			*token = s->id;
			*count = s->exponent;
			return 0;
		}
		if (push(c, s->id, s->exponent) != 0)
			return -1;
	}
	return 1;
}

int pattern_skip(struct pattern_cursor *c, uint64_t *n, uint64_t *news)
{
	while (c->depth > 0 && *n > 0) {
		struct pattern_level *top = &c->stack[c->depth - 1];
		const struct pattern_rule *rule = &c->pattern->rules[top->rule];
		if (top->at == rule->end) {
			if (--top->times == 0) {
				c->depth--;
				continue;
			}
			top->at = rule->first;
		}
		if (top->at == rule->first && *n >= rule->length) { /* whole turns */
			uint64_t turns = *n / rule->length < top->times ? *n / rule->length : top->times;
			*n -= turns * rule->length;
			*news += turns * rule->news;
			top->times -= turns;
			if (top->times == 0)
				c->depth--;
			continue;
		}
		const struct pattern_symbol *s = &c->pattern->symbols[top->at];
		if (!s->rule && s->exponent > *n)
			return 0;
		top->at++;
		if (!s->rule) {
			*n -= s->exponent;
			*news += s->id == PATTERN_NEW ? s->exponent : 0;
		} else if (push(c, s->id, s->exponent) != 0) {
			return -1;
		}
	}
	return 0;
}
