/* SPDX-License-Identifier: BSD-3-Clause
 * say - what a replay says
 */
#include "replay/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/utf8.h"

void replay_make_visible(char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t length = utf8_visible(text + i, n - i);
		if (!length)
			text[i] = '?';
		i += length ? length : 1;
	}
}

/* In one piece: other ranks write there, too. */
void replay_say(const char *file, const char *format, ...)
{
	char *text = NULL, *line = NULL;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	int n = text ? asprintf(&line, "spoor-replay: %s%s%s\n", file ? file : "", file ? ": " : "", text) : -1;
	if (n > 0) {
		replay_make_visible(line, (size_t)n - 1);
		fputs(line, stderr);
	} else {
		line = NULL;
		fputs("spoor-replay: no memory\n", stderr);
	}
	free(line);
	free(text);
}
