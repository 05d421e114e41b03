/* SPDX-License-Identifier: BSD-3-Clause
 * index - `spoor index`: brings the index of the archive up to date, or makes it anew
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "archive/archive.h"
#include "archive/catalog.h"
#include "archive/harvest.h"
#include "archive/scan.h"
#include "cmd/cmd.h"
#include "cmd/progress.h"

static const char usage[] =
	"Usage: spoor index [--full|--rebuild] [--path] [--archive DIR]\n"
	"Brings the index of the archive up to date: that of the site for those who may read everybody's traces, else "
	"one's own,\n"
	"of the traces that one may read. `spoor list` does it, too; run this daily, so that it has little to do.\n\n"
	"  --full          look at every file, also in days that did not change\n"
	"  --rebuild       forget the index, and make it anew\n"
	"  --path          print where the index is, and do nothing\n"
	"  --archive DIR   this archive; else SPOOR_ARCHIVE of the environment, else the policy's\n";

static int update(struct catalog *catalog, struct scan *scan, bool rebuild, struct error *error)
{
	struct progress bar;
	struct harvest harvest = {.wait = -1, .progress = progress_callback, .context = &bar};

	if (rebuild && catalog_clear(catalog, error))
		return -1;
	progress_begin(&bar, "Looking at days", 0, false);
	scan->progress = progress_callback;
	scan->context = &bar;
	int rv = scan_archive(catalog, scan, error);
	progress_end(&bar);
	if (rv < 0)
		return -1;
	if (!catalog->writable)
		return error_set(error, "%s: you may read this index, and not change it", catalog->path);
	progress_begin(&bar, "Reading traces", 0, false);
	rv = harvest_archive(catalog, &harvest, error);
	progress_end(&bar);
	if (rv < 0)
		return -1;
	printf("%s: %zu folders read, %zu files added, %zu changed, %zu removed; %" PRIu64 " traces read\n",
	       catalog->path, scan->folders, scan->added, scan->changed, scan->removed, harvest.done);
	return 0;
}

int cmd_index(int argc, char **argv)
{
	static const struct option options[] = {
		{"full", no_argument, NULL, 'f'}, {"rebuild", no_argument, NULL, 'r'},
		{"path", no_argument, NULL, 'p'}, {"archive", required_argument, NULL, 'a'},
		{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	struct scan scan = {.wait = -1, .old = true};
	struct catalog *catalog = NULL;
	struct error error = {""};
	char folder[4096];
	const char *archive = NULL;
	bool rebuild = false, path = false;

	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'f':
			scan.full = true;
			break;
		case 'r':
			rebuild = true;
			break;
		case 'p':
			path = true;
			break;
		case 'a':
			archive = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CMD_OK;
		default:
			fputs(usage, stderr);
			return CMD_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "spoor index: unexpected argument %s\n%s", argv[optind], usage);
		return CMD_USAGE;
	}
	int rv = (!archive && archive_default(folder, sizeof folder, &error)) ||
	                         catalog_open(&catalog, archive ? archive : folder, archive_group(), &error)
	                 ? -1
	                 : 0;
	if (!rv && path)
		puts(catalog->path);
	else if (!rv)
		rv = update(catalog, &scan, rebuild, &error);
	if (rv)
		fprintf(stderr, "spoor: %s\n", error.text);
	catalog_close(catalog);
	return rv ? CMD_FAILED : CMD_OK;
}
