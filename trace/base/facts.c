/* SPDX-License-Identifier: BSD-3-Clause
 * facts - what is known of a job
 */
#include "trace/base/facts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/escape.h"

void facts_clear(struct facts *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].name);
		free(f->items[i].value);
	}
	free(f->items);
	*f = (struct facts){0};
}

static struct fact *fact_find(const struct facts *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++) {
		if (!strcmp(f->items[i].name, name))
			return &f->items[i];
	}
	return NULL;
}

void facts_set(struct facts *f, const char *name, const char *value)
{
	if (!value)
		return;
	char *copy = strndup(value, FACT_VALUE_MAX);
	struct fact *fact = fact_find(f, name);
	if (fact && copy) {
		free(fact->value);
		fact->value = copy;
		return;
	}
	if (copy && f->count == f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 32;
		struct fact *items = realloc(f->items, capacity * sizeof *items);
		if (items) {
			f->items = items;
			f->capacity = capacity;
		}
	}
	char *own_name = copy && f->count < f->capacity ? strdup(name) : NULL;
	if (!own_name) {
		free(copy);
		f->failed = true;
		return;
	}
	f->items[f->count++] = (struct fact){own_name, copy};
}

void facts_format(struct facts *f, const char *name, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	facts_set(f, name, text);
}

const char *facts_get(const struct facts *f, const char *name)
{
	const struct fact *fact = fact_find(f, name);
	return fact ? fact->value : NULL;
}

int64_t facts_number(const struct facts *f, const char *name, int64_t otherwise)
{
	const char *value = facts_get(f, name);
	if (!value || !*value || strspn(value, "-0123456789") != strlen(value))
		return otherwise;
	char *end;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	return errno || *end ? otherwise : number;
}

int64_t facts_severity(int64_t exit_code, int64_t signal)
{
	if (signal > 0)
		return 256 + (signal < 256 ? signal : 256);
	return exit_code < 0 ? 0 : exit_code < 256 ? exit_code : 255;
}

char *facts_encode(const struct facts *f)
{
	size_t size = 1, n = 0;

	if (f->failed)
		return NULL;
	for (size_t i = 0; i < f->count; i++)
		size += strlen(f->items[i].name) + 3 * strlen(f->items[i].value) + 2;
	char *text = malloc(size);
	if (!text)
		return NULL;
	text[0] = '\0';
	for (size_t i = 0; i < f->count; i++) {
		n += (size_t)sprintf(text + n, "%s=", f->items[i].name);
		n += (size_t)escape_write(text + n, size - n, f->items[i].value);
		text[n++] = '\n';
		text[n] = '\0';
	}
	return text;
}

static int decode_line(struct facts *f, const char *line, size_t n)
{
	char value[FACT_VALUE_MAX + 1];
	char name[FACT_NAME_MAX + 1];
	const char *equals = memchr(line, '=', n);
	size_t length = equals ? (size_t)(equals - line) : 0;

	if (length == 0 || length > FACT_NAME_MAX)
		return -1;
	memcpy(name, line, length);
	name[length] = '\0';
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)
		return -1;
	if (escape_read(value, sizeof value, equals + 1, n - length - 1, FACT_SEPARATOR) < 0)
		return -1;
	facts_set(f, name, value);
	return 0;
}

int facts_decode(struct facts *f, const char *text, size_t n, const char *what, struct error *error)
{
	const char *end = text + n;

	for (size_t line = 1; text < end; line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
		if (length > 0 && decode_line(f, text, length))
			return error_set(error, "%s: line %zu is not NAME=VALUE with an escaped value", what, line);
		if (f->count > FACT_COUNT_MAX)
			return error_set(error, "%s: line %zu: more than %d different names", what, line,
			                 FACT_COUNT_MAX);
		text += length + 1;
	}
	if (f->failed)
		return error_set(error, "%s: out of memory", what);
	return 0;
}
