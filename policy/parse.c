/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the texts of policy files into a struct policy
 *
 * Each kind of object is a table of its keys; a key is a name, a function that reads its value, and where that goes. All problems
 * are collected: a function that does not like a value says so and leaves the target alone. jansson says whether the text is JSON and reads
 * the values; the objects are walked in the text (policy/place.h), so that each value has its place.
 */
#include "policy/parse.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "policy/condition.h"
#include "policy/place.h"
#include "policy/suggest.h"

#define GLOBS_MAX 1000
#define KEYS_MAX  96
#define PATH_SIZE 256
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct parser {
	struct policy *policy;
	struct problems *problems;
	const char *file, *main, *text;
	uint32_t file_number;
	size_t seen, seen_line, seen_column; /* where the last place was: the next one is mostly behind it */
	uint32_t *names;                     /* a hash table of the rules' names: numbers of rules, from 1 */
	size_t names_size;
};

/* A value: where it stands, and its JSON path. value is NULL for objects and for the list of rules, which are walked. */
struct spot {
	json_t *value;
	size_t at, end;
	const char *path;
};

typedef void read_function(struct parser *p, const struct spot *s, void *into);

struct key {
	const char *name;
	read_function *read;
	size_t offset; /* of the target in the structure that is filled */
	const char *needed; /* for a key that must be there: why, or what */
	bool walked;        /* the function walks the text */
};

/* --- problems --- */

void problems_clear(struct problems *p)
{
	free(p->text);
	*p = (struct problems){0};
}

void problems_add(struct problems *p, const char *file, size_t line, size_t column, const char *format, ...)
{
	char message[1024], *text = NULL;
	va_list ap;

	if (p->count++ >= PROBLEMS_MAX)
		return;
	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	int n = asprintf(&text, "%s%s:%zu:%zu: %s\n", p->text ? p->text : "", file, line, column, message);
	if (n < 0)
		return;
	free(p->text);
	p->text = text;
	p->size = (size_t)n;
}

/* As place_line_column, from where the last one was. */
static void find_line(struct parser *p, size_t at, size_t *line, size_t *column)
{
	if (at < p->seen || p->seen_line == 0) {
		p->seen = 0;
		p->seen_line = p->seen_column = 1;
	}
	for (; p->seen < at; p->seen++) {
		if (p->text[p->seen] == '\n') {
			p->seen_line++;
			p->seen_column = 1;
		} else if (((unsigned char)p->text[p->seen] & 0xc0) != 0x80) {
			p->seen_column++;
		}
	}
	*line = p->seen_line;
	*column = p->seen_column;
}

static void problem(struct parser *p, size_t at, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void problem(struct parser *p, size_t at, const char *path, const char *format, ...)
{
	char message[700];
	size_t line, column;
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	find_line(p, at, &line, &column);
	problems_add(p->problems, p->file, line, column, "%s: %s", path, message);
}

static void no_memory(struct parser *p, const struct spot *s)
{
	problem(p, s->at, s->path, "out of memory");
}

/* What a value is, for "found ...". */
static const char *describe(const json_t *value, char out[80])
{
	static const char *const kinds[] = {[JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_TRUE] = "true",
	                                    [JSON_FALSE] = "false",      [JSON_NULL] = "null"};

	if (json_is_string(value) || json_is_number(value)) {
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
		if (text && strlen(text) > 60)
			snprintf(out, 80, "%.60s...", text);
		else
			snprintf(out, 80, "%s", text ? text : "?");
		free(text);
		return out;
	}
	return kinds[json_typeof(value)];
}

static void problem_found(struct parser *p, const struct spot *s, const char *expected)
{
	char found[80];
	json_t *value = s->value ? json_incref(s->value) : json_loadb(p->text + s->at, s->end - s->at, JSON_DECODE_ANY, NULL);
	problem(p, s->at, s->path, "expected %s, found %s", expected, value ? describe(value, found) : "something else");
	json_decref(value);
}

/* --- values --- */

static void read_comment(struct parser *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_string(s->value))
		problem_found(p, s, "a text");
}

static void read_version(struct parser *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_integer(s->value) || json_integer_value(s->value) != 1)
		problem_found(p, s, "1, the only version of policy files there is");
}

static void read_mode(struct parser *p, const struct spot *s, void *into)
{
	const char *text = json_string_value(s->value);
	if (!text || mode_parse(into, text))
		problem_found(p, s, MODE_POLICY_CHOICES);
}

