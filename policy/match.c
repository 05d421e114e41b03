/* SPDX-License-Identifier: BSD-3-Clause
 * match - the conditions of a rule, from JSON
 */
#include "policy/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/glob.h"

#define GLOBS_MAX    1000
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_glob(struct parser *p, const struct spot *s, struct condition *c, const char *text)
{
	if (condition_add_glob(c, text))
		parser_no_memory(p, s);
}

static void read_glob(struct parser *p, const struct spot *s, struct condition *c)
{
	const char *glob = json_string_value(s->value);
	const char *wrong = glob ? glob_problem(glob) : NULL;

	if (!glob || !*glob || strlen(glob) > 255 || parser_has_control_characters(glob))
		parser_found(p, s, "a pattern of 1 to 255 bytes (* ? [...] as in file names)");
	else if (wrong)
		parser_problem(p, s->at, s->path, "the pattern \"%.60s\" %s", glob, wrong);
	else
		add_glob(p, s, c, glob);
}

static void read_weekday(struct parser *p, const struct spot *s, struct condition *c)
{
	static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
	const char *text = json_string_value(s->value);

	for (size_t i = 0; text && i < COUNT(days); i++) {
		if (!strcmp(text, days[i])) {
			add_glob(p, s, c, text);
			return;
		}
	}
	parser_found(p, s, "a day: \"mon\", \"tue\", \"wed\", \"thu\", \"fri\", \"sat\" or \"sun\"");
}

static void read_span(struct parser *p, const struct spot *s, struct condition *c)
{
	const char *text = json_string_value(s->value);
	bool form = text && strlen(text) == 11 && text[5] == '-';
	int from = form ? condition_minutes(text, 5) : -1, to = form ? condition_minutes(text + 6, 5) : -1;

	if (from < 0 || to < 0 || from == to || from == 1440) {
		parser_found(p, s,
		             "a span such as \"08:00-18:00\" or \"22:00-06:00\" (it ends before the second time)");
		return;
	}
	if (condition_add_span(c, from, to))
		parser_no_memory(p, s);
}

/* One, or a list. */
static void read_list(struct parser *p, const struct spot *s, struct condition *c, const char *expected,
                      void (*read)(struct parser *p, const struct spot *s, struct condition *c))
{
	size_t n = json_array_size(s->value), i = 0;

	if (!json_is_array(s->value)) {
		if (json_is_string(s->value))
			read(p, s, c);
		else
			parser_found(p, s, expected);
		return;
	}
	if (n == 0 || n > GLOBS_MAX) {
		parser_problem(p, s->at, s->path, "expected 1 to %d patterns, found %zu", GLOBS_MAX, n);
		return;
	}
	for (struct json_place place = json_place_begin(p->text, s->at); json_place_next(&place); i++) {
		char path[PARSER_PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, i);
		struct spot element = {json_array_get(s->value, i), place.value, place.next, path};
		read(p, &element, c);
	}
}

/* A job's place is less than the share with the chance that the share is. */
static void read_share(struct parser *p, const struct spot *s, struct condition *c)
{
	double share = json_number_value(s->value);
	if (!json_is_number(s->value) || !(share > 0 && share <= 1))
		parser_found(p, s, "a share of all jobs, more than 0 and at most 1");
	else
		c->share = share >= 1 ? UINT32_MAX : (uint32_t)(share * 4294967296.0);
}

static void read_limit(struct parser *p, const struct spot *s, uint64_t *limit)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX)
		parser_found(p, s, "a number from 0 to 4294967295");
	else
		*limit = (uint64_t)n;
}

static void read_container(struct parser *p, const struct spot *s, struct condition *c)
{
	if (json_is_boolean(s->value))
		add_glob(p, s, c, json_is_true(s->value) ? "?*" : "");
	else
		read_list(p, s, c, "true, false, a pattern, or a list of patterns", read_glob);
}

/* A key of match: which condition, and which side of a range (0: no range, 1: least, 2: most). */
static void read_condition(struct parser *p, const struct spot *s, struct rule *rule, size_t what, int side)
{
	struct condition *c = &rule->conditions[what];

	rule->has[what] = true;
	if (side)
		read_limit(p, s, side == 1 ? &c->least : &c->most);
	else if (condition_table[what].kind == CONDITION_SHARE)
		read_share(p, s, c);
	else if (condition_table[what].kind == CONDITION_TIME)
		read_list(p, s, c, "a span such as \"08:00-18:00\", or a list of them", read_span);
	else if (what == IF_CONTAINER)
		read_container(p, s, c);
	else if (what == IF_WEEKDAY)
		read_list(p, s, c, "a day such as \"mon\", or a list of days", read_weekday);
	else
		read_list(p, s, c, "a pattern, or a list of patterns", read_glob);
}

struct match_key {
	char name[32];
	size_t what;
	int side;
};

static size_t match_keys(struct match_key keys[2 * CONDITIONS])
{
	size_t n = 0;
	for (size_t i = 0; i < CONDITIONS; i++) {
		bool range = condition_table[i].kind == CONDITION_RANGE;
		for (int side = range; side <= 2 * range; side++) {
			snprintf(keys[n].name, sizeof keys[n].name, "%s%s", condition_table[i].name,
			         side == 1   ? "_min"
			         : side == 2 ? "_max"
			                     : "");
			keys[n].what = i;
			keys[n++].side = side;
		}
	}
	return n;
}

/* As read_object, with keys that the table of conditions makes. */
void match_read(struct parser *p, const struct spot *s, void *into)
{
	struct match_key keys[2 * CONDITIONS];
	const char *names[2 * CONDITIONS];
	size_t first[2 * CONDITIONS] = {0};
	struct rule *rule = into;
	size_t n = match_keys(keys);

	if (p->text[s->at] != '{') {
		parser_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	for (struct json_place place = json_place_begin(p->text, s->at); json_place_next(&place);) {
		char path[PARSER_PATH_SIZE], *name = json_place_key(&place);
		size_t k = 0;
		while (name && k < n && strcmp(name, names[k]))
			k++;
		snprintf(path, sizeof path, "%s.%s", s->path, name ? name : "?");
		struct spot member = {NULL, place.value, place.next, path};
		if (name && k == n) {
			parser_unknown_key(p, &place, s->path, name, names, n);
		} else if (name && first[k]++) {
			parser_problem(p, place.key, s->path, "the key \"%s\" is there already", name);
		} else if (name && !(condition_table[keys[k].what].of & (rule->hook ? OF_HOOKS : OF_RULES))) {
			parser_problem(
				p, place.key, s->path,
				rule->hook ? "a hook cannot ask for \"%s\": traces do not have it"
					   : "a rule cannot ask for \"%s\": it is known of traces, and only hooks do",
				name);
		} else if (!name || !(member.value = json_loadb(p->text + member.at, member.end - member.at,
		                                                JSON_DECODE_ANY, NULL))) {
			parser_no_memory(p, &member);
		} else {
			read_condition(p, &member, rule, keys[k].what, keys[k].side);
		}
		json_decref(member.value);
		free(name);
	}
	for (size_t i = 0; i < CONDITIONS; i++) {
		if (rule->conditions[i].least > rule->conditions[i].most)
			parser_problem(p, s->at, s->path, "matches nothing: %s_min is more than %s_max",
			               condition_table[i].name, condition_table[i].name);
	}
}
