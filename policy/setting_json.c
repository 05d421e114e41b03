/* SPDX-License-Identifier: BSD-3-Clause
 * setting_json - a setting's value, from JSON
 */
#include "policy/setting_json.h"

#include <stdio.h>
#include <string.h>

#include "policy/counter.h"
#include "policy/suggest.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A number in JSON, or a text (of a TEXT also a list of texts), as the text that setting_parse reads; NULL: it is none
 * of them. */
static const char *setting_source(const struct setting *setting, const json_t *value, char out[SETTING_TEXT_SIZE + 1])
{
	const char *text = json_string_value(value);
	size_t n = 0;

	if (text)
		return setting->kind == SETTING_COUNT ? NULL : text;
	if (json_is_boolean(value) && setting->kind == SETTING_CHOICE && !strcmp(setting->words, "off|on"))
		return json_is_true(value) ? "on" : "off";
	if (json_is_integer(value) && (setting->kind == SETTING_COUNT || setting->kind == SETTING_BYTES)) {
		snprintf(out, SETTING_TEXT_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return out;
	}
	if (!json_is_array(value) || setting->kind != SETTING_TEXT)
		return NULL;
	out[0] = '\0';
	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *name = json_string_value(json_array_get(value, i));
		if (!name || !*name || strchr(name, ',') || n + strlen(name) + 1 >= SETTING_TEXT_SIZE)
			return NULL;
		n += (size_t)sprintf(out + n, "%s%s", i ? "," : "", name);
	}
	return out;
}

/* Says what is wrong with a list of counters. False: it is something else. */
static bool unknown_counter(struct parser *p, const struct spot *s, const char *list)
{
	const char *name = NULL, *presets[200], *near;
	char copies[200][40], own[80];
	size_t length = 0, n = 0;

	switch (counter_check(list, &name, &length)) {
	case COUNTER_UNKNOWN:
		for (const char *preset; n < COUNT(presets) && (preset = counter_preset(n)); n++) {
			snprintf(copies[n], sizeof copies[n], "%s", preset);
			presets[n] = copies[n];
		}
		snprintf(own, sizeof own, "%.*s", (int)length, name);
		near = suggest(own, presets, n);
		parser_problem(p, s->at, s->path, "%.60s is no event of PAPI%s%s%s", own, near ? "; did you mean " : "",
		               near ? near : "", near ? "?" : "");
		return true;
	case COUNTER_FORM:
		parser_problem(p, s->at, s->path,
		               "%.*s is no event: expected PAPI_NAME, or COMPONENT::EVENT such as perf::TASK-CLOCK",
		               (int)(length < 60 ? length : 60), name);
		return true;
	case COUNTER_TWICE:
		parser_problem(p, s->at, s->path, "%.*s is there twice", (int)(length < 60 ? length : 60), name);
		return true;
	case COUNTER_GOOD:
		break;
	}
	return false;
}

void setting_read_json(struct parser *p, const struct spot *s, const struct setting *setting,
                       const struct setting_target *target)
{
	char buffer[SETTING_TEXT_SIZE + 1], expected[SETTING_EXPECTED_SIZE];
	const char *text = setting_source(setting, s->value, buffer);
	size_t line, column, i = (size_t)(setting - setting_table);

	if (!text || setting_parse(setting, target->set, text)) {
		if (!text || setting->offset != offsetof(struct settings, counters) || !unknown_counter(p, s, text))
			parser_found(p, s, setting_expected(setting, expected));
		return;
	}
	parser_line(p, s->at, &line, &column);
	if (target->line)
		target->line[i] = line;
	if (target->has)
		target->has[i] = true;
}
