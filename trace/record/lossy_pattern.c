/* SPDX-License-Identifier: BSD-3-Clause
 * lossy_pattern - what is counted in a pattern: its values, and its runs, without writing it out
 */
#include <stdlib.h>

#include "trace/record/lossy.h"
#include "trace/model/pattern.h"

static int64_t dictionary_value_at(const struct dict_run *dict, size_t n, uint64_t index)
{
	size_t low = 0, high = n;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (dict[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return n ? (int64_t)((uint64_t)dict[low].start + (uint64_t)dict[low].stride * (index - dict[low].first)) : 0;
}

int pattern_each(const struct pattern *p, const struct dict_run *dict, size_t n,
                 int (*take)(void *context, int64_t start, int64_t stride, uint64_t count, uint64_t times),
                 void *context)
{
	uint64_t known = n ? dict[n - 1].first + dict[n - 1].count : 0;
	uint64_t *times = calloc(p->rule_count + 1, sizeof *times);
	int rv = times ? 0 : -1;
	for (size_t i = 0; rv == 0 && i < n; i++)
		rv = take(context, dict[i].start, dict[i].stride, dict[i].count, 1); /* each was new once */
	if (rv == 0 && p->rule_count)
		times[p->rule_count - 1] = 1;
	for (size_t i = p->rule_count; rv == 0 && i-- > 0;)
		for (size_t k = p->rules[i].first; rv == 0 && k < p->rules[i].end; k++) {
			const struct pattern_symbol *s = &p->symbols[k];
			if (s->rule)
				times[s->id] += times[i] * s->exponent;
			else if (s->id != PATTERN_NEW && s->id <= known)
				rv = take(context, dictionary_value_at(dict, n, s->id - 1), 0, 1,
				          times[i] * s->exponent);
		}
	free(times);
	return rv;
}

/* A rule without new values, as its neighbours see it. Values are dictionary indices + 1, that is tokens. */
struct edges {
	uint32_t first, last;
	uint64_t first_length, last_length;
	bool single; /* one run, first_length long */
};

struct runs {
	const struct pattern *pattern;
	const struct dict_run *dict;
	size_t n;
	int (*take)(void *context, int64_t value, uint64_t length, uint64_t runs);
	void *context;
	struct edges *edges;
	uint64_t *times;
	uint64_t known;
	/* the run under way */
	uint64_t token, length; /* token 0: none yet */
	bool begins;            /* it began where the rule begins: the rule's neighbours count it */
	int rv;
};

static void emit(struct runs *r, uint64_t token, uint64_t length, uint64_t count)
{
	if (r->rv == 0 && count > 0 && token > 0)
		r->rv = r->take(r->context, dictionary_value_at(r->dict, r->n, token - 1), length, count);
}

/* A run of token follows. times: how often the rule stands that this happens in. */
static void follow(struct runs *r, uint64_t token, uint64_t length, uint64_t times)
{
	if (r->token == token) {
		r->length += length;
		return;
	}
	if (r->token != 0) {
		if (!r->begins)
			emit(r, r->token, r->length, times);
		r->begins = false;
	}
	r->token = token;
	r->length = length;
}

static void follow_rule(struct runs *r, uint32_t rule, uint64_t exponent, uint64_t times)
{
	const struct edges *e = &r->edges[rule];
	if (e->single) {
		follow(r, e->first, e->first_length * exponent, times);
		return;
	}
	r->times[rule] += times * exponent;
	follow(r, e->first, e->first_length, times);
	/* the first run ends inside the rule, and the last one begins there: what is between them the rule itself
	 * counts */
	if (!r->begins)
		emit(r, r->token, r->length, times);
	r->begins = false;
	if (e->last == e->first) {
		emit(r, e->first, e->last_length + e->first_length, times * (exponent - 1));
	} else {
		emit(r, e->last, e->last_length, times * (exponent - 1));
		emit(r, e->first, e->first_length, times * (exponent - 1));
	}
	r->token = e->last;
	r->length = e->last_length;
}

static void find_edges(struct runs *r, size_t rule)
{
	struct edges *e = &r->edges[rule];
	bool first_ended = false;
	*e = (struct edges){0};
	for (size_t k = r->pattern->rules[rule].first; k < r->pattern->rules[rule].end; k++) {
		const struct pattern_symbol *s = &r->pattern->symbols[k];
		const struct edges *inner = s->rule ? &r->edges[s->id] : NULL;
		uint32_t first = inner ? inner->first : s->id, last = inner ? inner->last : s->id;
		bool single = !inner || inner->single;
		uint64_t length = single ? (inner ? inner->first_length : 1) * s->exponent : inner->first_length;
		if (e->first == 0)
			e->first = first;
		if (!first_ended && first == e->first) {
			e->first_length += length;
			first_ended = !single;
		} else {
			first_ended = true;
		}
		if (single) {
			e->last_length = e->last == last ? e->last_length + length : length;
		} else {
			e->last_length = inner->last_length;
		}
		e->last = last;
	}
	e->single = !first_ended;
}

/* Rules with new values are written out, for what their tokens mean depends on where they stand; each brings a value of
 * the dictionary at least. */
static void walk(struct runs *r, size_t rule, int depth)
{
	if (depth > 4096) {
		r->rv = -1;
		return;
	}
	for (size_t k = r->pattern->rules[rule].first; r->rv == 0 && k < r->pattern->rules[rule].end; k++) {
		const struct pattern_symbol *s = &r->pattern->symbols[k];
		if (s->rule && r->pattern->rules[s->id].news == 0) {
			follow_rule(r, s->id, s->exponent, 1);
		} else if (s->rule) {
			for (uint64_t i = 0; r->rv == 0 && i < s->exponent; i++)
				walk(r, s->id, depth + 1);
		} else if (s->id != PATTERN_NEW) {
			follow(r, s->id, s->exponent, 1);
		} else {
			for (uint64_t i = 0; r->rv == 0 && i < s->exponent; i++)
				follow(r, ++r->known, 1, 1);
		}
	}
}

int pattern_runs(const struct pattern *p, const struct dict_run *dict, size_t n,
                 int (*take)(void *context, int64_t value, uint64_t length, uint64_t runs), void *context,
                 int64_t *value, uint64_t *length)
{
	struct runs r = {.pattern = p, .dict = dict, .n = n, .take = take, .context = context};
	r.edges = calloc(p->rule_count + 1, sizeof *r.edges);
	r.times = calloc(p->rule_count + 1, sizeof *r.times);
	*length = 0;
	if (!r.edges || !r.times || p->rule_count == 0) {
		r.rv = -1;
		goto done;
	}
	for (size_t i = 0; i + 1 < p->rule_count; i++)
		if (p->rules[i].news == 0)
			find_edges(&r, i);
	walk(&r, p->rule_count - 1, 0);
	*value = r.token ? dictionary_value_at(dict, n, r.token - 1) : 0;
	*length = r.length;
	for (size_t i = p->rule_count - 1; r.rv == 0 && i-- > 0;) {
		uint64_t times = r.times[i];
		if (times == 0)
			continue;
		r.token = r.length = 0;
		r.begins = true;
		for (size_t k = p->rules[i].first; r.rv == 0 && k < p->rules[i].end; k++) {
			const struct pattern_symbol *s = &p->symbols[k];
			if (s->rule)
				follow_rule(&r, s->id, s->exponent, times);
			else
				follow(&r, s->id, s->exponent, times);
		}
	}
done:
	free(r.edges);
	free(r.times);
	return r.rv;
}
