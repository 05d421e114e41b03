/* SPDX-License-Identifier: BSD-3-Clause
 * condition_text - the text of a number that is 0 or 1, as a condition
 */
#include "proxy/condition_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is all of it in one pair of parentheses? */
static bool is_inside(const char *text, size_t n)
{
	int depth = 0;
	for (size_t i = 0; i < n; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (depth == 0)
			return i + 1 == n && i > 0;
	}
	return false;
}

/* Is there no other question in front of the one at `end`, but in parentheses? */
static bool is_only_question(const char *text, size_t end)
{
	int depth = 0;
	for (size_t i = 0; i < end; i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (depth == 0 && text[i] == '?')
			return false;
	}
	return depth == 0;
}

char *condition_text(const char *text)
{
	static const char *const ends[] = {" ? 1 : 0", " ? 0 : 1"};
	size_t n = strlen(text), inside = is_inside(text, n);
	for (int i = 0; i < 2; i++) {
		size_t end = strlen(ends[i]), at = n - inside;
		char *out;
		if (at <= end + inside || strncmp(text + at - end, ends[i], end) != 0 ||
		    !is_only_question(text + inside, at - end - inside))
			continue;
		if (asprintf(&out, i ? "!(%.*s)" : "%.*s", (int)(at - end - inside), text + inside) < 0)
			return NULL;
		return out;
	}
	return strdup(text);
}

bool condition_counts_once(const char *text)
{
	unsigned count = 0;
	for (size_t i = 0; text[i]; i++)
		count += text[i] == 'v' && (i == 0 || (!isalnum((unsigned char)text[i - 1]) && text[i - 1] != '_')) &&
		         !isalnum((unsigned char)text[i + 1]) && text[i + 1] != '_';
	return count == 1;
}
