/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the text of a policy file into a struct policy
 *
 * Each kind of object is a table of its keys; a key is a name, a function that reads its value, and where that goes. All problems
 * are collected: a function that does not like a value says so and leaves the target alone.
 */
#include "policy/parse.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "policy/place.h"
#include "policy/suggest.h"

#define RULES_MAX 1000
#define GLOBS_MAX 1000
#define KEYS_MAX  64
#define PATH_SIZE 256
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct parse {
	struct policy *policy;
	const char *text;
	struct problems *problems;
};

/* A value, where it stands, and its JSON path. */
struct spot {
	json_t *value;
	size_t at;
	const char *path;
};

typedef void read_function(struct parse *p, const struct spot *s, void *into);

struct key {
	const char *name;
	read_function *read;
	size_t offset; /* of the target in the structure that is filled */
	bool required;
	const char *hint; /* for a required key that is missing */
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

static void problem(struct parse *p, size_t at, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void problem(struct parse *p, size_t at, const char *path, const char *format, ...)
{
	char message[700];
	size_t line, column;
	va_list ap;

	if (p->problems->count >= PROBLEMS_MAX) { /* a count is enough: finding places in a long file takes time */
		p->problems->count++;
		return;
	}
	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	place_line_column(p->text, at, &line, &column);
	problems_add(p->problems, p->policy->path, line, column, "%s: %s", path, message);
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

static void problem_found(struct parse *p, const struct spot *s, const char *expected)
{
	char found[80];
	problem(p, s->at, s->path, "expected %s, found %s", expected, describe(s->value, found));
}

/* --- values --- */

static void read_comment(struct parse *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_string(s->value))
		problem_found(p, s, "a text");
}

static void read_version(struct parse *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_integer(s->value) || json_integer_value(s->value) != 1)
		problem_found(p, s, "1, the only version of policy files there is");
}

static void read_mode(struct parse *p, const struct spot *s, void *into)
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

static void read_folder(struct parse *p, const struct spot *s, void *into)
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

static void read_group(struct parse *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || strlen(name) > 63 || has_control_characters(name) || strpbrk(name, " :/,"))
		problem_found(p, s, "the name of a group (or \"\" for none)");
	else
		strcpy(into, name);
}

static int parse_user_choice(const char *text)
{
	static const char *const names[] = {[USER_ANY] = "any", [USER_OFF] = "off", [USER_NONE] = "none"};
	for (size_t i = 0; text && i < COUNT(names); i++) {
		if (!strcmp(text, names[i]))
			return (int)i;
	}
	return -1;
}

static void read_user_choice(struct parse *p, const struct spot *s, void *into)
{
	int choice = parse_user_choice(json_string_value(s->value));
	if (choice < 0)
		problem_found(p, s, "what users may choose: \"any\", \"off\" (only to switch capture off) or \"none\"");
	else
		*(enum user_choice *)into = (enum user_choice)choice;
}

static void read_rule_user_choice(struct parse *p, const struct spot *s, void *into)
{
	struct rule *rule = into;
	rule->has_user = true;
	read_user_choice(p, s, &rule->user);
}

static void read_name(struct parse *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || !*name || strlen(name) > 100 || has_control_characters(name))
		problem_found(p, s, "a name of 1 to 100 bytes");
	else
		*(char **)into = strdup(name);
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

/* Into settings, and notes in has (which may be NULL) that it is there. */
static void read_setting(struct parse *p, const struct spot *s, const struct setting *setting, struct settings *into, bool *has)
{
	char buffer[SETTING_TEXT_SIZE + 1], expected[SETTING_EXPECTED_SIZE];
	const char *text = setting_source(setting, s->value, buffer);

	if (!text || setting_parse(setting, into, text))
		problem_found(p, s, setting_expected(setting, expected));
	else if (has)
		has[setting - setting_table] = true;
}

/* --- objects --- */

/* Where the settings of an object go; none: it has no such keys. */
struct target {
	struct settings *set;
	bool *has;
};

