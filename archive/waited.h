/* SPDX-License-Identifier: BSD-3-Clause
 * waited - the jobs whose ranks waited most, without looking at all the others
 */
#ifndef SPOOR_WAITED_H
#define SPOOR_WAITED_H

#include "archive/catalog.h"

/* Narrows a filter to the jobs that waited most: at most `most` of them and JOB_IDS_MOST, and tasks of arrays that have
 * their numbers. Node time counts, as in COLUMN_WAIT (aggregate.h), but rounded: ask for some more than are needed. The
 * filter stays as it is if it names jobs, and if no job waited. The catalog is up to date, with its digests, and
 * locked. Returns 0, or -1 with error set. */
int waited_narrow(struct catalog_filter *filter, struct catalog *c, size_t most, struct error *error);

#endif
