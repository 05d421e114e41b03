/* SPDX-License-Identifier: BSD-3-Clause
 * wrap - text in as many lines as its words need
 */
#include "cmd/base/wrap.h"

#include <ctype.h>
#include <string.h>

#include "cmd/base/sink.h"

/* A number and its % are one word. */
static size_t word_length(const char *text)
{
	size_t n = strcspn(text, " ");

	return n && isdigit((unsigned char)text[n - 1]) && !strncmp(text + n, " %", 2)
	               ? n + 1 + strcspn(text + n + 1, " ")
	               : n;
}

void wrap_print(const char *text, size_t indent, size_t width)
{
	size_t column = indent;

	while (*text) {
		size_t bytes = width ? word_length(text) : strlen(text), characters = 0;
		for (size_t i = 0; i < bytes; i++)
			characters += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (width && column > indent && column + 1 + characters > width) {
			say("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			say(" ");
			column++;
		}
		say("%.*s", (int)bytes, text);
		column += characters;
		text += bytes;
		text += strspn(text, " ");
	}
	say("\n");
}