static bool has_control_characters(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

/* True if a component of the path is "..". */
static bool has_parent_component(const char *path)
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		if (!strncmp(path, "..", 2) && (path[2] == '/' || !path[2]))
			return true;
	}
	return false;
}

static void read_folder(struct parser *p, const struct spot *s, void *into)
{
	const char *path = json_string_value(s->value);
	size_t n = path ? strlen(path) : 0;

	if (!path || path[0] != '/' || has_control_characters(path) || has_parent_component(path)) {
		problem_found(p, s, "an absolute path without \"..\"");
	} else if (n > DECISION_PATH_SIZE - 256) { /* names of steps and days are appended */
		problem(p, s->at, s->path, "expected a path of at most %d bytes, found %zu", DECISION_PATH_SIZE - 256, n);
	} else {
		memcpy(into, path, n + 1);
		while (n > 1 && ((char *)into)[n - 1] == '/')
			((char *)into)[--n] = '\0';
	}
}

static void read_group(struct parser *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || strlen(name) > 63 || has_control_characters(name) || strpbrk(name, " :/,"))
		problem_found(p, s, "the name of a group (or \"\" for none)");
	else
		strcpy(into, name);
}

static void read_user_choice(struct parser *p, const struct spot *s, void *into)
{
	static const char *const names[] = {[USER_ANY] = "any", [USER_RAISE] = "raise", [USER_LOWER] = "lower",
	                                    [USER_OFF] = "off", [USER_NONE] = "none"};
	const char *text = json_string_value(s->value);

	for (size_t i = 0; text && i < COUNT(names); i++) {
		if (!strcmp(text, names[i])) {
			*(uint32_t *)into = (uint32_t)i;
			return;
		}
	}
	problem_found(p, s, "what users may choose: \"any\", \"raise\" (to capture more), \"lower\" (less), \"off\" (only to switch capture "
	                    "off) or \"none\"");
}

static void read_containers(struct parser *p, const struct spot *s, void *into)
{
	const char *text = json_string_value(s->value);
	if (!text || (strcmp(text, "skip") && strcmp(text, "trace")))
		problem_found(p, s, "\"skip\" or \"trace\"");
	else
		*(uint32_t *)into = !strcmp(text, "trace");
}

static void read_threshold(struct parser *p, const struct spot *s, void *into)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX)
		problem_found(p, s, "a number of tokens from 0 to 4294967295");
	else
		*(int64_t *)into = n;
}

static void read_name(struct parser *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || !*name || strlen(name) > 100 || has_control_characters(name))
		problem_found(p, s, "a name of 1 to 100 bytes");
	else if (!(*(char **)into = strdup(name)))
		no_memory(p, s);
}

/* --- settings --- */

