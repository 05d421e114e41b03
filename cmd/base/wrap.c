/* SPDX-License-Identifier: BSD-3-Clause
 * wrap - text in as many lines as its words need
 */
#include "cmd/base/wrap.h"

#include <stdio.h>
#include <string.h>

void wrap_print(const char *text, size_t indent, size_t width)
{
	size_t column = indent;

	while (*text) {
		size_t bytes = width ? strcspn(text, " ") : strlen(text), characters = 0;
		for (size_t i = 0; i < bytes; i++)
			characters += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (width && column > indent && column + 1 + characters > width) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		for (size_t i = 0; i < bytes; i++)
			putchar((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i]);
		column += characters;
		text += bytes;
		text += strspn(text, " ");
	}
	putchar('\n');
}