/* Reads an object of these keys, and of settings, into a structure. */
static void read_object(struct parse *p, const struct spot *s, const struct key *keys, size_t n, void *into, const struct target *target)
{
	const char *names[KEYS_MAX];
	size_t first[KEYS_MAX] = {0};

	if (!json_is_object(s->value)) {
		problem_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	size_t known = n;
	for (size_t i = 0; target && i < setting_count; i++)
		names[known++] = setting_table[i].name;
	for (struct place place = place_begin(p->text, s->at); place_next(&place);) {
		char path[PATH_SIZE], *name = place_key(&place);
		size_t k = 0;
		while (name && k < known && strcmp(name, names[k]))
			k++;
		if (name && k == known) {
			const char *near = suggest(name, names, known);
			problem(p, place.key, s->path, "unknown key \"%.60s\"%s%s%s", name, near ? "; did you mean \"" : "",
			        near ? near : "", near ? "\"?" : "");
		} else if (name && first[k]) {
			size_t line, column;
			place_line_column(p->text, first[k], &line, &column);
			problem(p, place.key, s->path, "the key \"%s\" is there already, in line %zu", name, line);
		} else if (name) {
			first[k] = place.key;
			snprintf(path, sizeof path, "%s.%s", s->path, name);
			/* From the text, and not from the tree, which has the last value of a key that is there twice. */
			json_t *value = json_loadb(p->text + place.value, place.next - place.value, JSON_DECODE_ANY, NULL);
			struct spot member = {value, place.value, path};
			if (value && k >= n)
				read_setting(p, &member, &setting_table[k - n], target->set, target->has);
			else if (value)
				keys[k].read(p, &member, (char *)into + keys[k].offset);
			else
				problem(p, place.value, path, "out of memory");
			json_decref(value);
		}
		free(name);
	}
	for (size_t i = 0; i < n; i++) {
		if (keys[i].required && !first[i])
			problem(p, s->at, s->path, "the key \"%s\" is missing (%s)", names[i], keys[i].hint);
	}
}

static void add_glob(struct parse *p, const struct spot *s, struct globs *globs)
{
	const char *glob = json_string_value(s->value);
	if (!glob || !*glob || strlen(glob) > 255 || has_control_characters(glob)) {
		problem_found(p, s, "a pattern of 1 to 255 bytes (* ? [...] as in file names)");
		return;
	}
	char **items = realloc(globs->items, (globs->count + 1) * sizeof *items);
	if (!items)
		return;
	globs->items = items;
	if ((items[globs->count] = strdup(glob)))
		globs->count++;
}

static void read_globs(struct parse *p, const struct spot *s, void *into)
{
	if (!json_is_array(s->value)) {
		if (json_is_string(s->value))
			add_glob(p, s, into);
		else
			problem_found(p, s, "a pattern, or a list of patterns");
		return;
	}
	if (json_array_size(s->value) == 0 || json_array_size(s->value) > GLOBS_MAX) {
		problem(p, s->at, s->path, "expected 1 to %d patterns, found %zu", GLOBS_MAX, json_array_size(s->value));
		return;
	}
	size_t i = 0;
	for (struct place place = place_begin(p->text, s->at); place_next(&place); i++) {
		char path[PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, i);
		struct spot element = {json_array_get(s->value, i), place.value, path};
		add_glob(p, &element, into);
	}
}

static void read_count(struct parse *p, const struct spot *s, bool *has, uint32_t *into)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX) {
		problem_found(p, s, "a number from 0 to 4294967295");
		return;
	}
	*has = true;
	*into = (uint32_t)n;
}

#define NUMBER_READERS(name, index)                                                                 \
	static void read_##name##_min(struct parse *p, const struct spot *s, void *into)            \
	{                                                                                           \
		struct rule *rule = into;                                                           \
		read_count(p, s, &rule->numbers[index].has_min, &rule->numbers[index].min);         \
	}                                                                                           \
	static void read_##name##_max(struct parse *p, const struct spot *s, void *into)            \
	{                                                                                           \
		struct rule *rule = into;                                                           \
		read_count(p, s, &rule->numbers[index].has_max, &rule->numbers[index].max);         \
	}

NUMBER_READERS(nodes, RULE_NODES)
NUMBER_READERS(tasks, RULE_TASKS)

