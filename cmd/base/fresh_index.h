/* SPDX-License-Identifier: BSD-3-Clause
 * fresh_index - the index of an archive, brought up to date before it is asked
 */
#ifndef SPOOR_FRESH_INDEX_H
#define SPOOR_FRESH_INDEX_H

#include <stdbool.h>

#include "archive/catalog.h"

/* Opens the index of the archive (NULL: the site's) and adds what is new in it. join: joins parts of traces first; of
 * those that cannot be joined, the parts stay. quiet: without progress on the terminal. If somebody else holds the
 * index for more than two seconds it stays as it is, and a message says so. Returns 0, or -1 with error set. The caller
 * closes *c in both cases. */
int fresh_index(struct catalog **c, const char *archive, bool join, bool quiet, struct error *error);
/* Reads the traces that the index has no numbers of, and makes the sums of days. Returns 0, or -1 with error set. */
int fresh_index_read(struct catalog *c, bool quiet, struct error *error);

/* Makes the sums of days that are missing (archive/day_sums.h), if the index can be changed. Returns 0, or -1 with
 * error set. */
int fresh_index_sums(struct catalog *c, bool quiet, struct error *error);

#endif
