/* SPDX-License-Identifier: BSD-3-Clause
 * brief - a site of one or two visits, in few words
 */
#include "trace/record/brief.h"

#include <assert.h>

size_t brief_write(const struct cell *cells, size_t n, uint8_t out[BRIEF_BYTES])
{
	/* it never grows: there is room for all */
	struct writer w = {.data = out, .capacity = BRIEF_BYTES};
	assert(n <= SCHEMA_MAX);
	for (size_t i = 0; i < n; i++)
		value_put(&w, cells[i].expect);
	return w.size;
}

size_t brief_read(const struct record_string *s, int64_t values[SCHEMA_MAX])
{
	struct reader r = reader_of(s->bytes, s->length);
	size_t n = 0;
	for (; n < SCHEMA_MAX && r.at < r.end && !r.bad; n++) {
		values[n] = value_get(&r);
		r.bad |= values[n] == VALUE_NONE || values[n] == VALUE_LOSSY;
	}
	return !r.bad && r.at == r.end ? n : SIZE_MAX;
}
