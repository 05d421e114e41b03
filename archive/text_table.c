/* SPDX-License-Identifier: BSD-3-Clause
 * text_table - the table `text` of the index
 */
#include "archive/text_table.h"

#include <sqlite3.h>

#include "archive/query.h"

int text_table_open(struct text_table *t, struct catalog *c, struct error *error)
{
	*t = (struct text_table){.c = c, .find = query_statement(c, "SELECT id FROM text WHERE text = ?", error)};
	t->insert = t->find ? query_statement(c, "INSERT INTO text (text) VALUES (?)", error) : NULL;
	return t->insert ? 0 : -1;
}

void text_table_close(struct text_table *t)
{
	sqlite3_finalize(t->find);
	sqlite3_finalize(t->insert);
	*t = (struct text_table){.c = NULL};
}

int64_t text_table_id(struct text_table *t, const char *text, struct error *error)
{
	int64_t id = 0;

	if (!*text)
		return 0;
	sqlite3_bind_text(t->find, 1, text, -1, SQLITE_STATIC);
	int rc = sqlite3_step(t->find);
	if (rc == SQLITE_ROW)
		id = sqlite3_column_int64(t->find, 0);
	sqlite3_reset(t->find);
	if (rc == SQLITE_ROW)
		return id;
	sqlite3_bind_text(t->insert, 1, text, -1, SQLITE_STATIC);
	return rc == SQLITE_DONE && query_step(t->c, t->insert, error) == 0 ? sqlite3_last_insert_rowid(t->c->db)
	                                                                    : query_failed(t->c, error);
}
