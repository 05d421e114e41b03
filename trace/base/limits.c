/* SPDX-License-Identifier: BSD-3-Clause
 * limits - what this process may
 */
#include "trace/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines of interest are shorter; of others (groups, CPUs) there may be thousands of characters. */
#define LINE_SIZE 120

/* Calls `on_line` for each line, cut to LINE_SIZE. Returns false if the file cannot be read. Small arrays: the stack
 * may be a small one. */
static bool read_lines(const char *path, void (*on_line)(void *context, const char *line), void *context)
{
	char chunk[512], line[LINE_SIZE];
	size_t length = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (chunk[i] != '\n') {
				length += length < sizeof line - 1;
				line[length - 1] = chunk[i];
				continue;
			}
			line[length] = '\0';
			length = 0;
			on_line(context, line);
		}
	close(fd);
	return n == 0;
}

/* What follows the name in the line: *value gets it, times the unit. False: it is another line. */
static bool is_number(const char *line, const char *name, uint64_t unit, uint64_t *value)
{
	size_t n = strlen(name);
	if (strncmp(line, name, n) != 0)
		return false;
	line += n + strspn(line + n, " \t");
	*value = *line >= '0' && *line <= '9' ? strtoull(line, NULL, 10) * unit : UINT64_MAX; /* "unlimited" */
	return true;
}

struct found {
	uint64_t file, space, data, locked;             /* limits */
	uint64_t has_space, has_data, has_locked, mode; /* what there is; the mode of seccomp */
};

static void on_limit(void *context, const char *line)
{
	struct found *f = context;
	(void)(is_number(line, "Max file size", 1, &f->file) || is_number(line, "Max address space", 1, &f->space) ||
	       is_number(line, "Max data size", 1, &f->data) || is_number(line, "Max locked memory", 1, &f->locked));
}

static void on_status(void *context, const char *line)
{
	struct found *f = context;
	(void)(is_number(line, "VmSize:", 1024, &f->has_space) || is_number(line, "VmData:", 1024, &f->has_data) ||
	       is_number(line, "VmLck:", 1024, &f->has_locked) || is_number(line, "Seccomp:", 1, &f->mode));
}

static void take(uint64_t *memory, uint64_t limit, uint64_t has)
{
	uint64_t left = limit == UINT64_MAX ? UINT64_MAX : limit > has ? limit - has : 0;
	if (left < *memory)
		*memory = left;
}

void limits_read(struct limits *l)
{
	struct found f = {.mode = 0};
	int saved = errno;
	bool limits = read_lines("/proc/self/limits", on_limit, &f),
	     status = read_lines("/proc/self/status", on_status, &f);
	*l = (struct limits){.file = f.file, .memory = UINT64_MAX, .filtered = !status || f.mode != 0};
	if (!limits || !status) { /* nothing is sure: nothing is taken */
		l->file = limits ? f.file : 0;
		l->memory = 0;
	} else {
		take(&l->memory, f.space, f.has_space);
		take(&l->memory, f.data, f.has_data);
		if (f.has_locked > 0 && f.has_locked <= f.locked) /* who has more is free of that limit */
			take(&l->memory, f.locked, f.has_locked);
	}
	errno = saved;
}
