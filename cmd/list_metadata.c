/* SPDX-License-Identifier: BSD-3-Clause
 * list_metadata - rows of `spoor list` with the metadata of their traces
 */
#include "cmd/list_metadata.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/metadata.h"

/* All texts of a row are in one piece of memory, which begins with that of `folder`. */
int kept_rows_add(struct kept_rows *k, const struct catalog_row *row)
{
	if (k->count == k->room) {
		size_t room = k->room ? 2 * k->room : 256;
		struct catalog_row *more = realloc(k->rows, room * sizeof *more);
		if (!more)
			return -1;
		k->rows = more;
		k->room = room;
	}
	struct catalog_row *r = &k->rows[k->count];
	*r = *row;
	const char **texts[] = {&r->folder,      &r->name,    &r->user,      &r->state,   &r->exe,
	                        &r->job_name,    &r->note,    &r->reason,    &r->unended, &r->cause,
	                        &r->application, &r->account, &r->partition, &r->qos};
	size_t count = sizeof texts / sizeof *texts, size = 0;
	for (size_t i = 0; i < count; i++)
		size += strlen(*texts[i]) + 1;
	char *p = malloc(size);
	if (!p)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const char *text = *texts[i];
		*texts[i] = p;
		p = stpcpy(p, text) + 1;
	}
	k->count++;
	return 0;
}

void kept_rows_free(struct kept_rows *k)
{
	for (size_t i = 0; i < k->count; i++)
		free((char *)(uintptr_t)k->rows[i].folder);
	free(k->rows);
	*k = (struct kept_rows){.rows = NULL};
}

json_t *list_metadata_read(const char *archive, const struct catalog_row *row, struct error *error)
{
	char path[PATH_MAX];
	json_t *metadata = NULL;

	if ((size_t)snprintf(path, sizeof path, "%s/%s/%s.spoor", archive, row->folder, row->name) < sizeof path)
		metadata = metadata_read_noted(
			path, row->name, row->uid,
			&(struct metadata_sure){row->user, row->account, row->partition, row->qos}, row->note, error);
	if (!metadata && access(path, F_OK) != 0 && errno == ENOENT)
		error->text[0] = '\0';
	return metadata;
}
