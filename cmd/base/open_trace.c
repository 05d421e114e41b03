/* SPDX-License-Identifier: BSD-3-Clause
 * open_trace - the trace that a command's argument names
 */
#include "cmd/base/open_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "archive/privileges.h"
#include "cmd/base/status.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/base/task_job.h"
#include "trace/base/budget.h"
#include "trace/base/regular.h"

/* What root has opened, before it became somebody else. */
static struct ahead {
	const char *name;
	char *path;
	int fd;
} * ahead;
static int ahead_count;

static int find_trace(const char *name, const char *archive, char path[PATH_MAX], struct error *error)
{
	char job[PATH_MAX];
	return task_job(name, archive, job, sizeof job, error) != 0
	               ? -1
	               : archive_resolve(job, archive, path, PATH_MAX, error);
}

static int open_one(struct ahead *a, const char *name, const char *archive, struct stat *st, struct error *error)
{
	char path[PATH_MAX];
	*a = (struct ahead){.name = name, .fd = -1};
	if (find_trace(name, archive, path, error) != 0)
		return -1;
	a->path = strdup(path);
	if (!a->path)
		return error_set(error, "no memory");
	a->fd = regular_open_named(path, st, error);
	return a->fd < 0 ? -1 : 0;
}

int open_ahead(char **names, int n, const char *archive)
{
	struct error error = {""};
	uid_t owner = 0;
	if (geteuid() != 0 || ahead)
		return 0;
	ahead = calloc((size_t)n + 1, sizeof *ahead);
	for (int i = 0; ahead && i < n; i++) {
		struct stat st = {.st_uid = 0};
		struct error unused = {""}; /* open_trace says what it is */
		ahead_count++;
		if (open_one(&ahead[i], names[i], archive, &st, &unused) == 0 && st.st_uid != 0 && st.st_uid != owner)
			owner = owner == 0 ? st.st_uid : privileges_nobody();
	}
	const struct passwd *pw = owner ? getpwuid(owner) : NULL;
	if (!ahead)
		error_set(&error, "no memory");
	if (ahead && (owner == 0 || privileges_drop(owner, pw ? pw->pw_gid : (gid_t)owner, &error) == 0))
		return 0;
	say_to(stderr, "spoor: %s\n", error.text);
	return -1;
}

/* A file that was opened ahead; it stays open, for a second look. */
static int parse_ahead(const struct ahead *a, struct container **container, struct error *error)
{
	int fd = fcntl(a->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? error_set(error, "%s: %s", a->path, strerror(errno))
	              : container_take(container, fd, a->path, &codec_zstd, error);
}

static int container_of(const char *name, const char *archive, struct container **container, struct error *error)
{
	char path[PATH_MAX];
	for (int i = 0; i < ahead_count; i++)
		if (ahead[i].fd >= 0 && strcmp(ahead[i].name, name) == 0)
			return parse_ahead(&ahead[i], container, error);
	if (geteuid() == 0) { /* still: it could not be opened, or is one more */
		struct ahead more;
		struct stat st;
		int rv = open_one(&more, name, archive, &st, error);
		if (rv == 0)
			rv = st.st_uid == 0 ? parse_ahead(&more, container, error)
			                    : error_set(error,
			                                "%s: root does not read what is another user's beside its own: "
			                                "name fewer files at once",
			                                more.path);
		if (more.fd >= 0)
			close(more.fd);
		free(more.path);
		return rv;
	}
	return find_trace(name, archive, path, error) == 0 ? container_open(container, path, &codec_zstd, error) : -1;
}

/* --- what it says of itself --- */

json_t *open_claims(const struct container *c)
{
	const struct chunk *chunk = container_find(c, "META");
	return chunk ? json_loadb((const char *)chunk->data, chunk->size, 0, NULL) : NULL;
}

json_t *open_metadata(const struct container *c)
{
	json_t *metadata = open_claims(c);
	int64_t owner = container_owner(c);
	char number[24];

	if (!json_is_object(metadata) || owner < 0)
		return metadata;
	const struct passwd *pw = getpwuid((uid_t)owner);
	snprintf(number, sizeof number, "%lld", (long long)owner);
	metadata_set_sure(metadata, "user", pw ? pw->pw_name : number);
	json_object_set_new(metadata, "uid", json_integer(owner));
	/* a file does not say what slurmdbd would; the index asks (archive/slurm_jobs.h) */
	metadata_set_sure(metadata, "account", "");
	metadata_set_sure(metadata, "partition", "");
	metadata_set_sure(metadata, "qos", "");
	return metadata;
}

/* --- what it may cost --- */

static struct budget budget;
static struct progress progress;
static uint64_t walked_before; /* steps that were done when the events began */
static char *budget_name;      /* of the trace that was opened last */
static bool told, spent;       /* has it been said that its limit was reached? was any? */

static void budget_anew(const char *name)
{
	if (budget_now == &budget)
		budget_end(&budget);
	free(budget_name);
	budget_name = strdup(name);
	told = false;
	budget = (struct budget){.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS, .grows = true};
	budget_begin(&budget);
}

static void tick(void *context, uint64_t done)
{
	progress_step(context, done - walked_before);
}

int open_spent(const char *name)
{
	struct error error = {""};
	progress_end(&progress);
	if (!budget_explain(name, &error))
		return 0;
	if (!told)
		say_to(stderr, "spoor: %s\n", error.text);
	told = spent = true;
	return -1;
}

int open_expect(const char *name, uint64_t events)
{
	return budget_expect(events) ? 0 : open_spent(name);
}

int open_events(const char *name, uint64_t events)
{
	if (open_expect(name, events) != 0)
		return -1;
	progress_begin(&progress, "events", events, false);
	walked_before = budget.done;
	budget.tick = tick;
	budget.context = &progress;
	return 0;
}

int open_finish(int status)
{
	open_spent(budget_name ? budget_name : "the trace");
	if (spent && status == CMD_OK)
		status = CMD_FAILED;
	free(budget_name);
	budget_name = NULL;
	return status;
}

int open_trace(const char *file_or_job, const char *archive, struct container **container, struct trace *trace)
{
	struct error error = {""};
	char *name = (char *)(uintptr_t)file_or_job;
	*container = NULL;
	*trace = (struct trace){.size = 0};
	if (open_ahead(&name, 1, archive) != 0)
		return -1;
	budget_anew(name);
	if (container_of(file_or_job, archive, container, &error) == 0 && trace_decode(trace, *container, &error) == 0)
		return 0;
	if (open_spent(name) == 0)
		say_to(stderr, "spoor: %s\n", error.text);
	trace_free(trace);
	container_destroy(*container);
	*container = NULL;
	return -1;
}
