/* SPDX-License-Identifier: BSD-3-Clause
 * call_text - lines of a program: how far they are indented, and what stands for the number of a visit
 */
#include "proxy/call_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

void call_indent(FILE *out, int indent)
{
	while (indent-- > 0)
		fputc('\t', out);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void call_write_visit(const char *text, const char *visit, uint64_t turns, FILE *out)
{
	char rest[40];
	size_t n = turns ? (size_t)snprintf(rest, sizeof rest, "v %% %" PRIu64, turns) : 0;
	for (size_t i = 0; text[i]; i++) {
		bool begins = i == 0 || !is_word(text[i - 1]), turn = false;
		size_t at = i + (text[i] == '(' && begins); /* "(v % 6)" is one word then */
		if (n && begins && strncmp(text + at, rest, n) == 0)
			turn = at > i ? text[at + n] == ')' : !isdigit((unsigned char)text[at + n]);
		if (turn)
			fputs(visit, out);
		else if (text[i] == 'v' && begins && !is_word(text[i + 1]))
			fputs(visit, out);
		else
			fputc(text[i], out);
		i += turn ? n - 1 + 2 * (at - i) : 0;
	}
}
