/* SPDX-License-Identifier: BSD-3-Clause
 * print_event - events and values as text, in the form of doc/events.md
 */
#include "cmd/base/print_event.h"

#include <inttypes.h>
#include <string.h>

#include "trace/model/value.h"
#include "trace/model/stream.h"

void print_quoted(FILE *out, const struct pool_item *string)
{
	putc_unlocked('"', out);
	for (size_t i = 0; i < string->size; i++) {
		uint8_t b = string->bytes[i];
		if (b == '"' || b == '\\')
			fprintf(out, "\\%c", b);
		else if (b < 0x20 || b == 0x7f)
			fprintf(out, "\\x%02x", b);
		else
			putc_unlocked(b, out);
	}
	putc_unlocked('"', out);
}

void print_function(FILE *out, const struct schema *s)
{
	fwrite(s->function, 1, s->function_length, out);
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
			fwrite(name->bytes, 1, name->size, out);
		return;
	}
	switch (kind) {
	case 's':
		print_quoted(out, &t->strings.items[value]);
		break;
	case 'p':
		fprintf(out, "%" PRId64, (int64_t)((uint64_t)value + (uint64_t)base));
		break;
	case 'i':
		fprintf(out, "%" PRId64, value);
		break;
	case 'a':
		fprintf(out, "b%" PRId64, value);
		break;
	case 'r':
		if (stream_foreign(value, &thread, &number)) {
			fprintf(out, "r%u@%u", number, thread);
			break;
		} /* fall through */
	default:
		fprintf(out, "%c%" PRId64, kind, value);
		break;
	}
}

static void print_value(FILE *out, const struct trace *t, const struct event *e, const struct schema_column *c,
                        int64_t value)
{
	if (value == VALUE_LOSSY) {
		putc_unlocked('?', out);
		return;
	}
	if (!c->vector || value_is_constant(value)) {
		print_scalar(out, t, value, c->kind, e->base);
		return;
	}
	const struct pool_item *vector = event_vector(t, e, value);
	putc_unlocked('[', out);
	for (size_t i = 0; i < vector->size / sizeof(int64_t); i++) {
		int64_t element;
		memcpy(&element, vector->bytes + i * sizeof element, sizeof element);
		if (i > 0)
			putc_unlocked(',', out);
		print_scalar(out, t, element, c->kind, e->base);
	}
	putc_unlocked(']', out);
}

void print_event_open(FILE *out, const struct trace *t, const struct event *e)
{
	fprintf(out, "%" PRIu64 " ", e->number);
	print_function(out, e->schema);
	for (size_t i = 0; i < e->schema->count; i++) {
		const struct schema_column *c = &e->schema->column[i];
		if (c->name[0] == '.' ||
		    (c->kind == 'b' && !c->vector && !value_is_constant(e->values[i]) && e->values[i] != VALUE_LOSSY))
			continue;
		putc_unlocked(' ', out);
		fwrite(c->name, 1, c->length, out);
		putc_unlocked('=', out);
		print_value(out, t, e, c, e->values[i]);
	}
}

void print_event(FILE *out, const struct trace *t, const struct event *e)
{
	print_event_open(out, t, e);
	putc_unlocked('\n', out);
}