/* A number in JSON, or a text (of a TEXT also a list of texts), as the text that setting_parse reads; NULL: it is none of them. */
static const char *setting_source(const struct setting *setting, const json_t *value, char out[SETTING_TEXT_SIZE + 1])
{
	const char *text = json_string_value(value);
	size_t n = 0;

	if (text)
		return setting->kind == SETTING_COUNT ? NULL : text;
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

/* Where the settings of an object go. */
struct target {
	struct settings *set;
	uint32_t *line; /* where each stands; NULL if nobody wants to know */
	bool *has;      /* which are there; NULL if nobody wants to know */
};

static void read_setting(struct parser *p, const struct spot *s, const struct setting *setting, const struct target *target)
{
	char buffer[SETTING_TEXT_SIZE + 1], expected[SETTING_EXPECTED_SIZE];
	const char *text = setting_source(setting, s->value, buffer);
	size_t line, column, i = (size_t)(setting - setting_table);

	if (!text || setting_parse(setting, target->set, text)) {
		problem_found(p, s, setting_expected(setting, expected));
		return;
	}
	find_line(p, s->at, &line, &column);
	if (target->line)
		target->line[i] = (uint32_t)line;
	if (target->has)
		target->has[i] = true;
}

/* --- objects --- */

/* The value of a member, and what is to be done with it. */
static void read_member(struct parser *p, const struct spot *s, const struct key *key, const struct setting *setting, void *into,
                        const struct target *target)
{
	struct spot member = *s;

	if (key && key->walked) {
		key->read(p, &member, (char *)into + key->offset);
		return;
	}
	/* From the text, and not from a tree of all, which has the last value of a key that is there twice. */
	member.value = json_loadb(p->text + s->at, s->end - s->at, JSON_DECODE_ANY, NULL);
	if (!member.value)
		no_memory(p, s);
	else if (key)
		key->read(p, &member, (char *)into + key->offset);
	else
		read_setting(p, &member, setting, target);
	json_decref(member.value);
}

static void unknown_key(struct parser *p, const struct place *place, const char *path, const char *name, const char **names, size_t n)
{
	const char *near = suggest(name, names, n);
	problem(p, place->key, path, "unknown key \"%.60s\"%s%s%s", name, near ? "; did you mean \"" : "", near ? near : "",
	        near ? "\"?" : "");
}

/* Reads an object of these keys, and (with a target) of settings, into a structure. */
static void read_object(struct parser *p, const struct spot *s, const struct key *keys, size_t n, void *into,
                        const struct target *target)
{
	const char *names[KEYS_MAX];
	size_t first[KEYS_MAX] = {0}, known = 0;

	if (p->text[s->at] != '{') {
		problem_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[known++] = keys[i].name;
	for (size_t i = 0; target && i < setting_count; i++)
		names[known++] = setting_table[i].name;
	for (struct place place = place_begin(p->text, s->at); place_next(&place);) {
		char path[PATH_SIZE], *name = place_key(&place);
		size_t k = 0;
		while (name && k < known && strcmp(name, names[k]))
			k++;
		if (name && k == known) {
			unknown_key(p, &place, s->path, name, names, known);
		} else if (name && first[k]) {
			size_t line, column;
			place_line_column(p->text, first[k], &line, &column);
			problem(p, place.key, s->path, "the key \"%s\" is there already, in line %zu", name, line);
		} else if (name) {
			first[k] = place.key;
			snprintf(path, sizeof path, "%s.%s", s->path, name);
			struct spot member = {NULL, place.value, place.next, path};
			read_member(p, &member, k < n ? &keys[k] : NULL, k < n ? NULL : &setting_table[k - n], into, target);
		}
		free(name);
	}
	for (size_t i = 0; i < n; i++) {
		if (keys[i].needed && !first[i])
			problem(p, s->at, s->path, "the key \"%s\" is missing (%s)", names[i], keys[i].needed);
	}
}

/* --- conditions --- */

/* Those of one rule, while they are read: in the order of condition_table. */
struct match {
	struct condition conditions[CONDITIONS];
	bool has[CONDITIONS], has_least[CONDITIONS], has_most[CONDITIONS];
};

static void add_glob(struct parser *p, const struct spot *s, struct condition *c, const char *text)
{
	struct glob glob = glob_make(text);
	uint32_t at = image_add_text(p->policy, text);

	glob.text = at;
	uint32_t number = at == UINT32_MAX ? at : image_add(p->policy, PART_GLOBS, &glob);
	if (number == UINT32_MAX) {
		no_memory(p, s);
		return;
	}
	c->glob = c->globs++ ? c->glob : number;
}

static void read_glob(struct parser *p, const struct spot *s, struct condition *c)
{
	const char *glob = json_string_value(s->value);
	const char *wrong = glob ? glob_problem(glob) : NULL;

	if (!glob || !*glob || strlen(glob) > 255 || has_control_characters(glob))
		problem_found(p, s, "a pattern of 1 to 255 bytes (* ? [...] as in file names)");
	else if (wrong)
		problem(p, s->at, s->path, "the pattern \"%.60s\" %s", glob, wrong);
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
	problem_found(p, s, "a day: \"mon\", \"tue\", \"wed\", \"thu\", \"fri\", \"sat\" or \"sun\"");
}

/* A span of time is two elements with minutes of the day. */
static void read_span(struct parser *p, const struct spot *s, struct condition *c)
{
	const char *text = json_string_value(s->value);
	bool form = text && strlen(text) == 11 && text[5] == '-';
	int from = form ? condition_minutes(text, 5) : -1, to = form ? condition_minutes(text + 6, 5) : -1;

	if (from < 0 || to < 0 || from == to || from == 1440) {
		problem_found(p, s, "a span such as \"08:00-18:00\" or \"22:00-06:00\" (it ends before the second time)");
		return;
	}
	struct glob first = {.text = (uint32_t)from}, second = {.text = (uint32_t)to};
	uint32_t number = image_add(p->policy, PART_GLOBS, &first);
	if (number == UINT32_MAX || image_add(p->policy, PART_GLOBS, &second) == UINT32_MAX) {
		no_memory(p, s);
		return;
	}
	c->glob = c->globs ? c->glob : number;
	c->globs += 2;
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
			problem_found(p, s, expected);
		return;
	}
	if (n == 0 || n > GLOBS_MAX) {
		problem(p, s->at, s->path, "expected 1 to %d patterns, found %zu", GLOBS_MAX, n);
		return;
	}
	for (struct place place = place_begin(p->text, s->at); place_next(&place); i++) {
		char path[PATH_SIZE];
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
		problem_found(p, s, "a share of all jobs, more than 0 and at most 1");
	else
		c->share = share >= 1 ? UINT32_MAX : (uint32_t)(share * 4294967296.0);
}

static void read_limit(struct parser *p, const struct spot *s, uint64_t *limit, bool *has)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX) {
		problem_found(p, s, "a number from 0 to 4294967295");
		return;
	}
	*limit = (uint64_t)n;
	*has = true;
}

