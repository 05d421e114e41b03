/* SPDX-License-Identifier: BSD-3-Clause
 * ending - why a step ended, as the kernel knows it
 */
#include "spank/ending.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number in the line "oom_kill N". */
static uint64_t oom_line(const char *path)
{
	char text[4096];

	if (!read_file(path, text, sizeof text))
		return 0;
	for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		if (!strncmp(line, "oom_kill ", 9))
			return strtoull(line + 9, NULL, 10);
	}
	return 0;
}

/* slurmstepd is in a leaf beside that of the tasks: ask the step's. Counts of version 2 include what is below. */
static void step_of(char *path)
{
	size_t n = strlen(path);
	if (n > 6 && !strcmp(path + n - 6, "/slurm"))
		path[n - 6] = '\0';
}

uint64_t ending_oom_kills(const char *text, const char *root)
{
	uint64_t most = 0;
	char own[2048], path[4608];

	for (const char *line = text; line && *line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		const char *controllers = strchr(line, ':'), *where = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!where)
			continue;
		bool second = where == controllers + 1,
		     memory = !strncmp(controllers, ":memory:", 8) ||
		              memmem(controllers, (size_t)(where - controllers), ",memory", 7);
		if (!second && !memory)
			continue;
		snprintf(own, sizeof own, "%.*s", (int)strcspn(where + 1, "\n"), where + 1);
		step_of(own);
		if (strstr(own, ".."))
			continue;
		snprintf(path, sizeof path, second ? "%s%s/memory.events" : "%s/memory%s/memory.oom_control", root,
		         own);
		uint64_t count = oom_line(path);
		most = count > most ? count : most;
	}
	return most;
}

uint64_t ending_own_oom_kills(void)
{
	char text[8192];
	return read_file("/proc/self/cgroup", text, sizeof text) ? ending_oom_kills(text, "/sys/fs/cgroup") : 0;
}
