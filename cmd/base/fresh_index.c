/* SPDX-License-Identifier: BSD-3-Clause
 * fresh_index - the index of an archive, brought up to date before it is asked
 */
#include "cmd/base/fresh_index.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "archive/archive.h"
#include "archive/day_sums.h"
#include "archive/digest_update.h"
#include "archive/join.h"
#include "archive/scan.h"
#include "archive/slurm_jobs.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"

#define ASK_SECONDS 5 /* for what Slurm knows of new jobs: `spoor index` takes more */

static void join_new_parts(const char *archive, bool quiet)
{
	struct progress bar;
	struct join_search joining = {.archive = archive,
	                              .since = (int64_t)time(NULL) - JOIN_AGE,
	                              .job = -1,
	                              .progress = progress_callback,
	                              .context = &bar};

	progress_begin(&bar, "Joining parts", 0, quiet);
	join_archive(&joining, NULL);
	progress_end(&bar);
}

int fresh_index(struct catalog **c, const char *archive, bool join, bool quiet, struct error *error)
{
	struct progress bar;
	struct scan scan = {.wait = 2000, .progress = progress_callback, .context = &bar};
	char folder[PATH_MAX];

	*c = NULL;
	if (!archive && archive_default(folder, sizeof folder, error) != 0)
		return -1;
	if (!archive)
		archive = folder;
	if (join)
		join_new_parts(archive, quiet);
	if (catalog_open(c, archive, archive_group(), error) != 0)
		return -1;
	progress_begin(&bar, "Looking at days", 0, quiet);
	int rv = scan_archive(*c, &scan, error);
	progress_end(&bar);
	if (rv > 0 && !quiet)
		say_to(stderr,
		       "spoor: the index could not be brought up to date now: the newest traces may be missing\n");
	if (rv == 0)
		rv = slurm_jobs_learn(*c, ASK_SECONDS, error);
	return rv < 0 ? -1 : 0;
}

int fresh_index_sums(struct catalog *c, bool quiet, struct error *error)
{
	struct progress bar;
	struct day_sums_update update = {.least = DAY_SUMS_LEAST,
	                                 .now = (int64_t)time(NULL),
	                                 .wait = 10000,
	                                 .progress = progress_callback,
	                                 .context = &bar};

	progress_begin(&bar, "Adding up days", 0, quiet);
	int rv = day_sums_update(c, &update, error);
	progress_end(&bar);
	return rv < 0 ? -1 : 0;
}

int fresh_index_read(struct catalog *c, bool quiet, struct error *error)
{
	struct progress bar;
	struct digest_update update = {.wait = 10000, .progress = progress_callback, .context = &bar};

	progress_begin(&bar, "Reading traces", 0, quiet);
	int rv = digest_update(c, &update, error);
	progress_end(&bar);
	if (rv == 0)
		rv = fresh_index_sums(c, quiet, error);
	return rv < 0 ? -1 : 0;
}