static void read_container(struct parser *p, const struct spot *s, struct condition *c)
{
	if (json_is_boolean(s->value))
		add_glob(p, s, c, json_is_true(s->value) ? "?*" : "");
	else
		read_list(p, s, c, "true, false, a pattern, or a list of patterns", read_glob);
}

/* A key of match: which condition, and which side of a range (0: no range, 1: least, 2: most). */
static void read_condition(struct parser *p, const struct spot *s, struct match *match, size_t what, int side)
{
	struct condition *c = &match->conditions[what];

	match->has[what] = true;
	if (side)
		read_limit(p, s, side == 1 ? &c->least : &c->most, side == 1 ? &match->has_least[what] : &match->has_most[what]);
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
			snprintf(keys[n].name, sizeof keys[n].name, "%s%s", condition_table[i].name, side == 1 ? "_min" : side == 2 ? "_max" : "");
			keys[n].what = i;
			keys[n++].side = side;
		}
	}
	return n;
}

/* As read_object, with keys that the table of conditions makes. */
static void read_match(struct parser *p, const struct spot *s, void *into)
{
	static struct match_key keys[2 * CONDITIONS];
	static size_t n;
	const char *names[2 * CONDITIONS];
	size_t first[2 * CONDITIONS] = {0};
	struct match *match = into;

	n = n ? n : match_keys(keys);
	if (p->text[s->at] != '{') {
		problem_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	for (struct place place = place_begin(p->text, s->at); place_next(&place);) {
		char path[PATH_SIZE], *name = place_key(&place);
		size_t k = 0;
		while (name && k < n && strcmp(name, names[k]))
			k++;
		snprintf(path, sizeof path, "%s.%s", s->path, name ? name : "?");
		struct spot member = {NULL, place.value, place.next, path};
		if (name && k == n) {
			unknown_key(p, &place, s->path, name, names, n);
		} else if (name && first[k]++) {
			problem(p, place.key, s->path, "the key \"%s\" is there already", name);
		} else if (!name || !(member.value = json_loadb(p->text + member.at, member.end - member.at, JSON_DECODE_ANY, NULL))) {
			no_memory(p, &member);
		} else {
			read_condition(p, &member, match, keys[k].what, keys[k].side);
		}
		json_decref(member.value);
		free(name);
	}
	for (size_t i = 0; i < CONDITIONS; i++) {
		const struct condition *c = &match->conditions[i];
		if (match->has_least[i] && match->has_most[i] && c->least > c->most)
			problem(p, s->at, s->path, "matches nothing: %s_min is more than %s_max", condition_table[i].name,
			        condition_table[i].name);
	}
}

/* --- rules --- */

/* A rule, while it is read. */
struct reading {
	char *name;
	struct match match;
	struct mode mode;
	int64_t threshold; /* -1: not said */
	uint32_t user;     /* UINT32_MAX: not said */
	char archive[DECISION_PATH_SIZE];
	struct settings set;
	bool has[setting_count];
	uint32_t set_line[setting_count];
};

/* Adds the rule's name to the table. Returns the number of the rule that has it already, or UINT32_MAX. */
static uint32_t claim_name(struct parser *p, const char *name, uint32_t rule)
{
	if (!p->names) {
		p->names_size = 1 << 16; /* more than twice RULES_MAX */
		p->names = calloc(p->names_size, sizeof *p->names);
	}
	if (!p->names)
		return UINT32_MAX;
	size_t i = image_key(0, name, strlen(name)) >> 48 & (p->names_size - 1);
	for (; p->names[i]; i = (i + 1) & (p->names_size - 1)) {
		uint32_t other = p->names[i] - 1;
		if (!strcmp(policy_text(p->policy, p->policy->rules[other].name), name))
			return other;
	}
	p->names[i] = rule + 1;
	return UINT32_MAX;
}

static int add_conditions(struct parser *p, struct rule *rule, const struct match *match)
{
	rule->condition = (uint32_t)p->policy->head.counts[PART_CONDITIONS];
	for (size_t i = 0; i < CONDITIONS; i++) {
		struct condition c = match->conditions[i];
		c.what = (uint32_t)i;
		c.most = match->has_most[i] ? c.most : UINT64_MAX;
		if (match->has[i] && image_add(p->policy, PART_CONDITIONS, &c) == UINT32_MAX)
			return -1;
		rule->conditions += match->has[i];
	}
	return 0;
}

static int add_values(struct parser *p, struct rule *rule, const struct reading *reading)
{
	rule->value = (uint32_t)p->policy->head.counts[PART_VALUES];
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		struct value value = {.setting = (uint32_t)i};
		if (!reading->has[i])
			continue;
		if (s->kind == SETTING_TEXT)
			value.text = image_add_text(p->policy, setting_text(s, &reading->set));
		else
			value.number = setting_number(s, &reading->set);
		if (value.text == UINT32_MAX || image_add(p->policy, PART_VALUES, &value) == UINT32_MAX)
			return -1;
		rule->values++;
	}
	return 0;
}

