/* SPDX-License-Identifier: BSD-3-Clause
 * raw_image - raw values when they are taken out of an arena
 */
#include "trace/record/raw_image.h"

#include "trace/base/budget.h"
#include "trace/model/pattern.h"

void raw_image_free(struct raw_image *i)
{
	budget_free(i->dict);
	budget_free(i->slots);
	writer_free(&i->rules);
	writer_free(&i->last);
	*i = (struct raw_image){0};
}

static bool add_stretch(struct raw_image *i, struct dict_run d)
{
	if (i->dict_count == i->dict_capacity) {
		size_t capacity = i->dict_capacity ? i->dict_capacity * 2 : 64;
		struct dict_run *more = budget_realloc(i->dict, capacity * sizeof *more);
		if (!more)
			return false;
		i->dict = more;
		i->dict_capacity = capacity;
	}
	d.first = i->dict_count ? i->dict[i->dict_count - 1].first + i->dict[i->dict_count - 1].count : 0;
	i->dict[i->dict_count++] = d;
	return true;
}

/* ---- raw values ---- */

static size_t raw_place(const struct raw_image *i, int64_t value)
{
	uint64_t h = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(h ^ h >> 32) & i->mask;
	while (i->slots[at] && i->dict[i->slots[at] - 1].start != value)
		at = (at + 1) & i->mask;
	return at;
}

static bool grow_places(struct raw_image *i)
{
	size_t size = i->slots ? 2 * (i->mask + 1) : 256;
	uint32_t *slots = budget_calloc(size, sizeof *slots);
	if (!slots)
		return false;
	budget_free(i->slots);
	i->slots = slots;
	i->mask = size - 1;
	for (size_t k = 0; k < i->dict_count; k++)
		i->slots[raw_place(i, i->dict[k].start)] = (uint32_t)k + 1;
	return true;
}

static void put_symbol(struct writer *w, uint64_t id, bool rule, uint64_t exponent)
{
	writer_uint(w, id << 2 | (uint64_t)rule << 1 | (exponent > 1));
	if (exponent > 1)
		writer_uint(w, exponent);
}

static void end_run(struct raw_image *i)
{
	if (i->run) {
		put_symbol(&i->last, i->token, false, i->run);
		i->symbols++;
	}
	i->run = 0;
}

static int take_raw(void *context, int64_t value)
{
	struct raw_image *i = context;
	if (value == VALUE_NONE || value == VALUE_LOSSY || i->dict_count >= UINT32_MAX / 4 ||
	    (2 * (i->dict_count + 1) > (i->slots ? i->mask + 1 : 0) && !grow_places(i)) ||
	    (i->taken++ % RAW_BLOCK == 0 && !budget_step(RAW_BLOCK)))
		return -1;
	uint32_t *slot = &i->slots[raw_place(i, value)], token = *slot;
	if (token == PATTERN_NEW) {
		if (!add_stretch(i, (struct dict_run){.start = value, .count = 1}))
			return -1;
		*slot = (uint32_t)i->dict_count;
	}
	if (token != i->token)
		end_run(i);
	i->token = token;
	i->run++;
	return 0;
}

int raw_image_take(struct raw_image *i, const struct arena *a, ref at, uint64_t n)
{
	int rv = raw_each(a, at, n, take_raw, i);
	end_run(i);
	return rv;
}

/* ---- what follows ---- */

static void put_rule(struct writer *w, const struct pattern *p, const struct pattern_rule *rule, uint64_t known)
{
	for (size_t k = rule->first; k < rule->end; k++) {
		const struct pattern_symbol *s = &p->symbols[k];
		put_symbol(w, s->rule || s->id == PATTERN_NEW ? s->id : s->id + known, s->rule, s->exponent);
	}
}

int raw_image_append(struct raw_image *i, const struct writer *pattern, const struct dict_run *dict, size_t n)
{
	struct pattern p = {0};
	const uint64_t known = i->dict_count;
	bool done = pattern_parse(&p, pattern->data, pattern->size) == 0 && pattern_whole(&p);
	for (size_t k = 0; done && k < n; k++)
		done = add_stretch(i, dict[k]);
	for (size_t k = 0; done && k + 1 < p.rule_count; k++) {
		writer_uint(&i->rules, p.rules[k].end - p.rules[k].first);
		put_rule(&i->rules, &p, &p.rules[k], known);
	}
	if (done) {
		const struct pattern_rule *last = &p.rules[p.rule_count - 1];
		i->rule_count = p.rule_count - 1;
		put_rule(&i->last, &p, last, known);
		i->symbols += last->end - last->first;
	}
	pattern_free(&p);
	return done ? 0 : -1;
}

int raw_image_write(const struct raw_image *i, struct writer *out)
{
	writer_uint(out, i->rule_count + 1);
	writer_bytes(out, i->rules.data, i->rules.size);
	writer_uint(out, i->symbols);
	writer_bytes(out, i->last.data, i->last.size);
	return out->failed || i->rules.failed || i->last.failed ? -1 : 0;
}
