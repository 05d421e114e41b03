/* SPDX-License-Identifier: BSD-3-Clause
 * index - `spoor index`: brings the index of the archive up to date, or makes it anew
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "archive/archive.h"
#include "archive/catalog.h"
#include "archive/digest_update.h"
#include "archive/scan.h"
#include "archive/slurm_jobs.h"
#include "cmd/cmd.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/options.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/hooks.h"
#include "cmd/index_tables.h"

#define ASK_SECONDS 60 /* for what Slurm knows of new jobs */

static int update_index(struct catalog *catalog, struct scan *scan, bool rebuild, struct error *error)
{
	struct progress bar;
	struct digest_update update = {.wait = -1, .progress = progress_callback, .context = &bar};

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
	if (slurm_jobs_learn(catalog, ASK_SECONDS, error) != 0)
		return -1;
	progress_begin(&bar, "Reading traces", 0, false);
	rv = digest_update(catalog, &update, error);
	progress_end(&bar);
	if (rv < 0 || fresh_index_sums(catalog, false, error) != 0)
		return -1;
	say("%s: %zu folders read, %zu files added, %zu changed, %zu removed; %" PRIu64 " traces read\n", catalog->path,
	    scan->folders, scan->added, scan->changed, scan->removed, update.done);
	return 0;
}

static int export_tables(struct catalog *catalog, struct index_tables *t, struct error *error)
{
	if (index_tables_write(t, catalog, error) != 0)
		return -1;
	say("%s: %zu month%s, %zu of %zu parts written\n", t->folder, t->months, t->months == 1 ? "" : "s", t->written,
	    t->parts);
	return 0;
}

/* Every few minutes: only what is new in the last days. */
static int index_and_run_hooks(const char *archive, const char *state, struct error *error)
{
	struct hooks hooks;
	struct catalog *c = NULL;
	int rv = hooks_open(&hooks, archive_policy(), state, error);

	if (rv == 0 && policy_hook_count(hooks.policy) == 0) {
		say("the policy has no hooks\n");
	} else if (rv == 0) {
		rv = fresh_index(&c, archive, true, true, error);
		if (rv == 0)
			rv = fresh_index_read(c, true, error);
		if (rv == 0)
			rv = hooks_run(&hooks, c, error);
		say_more("spoor index", hooks.failed);
		say("hooks: %zu run, %zu failed; %zu wait for the next time; %zu left out, of users with too many\n",
		    hooks.run, hooks.failed, hooks.waiting, hooks.left_out);
	}
	bool failed = rv != 0 || hooks.failed || hooks.left_out;
	if (error->text[0])
		say_to(stderr, "spoor index: %s\n", error->text);
	catalog_close(c);
	hooks_close(&hooks);
	return failed ? CMD_FAILED : CMD_OK;
}

int cmd_index(int argc, char **argv)
{
	struct scan scan = {.wait = -1, .old = true};
	struct catalog *catalog = NULL;
	struct error error = {""};
	char folder[PATH_MAX];
	const char *archive = NULL, *state = NULL;
	bool rebuild = false, path = false, hooks = false;
	struct index_tables tables = {.folder = NULL};
	const struct option_line lines[] = {
		OPTION_FLAG("full", 0, &scan.full, "look at every file, also in days that did not change"),
		OPTION_FLAG("rebuild", 0, &rebuild, "delete the index, and make a new one"),
		OPTION_FLAG("path", 0, &path, "print where the index is, and do nothing"),
		OPTION_TEXT("export", 0, "DIR", &tables.folder,
	                    "also write the index as Parquet into this folder, by month, for other engines"),
		OPTION_FLAG("csv", 0, &tables.csv, "with --export: CSV instead"),
		OPTION_FLAG("hooks", 0, &hooks,
	                    "run the policy's hooks for the traces that are new since the last time"),
		OPTION_TEXT("state", 0, "FILE", &state, "where is written down for which traces hooks were run"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor index",
		"",
		"Brings the index of the archive up to date: the site's, if you may read everybody's traces. Otherwise "
		"it is your own, of the traces that you may read. `spoor list` does the same; run this daily, so that "
		"`spoor list` has little to do.",
		NULL,
		lines,
		0,
		0,
		false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	if (tables.csv && !tables.folder)
		return options_wrong("spoor index", "--csv is for --export");
	if (tables.folder && (hooks || path))
		return options_wrong("spoor index", "--export goes with none of --hooks and --path");
	if (hooks && !rebuild && !path && !scan.full)
		return index_and_run_hooks(archive, state, &error);
	if (hooks || state)
		return options_wrong("spoor index", hooks ? "--hooks goes with none of --full, --rebuild, --path"
		                                          : "--state is for --hooks");
	rv = (!archive && archive_default(folder, sizeof folder, &error)) ||
	                     catalog_open(&catalog, archive ? archive : folder, archive_group(), &error)
	             ? -1
	             : 0;
	if (!rv && path)
		say("%s\n", catalog->path);
	else if (!rv)
		rv = update_index(catalog, &scan, rebuild, &error);
	if (!rv && tables.folder)
		rv = export_tables(catalog, &tables, &error);
	if (rv)
		say_to(stderr, "spoor: %s\n", error.text);
	catalog_close(catalog);
	return rv ? CMD_FAILED : CMD_OK;
}
