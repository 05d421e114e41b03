/* SPDX-License-Identifier: BSD-3-Clause
 * day - the folders of an archive: of days, and in them of users
 */
#include "archive/day.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/number.h"

int day_of(int64_t when, char day[DAY_SIZE])
{
	time_t t = (time_t)when;
	struct tm tm;

	return gmtime_r(&t, &tm) && tm.tm_year >= 0 && tm.tm_year < 8100 && strftime(day, DAY_SIZE, "%Y/%m/%d", &tm)
	               ? 0
	               : -1;
}

int64_t day_age(const char *day, int64_t now)
{
	struct tm tm = {.tm_isdst = 0};

	if (sscanf(day, "%4d/%2d/%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday) != 3)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	int64_t age = now / 86400 - (int64_t)timegm(&tm) / 86400;
	return age > 0 ? age : 0;
}

void day_folder_name(uid_t uid, unsigned k, char name[DAY_FOLDER_SIZE])
{
	snprintf(name, DAY_FOLDER_SIZE, k ? "%lu.%u" : "%lu", (unsigned long)uid, k % 1000);
}

bool day_is_folder(const char *name, uid_t *uid)
{
	const char *at = name;
	char again[DAY_FOLDER_SIZE];
	uint64_t id, k = 0;

	if (number_read(&at, UINT32_MAX - 1, &id) != 0 ||
	    (*at == '.' && (at++, number_read(&at, DAY_NAMES - 1, &k)) != 0))
		return false;
	*uid = (uid_t)id;
	day_folder_name(*uid, (unsigned)k, again);
	return !strcmp(name, again); /* no zeros before it, nothing behind it */
}

int day_own_folder(const char *day, bool make, char *path, size_t size, struct error *error)
{
	char name[DAY_FOLDER_SIZE];
	struct stat st;

	for (unsigned k = 0; k < DAY_NAMES; k++) {
		day_folder_name(geteuid(), k, name);
		int n = snprintf(path, size, "%s/%s", day, name);
		if (n < 0 || (size_t)n >= size)
			return error_set(error, "%s: the path is too long", day);
		int missing = lstat(path, &st) ? errno : 0;
		if (missing == ENOENT && make) {
			mode_t mask =
				umask(0); /* not chmod: that would take the group's bit from who is not in the group */
			missing = mkdir(path, 0750) ? errno : 0;
			umask(mask);
			bool ours = missing == 0;
			if (ours || missing == EEXIST) /* which NFS may say of what it made */
				missing = lstat(path, &st) ? errno : 0;
			if (ours && !missing && st.st_uid != geteuid()) {
				rmdir(path);
				return error_set(error,
				                 "%s: what user %lu makes there becomes user %lu's (root_squash?)", day,
				                 (unsigned long)geteuid(), (unsigned long)st.st_uid);
			}
		}
		if (missing)
			return missing == ENOENT && !make
			               ? 1
			               : error_set(error, "%s: %s: %s", path,
			                           make ? "cannot be made" : "cannot be looked at", strerror(missing));
		if (S_ISDIR(st.st_mode) && st.st_uid == geteuid())
			return 0;
	}
	return make ? error_set(error, "%s: all %d names of user %lu's folder are taken by others", day, DAY_NAMES,
	                        (unsigned long)geteuid())
	            : 1;
}
