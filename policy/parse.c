/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the texts of policy files into a struct policy
 *
 * Each kind of object is a table of its keys; a key is a name, a function that reads its value, and where that goes.
 * All problems are collected: a function that does not like a value says so and leaves the target alone. jansson says
 * whether the text is JSON and reads the values; the objects are walked in the text (policy/json_place.h), so that each
 * value has its place.
 */
#include "policy/parse.h"

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "policy/match.h"
#include "policy/parser.h"
#include "policy/setting_json.h"

#define KEYS_MAX     96
#define HOOKS_MAX    100
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
		parser_found(p, s, "a text");
}

static void read_version(struct parser *p, const struct spot *s, void *into)
{
	(void)into;
	if (!json_is_integer(s->value) || json_integer_value(s->value) != 1)
		parser_found(p, s, "1, the only version of policy files there is");
}

static void read_mode_key(struct parser *p, const struct spot *s, void *into)
{
	const char *text = json_string_value(s->value);
	if (!text || mode_parse(into, text))
		parser_found(p, s, MODE_POLICY_CHOICES);
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

	if (!path || path[0] != '/' || parser_has_control_characters(path) || has_parent_component(path)) {
		parser_found(p, s, "an absolute path without \"..\"");
	} else if (n > DECISION_PATH_SIZE - 256) { /* names of steps and days are appended */
		parser_problem(p, s->at, s->path, "expected a path of at most %d bytes, found %zu",
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
	if (!name || strlen(name) > 63 || parser_has_control_characters(name) || strpbrk(name, " :/,"))
		parser_found(p, s, "the name of a group (or \"\" for none)");
	else
		strcpy(into, name);
}

static void read_user_choice(struct parser *p, const struct spot *s, void *into)
{
	const char *text = json_string_value(s->value);

	for (enum user_choice i = 0; text && i < USER_CHOICES; i++) {
		if (!strcmp(text, user_choice_names[i])) {
			*(enum user_choice *)into = i;
			return;
		}
	}
	parser_found(p, s,
	             "what users may choose: \"any\", \"raise\" (to capture more), \"lower\" (less), \"off\" (only to "
	             "switch capture "
	             "off) or \"none\"");
}

static void read_threshold(struct parser *p, const struct spot *s, void *into)
{
	json_int_t n = json_integer_value(s->value);
	if (!json_is_integer(s->value) || n < 0 || n > UINT32_MAX)
		parser_found(p, s, "a number of tokens from 0 to 4294967295");
	else
		*(int64_t *)into = n;
}

static void read_rule_name(struct parser *p, const struct spot *s, void *into)
{
	const char *name = json_string_value(s->value);
	if (!name || !*name || strlen(name) > 100 || parser_has_control_characters(name))
		parser_found(p, s, "a name of 1 to 100 bytes");
	else if (!(*(char **)into = strdup(name)))
		parser_no_memory(p, s);
}

/* --- objects --- */

/* The value of a member, and what is to be done with it. */
static void read_member(struct parser *p, const struct spot *s, const struct key *key, const struct setting *setting,
                        void *into, const struct setting_target *target)
{
	struct spot member = *s;

	if (key && key->walked) {
		key->read(p, &member, (char *)into + key->offset);
		return;
	}
	/* From the text, and not from a tree of all, which has the last value of a key that is there twice. */
	member.value = json_loadb(p->text + s->at, s->end - s->at, JSON_DECODE_ANY, NULL);
	if (!member.value)
		parser_no_memory(p, s);
	else if (key)
		key->read(p, &member, (char *)into + key->offset);
	else
		setting_read_json(p, &member, setting, target);
	json_decref(member.value);
}

/* Reads an object of these keys, and (with a target) of settings, into a structure. */
static void read_object(struct parser *p, const struct spot *s, const struct key *keys, size_t n, void *into,
                        const struct setting_target *target)
{
	const char *names[KEYS_MAX];
	size_t first[KEYS_MAX] = {0}, known = 0;

	if (p->text[s->at] != '{') {
		parser_found(p, s, "an object {...}");
		return;
	}
	for (size_t i = 0; i < n; i++)
		names[known++] = keys[i].name;
	for (size_t i = 0; target && i < setting_count; i++)
		names[known++] = setting_table[i].name;
	for (struct json_place place = json_place_begin(p->text, s->at); json_place_next(&place);) {
		char path[PARSER_PATH_SIZE], *name = json_place_key(&place);
		size_t k = 0;
		while (name && k < known && strcmp(name, names[k]))
			k++;
		if (name && k == known) {
			parser_unknown_key(p, &place, s->path, name, names, known);
		} else if (name && first[k]) {
			size_t line, column;
			json_place_line_column(p->text, first[k], &line, &column);
			parser_problem(p, place.key, s->path, "the key \"%s\" is there already, in line %zu", name,
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
			parser_problem(p, s->at, s->path, "the key \"%s\" is missing (%s)", names[i], keys[i].needed);
	}
}

/* --- rules --- */

static void read_archive(struct parser *p, const struct spot *s, void *into)
{
	char path[DECISION_PATH_SIZE] = "";

	read_folder(p, s, path);
	if (path[0] && !(*(char **)into = strdup(path)))
		parser_no_memory(p, s);
}

static int compare_rule_names(const void *a, const void *b)
{
	return strcmp(((const struct rule *)a)->name, ((const struct rule *)b)->name);
}

/* What a key alone does not tell. */
static void check_rule(struct parser *p, const struct spot *s, struct rule *rule)
{
	if (rule->threshold >= 0 && rule->mode.kind == MODE_LOSSY)
		rule->mode.threshold = (uint32_t)rule->threshold;
	else if (rule->threshold >= 0)
		parser_problem(p, s->at, s->path, "a threshold means something only where the mode is \"lossy\"");
	if ((rule->has[IF_EXECUTABLE] || rule->has[IF_RANKS]) && rule->archive)
		parser_problem(p, s->at, s->path,
		               "a rule on executable or ranks is decided where the program starts: it can have no "
		               "archive of its own");
}

/* Adds the rule, which is the policy's from then on. Returns 0, or -1 (no memory). */
static int add_rule(struct parser *p, const struct spot *s, struct rule *rule)
{
	struct policy *policy = p->policy;

	if (policy->rule_count == policy->rule_room) {
		size_t room = policy->rule_room ? 2 * policy->rule_room : 64;
		struct rule **more = realloc(policy->rules, room * sizeof *more);
		if (!more)
			return -1;
		policy->rules = more;
		policy->rule_room = room;
	}
	struct rule *const *other = rule->name ? tsearch(rule, &p->names, compare_rule_names) : NULL;
	if (rule->name && !other)
		return -1;
	policy->rules[policy->rule_count++] = rule;
	if (other && *other != rule)
		parser_problem(p, s->at, s->path, "its name \"%s\" is that of the rule in line %zu%s%s already",
		               rule->name, (*other)->line, (*other)->file == rule->file ? "" : " of ",
		               (*other)->file == rule->file ? "" : (*other)->file);
	return 0;
}

static void read_rule(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"name", read_rule_name, offsetof(struct rule, name), "messages and metadata name the rule by it",
	         false},
		{"match", match_read, 0, NULL, true},
		{"mode", read_mode_key, offsetof(struct rule, mode), MODE_POLICY_CHOICES, false},
		{"threshold", read_threshold, offsetof(struct rule, threshold), NULL, false},
		{"user", read_user_choice, offsetof(struct rule, user), NULL, false},
		{"archive", read_archive, offsetof(struct rule, archive), NULL, false},
	};
	_Static_assert(COUNT(keys) + setting_count <= KEYS_MAX, "KEYS_MAX");
	struct rule *rule = rule_create(p->file);
	size_t column;

	if (!rule) {
		parser_no_memory(p, s);
		return;
	}
	parser_line(p, s->at, &rule->line, &column);
	read_object(p, s, keys, COUNT(keys), rule, &(struct setting_target){&rule->set, NULL, rule->has_set});
	if (add_rule(p, s, rule)) {
		parser_no_memory(p, s);
		rule_destroy(rule);
	} else {
		check_rule(p, s, rule);
	}
}

static void read_rules(struct parser *p, const struct spot *s, void *into)
{
	size_t i = 0;

	(void)into;
	if (p->text[s->at] != '[') {
		parser_found(p, s, "a list of rules");
		return;
	}
	for (struct json_place place = json_place_begin(p->text, s->at); json_place_next(&place); i++) {
		char path[PARSER_PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, i);
		struct spot element = {NULL, place.value, place.next, path};
		if (p->policy->rule_count >= RULES_MAX) {
			parser_problem(p, element.at, path,
			               "more than %d rules; a policy may have no more, with its fragments", RULES_MAX);
			return;
		}
		read_rule(p, &element);
	}
}

/* --- hooks --- */

static void read_run(struct parser *p, const struct spot *s, void *into)
{
	const char *path = json_string_value(s->value);
	if (!path || path[0] != '/' || strlen(path) >= PATH_MAX || parser_has_control_characters(path))
		parser_found(p, s, "the absolute path of a program");
	else if (!(*(char **)into = strdup(path)))
		parser_no_memory(p, s);
}

static void read_hook(struct parser *p, const struct spot *s, struct rule *hook)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"name", read_rule_name, offsetof(struct rule, name), "messages name the hook by it", false},
		{"match", match_read, 0, NULL, true},
		{"run", read_run, offsetof(struct rule, run), "the absolute path of a program", false},
	};
	struct policy *policy = p->policy;
	size_t column;

	parser_line(p, s->at, &hook->line, &column);
	read_object(p, s, keys, COUNT(keys), hook, NULL);
	for (size_t i = 0; hook->name && i + 1 < policy->hook_count; i++)
		if (policy->hooks[i]->name && !strcmp(policy->hooks[i]->name, hook->name))
			parser_problem(p, s->at, s->path, "its name \"%s\" is that of the hook in line %zu already",
			               hook->name, policy->hooks[i]->line);
}