static void read_match(struct parse *p, const struct spot *s, void *into)
{
	static const struct key keys[] = {
		{"user", read_globs, offsetof(struct rule, texts[RULE_USER]), false, NULL},
		{"group", read_globs, offsetof(struct rule, texts[RULE_GROUP]), false, NULL},
		{"account", read_globs, offsetof(struct rule, texts[RULE_ACCOUNT]), false, NULL},
		{"partition", read_globs, offsetof(struct rule, texts[RULE_PARTITION]), false, NULL},
		{"qos", read_globs, offsetof(struct rule, texts[RULE_QOS]), false, NULL},
		{"job_name", read_globs, offsetof(struct rule, texts[RULE_JOB_NAME]), false, NULL},
		{"nodes_min", read_nodes_min, 0, false, NULL},
		{"nodes_max", read_nodes_max, 0, false, NULL},
		{"tasks_min", read_tasks_min, 0, false, NULL},
		{"tasks_max", read_tasks_max, 0, false, NULL},
	};
	struct rule *rule = into;

	read_object(p, s, keys, COUNT(keys), rule, NULL);
	for (size_t i = 0; i < RULE_NUMBERS; i++) {
		if (rule->numbers[i].has_min && rule->numbers[i].has_max && rule->numbers[i].min > rule->numbers[i].max)
			problem(p, s->at, s->path, "matches nothing: %s_min is more than %s_max", rule_number_facts[i],
			        rule_number_facts[i]);
	}
}

static void read_rule(struct parse *p, const struct spot *s, struct rule *rule)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, false, NULL},
		{"name", read_name, offsetof(struct rule, name), true, "messages and metadata name the rule by it"},
		{"match", read_match, 0, false, NULL},
		{"mode", read_mode, offsetof(struct rule, mode), true, MODE_POLICY_CHOICES},
		{"user", read_rule_user_choice, 0, false, NULL},
		};
	size_t column;

	place_line_column(p->text, s->at, &rule->line, &column);
	read_object(p, s, keys, COUNT(keys), rule, &(struct target){&rule->set, rule->has});
	for (const struct rule *other = p->policy->rules; rule->name && other < rule; other++) {
		if (other->name && !strcmp(other->name, rule->name))
			problem(p, s->at, s->path, "its name \"%s\" is that of the rule in line %zu already", rule->name,
			        other->line);
	}
}

static void read_rules(struct parse *p, const struct spot *s, void *into)
{
	struct policy *policy = into;
	size_t n = json_array_size(s->value);

	if (!json_is_array(s->value)) {
		problem_found(p, s, "a list of rules");
		return;
	}
	if (n > RULES_MAX) {
		problem(p, s->at, s->path, "expected at most %d rules, found %zu", RULES_MAX, n);
		return;
	}
	policy->rules = calloc(n + 1, sizeof *policy->rules);
	if (!policy->rules) {
		problem(p, s->at, s->path, "out of memory");
		return;
	}
	for (struct place place = place_begin(p->text, s->at); place_next(&place);) {
		char path[PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, policy->rule_count);
		struct spot element = {json_array_get(s->value, policy->rule_count), place.value, path};
		read_rule(p, &element, &policy->rules[policy->rule_count]);
		policy->rule_count++;
	}
}

static void read_default_mode(struct parse *p, const struct spot *s, void *into)
{
	struct policy *policy = into;
	size_t column;

	place_line_column(p->text, s->at, &policy->mode_line, &column);
	read_mode(p, s, &policy->defaults.mode);
}

void parse_policy(struct policy *policy, const char *text, size_t size, struct problems *problems)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, false, NULL},
		{"version", read_version, 0, true, "it is 1"},
		{"mode", read_default_mode, 0, false, NULL},
		{"archive", read_folder, offsetof(struct policy, defaults.archive), false, NULL},
		{"spool", read_folder, offsetof(struct policy, defaults.spool), false, NULL},
		{"admin_group", read_group, offsetof(struct policy, defaults.admin_group), false, NULL},
		{"user", read_user_choice, offsetof(struct policy, user), false, NULL},
		{"rules", read_rules, 0, true, "an empty list [] if there are none"},
	};
	struct parse p = {policy, text, problems};
	json_error_t error;

	if (text[strspn(text, " \t\r\n")] == '\0' && strlen(text) == size) {
		problems_add(problems, policy->path, 1, 1, "$: the file is empty; expected an object {...}");
		return;
	}
	json_t *root = json_loadb(text, size, 0, &error);
	if (!root) {
		problems_add(problems, policy->path, error.line > 0 ? (size_t)error.line : 1,
		             error.column > 0 ? (size_t)error.column : 1, "not valid JSON: %s", error.text);
		return;
	}
	struct spot s = {root, place_root(text), "$"};
	read_object(&p, &s, keys, COUNT(keys), policy, &(struct target){&policy->defaults.set, NULL});
	json_decref(root);
}
