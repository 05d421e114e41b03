/* SPDX-License-Identifier: BSD-3-Clause
 * preload - what is ours in a value of LD_PRELOAD
 */
#include "spank/preload.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATORS ": "

char *preload_add(const char *users, const char *entry)
{
	size_t n = strlen(entry), more = users && *users ? 1 + strlen(users) : 0;
	char *value = malloc(n + more + 1);

	if (!value)
		return NULL;
	memcpy(value, entry, n + 1);
	if (more) {
		value[n] = ':';
		strcpy(value + n + 1, users);
	}
	return value;
}

bool preload_remove(char *value, const char *entry)
{
	size_t n = strlen(entry);
	bool found = false;

	for (char *p = value; *p;) {
		size_t length = strcspn(p, SEPARATORS);
		if (length == n && !memcmp(p, entry, n)) {
			/* with the separator behind it, which preload_add put there; at the end with that before it */
			char *rest = p + n + (p[n] != '\0');
			if (!p[n] && p > value)
				p--;
			memmove(p, rest, strlen(rest) + 1);
			found = true;
		} else {
			p += length + (p[length] != '\0');
		}
	}
	return found;
}
