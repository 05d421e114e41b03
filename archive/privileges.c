/* SPDX-License-Identifier: BSD-3-Clause
 * privileges - root becomes somebody else before it looks at what users wrote
 */
#include "archive/privileges.h"

#include <pwd.h>

#include "process/identity.h"

int privileges_drop(uid_t uid, gid_t gid, struct error *error)
{
	return identity_become(&(struct identity){.uid = uid, .gid = gid}, error);
}

uid_t privileges_nobody(void)
{
	const struct passwd *pw = getpwnam("nobody");
	return pw && pw->pw_uid ? pw->pw_uid : 65534;
}
