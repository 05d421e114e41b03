/* SPDX-License-Identifier: BSD-3-Clause
 * folder - of tests in which root makes folders for others: a folder to work in
 */
#ifndef SPOOR_TESTS_UNIT_FOLDER_H
#define SPOOR_TESTS_UNIT_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define USER 65534

static char work[PATH_MAX / 2];

static inline const char *below(const char *name)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, PATH_MAX, "%s/%s", work, name);
	return path;
}

static inline bool is(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	struct stat st;
	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == uid && st.st_gid == gid &&
	       (st.st_mode & 07777) == mode;
}

/* Runs the tests in a folder of their own. Returns the status for main. */
static inline int run_in_folder(void (*tests)(void))
{
	const char *temporary = getenv("TMPDIR");
	char command[PATH_MAX];

	if (geteuid() != 0) {
		puts("1..0 # SKIP only root makes folders for others");
		return 0;
	}
	snprintf(work, sizeof work, "%s/folder.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(work)) {
		perror(work);
		return 1;
	}
	chmod(work, 0711);
	tests();
	snprintf(command, sizeof command, "rm -rf '%s'", work);
	return system(command) ? 1 : tap_end();
}

#endif
