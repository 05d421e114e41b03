/* SPDX-License-Identifier: BSD-3-Clause
 * told - of `spoor watch`: of which jobs it was told that they hang
 *
 * A line for each job: its number.
 */
#include "cmd/where/told.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/base/state_file.h"
#include "trace/base/budget.h"
#include "trace/base/number.h"

#define FILE_MOST (1 << 20) /* bytes: 100,000 jobs */

static int read_jobs(struct told *t, struct error *error)
{
	char *text = calloc(1, FILE_MOST + 1);
	ssize_t n = text ? pread(t->fd, text, FILE_MOST, 0) : -1;
	int rv = n < 0 ? error_set(error, "cannot read what was told: %s", strerror(errno)) : 0;
	for (const char *p = text; rv == 0 && *p; p += *p != '\0') {
		uint64_t job;
		if (number_read(&p, UINT32_MAX, &job) != 0 || *p != '\n')
			rv = error_set(error, "the state file is none of `spoor watch`");
		else if (!budget_grow(&t->jobs, t->count, &t->capacity, sizeof job))
			rv = error_set(error, "no memory");
		else
			t->jobs[t->count++] = job;
	}
	free(text);
	return rv;
}

int told_open(struct told *t, const char *path, struct error *error)
{
	*t = (struct told){.fd = state_file_open(path, "watch", error)};
	return t->fd < 0 ? -1 : read_jobs(t, error);
}

void told_close(struct told *t)
{
	if (t->fd >= 0)
		close(t->fd);
	budget_free(t->jobs);
}

bool told_has(const struct told *t, uint64_t job)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->jobs[i] == job)
			return true;
	return false;
}

static int write_jobs(const struct told *t, struct error *error)
{
	char line[24];
	off_t at = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		int n = snprintf(line, sizeof line, "%" PRIu64 "\n", t->jobs[i]);
		if (pwrite(t->fd, line, (size_t)n, at) != n)
			return error_set(error, "cannot write what was told: %s", strerror(errno));
		at += n;
	}
	return ftruncate(t->fd, at) == 0 && fdatasync(t->fd) == 0
	               ? 0
	               : error_set(error, "cannot write what was told: %s", strerror(errno));
}

int told_add(struct told *t, uint64_t job, struct error *error)
{
	if (!budget_grow(&t->jobs, t->count, &t->capacity, sizeof job))
		return error_set(error, "no memory");
	t->jobs[t->count++] = job;
	return write_jobs(t, error);
}

int told_keep(struct told *t, bool (*runs)(uint64_t job, const void *context), const void *context, struct error *error)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (runs(t->jobs[i], context))
			t->jobs[n++] = t->jobs[i];
	if (n == t->count)
		return 0;
	t->count = n;
	return write_jobs(t, error);
}
