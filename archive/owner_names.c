/* SPDX-License-Identifier: BSD-3-Clause
 * owner_names - the names of users by their numbers
 */
#include "archive/owner_names.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

struct named_owner {
	uid_t uid;
	char name[256];
};

const char *owner_name(struct owner_names *o, uid_t uid)
{
	static char number[24];

	for (size_t i = 0; i < o->count; i++)
		if (o->list[i].uid == uid)
			return o->list[i].name;
	const struct passwd *pw = getpwuid(uid);
	struct named_owner *more = realloc(o->list, (o->count + 1) * sizeof *more);
	if (more) {
		o->list = more;
		more[o->count].uid = uid;
		snprintf(more[o->count].name, sizeof more->name, pw ? "%s" : "%.0s%lu", pw ? pw->pw_name : "",
		         (unsigned long)uid);
		return more[o->count++].name;
	}
	snprintf(number, sizeof number, "%lu", (unsigned long)uid);
	return number;
}

void owner_names_free(struct owner_names *o)
{
	free(o->list);
	*o = (struct owner_names){.list = NULL};
}
