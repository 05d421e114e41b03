/* SPDX-License-Identifier: BSD-3-Clause
 * task_job - the job that a task of a job array is
 */
#include "cmd/base/task_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/base/fresh_index.h"
#include "process/process.h"

static int take_job(void *job, const struct catalog_row *row)
{
	*(int64_t *)job = row->job;
	return 1;
}

/* -1: the index has none. */
static int64_t ask_index(const struct job_id *id, const char *archive)
{
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	struct catalog *c = NULL;
	struct error unused = {""};
	int64_t job = -1;

	filter.jobs = (struct job_ids){.items = {{.job = id->job, .task = id->task, .component = -1}}, .count = 1};
	if (fresh_index(&c, archive, false, true, &unused) == 0 && catalog_lock(c, CATALOG_SHARE, 2000, &unused) == 0)
		catalog_list(c, &filter, false, take_job, &job, &unused);
	return job;
}

int task_job(const char *name, const char *archive, char *out, size_t size, struct error *error)
{
	struct job_id id;
	int64_t job = -1;
	int ends[2];

	snprintf(out, size, "%s", name);
	if (job_id_parse(&id, name) != 0 || id.task < 0 || access(name, F_OK) == 0)
		return 0;
	if (pipe(ends) != 0)
		return error_set(error, "no pipe");
	pid_t child = process_child();
	if (child == 0) {
		job = ask_index(&id, archive);
		_exit(write(ends[1], &job, sizeof job) == sizeof job ? 0 : 1);
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &job, sizeof job) != sizeof job)
		job = -1;
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (job < 0)
		return error_set(error, "%s: no such file, and no trace of such a task in the archive", name);
	snprintf(out, size, "%" PRId64 "%s", job, name + strcspn(name, "."));
	return 0;
}
