/* SPDX-License-Identifier: BSD-3-Clause
 * visits - the visits of one rank to one site
 */
#include "trace/read/visits.h"

#include "trace/base/budget.h"

void visits_add(struct visits *v, int column)
{
	if (column >= 0)
		v->columns[v->count++] = (uint8_t)column;
}

int visits_open(struct visits *v, const struct trace *t, const struct trace_site *site, uint32_t stream,
                struct pattern *patterns, struct pool *own)
{
	int64_t visits;
	size_t wanted = v->count;
	v->left = 0;
	v->count = 0;
	if (!rankmap_get(&site->visits, stream, &visits) || visits <= 0)
		return 1;
	v->left = (uint64_t)visits;
	while (v->count < wanted) {
		struct column_cursor *c = &v->cursors[v->count];
		*c = (struct column_cursor){0};
		int rv = column_cursor_open(c, t, &site->columns[v->columns[v->count++]], stream, patterns, own);
		if (rv != 0)
			return rv;
		if (c->constant && c->dict[0].start == VALUE_LOSSY)
			return 1;
	}
	return 0;
}

void visits_close(struct visits *v)
{
	for (size_t i = 0; i < v->count; i++)
		column_cursor_close(&v->cursors[i]);
}

int visits_next(struct visits *v, int64_t *values, uint64_t *times)
{
	uint64_t more = v->left - 1;
	if (v->left == 0)
		return 1;
	if (!budget_step(1))
		return -1;
	for (size_t i = 0; i < v->count; i++) {
		struct column_cursor *c = &v->cursors[i];
		if (column_cursor_next(c, &values[v->columns[i]]) != 0)
			return -1;
		uint64_t same = c->constant ? more : c->token == PATTERN_NEW ? 0 : c->left;
		more = same < more ? same : more;
	}
	for (size_t i = 0; i < v->count; i++)
		if (!v->cursors[i].constant)
			v->cursors[i].left -= more;
	*times = more + 1;
	v->left -= *times;
	return 0;
}
