/* SPDX-License-Identifier: BSD-3-Clause
 * glob - patterns as in file names
 */
#include "policy/glob.h"

#include <fnmatch.h>
#include <string.h>

/* Behind the bracket expression that starts at p, or NULL if it is not closed. */
static const char *bracket_end(const char *p)
{
	p++;
	if (*p == '!' || *p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		if (*p == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
			char close[3] = {p[1], ']', '\0'};
			const char *end = strstr(p + 2, close);
			if (!end)
				return NULL;
			p = end + 2;
		} else {
			p += *p == '\\' && p[1] ? 2 : 1;
		}
	}
	return *p ? p + 1 : NULL;
}

/* A range such as [z-a] matches nothing. */
static bool has_backward_range(const char *p, const char *end)
{
	for (p++; p + 2 < end; p++) {
		if (p[1] == '-' && p[2] != ']' && p[0] != '\\' && p[2] != '\\' && p[2] != '[' &&
		    (unsigned char)p[0] > (unsigned char)p[2])
			return true;
	}
	return false;
}

const char *glob_problem(const char *text)
{
	for (const char *p = text; *p;) {
		if (*p == '\\') {
			if (!p[1])
				return "ends with a \\ that has nothing to quote";
			p += 2;
		} else if (*p == '[') {
			const char *end = bracket_end(p);
			if (!end)
				return "has a [ without its ] (write [[] for a bracket)";
			if (has_backward_range(p, end))
				return "has a range whose end is before its start";
			p = end;
		} else {
			p++;
		}
	}
	return NULL;
}

bool glob_matches(const char *pattern, const char *value)
{
	return fnmatch(pattern, value, 0) == 0;
}

bool glob_covers(const char *a, const char *b)
{
	size_t a_fixed = strcspn(a, "*?[\\"), b_fixed = strcspn(b, "*?[\\");

	if (!strcmp(a, b))
		return true;
	if (!b[b_fixed])
		return glob_matches(a, b);
	return !strcmp(a + a_fixed, "*") && b_fixed >= a_fixed && !memcmp(a, b, a_fixed);
}
