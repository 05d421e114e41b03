/* SPDX-License-Identifier: BSD-3-Clause
 * sweep_metrics - what a sweep of this node's spool found, for Prometheus
 */
#include "cmd/sweep_metrics.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/base/sink.h"
#include "cmd/export/output.h"

#define FILES 100000 /* that are counted: users make them */

/* The bytes on the disk of the files in a folder, and of those in its folders: a step's are one level deep. Links are
 * not followed. */
static uint64_t folder_bytes(int fd, int depth, unsigned *files)
{
	uint64_t bytes = 0;
	struct stat st;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return 0;
	}
	for (struct dirent *e; *files < FILES && (e = readdir(dir)); ++*files) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		bytes += (uint64_t)st.st_blocks * 512;
		int below = S_ISDIR(st.st_mode) && depth > 0
		                    ? openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		                    : -1;
		if (below >= 0)
			bytes += folder_bytes(below, depth - 1, files);
	}
	closedir(dir);
	return bytes;
}

int sweep_metrics_write(const char *file, const struct sweep *s, struct error *error)
{
	unsigned files = 0;
	int spool = open(s->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct {
		const char *name, *help;
		double value;
	} metrics[] = {
		{"spoor_spool_bytes", "bytes of the spool on the disk",
	         (double)(spool >= 0 ? folder_bytes(spool, 2, &files) : 0)},
		{"spoor_spool_kept", "traces that the last sweep could not deliver yet", (double)s->kept},
		{"spoor_spool_lost", "traces that the last sweep gave up", (double)s->given_up},
		{"spoor_spool_delivered", "traces that the last sweep delivered", (double)s->delivered},
		{"spoor_spool_running", "steps that run", (double)s->running},
		{"spoor_sweep_time_seconds", "when the last sweep was", (double)time(NULL)},
	};
	struct output out;

	if (output_file(&out, file, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
		say_to(out.file, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", metrics[i].name, metrics[i].help,
		       metrics[i].name, metrics[i].name, metrics[i].value);
	say_to(out.file, "# EOF\n");
	int rv = output_finish(&out, error);
	output_discard(&out);
	return rv;
}
