/* SPDX-License-Identifier: BSD-3-Clause
 * partitions - those that are told apart where each one costs
 */
#include "archive/partitions.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_group.h"
#include "archive/query.h"
#include "trace/base/utf8.h"

/* That which each user has most of comes before the second one of any. */
static const char partitions_sql[] =
	"SELECT x.text FROM (SELECT partition, row_number() OVER (PARTITION BY uid ORDER BY count(*) DESC, partition) "
	"turn FROM stored_trace GROUP BY uid, partition) JOIN text x ON x.id = partition GROUP BY partition ORDER BY "
	"min(turn), x.text";

/* Two that differ only in what is not visible would be the same in a label. */
static bool is_visible(const char *text)
{
	size_t n = strlen(text), length;
	while (n && (length = utf8_visible(text, n)) > 0) {
		text += length;
		n -= length;
	}
	return n == 0;
}

int partitions_join(struct aggregate *a, struct catalog *c, struct error *error)
{
	char *names[PARTITIONS_MOST];
	size_t count = 0, kept = 0;
	struct aggregate_group *rest = aggregate_group(a, "");
	sqlite3_stmt *s = query_statement(c, partitions_sql, error);
	int rv = rest && s ? 0 : -1;

	while (s && count < PARTITIONS_MOST && sqlite3_step(s) == SQLITE_ROW)
		if (is_visible(query_text(s, 0)) && (names[count] = strdup(query_text(s, 0))))
			count++;
	sqlite3_finalize(s);
	for (size_t i = 0; i < a->count; i++) {
		struct aggregate_group *g = a->groups[i];
		bool keep = g == rest || rv != 0;
		for (size_t k = 0; k < count && !keep; k++)
			keep = !strcmp(names[k], g->key);
		if (!keep && aggregate_merge_group(rest, g) != 0)
			rv = -1;
		if (keep)
			a->groups[kept++] = g;
		else
			aggregate_free_group(g);
	}
	a->count = kept;
	while (count)
		free(names[--count]);
	return rv == 0 ? 0 : error_set(error, "out of memory");
}
