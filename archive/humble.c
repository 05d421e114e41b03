/* SPDX-License-Identifier: BSD-3-Clause
 * humble - root becomes somebody else before it looks at what users wrote
 */
#include "archive/humble.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int humble_become(uid_t uid, gid_t gid, struct error *error)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid) || setuid(0) == 0)
		return error_set(error, "root could not become user %lu: %s", (unsigned long)uid, strerror(errno));
	return 0;
}

int humble_as_owner(const char *path, struct error *error)
{
	struct stat st;

	if (geteuid() != 0 || stat(path, &st) || !S_ISREG(st.st_mode) || humble_become(st.st_uid, st.st_gid, error))
		return error && error->text[0] ? -1 : 0;
	if (access(path, R_OK))
		return error_set(error, "%s: root reads a trace as its owner, and user %lu cannot: %s; copy it to where they can, or give it to root",
		                 path, (unsigned long)st.st_uid, strerror(errno));
	return 0;
}

uid_t humble_nobody(void)
{
	const struct passwd *pw = getpwnam("nobody");
	return pw && pw->pw_uid ? pw->pw_uid : 65534;
}
