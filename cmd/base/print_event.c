/* SPDX-License-Identifier: BSD-3-Clause
 * print_event - events and values as text, in the form of doc/events.md
 */
#include "cmd/base/print_event.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "trace/base/utf8.h"
#include "trace/model/value.h"
#include "trace/model/stream.h"

void print_quoted(FILE *out, const struct pool_item *string)
{
	say_to(out, "\"");
	for (size_t i = 0; i < string->size;) {
		uint8_t b = string->bytes[i];
		size_t n = utf8_visible((const char *)string->bytes + i, string->size - i);
		if (b == '"' || b == '\\')
			say_to(out, "\\%c", b);
		else if (n == 0)
			say_to(out, "\\x%02x", b);
		else
			say_to(out, "%.*s", (int)n, (const char *)string->bytes + i);
		i += n ? n : 1;
	}
	say_to(out, "\"");
}

void print_function(FILE *out, const struct schema *s)
{
	say_to(out, "%.*s", (int)s->function_length, s->function);
}

void print_scalar(FILE *out, const struct trace *t, int64_t value, char kind, int64_t base)
{
	uint32_t thread, number;
	if (value_is_constant(value)) {
		const struct pool_item *name = &t->strings.items[(uint64_t)value - (uint64_t)VALUE_CONSTANT];
		bool absent = name->size == 1 && name->bytes[0] == '-';
		if (kind == 's' && !absent)
			print_quoted(out, name); /* in arrays, strings are recorded as constants */
		else
			say_to(out, "%.*s", (int)name->size, (const char *)name->bytes);
		return;
	}
	switch (kind) {
	case 's':
		print_quoted(out, &t->strings.items[value]);
		break;
	case 'p':
		say_to(out, "%" PRId64, (int64_t)((uint64_t)value + (uint64_t)base));
		break;
	case 'i':
		say_to(out, "%" PRId64, value);
		break;
	case 'a':
		say_to(out, "b%" PRId64, value);
		break;
	case 'r':
		if (stream_foreign(value, &thread, &number)) {
			say_to(out, "r%u@%u", number, thread);
			break;
		} /* fall through */
	default:
		say_to(out, "%c%" PRId64, kind, value);
		break;
	}
}

static void print_value(FILE *out, const struct trace *t, const struct event *e, const struct schema_column *c,
                        int64_t value)
{
	if (value == VALUE_LOSSY) {
		say_to(out, "?");
		return;
	}
	if (!c->vector || value_is_constant(value)) {
		print_scalar(out, t, value, c->kind, e->base);
		return;
	}
	const struct pool_item *vector = event_vector(t, e, value);
	say_to(out, "[");
	for (size_t i = 0; i < vector->size / sizeof(int64_t); i++) {
		int64_t element;
		memcpy(&element, vector->bytes + i * sizeof element, sizeof element);
		if (i > 0)
			say_to(out, ",");
		print_scalar(out, t, element, c->kind, e->base);
	}
	say_to(out, "]");
}

void print_event_open(FILE *out, const struct trace *t, const struct event *e)
{
	say_to(out, "%" PRIu64 " ", e->number);
	print_function(out, e->schema);
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (c->name[0] == '.' ||
		    (c->kind == 'b' && !c->vector && !value_is_constant(e->values[i]) && e->values[i] != VALUE_LOSSY))
			continue;
		say_to(out, " ");
		say_to(out, "%.*s", (int)c->length, c->name);
		say_to(out, "=");
		print_value(out, t, e, c, e->values[i]);
	}
}

void print_event(FILE *out, const struct trace *t, const struct event *e)
{
	print_event_open(out, t, e);
	say_to(out, "\n");
}
