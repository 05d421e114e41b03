/* SPDX-License-Identifier: BSD-3-Clause
 * parser - what the readers of a policy's parts share
 */
#include "policy/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/parse.h"
#include "policy/suggest.h"

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

/* As json_place_line_column, from where the last one was. */
void parser_line(struct parser *p, size_t at, size_t *line, size_t *column)
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

void parser_problem(struct parser *p, size_t at, const char *path, const char *format, ...)
{
	char message[700];
	size_t line, column;
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	parser_line(p, at, &line, &column);
	problems_add(p->problems, p->file, line, column, "%s: %s", path, message);
}

void parser_no_memory(struct parser *p, const struct spot *s)
{
	parser_problem(p, s->at, s->path, "out of memory");
}

/* What a value is, for "found ...". */
static const char *describe_value(const json_t *value, char out[80])
{
	static const char *const kinds[] = {[JSON_OBJECT] = "an object",
	                                    [JSON_ARRAY] = "a list",
	                                    [JSON_TRUE] = "true",
	                                    [JSON_FALSE] = "false",
	                                    [JSON_NULL] = "null"};

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

void parser_found(struct parser *p, const struct spot *s, const char *expected)
{
	char found[80];
	json_t *value =
		s->value ? json_incref(s->value) : json_loadb(p->text + s->at, s->end - s->at, JSON_DECODE_ANY, NULL);
	parser_problem(p, s->at, s->path, "expected %s, found %s", expected,
	               value ? describe_value(value, found) : "something else");
	json_decref(value);
}

bool parser_has_control_characters(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	}
	return false;
}

void parser_unknown_key(struct parser *p, const struct json_place *place, const char *path, const char *name,
                        const char **names, size_t n)
{
	const char *near = suggest(name, names, n);
	parser_problem(p, place->key, path, "unknown key \"%.60s\"%s%s%s", name, near ? "; did you mean \"" : "",
	               near ? near : "", near ? "\"?" : "");
}
