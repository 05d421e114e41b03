/* SPDX-License-Identifier: BSD-3-Clause
 * setting - the knobs of capturing, in one table
 */
#include "policy/setting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/counter.h"
#include "trace/base/number.h"

enum reach { SITE, TRACER };

#define ROW(name, kind, least, most, standard, words, reach, help) \
	{#name, SETTING_##kind, offsetof(struct settings, name), least, most, standard, words, reach == TRACER, help},
const struct setting setting_table[] = {SETTINGS(ROW)};

const struct setting *setting_find(const char *name, size_t n)
{
	for (size_t i = 0; i < setting_count; i++) {
		if (strlen(setting_table[i].name) == n && !memcmp(setting_table[i].name, name, n))
			return &setting_table[i];
	}
	return NULL;
}

uint64_t setting_number(const struct setting *s, const struct settings *all)
{
	uint64_t value;
	memcpy(&value, (const char *)all + s->offset, sizeof value);
	return value;
}

const char *setting_text(const struct setting *s, const struct settings *all)
{
	return (const char *)all + s->offset;
}

void setting_put_number(const struct setting *s, struct settings *all, uint64_t value)
{
	memcpy((char *)all + s->offset, &value, sizeof value);
}

void settings_default(struct settings *all)
{
	memset(all, 0, sizeof *all);
	for (size_t i = 0; i < setting_count; i++) {
		if (setting_table[i].kind != SETTING_TEXT)
			setting_put_number(&setting_table[i], all, setting_table[i].standard);
	}
}

/* --- values as text --- */

static int read_choice(const struct setting *s, const char *text, uint64_t *value)
{
	size_t n = strlen(text);

	*value = 0;
	for (const char *word = s->words; n > 0; ++*value) {
		size_t length = strcspn(word, "|");
		if (length == n && !memcmp(word, text, n))
			return 0;
		word += length;
		if (!*word++)
			break;
	}
	return -1;
}

/* A fraction 0.DIGITS in millionths, rounded up: what is asked for is not exceeded, but it is not made nothing either.
 * */
static int read_fraction(const char *text, uint64_t *millionths)
{
	uint64_t v = 0;
	const char *p = text + 2;

	if (strncmp(text, "0.", 2) != 0 || !*p)
		return -1;
	for (int i = 0; *p >= '0' && *p <= '9'; p++, i++)
		v = i < 6 ? 10 * v + (uint64_t)(*p - '0') : v;
	if (*p)
		return -1;
	for (size_t digits = strlen(text + 2); digits < 6; digits++)
		v *= 10;
	*millionths = v;
	return 0;
}

/* The place of the last word. */
static uint64_t last_place(const struct setting *s)
{
	uint64_t n = 0;
	for (const char *p = s->words; *p; p++)
		n += *p == '|';
	return n;
}

static int read_grade(const struct setting *s, const char *text, uint64_t *value)
{
	char word[32];
	size_t n = strcspn(text, ":");
	uint64_t error = 0;

	if (n >= sizeof word)
		return -1;
	snprintf(word, sizeof word, "%.*s", (int)n, text);
	if (read_choice(s, word, value))
		return -1;
	bool last = *value == last_place(s);
	if (text[n] && (!last || read_fraction(text + n + 1, &error) || error < s->least || error > s->most))
		return -1;
	if (last)
		*value = GRADE_EXACT - error;
	return 0;
}

uint64_t setting_error(uint64_t grade)
{
	return grade < GRADE_EXACT && grade >= GRADE_EXACT - 1000000 ? GRADE_EXACT - grade : 0;
}

/* How many names a TEXT has. */
static uint64_t count_list_names(const char *text)
{
	uint64_t n = *text != '\0';
	for (; *text; text++)
		n += *text == ',';
	return n;
}

static int read_names(const struct setting *s, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.=+-*?,";
	size_t length = strlen(text);
	uint64_t n = count_list_names(text);

	if (length >= SETTING_TEXT_SIZE || strspn(text, plain) != length || strstr(text, ",,") || text[0] == ',' ||
	    (length && text[length - 1] == ','))
		return -1;
	if (n < s->least || n > s->most)
		return -1;
	return offsetof(struct settings, counters) == s->offset && counter_check(text, NULL, NULL) ? -1 : 0;
}

int setting_parse(const struct setting *s, struct settings *all, const char *text)
{
	uint64_t value = 0;
	int rv = -1;

	switch (s->kind) {
	case SETTING_COUNT:
		rv = number_parse(text, s->most, &value) || value < s->least ? -1 : 0;
		break;
	case SETTING_BYTES:
		rv = number_parse_bytes(text, s->most, &value) || value < s->least ? -1 : 0;
		break;
	case SETTING_CHOICE:
		rv = read_choice(s, text, &value);
		break;
	case SETTING_GRADE:
		rv = read_grade(s, text, &value);
		break;
	case SETTING_TEXT:
		if (read_names(s, text))
			return -1;
		memset((char *)all + s->offset, 0, SETTING_TEXT_SIZE);
		strcpy((char *)all + s->offset, text);
		return 0;
	}
	if (rv == 0)
		setting_put_number(s, all, value);
	return rv;
}

char *setting_format(const struct setting *s, const struct settings *all, char out[SETTING_TEXT_SIZE])
{
	if (s->kind == SETTING_TEXT) {
		snprintf(out, SETTING_TEXT_SIZE, "%s", setting_text(s, all));
	} else if (s->kind == SETTING_CHOICE || s->kind == SETTING_GRADE) {
		const char *word = s->words;
		for (uint64_t i = setting_number(s, all); i > 0 && strchr(word, '|'); i--)
			word = strchr(word, '|') + 1;
		int n = snprintf(out, SETTING_TEXT_SIZE, "%.*s", (int)strcspn(word, "|"), word);
		uint64_t error =
			s->kind == SETTING_GRADE && !strchr(word, '|') ? setting_error(setting_number(s, all)) : 0;
		if (error) {
			n += snprintf(out + n, SETTING_TEXT_SIZE - (size_t)n, ":0.%06" PRIu64, error);
			while (out[n - 1] == '0')
				out[--n] = '\0';
		}
	} else {
		snprintf(out, SETTING_TEXT_SIZE, "%" PRIu64, setting_number(s, all));
	}
	return out;
}

char *setting_expected(const struct setting *s, char out[SETTING_EXPECTED_SIZE])
{
	size_t n = 0;

	switch (s->kind) {
	case SETTING_COUNT:
	case SETTING_BYTES:
		snprintf(out, SETTING_EXPECTED_SIZE, "%s from %" PRIu64 " to %" PRIu64 "%s", s->words, s->least,
		         s->most, s->kind == SETTING_BYTES ? ", or a text such as \"8 MiB\" (KiB, MiB, GiB)" : "");
		break;
	case SETTING_CHOICE:
	case SETTING_GRADE:
		for (const char *word = s->words; n < SETTING_EXPECTED_SIZE;) {
			int length = (int)strcspn(word, "|");
			const char *before = word == s->words ? "" : word[length] ? ", " : " or ";
			n += (size_t)snprintf(out + n, SETTING_EXPECTED_SIZE - n, "%s\"%.*s\"", before, length, word);
			if (!word[length])
				break;
			word += length + 1;
		}
		if (s->kind == SETTING_GRADE && n < SETTING_EXPECTED_SIZE)
			snprintf(out + n, SETTING_EXPECTED_SIZE - n, " (or with :E, E from 0.000001 to 0.5)");
		break;
	case SETTING_TEXT:
		if (offsetof(struct settings, counters) == s->offset)
			snprintf(out, SETTING_EXPECTED_SIZE, "a list of at most %d events, such as " COUNTER_EXAMPLES,
			         COUNTERS_MAX);
		else
			snprintf(out, SETTING_EXPECTED_SIZE,
			         "a text of %" PRIu64 " to %" PRIu64 " names of %s, separated by commas", s->least,
			         s->most, s->words);
		break;
	}
	return out;
}

/* --- several --- */

void setting_copy(const struct setting *s, struct settings *to, const struct settings *from)
{
	size_t size = s->kind == SETTING_TEXT ? SETTING_TEXT_SIZE : sizeof(uint64_t);
	memcpy((char *)to + s->offset, (const char *)from + s->offset, size);
}

int setting_compare(const struct setting *s, const struct settings *a, const struct settings *b)
{
	bool text = s->kind == SETTING_TEXT;
	uint64_t x = text ? count_list_names(setting_text(s, a)) : setting_number(s, a);
	uint64_t y = text ? count_list_names(setting_text(s, b)) : setting_number(s, b);
	return (x > y) - (x < y);
}
