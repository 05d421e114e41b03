/* SPDX-License-Identifier: BSD-3-Clause
 * json_place - where in a JSON text a value stands
 */
#include "policy/json_place.h"

#include <jansson.h>
#include <string.h>

static size_t skip_blanks(const char *text, size_t at)
{
	return at + strspn(text + at, " \t\r\n");
}

/* The offset behind the string whose opening quote is at `at`. */
static size_t skip_string(const char *text, size_t at)
{
	for (at++; text[at] && text[at] != '"'; at++) {
		if (text[at] == '\\' && text[at + 1])
			at++;
	}
	return text[at] ? at + 1 : at;
}

/* The offset behind the value at `at`: behind its last bracket, or its last character. */
static size_t skip_value(const char *text, size_t at)
{
	size_t depth = 0;

	do {
		switch (text[at]) {
		case '\0':
			return at;
		case '"':
			at = skip_string(text, at);
			break;
		case '{':
		case '[':
			depth++;
			at++;
			break;
		case '}':
		case ']':
			depth--;
			at++;
			break;
		default: /* numbers and words of the value itself, and whatever else stands between brackets */
			at += depth ? 1 : strcspn(text + at, " \t\r\n,]}");
			break;
		}
	} while (depth);
	return at;
}

size_t json_place_root(const char *text)
{
	return skip_blanks(text, 0);
}

struct json_place json_place_begin(const char *text, size_t at)
{
	return (struct json_place){.text = text, .next = at};
}

bool json_place_next(struct json_place *p)
{
	const char *text = p->text;
	bool first = p->value == 0; /* no value stands at 0 inside of another */

	if (first)
		p->next++; /* the opening bracket */
	size_t at = skip_blanks(text, p->next);
	if (!first && text[at] == ',')
		at = skip_blanks(text, at + 1);
	if (text[at] == '}' || text[at] == ']' || !text[at])
		return false;
	p->key = at;
	if (text[at] == '"') {
		size_t colon = skip_blanks(text, skip_string(text, at));
		if (text[colon] == ':')
			at = skip_blanks(text, colon + 1);
	}
	p->value = at;
	p->next = skip_value(text, at);
	return true;
}

char *json_place_key(const struct json_place *p)
{
	json_t *string = json_loadb(p->text + p->key, skip_string(p->text, p->key) - p->key, JSON_DECODE_ANY, NULL);
	const char *key = json_string_value(string);
	char *copy = key ? strdup(key) : NULL;
	json_decref(string);
	return copy;
}

void json_place_line_column(const char *text, size_t at, size_t *line, size_t *column)
{
	*line = *column = 1;
	for (size_t i = 0; i < at && text[i]; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			++*column;
		}
	}
}
