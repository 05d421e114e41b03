/* SPDX-License-Identifier: BSD-3-Clause
 * cgroup - out of a job's cgroups, and what was killed in them
 *
 *     version 1   3:freezer:/slurm/uid_1000/job_7/step_0                             a line for each controller, below
 *         ROOT/freezer
 *     version 2   0::/system.slice/slurmstepd.scope/job_7/step_0/slurm               below ROOT, or ROOT/unified beside
 *         version 1
 *
 * The way goes to what is above job_7 (and its uid_1000). Of version 2 only leaves take processes: Slurm has the leaf
 * `system` there for its own. Failing that, further up, to the root, which always takes them.
 */
#include "process/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/number.h"

#define SELF      "/proc/self/cgroup"
#define SELF_SIZE 16384
#define ROOT      "/sys/fs/cgroup"

static bool move_process(const char *root, const char *a, const char *b, size_t b_size, const char *leaf,
                         const char *process)
{
	char path[PATH_MAX];
	const char *parts[] = {root, a, NULL, leaf, "/cgroup.procs"};
	size_t n = 0;

	for (size_t i = 0; i < 5; i++) {
		const char *part = i == 2 ? b : parts[i];
		size_t size = i == 2 ? b_size : strlen(part);
		if (n + size >= sizeof path)
			return false;
		memcpy(path + n, part, size);
		n += size;
	}
	path[n] = '\0';
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	bool moved = fd >= 0 && write(fd, process, strlen(process)) > 0;
	if (fd >= 0)
		close(fd);
	return moved;
}

/* Where in the path the job's part begins; n: it has none. */
static size_t find_job(const char *path, size_t n)
{
	static const char *const names[] = {"/uid_", "/job_"};

	for (size_t k = 0; k < 2; k++) {
		const char *found = memmem(path, n, names[k], 5);
		if (found && found + 5 < path + n && found[5] >= '0' && found[5] <= '9')
			return (size_t)(found - path);
	}
	return n;
}

static void leave_hierarchy(const char *root, const char *folder, const char *path, size_t n, const char *process)
{
	size_t end = find_job(path, n);

	if (end == n || move_process(root, folder, path, end, "/system", process))
		return;
	for (;;) {
		if (move_process(root, folder, path, end, "", process) || end == 0)
			return;
		while (end > 0 && path[--end] != '/')
			;
	}
}

void cgroup_leave_at(const char *text, const char *root, const char *process)
{
	char folder[256];

	for (const char *line = text; line && *line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		const char *names = strchr(line, ':'), *path = names ? strchr(++names, ':') : NULL;
		size_t size = path ? (size_t)(path - names) : 0;
		if (!path || size + 2 > sizeof folder)
			continue;
		size_t n = strcspn(++path, "\n");
		if (size == 0) {
			leave_hierarchy(root, "", path, n, process);
			leave_hierarchy(root, "/unified", path, n, process);
			continue;
		}
		folder[0] = '/';
		memcpy(folder + 1, names, size);
		folder[size + 1] = '\0';
		leave_hierarchy(root, folder, path, n, process);
	}
}

/* A file of the kernel's own, whole. */
static bool read_text(const char *path, char *text, size_t size)
{
	size_t used = 0;
	ssize_t n = 0;

	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	return used > 0;
}

void cgroup_leave(void)
{
	char text[SELF_SIZE];

	if (read_text(SELF, text, sizeof text))
		cgroup_leave_at(text, ROOT, "0");
}

/* --- what was killed in them --- */

/* The number in the line "oom_kill N". */
static uint64_t read_oom_kills(const char *path)
{
	char text[4096];
	uint64_t kills;

	if (!read_text(path, text, sizeof text))
		return 0;
	for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		const char *number = line + 9;
		if (!strncmp(line, "oom_kill ", 9))
			return number_read(&number, UINT64_MAX, &kills) == 0 ? kills : 0;
	}
	return 0;
}

/* slurmstepd is in a leaf beside that of the tasks: ask the step's. Counts of version 2 include what is below. */
static void cut_leaf(char *path)
{
	size_t n = strlen(path);
	if (n > 6 && !strcmp(path + n - 6, "/slurm"))
		path[n - 6] = '\0';
}

uint64_t cgroup_oom_kills(const char *text, const char *root)
{
	uint64_t most = 0;
	char own[2048], path[PATH_MAX];

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
		cut_leaf(own);
		if (strstr(own, ".."))
			continue;
		snprintf(path, sizeof path, second ? "%s%s/memory.events" : "%s/memory%s/memory.oom_control", root,
		         own);
		uint64_t count = read_oom_kills(path);
		most = count > most ? count : most;
	}
	return most;
}

uint64_t cgroup_own_oom_kills(void)
{
	char text[SELF_SIZE];
	return read_text(SELF, text, sizeof text) ? cgroup_oom_kills(text, ROOT) : 0;
}
