/* SPDX-License-Identifier: BSD-3-Clause
 * packed - puts functions and call sites of a trace into the index of a test
 */
#ifndef SPOOR_TEST_PACKED_H
#define SPOOR_TEST_PACKED_H

#include <sqlite3.h>

#include "archive/calls.h"
#include "archive/query.h"

/* Instead of what is there. functions, places: as calls_pack has them. */
static inline void put_calls(struct catalog *c, int64_t id, const struct digest *d, const int64_t *functions,
                             const int64_t *places)
{
	struct writer w = {.size = 0};
	sqlite3_stmt *s = query_statement(c, "INSERT OR REPLACE INTO calls (id, packed) VALUES (?, ?)", NULL);
	calls_pack(&w, d, functions, places);
	if (!s || w.failed)
		abort();
	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_blob64(s, 2, w.data, w.size, SQLITE_STATIC);
	query_step(c, s, NULL);
	sqlite3_finalize(s);
	writer_free(&w);
}

#endif
