/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the texts of policy files into a struct policy
 *
 * Each kind of object is a table of its keys; a key is a name, a function that reads its value, and where that goes.
 * All problems are collected: a function that does not like a value says so and leaves the target alone. jansson says
 * whether the text is JSON and reads the values; the objects are walked in the text (policy/place.h), so that each
 * value has its place.
 */
#include "policy/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/counter.h"
#include "policy/match.h"
#include "policy/reader.h"
#include "policy/suggest.h"

#define KEYS_MAX     96
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef void read_function(struct parser *p, const struct spot *s, void *into);

struct key {
	const char *name;
	read_function *read;
	size_t offset;      /* of the target in the structure that is filled */
	const char *needed; /* for a key that must be there: why, or what */
	bool walked;        /* the function walks the text */
};

/* --- values --- */

static void read_comment(struct parser *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_string(s->value))
		reader_found(p, s, "a text");
}

static void read_version(struct parser *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_integer(s->value) || json_integer_value(s->value) != 1)
		reader_found(p, s, "1, the only version of policy files there is");
}

static void read_mode(struct parser *p, const struct spot *s, void *into)
{
	const char *text = json_string_value(s->value);
	if (!text || mode_parse(into, text))
		reader_found(p, s, MODE_POLICY_CHOICES);
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

	if (!path || path[0] != '/' || reader_has_control_characters(path) || has_parent_component(path)) {
		reader_found(p, s, "an absolute path without \"..\"");
	} else if (n > DECISION_PATH_SIZE - 256) { /* names of steps and days are appended */
		reader_problem(p, s->at, s->path, "expected a path of at most %d bytes, found %zu",
		               DECISION_PATH_SIZE - 256, n);
	} else {
		memcpy(into, path, n + 1);
		while (n > 1 && ((char *)into)[n - 1] == '/')
			((char *)into)[--n] = '\0';
	}
}

static void read_group(struct parser *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || strlen(name) > 63 || reader_has_control_characters(name) || strpbrk(name, " :/,"))
		reader_found(p, s, "the name of a group (or \"\" for none)");
	else
		strcpy(into, name);
}

static void read_user_choice(struct parser *p, const struct spot *s, void *into)
{
	static const char *const names[] = {[USER_ANY] = "any",
	                                    [USER_RAISE] = "raise",
	                                    [USER_LOWER] = "lower",
	                                    [USER_OFF] = "off",
	                                    [USER_NONE] = "none"};
	const char *text = json_string_value(s->value);

	for (size_t i = 0; text && i < COUNT(names); i++) {
		if (!strcmp(text, names[i])) {
			*(uint32_t *)into = (uint32_t)i;
			return;
		}
	}
	reader_found(p, s,
	             "what users may choose: \"any\", \"raise\" (to capture more), \"lower\" (less), \"off\" (only to "
	             "switch capture "
	             "off) or \"none\"");
}

static void read_threshold(struct parser *p, const struct spot *s, void *into)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX)
		reader_found(p, s, "a number of tokens from 0 to 4294967295");
	else
		*(int64_t *)into = n;
}

static void read_name(struct parser *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || !*name || strlen(name) > 100 || reader_has_control_characters(name))
		reader_found(p, s, "a name of 1 to 100 bytes");
	else if (!(*(char **)into = strdup(name)))
		reader_no_memory(p, s);
}

/* --- settings --- */

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

/* Where the settings of an object go. */
struct target {
	struct settings *set;
	uint32_t *line; /* where each stands; NULL if nobody wants to know */
	bool *has;      /* which are there; NULL if nobody wants to know */
};

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
		reader_problem(p, s->at, s->path, "%.60s is no event of PAPI%s%s%s", own, near ? "; did you mean " : "",
		               near ? near : "", near ? "?" : "");
		return true;
	case COUNTER_FORM:
		reader_problem(p, s->at, s->path,
		               "%.*s is no event: expected PAPI_NAME, or COMPONENT::EVENT such as perf::TASK-CLOCK",
		               (int)(length < 60 ? length : 60), name);
		return true;
	case COUNTER_TWICE:
		reader_problem(p, s->at, s->path, "%.*s is there twice", (int)(length < 60 ? length : 60), name);
		return true;
	case COUNTER_GOOD:
		break;
	}
	return false;
}

static void read_setting(struct parser *p, const struct spot *s, const struct setting *setting,
                         const struct target *target)
{
	char buffer[SETTING_TEXT_SIZE + 1], expected[SETTING_EXPECTED_SIZE];
	const char *text = setting_source(setting, s->value, buffer);
	size_t line, column, i = (size_t)(setting - setting_table);

	if (!text || setting_parse(setting, target->set, text)) {
		if (!text || setting->offset != offsetof(struct settings, counters) || !unknown_counter(p, s, text))
			reader_found(p, s, setting_expected(setting, expected));
		return;
	}
	reader_line(p, s->at, &line, &column);
	if (target->line)
		target->line[i] = (uint32_t)line;
	if (target->has)
		target->has[i] = true;
}

/* --- objects --- */

/* The value of a member, and what is to be done with it. */
static void read_member(struct parser *p, const struct spot *s, const struct key *key, const struct setting *setting,
                        void *into, const struct target *target)
{
	struct spot member = *s;

	if (key && key->walked) {
		key->read(p, &member, (char *)into + key->offset);
		return;
	}
	/* From the text, and not from a tree of all, which has the last value of a key that is there twice. */
	member.value = json_loadb(p->text + s->at, s->end - s->at, JSON_DECODE_ANY, NULL);
	if (!member.value)
		reader_no_memory(p, s);
	else if (key)
		key->read(p, &member, (char *)into + key->offset);
	else
		read_setting(p, &member, setting, target);
	json_decref(member.value);
}