static void check_rule(struct parser *p, const struct spot *s, struct reading *reading)
{
	const struct match *match = &reading->match;
	bool late = match->has[IF_EXECUTABLE] || match->has[IF_RANKS];

	if (reading->threshold >= 0 && reading->mode.kind == MODE_LOSSY)
		reading->mode.threshold = (uint32_t)reading->threshold;
	else if (reading->threshold >= 0)
		problem(p, s->at, s->path, "a threshold means something only where the mode is \"lossy\"");
	if (late && reading->archive[0])
		problem(p, s->at, s->path, "a rule on executable or ranks is decided where the program starts: it can have no archive of its own");
}

static void read_rule(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"name", read_name, offsetof(struct reading, name), "messages and metadata name the rule by it", false},
		{"match", read_match, offsetof(struct reading, match), NULL, true},
		{"mode", read_mode, offsetof(struct reading, mode), MODE_POLICY_CHOICES, false},
		{"threshold", read_threshold, offsetof(struct reading, threshold), NULL, false},
		{"user", read_user_choice, offsetof(struct reading, user), NULL, false},
		{"archive", read_folder, offsetof(struct reading, archive), NULL, false},
	};
	_Static_assert(COUNT(keys) + setting_count <= KEYS_MAX, "KEYS_MAX");
	struct reading reading = {.threshold = -1, .user = UINT32_MAX};
	struct rule rule = {.file = p->file_number};
	uint32_t number = (uint32_t)p->policy->head.counts[PART_RULES];
	size_t line, column;

	find_line(p, s->at, &line, &column);
	rule.line = (uint32_t)line;
	read_object(p, s, keys, COUNT(keys), &reading, &(struct target){&reading.set, reading.set_line, reading.has});
	uint32_t other = reading.name ? claim_name(p, reading.name, number) : UINT32_MAX;
	if (other != UINT32_MAX) {
		const struct rule *first = &p->policy->rules[other];
		bool here = first->file == p->file_number;
		problem(p, s->at, s->path, "its name \"%s\" is that of the rule in line %" PRIu32 "%s%s already", reading.name, first->line,
		        here ? "" : " of ", here ? "" : policy_text(p->policy, p->policy->files[first->file]));
	}
	check_rule(p, s, &reading);
	rule.mode = reading.mode;
	rule.user = reading.user == UINT32_MAX ? -1 : (int32_t)reading.user;
	rule.name = image_add_text(p->policy, reading.name ? reading.name : "");
	rule.archive = image_add_text(p->policy, reading.archive);
	if (rule.name == UINT32_MAX || rule.archive == UINT32_MAX || add_conditions(p, &rule, &reading.match) ||
	    add_values(p, &rule, &reading) || image_add(p->policy, PART_RULES, &rule) == UINT32_MAX)
		no_memory(p, s);
	free(reading.name);
}

