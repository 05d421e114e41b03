/* SPDX-License-Identifier: BSD-3-Clause
 * computation_keys - of which class a rank's computations on an edge are, one after the other
 */
#include "proxy/computation_keys.h"

#include "trace/model/classes.h"
#include "trace/model/cursor.h"

size_t computation_keys(const struct trace *t, const struct trace_edge *e, uint32_t rank, struct pattern *patterns,
                        uint32_t *keys, size_t most)
{
	struct column_cursor cursor = {.open = false};
	size_t n = 0;
	int64_t key;
	keys[0] = CLASS_REST;
	if (!e->classes)
		return 1;
	int rv = column_cursor_open(&cursor, t, &e->classes->column, rank, patterns, NULL);
	if (rv == 0 && cursor.constant && column_cursor_next(&cursor, &key) == 0)
		keys[n++] = (uint32_t)key; /* for ever */
	while (rv == 0 && !cursor.constant && n < most && column_cursor_next(&cursor, &key) == 0)
		keys[n++] = (uint32_t)key;
	column_cursor_close(&cursor);
	return rv < 0 ? 0 : n ? n : 1;
}

const struct trace_class *computation_class(const struct trace_edge *e, uint32_t key)
{
	const struct trace_class *c = e->classes ? classes_find(e->classes, key) : NULL;
	return c && c->compute.count ? c : NULL;
}

int64_t computation_rank_parts(const struct trace_edge *e, uint32_t rank)
{
	int64_t mean = 0;
	if (e->classes && e->classes->finished)
		rankmap_get(&e->classes->mean, rank, &mean);
	return mean;
}
