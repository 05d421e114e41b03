/* SPDX-License-Identifier: BSD-3-Clause
 * schema - what a function's columns are
 */
#include "trace/schema.h"

#include <string.h>

int schema_parse(struct schema *s, const char *text, size_t n)
{
	const char *end = text + n, *at = memchr(text, ' ', n);
	*s = (struct schema){.function = text, .function_length = (size_t)((at ? at : end) - text)};
	if (s->function_length == 0 || memchr(text, 0, n))
		return -1;
	s->object = text[0] == '@';
	while (at) {
		const char *begin = at + 1;
		at = memchr(begin, ' ', (size_t)(end - begin));
		const char *stop = at ? at : end, *colon = memchr(begin, ':', (size_t)(stop - begin));
		if (!colon || colon == begin || s->count == SCHEMA_MAX || colon - begin > UINT16_MAX)
			return -1;
		struct schema_column *c = &s->column[s->count++];
		c->name = begin;
		c->length = (uint16_t)(colon - begin);
		c->vector = colon + 1 < stop && colon[1] == '[';
		const char *kind = colon + 1 + c->vector;
		if (stop - kind != 1 || *kind < 'a' || *kind > 'z' || *kind == KIND_SUCCESSOR)
			return -1;
		c->kind = *kind;
	}
	return 0;
}
