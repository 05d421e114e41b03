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

struct glob glob_make(const char *text)
{
	struct glob g = {.length = (uint16_t)strlen(text), .prefix = (uint16_t)strcspn(text, "*?[\\")};

	if (g.prefix == g.length)
		g.kind = GLOB_LITERAL;
	else if (text[g.prefix] == '*' && g.prefix + 1 == g.length)
		g.kind = GLOB_PREFIX;
	else
		g.kind = strpbrk(text, "[\\") ? GLOB_PATTERN : GLOB_STARS;
	return g;
}

/* fnmatch does it, too, in three times the time. After a star only the last one has to be tried again. */
static bool stars_match(const char *pattern, const char *value)
{
	const char *after = NULL, *again = NULL; /* behind the last star, and where in value it was tried last */

	while (*value) {
		if (*pattern == '*') {
			after = ++pattern;
			again = value;
			if (!*after)
				return true;
		} else if (*pattern == *value || *pattern == '?') {
			pattern++;
			value++;
		} else if (after) {
			again = strchr(again + 1, *after == '?' || *after == '*' ? again[1] : *after);
			if (!again || !*again)
				return !*after;
			pattern = after;
			value = again;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

bool glob_matches(const struct glob *g, const char *text, const char *value, size_t length)
{
	if (length < g->prefix || memcmp(text, value, g->prefix) != 0)
		return false;
	if (g->kind == GLOB_LITERAL)
		return length == g->length;
	if (g->kind == GLOB_STARS)
		return stars_match(text + g->prefix, value + g->prefix);
	return g->kind == GLOB_PREFIX || fnmatch(text, value, 0) == 0;
}

bool glob_covers(const struct glob *a, const char *a_text, const struct glob *b, const char *b_text)
{
	if (a->length == b->length && !memcmp(a_text, b_text, a->length))
		return true;
	if (b->kind == GLOB_LITERAL)
		return glob_matches(a, a_text, b_text, b->length);
	return a->kind == GLOB_PREFIX && b->prefix >= a->prefix && !memcmp(a_text, b_text, a->prefix);
}
