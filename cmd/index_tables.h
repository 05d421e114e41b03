/* SPDX-License-Identifier: BSD-3-Clause
 * index_tables - of `spoor index --export DIR`: the index as tables for other engines, by month
 *
 *     DIR/jobs/month=2026-03/part.parquet      a row for each trace
 *     DIR/sites/month=2026-03/part.parquet     a row for each call site of a trace
 *     DIR/.../.sum                             what the part was made of: what has not changed is not written again
 *
 * Parquet is written by DuckDB's program, which Debian does not have, from CSV that is written here.
 */
#ifndef SPOOR_INDEX_TABLES_H
#define SPOOR_INDEX_TABLES_H

#include <stddef.h>

#include "archive/catalog.h"

struct index_tables {
	const char *folder; /* is made if it is not there */
	bool csv;           /* else Parquet */
	size_t months, written,
		parts; /* gets how many months there are, and how many parts were written, of how many */
};

/* The catalog is up to date, with its digests, and not locked. Returns 0, or -1 with error set: what was written stays.
 */
int index_tables_write(struct index_tables *t, struct catalog *c, struct error *error);

#endif
