/* SPDX-License-Identifier: BSD-3-Clause
 * alternative - what rules say that only the process can decide
 */
#include "policy/alternative.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/escape.h"

/* A text that grows; once something did not fit, full is set. */
struct text {
	char *bytes;
	size_t size, used;
	bool full;
};

static void add_word(struct text *t, const char *key, const char *value)
{
	char word[3 * FACT_VALUE_MAX / 4];

	assert(t->used < t->size);
	if (t->full || escape_write(word, sizeof word, value) < 0) {
		t->full = true;
		return;
	}
	int n = snprintf(t->bytes + t->used, t->size - t->used, "%s%s=%s", t->used ? ";" : "", key, word);
	t->full = n < 0 || (size_t)n >= t->size - t->used;
	if (!t->full)
		t->used += (size_t)n;
	else
		t->bytes[t->used] = '\0';
}

static void add_conditions(struct text *t, const struct rule *rule)
{
	const struct condition *ranks = &rule->conditions[IF_RANKS], *exe = &rule->conditions[IF_EXECUTABLE];
	char range[64];

	for (size_t i = 0; i < exe->glob_count; i++)
		add_word(t, "exe", exe->globs[i]);
	snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, ranks->least, ranks->most);
	if (rule->has[IF_RANKS])
		add_word(t, "ranks", range);
}

int alternative_add(struct decision *d, const struct rule *rule, const struct decision *one)
{
	static const char *const modes[] = {[MODE_OFF] = "off", [MODE_LOSSLESS] = "lossless", [MODE_LOSSY] = "lossy"};
	char bytes[4096] = "", value[SETTING_TEXT_SIZE], base[SETTING_TEXT_SIZE], mode[MODE_TEXT_SIZE];
	struct settings standard;
	struct text inner = {bytes, sizeof bytes, 0, false};
	struct text outer = {d->alternatives, sizeof d->alternatives, strlen(d->alternatives), false};

	settings_default(&standard);
	if (rule)
		add_conditions(&inner, rule);
	add_word(&inner, "mode", modes[one->mode.kind]);
	snprintf(value, sizeof value, "%" PRIu32, one->mode.threshold);
	add_word(&inner, "threshold", value);
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		char key[80];
		if (!strcmp(setting_format(s, &one->set, value), setting_format(s, &standard, base)))
			continue;
		snprintf(key, sizeof key, "%s%s", s->tracer ? "" : "fact.", s->name);
		add_word(&inner, key, value);
	}
	add_word(&inner, "fact.mode", mode_format(&one->mode, mode));
	add_word(&inner, "fact.rule", one->rule);
	if (one->where[0])
		add_word(&inner, "fact.rule_where", one->where);
	add_word(&inner, "fact.rule_reason", one->reason);
	if (!inner.full)
		add_word(&outer, "alt", bytes);
	return inner.full || outer.full ? -1 : 0;
}
