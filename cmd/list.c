/* SPDX-License-Identifier: BSD-3-Clause
 * list - `spoor list`: the traces of the archive, one a line
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/catalog.h"
#include "archive/metadata.h"
#include "archive/query.h"
#include "cmd/cmd.h"
#include "cmd/base/filter.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/terminal.h"
#include "cmd/list_metadata.h"
#include "cmd/list_table.h"
#include "trace/base/repeated.h"

/* On a terminal, if --limit does not say otherwise. */
#define SHOWN 100

struct list_options {
	struct catalog_filter filter;
	const char *archive;
	bool json, csv, parsable, bare;
	int64_t limit; /* negative: not said */
	struct list_table table;
};

struct output {
	FILE *file;
	const char *archive;
	struct list_table *table;
	struct kept_rows kept; /* rows that wait for their metadata */
	size_t rows;
};

static int list_row(void *context, const struct catalog_row *r)
{
	struct output *o = context;
	o->rows++;
	return list_table_add(o->table, r, NULL);
}

static int keep_row(void *context, const struct catalog_row *r)
{
	struct output *o = context;
	o->rows++;
	return kept_rows_add(&o->kept, r);
}

/* The metadata as it is, with the file's own facts behind it. */
static int list_json(const struct output *o, const struct catalog_row *r, json_t *metadata)
{
	char path[4400];

	snprintf(path, sizeof path, "%s/%s/%s.spoor", o->archive, r->folder, r->name);
	json_object_set_new(metadata, "name", json_string(r->name));
	json_object_set_new(metadata, "path", json_string(path));
	json_object_set_new(metadata, "size", json_integer((json_int_t)r->size));
	char *text = metadata_dump(metadata);
	if (text)
		say_to(o->file, "%s\n", text);
	free(text);
	return text ? 0 : -1;
}

/* Rows that waited. Files are opened: without the lock of the index. Returns 0, or -1 after messages. */
static int list_kept(const struct output *o, bool json)
{
	size_t failed = 0;

	for (size_t i = 0; i < o->kept.count; i++) {
		struct error error = {""};
		const struct catalog_row *r = &o->kept.rows[i];
		json_t *metadata = list_metadata_read(o->archive, r, &error);
		if (metadata && (json ? list_json(o, r, metadata) : list_table_add(o->table, r, metadata)) != 0)
			error_set(&error, "out of memory");
		json_decref(metadata);
		if (error.text[0] && repeated_next(&failed))
			say_to(stderr, "spoor: %s\n", error.text);
	}
	say_more("spoor", failed);
	return failed ? -1 : 0;
}

static void print_trouble(void *context, const char *text)
{
	(void)context;
	say_to(stderr, "spoor: %s\n", text);
}

/* How many the limit left out, where that is to be told. */
static int64_t count_more(const struct list_options *o, struct catalog *c, size_t rows)
{
	int64_t all = o->filter.limit && !o->json && o->limit < 0 ? query_count(c, &o->filter) : 0;
	return all > (int64_t)rows ? all - (int64_t)rows : 0;
}

