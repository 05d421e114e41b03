/* SPDX-License-Identifier: BSD-3-Clause
 * cgroup - out of a job's cgroups
 *
 *     version 1   3:freezer:/slurm/uid_1000/job_7/step_0                             a line for each controller, below
 *         ROOT/freezer
 *     version 2   0::/system.slice/slurmstepd.scope/job_7/step_0/slurm               below ROOT, or ROOT/unified beside
 *         version 1
 *
 * The way goes to what is above job_7 (and its uid_1000). Of version 2 only leaves take processes: Slurm has the leaf
 * `system` there for its own. Failing that, further up, to the root, which always takes them.
 */
#include "deliver/cgroup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

static bool move(const char *root, const char *a, const char *b, size_t b_size, const char *leaf, const char *process)
{
	char path[PATH_SIZE];
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
static size_t above(const char *path, size_t n)
{
	static const char *const names[] = {"/uid_", "/job_"};

	for (size_t k = 0; k < 2; k++) {
		const char *found = memmem(path, n, names[k], 5);
		if (found && found + 5 < path + n && found[5] >= '0' && found[5] <= '9')
			return (size_t)(found - path);
	}
	return n;
}

static void leave(const char *root, const char *folder, const char *path, size_t n, const char *process)
{
	size_t end = above(path, n);

	if (end == n || move(root, folder, path, end, "/system", process))
		return;
	for (;;) {
		if (move(root, folder, path, end, "", process) || end == 0)
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
			leave(root, "", path, n, process);
			leave(root, "/unified", path, n, process);
			continue;
		}
		folder[0] = '/';
		memcpy(folder + 1, names, size);
		folder[size + 1] = '\0';
		leave(root, folder, path, n, process);
	}
}

void cgroup_leave(void)
{
	char text[16384];
	size_t used = 0;
	ssize_t n = 0;

	int fd = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && used < sizeof text - 1 && (n = read(fd, text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	cgroup_leave_at(text, "/sys/fs/cgroup", "0");
}
