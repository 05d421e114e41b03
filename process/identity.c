/* SPDX-License-Identifier: BSD-3-Clause
 * identity - who a process is, and becoming somebody else for good
 */
#include "process/identity.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool changed;

static gid_t effective_group(const struct identity *who)
{
	return !who->apart ? who->gid : who->gid == 65534 ? 65533 : 65534;
}

static bool is_now(const struct identity *who)
{
	gid_t effective = effective_group(who);
	uid_t r = 0, e = 0, s = 0;
	gid_t rg = 0, eg = 0, sg = 0;

	return getresuid(&r, &e, &s) == 0 && r == who->uid && e == who->uid && s == who->uid &&
	       getresgid(&rg, &eg, &sg) == 0 && rg == who->gid && eg == effective && sg == effective;
}

/* A change of identity takes most of this away: not where fs.suid_dumpable is 1, or securebits keep capabilities. */
static bool give_up_rest(const struct identity *who)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0}};

	if (who->uid == 0)
		return true;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL);
	return syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
	       syscall(SYS_setresuid, (uid_t)0, (uid_t)0, (uid_t)0) != 0; /* there is no way back */
}

/* glibc's functions would take locks to tell other threads, which a child of one thread does not have. */
bool identity_take(const struct identity *who)
{
	gid_t effective = effective_group(who);

	return syscall(SYS_setgroups, who->group_count, who->groups) == 0 &&
	       syscall(SYS_setresgid, who->gid, effective, effective) == 0 &&
	       syscall(SYS_setresuid, who->uid, who->uid, who->uid) == 0 && is_now(who) && give_up_rest(who);
}

int identity_become(const struct identity *who, struct error *error)
{
	gid_t effective = effective_group(who);

	if (geteuid() != 0 || who->uid == 0)
		return 0;
	if (setgroups(who->group_count, who->groups) || setresgid(who->gid, effective, effective) ||
	    setresuid(who->uid, who->uid, who->uid) || !is_now(who) || !give_up_rest(who))
		return error_set(error, "root could not become user %lu: %s", (unsigned long)who->uid, strerror(errno));
	changed = true;
	return 0;
}

bool identity_changed(void)
{
	return changed;
}