static void read_hooks(struct parser *p, const struct spot *s, void *into)
{
	struct policy *policy = into;

	if (p->text[s->at] != '[') {
		parser_found(p, s, "a list of hooks");
		return;
	}
	policy->hooks = calloc(HOOKS_MAX, sizeof *policy->hooks);
	for (struct json_place place = json_place_begin(p->text, s->at); json_place_next(&place);) {
		char path[PARSER_PATH_SIZE];
		snprintf(path, sizeof path, "%s[%zu]", s->path, policy->hook_count);
		struct spot element = {NULL, place.value, place.next, path};
		struct rule *hook = policy->hooks && policy->hook_count < HOOKS_MAX ? rule_create(p->file) : NULL;
		if (!hook) {
			if (policy->hook_count == HOOKS_MAX)
				parser_problem(p, element.at, path, "a policy has at most %d hooks", HOOKS_MAX);
			else
				parser_no_memory(p, &element);
			return;
		}
		hook->hook = true;
		policy->hooks[policy->hook_count++] = hook;
		read_hook(p, &element, hook);
	}
}

/* --- files --- */

static void read_default_mode(struct parser *p, const struct spot *s, void *into)
{
	struct policy *policy = into;
	size_t column;

	parser_line(p, s->at, &policy->mode_line, &column);
	read_mode_key(p, s, &policy->defaults.mode);
}

