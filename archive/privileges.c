/* SPDX-License-Identifier: BSD-3-Clause
 * privileges - root becomes somebody else before it looks at what users wrote
 */
#include "archive/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static bool dropped;

int privileges_drop(uid_t uid, gid_t gid, struct error *error)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid) || setuid(0) == 0)
		return error_set(error, "root could not become user %lu: %s", (unsigned long)uid, strerror(errno));
	dropped = true;
	return 0;
}

bool privileges_dropped(void)
{
	return dropped;
}

uid_t privileges_nobody(void)
{
	const struct passwd *pw = getpwnam("nobody");
	return pw && pw->pw_uid ? pw->pw_uid : 65534;
}