static int list_traces(struct list_options *o)
{
	struct catalog *catalog = NULL;
	struct error error = {""};
	size_t unreadable = 0, damaged = 0, size = 0;
	char *text = NULL, archive[PATH_MAX];
	int status = CMD_FAILED;
	int64_t more = 0;
	bool metadata = o->json || o->table.metadata;
	struct output output = {.file = open_memstream(&text, &size), .table = &o->table, .archive = archive};

	o->table.out = output.file;
	if (!output.file)
		error_set(&error, "out of memory");
	if (!output.file || fresh_index(&catalog, o->archive, true, false, &error) ||
	    catalog_lock(catalog, CATALOG_SHARE, 10000, &error))
		goto done;
	strcpy(archive, catalog->archive);
	if (catalog_list(catalog, &o->filter, metadata, metadata ? keep_row : list_row, &output, &error))
		goto done;
	more = count_more(o, catalog, output.rows);
	damaged = catalog_troubles(catalog, REPEATED_SAID, print_trouble, NULL, &unreadable);
	if (unreadable && output.rows == 0) /* in an archive of many that is no news */
		say_to(stderr, "spoor: %zu traces are not yours to read\n", unreadable);
	if (damaged)
		say_to(stderr, "spoor: %zu files are damaged and were left out\n", damaged);
	status = damaged ? CMD_FAILED : CMD_OK;
	/* The rest when the index is free again: files are slow, and a pager that waits for its reader must not keep
	 * everybody else from changing it. */
	catalog_close(catalog);
	catalog = NULL;
	if (list_kept(&output, o->json) != 0)
		status = CMD_FAILED;
	if (!o->json && list_table_end(&o->table) != 0)
		error_set(&error, "out of memory");
	if (more)
		say_to(output.file, "... and %lld more (--limit 0 has all)\n", (long long)more);
done:
	catalog_close(catalog);
	kept_rows_free(&output.kept);
	if (output.file)
		fclose(output.file);
	if (text && (sink_bytes(stdout, text, size) || fflush(stdout)))
		error_set(&error, "the list cannot be written: %s", strerror(errno));
	free(text);
	if (error.text[0]) {
		say_to(stderr, "spoor: %s\n", error.text);
		status = CMD_FAILED;
	}
	return status;
}

/* Do they go together? Returns the exit status. */
static int settle_list(struct list_options *o)
{
	if (o->json + o->csv + o->parsable > 1)
		return options_wrong("spoor list", "--json, --csv and --parsable2 do not go together");
	if (o->json && o->table.count)
		return options_wrong("spoor list", "--json has all there is: --format is for tables");
	o->table.form = o->csv ? LIST_CSV : o->parsable ? LIST_PARSABLE : LIST_TABLE;
	o->table.heading = !o->bare;
	o->table.room = terminal_width();
	o->filter.limit = o->limit >= 0 ? o->limit : terminal_is() ? SHOWN : 0;
	list_table_choose(&o->table);
	return CMD_OK;
}

int cmd_list(int argc, char **argv)
{
	struct list_options o = {.filter = CATALOG_FILTER_ALL, .limit = -1};
	int status;
	const struct option_line lines[] = {
		FILTER_LINES(&o.filter),
		OPTION_WORD(
			"sort", 0, "KEY", &o.filter.sort, catalog_sorts,
			"start, job, user, ranks, nodes, size, elapsed or exe; without it: start, the newest first"),
		OPTION_FLAG("reverse", 0, &o.filter.reverse, "reverse the order"),
		OPTION_NUMBER("limit", 0, "N", &o.limit, 0, FILTER_NUMBER_MAX,
	                      "at most N traces; 0: all. Default: 100 on a terminal, else all"),
		OPTION_READ("format", 'o', "FIELDS", &o.table, list_table_read_format, LIST_FIELDS,
	                    "these columns, such as job,user%12,account; see spoor-list(1)"),
		OPTION_FLAG("noheader", 0, &o.bare, "no line of headings"),
		OPTION_FLAG("parsable2", 'P', &o.parsable, "for programs: columns with | between them"),
		OPTION_FLAG("csv", 0, &o.csv, "for programs: CSV"),
		OPTION_FLAG("json", 0, &o.json, "the whole metadata, an object a line; times in UTC"),
		OPTION_ARCHIVE(&o.archive),
		OPTION_END};
	const struct options options = {"spoor list",
	                                "",
	                                "Lists the traces of the archive that you may read, the newest first, from its "
	                                "index (see spoor index).",
	                                FILTER_NOTES,
	                                lines,
	                                0,
	                                0,
	                                false};

	if (!options_read(&options, argc, argv, &status))
		return status;
	status = settle_list(&o);
	return status == CMD_OK ? list_traces(&o) : status;
}
