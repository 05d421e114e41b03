/* SPDX-License-Identifier: BSD-3-Clause
 * list - `spoor list`: the traces of the archive, one a line
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/catalog.h"
#include "cmd/base/cell.h"
#include "cmd/cmd.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/options.h"

/* --- the table --- */

#define ROW "%-16s %-10s %-10s %-19s %9s %6s %5s %6s  %-22s  %s\n"

struct output {
	FILE *file;
	const char *archive;
	size_t rows;
};

static int list_row(void *context, const struct catalog_row *r)
{
	char name[64], user[64], state[64], exe[64], start[32], elapsed[32], ranks[32], nodes[32], size[32];
	char reason[64], why[160];
	const char *slash = strrchr(r->exe, '/');
	struct output *o = context;

	o->rows++;
	snprintf(why, sizeof why, "%s%s%s", r->reason, *r->reason && *r->unended ? ":" : "", r->unended);
	fprintf(o->file, ROW, cell_text(name, r->name), cell_text(user, r->user), cell_text(state, r->state),
	        cell_start(start, r->start_ns), cell_elapsed(elapsed, r->start_ns, r->end_ns),
	        cell_count(ranks, r->ranks), cell_count(nodes, r->nodes), cell_size(size, r->size),
	        cell_text(reason, why), cell_text(exe, slash ? slash + 1 : r->exe));
	return 0;
}

/* The metadata as it is, with the file's own facts behind it. */
static int list_json(void *context, const struct catalog_row *r)
{
	struct output *o = context;
	size_t n = strlen(r->metadata);
	char path[4400];

	snprintf(path, sizeof path, "%s/%s/%s.spoor", o->archive, r->folder, r->name);
	o->rows++;
	json_t *own = json_pack("{s:s, s:s, s:I}", "name", r->name, "path", path, "size", (json_int_t)r->size);
	char *text = own ? json_dumps(own, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
	if (text && n > 2)
		fprintf(o->file, "%.*s,%s\n", (int)(n - 1), r->metadata, text + 1);
	free(text);
	json_decref(own);
	return 0;
}

static void print_trouble(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "spoor: %s\n", text);
}

static int list_traces(const char *archive, const struct catalog_filter *filter, bool json)
{
	struct catalog *catalog = NULL;
	struct error error = {""};
	size_t unreadable = 0, damaged = 0, size = 0;
	char *text = NULL;
	int status = CMD_FAILED;
	struct output output = {.file = open_memstream(&text, &size)};

	if (!output.file)
		error_set(&error, "out of memory");
	if (!output.file || fresh_index(&catalog, archive, true, false, &error) ||
	    catalog_lock(catalog, CATALOG_SHARE, 10000, &error))
		goto done;
	if (!json)
		fprintf(output.file, ROW, "JOB", "USER", "STATE", "START", "ELAPSED", "RANKS", "NODES", "SIZE",
		        "REASON", "EXECUTABLE");
	output.archive = catalog->archive;
	if (catalog_list(catalog, filter, json, json ? list_json : list_row, &output, &error))
		goto done;
	damaged = catalog_troubles(catalog, print_trouble, NULL, &unreadable);
	if (unreadable && output.rows == 0) /* in an archive of many that is no news */
		fprintf(stderr, "spoor: %zu traces are not yours to read\n", unreadable);
	if (damaged)
		fprintf(stderr, "spoor: %zu files are damaged and were left out\n", damaged);
	status = damaged ? CMD_FAILED : CMD_OK;
done:
	/* Printed when the index is free again: a pager that waits for its reader must not keep everybody else from
	 * changing it. */
	catalog_close(catalog);
	if (output.file)
		fclose(output.file);
	if (text && (fwrite(text, 1, size, stdout) != size || fflush(stdout)))
		error_set(&error, "the list cannot be written: %s", strerror(errno));
	free(text);
	if (error.text[0]) {
		fprintf(stderr, "spoor: %s\n", error.text);
		status = CMD_FAILED;
	}
	return status;
}

int cmd_list(int argc, char **argv)
{
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	const char *archive = NULL;
	bool json = false;
	int status;
	const struct option_line lines[] = {
		FILTER_LINES(&filter),
		OPTION_WORD("sort", 0, "KEY", &filter.sort, catalog_sorts,
	                    "start, job, user, ranks, nodes, size, elapsed or exe"),
		OPTION_FLAG("reverse", 0, &filter.reverse, "reverse the order"),
		OPTION_NUMBER("limit", 0, "N", &filter.limit, 0, FILTER_NUMBER_MAX, "at most N traces"),
		OPTION_FLAG("json", 0, &json, "the whole metadata, an object a line"),
		OPTION_ARCHIVE(&archive),
		OPTION_END};
	const struct options options = {"spoor list",
	                                "",
	                                "Lists the traces of the archive that you may read, by start, from its index "
	                                "(see spoor index).",
	                                FILTER_NOTES,
	                                lines,
	                                0,
	                                0,
	                                false};

	if (!options_read(&options, argc, argv, &status))
		return status;
	return list_traces(archive, &filter, json);
}
