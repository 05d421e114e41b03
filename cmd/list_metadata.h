/* SPDX-License-Identifier: BSD-3-Clause
 * list_metadata - rows of `spoor list` with the metadata of their traces, which the index does not have
 *
 * The rows are kept until the index is free again: then the files are read, however long that takes.
 */
#ifndef SPOOR_LIST_METADATA_H
#define SPOOR_LIST_METADATA_H

#include <jansson.h>

#include "archive/catalog.h"

struct kept_rows {
	struct catalog_row *rows;
	size_t count, room;
};

/* Copies a row. Returns 0, or -1: no memory. */
int kept_rows_add(struct kept_rows *k, const struct catalog_row *row);
void kept_rows_free(struct kept_rows *k);

/* What the file says, with its owner and with how the tasks ended by the worst exit note. A new object; NULL with error
 * set, or without if the file is gone meanwhile. */
json_t *list_metadata_read(const char *archive, const struct catalog_row *row, struct error *error);

#endif
