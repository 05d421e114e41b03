/* SPDX-License-Identifier: BSD-3-Clause
 * choice - what a user says with --trace or SPOOR_TRACE
 */
#include "policy/choice.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/suggest.h"

static int unknown_setting(const char *word, const char *equals, struct error *error)
{
	const char *names[setting_count];
	char name[64];
	size_t n = 0;

	for (size_t i = 0; i < setting_count; i++) {
		if (setting_table[i].tracer)
			names[n++] = setting_table[i].name;
	}
	snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
	const char *near = suggest(name, names, n);
	return error_set(error, "%s is no setting of the tracer%s%s%s", name, near ? "; did you mean " : "",
	                 near ? near : "", near ? "?" : "");
}

/* value is what follows the `=`. */
static int read_setting(struct choice *choice, const struct setting *s, const char *value, struct error *error)
{
	char expected[SETTING_EXPECTED_SIZE];

	if (setting_parse(s, &choice->set, value))
		return error_set(error, "%s=%.60s: expected %s", s->name, value, setting_expected(s, expected));
	choice->has[s - setting_table] = true;
	return 0;
}

/* A word without a `=` after a list of names is one more of them: counters=A,B. */
static int add_list_name(struct choice *choice, const struct setting *s, const char *name, struct error *error)
{
	char names[CHOICE_SIZE + SETTING_TEXT_SIZE];

	snprintf(names, sizeof names, "%s,%s", setting_text(s, &choice->set), name);
	return read_setting(choice, s, names, error);
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcasecmp(word, *words))
			return true;
	return false;
}

static int read_mode_word(struct choice *choice, const char *word, struct error *error)
{
	static const char *const on[] = {"", "on", "1", "yes", "true", NULL}, *const off[] = {"0", "no", "false", NULL};

	choice->on = is_one_of(word, on);
	if (!choice->on && mode_parse(&choice->mode, is_one_of(word, off) ? "off" : word))
		return error_set(error, "expected one of " CHOICES ", found %.60s", word);
	return 0;
}

int choice_parse(struct choice *choice, const char *text, struct error *error)
{
	char copy[CHOICE_SIZE], *rest = copy;
	const struct setting *last = NULL;

	*choice = (struct choice){.on = true};
	settings_default(&choice->set);
	if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
		return error_set(error, "longer than %d bytes", CHOICE_SIZE - 1);
	for (char *word; (word = strsep(&rest, ","));) {
		const char *equals = strchr(word, '=');
		int rv;
		if (equals && !(last = setting_find(word, (size_t)(equals - word))))
			rv = unknown_setting(word, equals, error);
		else if (equals)
			rv = last->tracer ? read_setting(choice, last, equals + 1, error)
			                  : unknown_setting(word, equals, error);
		else if (word == copy)
			rv = read_mode_word(choice, word, error);
		else if (last && last->kind == SETTING_TEXT)
			rv = add_list_name(choice, last, word, error);
		else
			rv = error_set(error, "expected SETTING=VALUE, found %.60s", word);
		if (rv)
			return -1;
	}
	return 0;
}