/* Reads an object of these keys, and (with a target) of settings, into a structure. */
static void read_object(struct parser *p, const struct spot *s, const struct key *keys, size_t n, void *into,
                        const struct target *target)
{
	const char *names[KEYS_MAX];
	size_t first[KEYS_MAX] = {0}, known = 0;

	if (p->text[s->at] != '{') {
		reader_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[known++] = keys[i].name;
	for (size_t i = 0; target && i < setting_count; i++)
		names[known++] = setting_table[i].name;
	for (struct place place = place_begin(p->text, s->at); place_next(&place);) {
		char path[READER_PATH_SIZE], *name = place_key(&place);
		size_t k = 0;
		while (name && k < known && strcmp(name, names[k]))
			k++;
		if (name && k == known) {
			reader_unknown_key(p, &place, s->path, name, names, known);
		} else if (name && first[k]) {
			size_t line, column;
			place_line_column(p->text, first[k], &line, &column);
			reader_problem(p, place.key, s->path, "the key \"%s\" is there already, in line %zu", name,
			               line);
		} else if (name) {
			first[k] = place.key;
			snprintf(path, sizeof path, "%s.%s", s->path, name);
			struct spot member = {NULL, place.value, place.next, path};
			read_member(p, &member, k < n ? &keys[k] : NULL, k < n ? NULL : &setting_table[k - n], into,
			            target);
		}
		free(name);
	}
	for (size_t i = 0; i < n; i++) {
		if (keys[i].needed && !first[i])
			reader_problem(p, s->at, s->path, "the key \"%s\" is missing (%s)", names[i], keys[i].needed);
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
		reader_problem(p, s->at, s->path, "a threshold means something only where the mode is \"lossy\"");
	if (late && reading->archive[0])
		reader_problem(p, s->at, s->path,
		               "a rule on executable or ranks is decided where the program starts: it can have no "
		               "archive of its own");
}

static void read_rule(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"name", read_name, offsetof(struct reading, name), "messages and metadata name the rule by it", false},
		{"match", match_read, offsetof(struct reading, match), NULL, true},
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

	reader_line(p, s->at, &line, &column);
	rule.line = (uint32_t)line;
	read_object(p, s, keys, COUNT(keys), &reading, &(struct target){&reading.set, reading.set_line, reading.has});
	uint32_t other = reading.name ? claim_name(p, reading.name, number) : UINT32_MAX;
	if (other != UINT32_MAX) {
		const struct rule *first = &p->policy->rules[other];
		bool here = first->file == p->file_number;
		reader_problem(p, s->at, s->path, "its name \"%s\" is that of the rule in line %" PRIu32 "%s%s already",
		               reading.name, first->line, here ? "" : " of ",
		               here ? "" : policy_text(p->policy, p->policy->files[first->file]));
	}
	check_rule(p, s, &reading);
	rule.mode = reading.mode;
	rule.user = reading.user == UINT32_MAX ? -1 : (int32_t)reading.user;
	rule.name = image_add_text(p->policy, reading.name ? reading.name : "");
	rule.archive = image_add_text(p->policy, reading.archive);
	if (rule.name == UINT32_MAX || rule.archive == UINT32_MAX || match_add(p, &rule, &reading.match) ||
	    add_values(p, &rule, &reading) || image_add(p->policy, PART_RULES, &rule) == UINT32_MAX)
		reader_no_memory(p, s);
	free(reading.name);
}

static void read_rules(struct parser *p, const struct spot *s, void *into)
{
	size_t i = 0;

	(void)into;
	if (p->text[s->at] != '[') {
		reader_found(p, s, "a list of rules");
		return;
	}
	for (struct place place = place_begin(p->text, s->at); place_next(&place); i++) {
		char path[READER_PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, i);
		struct spot element = {NULL, place.value, place.next, path};
		if (p->policy->head.counts[PART_RULES] >= RULES_MAX) {
			reader_problem(p, element.at, path,
			               "more than %d rules; a policy may have no more, with its fragments", RULES_MAX);
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

	reader_line(p, s->at, &line, &column);
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

	reader_line(p, s->at, &line, &column);
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
		{"rules", read_rules, 0, "a fragment has rules, and what is for all jobs is in the policy itself",
	         true},
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
	p->text = text;
	p->seen_line = 0;
	p->file_number = image_add(p->policy, PART_FILES, &name);
	if (text[strspn(text, " \t\r\n")] == '\0' && strlen(text) == size) {
		problems_add(p->problems, file, 1, 1, "$: the file is empty; expected an object {...}");
		return;
	}
	json_t *root = json_loadb(text, size, 0, &error);
	if (!root) {
		problems_add(p->problems, file, error.line > 0 ? (size_t)error.line : 1,
		             error.column > 0 ? (size_t)error.column : 1, "not valid JSON: %s", error.text);
		return;
	}
	json_decref(root);
	size_t at = place_root(text);
	struct spot s = {NULL, at, size, "$"};
	if (p->file_number == UINT32_MAX)
		reader_no_memory(p, &s);
	else if (main)
		read_fragment(p, &s);
	else
		read_main(p, &s);
}