/* What nothing may exceed. */
static void read_cap(struct parser *p, const struct spot *s, void *into)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"mode", read_mode_key, offsetof(struct policy, cap_mode), NULL, false},
	};
	struct policy *policy = into;
	size_t column;

	parser_line(p, s->at, &policy->cap_line, &column);
	read_object(p, s, keys, COUNT(keys), policy, &(struct setting_target){&policy->cap, NULL, policy->cap_has});
}

/* Of the commands that look at many traces (archive/archive.h); a decision does not need them. */
static void read_applications(struct parser *p, const struct spot *s, void *unused)
{
	const char *pattern;
	json_t *name;
	(void)unused;

	if (!json_is_object(s->value))
		parser_found(p, s, "an object of patterns and names, such as {\"lmp*\": \"LAMMPS\"}");
	json_object_foreach(s->value, pattern, name)
	{
		if (!json_is_string(name) || parser_has_control_characters(json_string_value(name)))
			parser_problem(p, s->at, s->path, "the name of \"%.64s\" must be a text", pattern);
	}
}

static void read_main(struct parser *p, const struct spot *s)
{
	static const struct key keys[] = {
		{"comment", read_comment, 0, NULL, false},
		{"version", read_version, 0, "it is 1", false},
		{"mode", read_default_mode, 0, NULL, false},
		{"archive", read_folder, offsetof(struct policy, defaults.archive), NULL, false},
		{"spool", read_folder, offsetof(struct policy, defaults.spool), NULL, false},
		{"admin_group", read_group, offsetof(struct policy, defaults.admin_group), NULL, false},
		{"user", read_user_choice, offsetof(struct policy, user), NULL, false},
		{"applications", read_applications, 0, NULL, false},
		{"cap", read_cap, 0, NULL, true},
		{"hooks", read_hooks, 0, NULL, true},
		{"rules", read_rules, 0, "an empty list [] if there are none", true},
	};
	_Static_assert(COUNT(keys) + setting_count <= KEYS_MAX, "KEYS_MAX");
	struct policy *policy = p->policy;

	read_object(p, s, keys, COUNT(keys), policy,
	            &(struct setting_target){&policy->defaults.set, policy->set_line, NULL});
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

/* The rules are the policy's. */
static void leave_rule(void *rule)
{
	(void)rule;
}

void parser_destroy(struct parser *p)
{
	if (p)
		tdestroy(p->names, leave_rule);
	free(p);
}

/* The name of the file as rules have it, or NULL (no memory). */
static const char *add_policy_file(struct policy *policy, const char *file)
{
	char **more = realloc(policy->files, (policy->file_count + 1) * sizeof *more);

	policy->files = more ? more : policy->files;
	if (!more || !(more[policy->file_count] = strdup(file)))
		return NULL;
	return more[policy->file_count++];
}

void parser_read(struct parser *p, const char *file, const char *main, const char *text, size_t size)
{
	const char *name = add_policy_file(p->policy, file);
	json_error_t error;

	p->file = name ? name : file;
	p->text = text;
	p->seen_line = 0;
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
	size_t at = json_place_root(text);
	struct spot s = {NULL, at, size, "$"};
	if (!name)
		parser_no_memory(p, &s);
	else if (main)
		read_fragment(p, &s);
	else
		read_main(p, &s);
}