static void read_rules(struct parser *p, const struct spot *s, void *into)
{
	size_t i = 0;

	(void)into;
	if (p->text[s->at] != '[') {
		problem_found(p, s, "a list of rules");
		return;
	}
	for (struct place place = place_begin(p->text, s->at); place_next(&place); i++) {
		char path[PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, i);
		struct spot element = {NULL, place.value, place.next, path};
		if (p->policy->head.counts[PART_RULES] >= RULES_MAX) {
			problem(p, element.at, path, "more than %d rules; a policy may have no more, with its fragments", RULES_MAX);
			return;
		}
		read_rule(p, &element);
	}
}

/* --- files --- */

static void read_default_mode(struct parser *p, const struct spot *s, void *into)
{
	struct head *head = into;
	size_t line, column;

	find_line(p, s->at, &line, &column);
	head->mode_line = (uint32_t)line;
	read_mode(p, s, &head->defaults.mode);
}

/* What nothing may exceed. */
static void read_cap(struct parser *p, const struct spot *s, void *into)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"mode", read_mode, offsetof(struct head, cap_mode), NULL, false},
	};
	struct head *head = into;
	size_t line, column;

	find_line(p, s->at, &line, &column);
	head->has_cap = 1;
	head->cap_line = (uint32_t)line;
	read_object(p, s, keys, COUNT(keys), head, &(struct target){&head->cap, NULL, head->cap_has});
}

static void read_main(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"version", read_version, 0, "it is 1", false},
		{"mode", read_default_mode, 0, NULL, false},
		{"archive", read_folder, offsetof(struct head, defaults.archive), NULL, false},
		{"spool", read_folder, offsetof(struct head, defaults.spool), NULL, false},
		{"admin_group", read_group, offsetof(struct head, defaults.admin_group), NULL, false},
		{"user", read_user_choice, offsetof(struct head, user), NULL, false},
		{"containers", read_containers, offsetof(struct head, containers), NULL, false},
		{"cap", read_cap, 0, NULL, true},
		{"rules", read_rules, 0, "an empty list [] if there are none", true},
	};
	_Static_assert(COUNT(keys) + setting_count <= KEYS_MAX, "KEYS_MAX");
	struct head *head = &p->policy->head;

	read_object(p, s, keys, COUNT(keys), head, &(struct target){&head->defaults.set, head->set_line, NULL});
}

/* A fragment has keys of the whole policy as unknown ones, and says where they belong. */
static void read_fragment(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"version", read_version, 0, "it is 1", false},
		{"rules", read_rules, 0, "a fragment has rules, and what is for all jobs is in the policy itself", true},
	};

	read_object(p, s, keys, COUNT(keys), NULL, NULL);
}

struct parser *parser_create(struct policy *policy, struct problems *problems)
{
	struct parser *p = calloc(1, sizeof *p);
	if (p) {
		p->policy = policy;
		p->problems = problems;
	}
	return p;
}

void parser_destroy(struct parser *p)
{
	if (p)
		free(p->names);
	free(p);
}

void parser_read(struct parser *p, const char *file, const char *main, const char *text, size_t size)
{
	uint32_t name = image_add_text(p->policy, file);
	json_error_t error;

	p->file = file;
	p->main = main;
	p->text = text;
	p->seen_line = 0;
	p->file_number = image_add(p->policy, PART_FILES, &name);
	if (text[strspn(text, " \t\r\n")] == '\0' && strlen(text) == size) {
		problems_add(p->problems, file, 1, 1, "$: the file is empty; expected an object {...}");
		return;
	}
	json_t *root = json_loadb(text, size, 0, &error);
	if (!root) {
		problems_add(p->problems, file, error.line > 0 ? (size_t)error.line : 1, error.column > 0 ? (size_t)error.column : 1,
		             "not valid JSON: %s", error.text);
		return;
	}
	json_decref(root);
	size_t at = place_root(text);
	struct spot s = {NULL, at, size, "$"};
	if (p->file_number == UINT32_MAX)
		no_memory(p, &s);
	else if (main)
		read_fragment(p, &s);
	else
		read_main(p, &s);
}
