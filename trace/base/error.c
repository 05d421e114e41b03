/* SPDX-License-Identifier: BSD-3-Clause
 * error - a human text in a buffer that the caller owns
 */
#include "trace/base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* What is named in it may be anybody's, and it goes to a terminal: control characters, also those of two bytes in UTF-8
 * (U+0080 to U+009F), become `?`. */
static void error_make_plain(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if (*p < ' ' || *p == 0x7f)
			*p = '?';
		else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
}

int error_set(struct error *error, const char *format, ...)
{
	if (error && !error->text[0]) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(error->text, sizeof error->text, format, ap);
		va_end(ap);
		error_make_plain(error->text);
	}
	return -1;
}
