/* SPDX-License-Identifier: BSD-3-Clause
 * store - what the index has of files and folders of the archive: as scan.h finds them
 */
#ifndef SPOOR_STORE_H
#define SPOOR_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "archive/catalog.h"
#include "archive/day.h"

/* The column `kind` of table file. */
enum stored_kind { STORED_TRACE, STORED_NOTE, STORED_DAMAGE };

/* A file that is new or changed, read; or one that is gone. */
struct stored_file {
	char *folder, *file;
	struct stat st;
	bool gone;
	enum stored_kind kind;
	json_t *json;  /* of STORED_TRACE and STORED_NOTE */
	char *problem; /* of STORED_DAMAGE */
};

/* A folder (a day's, or a user's in it) of which all is in the index. */
struct stored_folder {
	char folder[DAY_SIZE + DAY_FOLDER_SIZE];
	int64_t mtime, ctime, read; /* ns */
	int64_t unreadable;         /* files of it that are not ours to read: the index has no row of them */
};

static inline int64_t store_ns(struct timespec t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Writes them in one transaction, and what exit notes say into the traces that they are for. The catalog must be locked
 * for a change. Return 0, or -1 with error set, and then nothing is changed. */
int store_write(struct catalog *c, const struct stored_file *files, size_t file_count,
                const struct stored_folder *folders, size_t folder_count, struct error *error);
/* A folder is gone, with its files, which are added to *removed. */
int store_forget_folder(struct catalog *c, const char *folder, size_t *removed, struct error *error);

#endif
