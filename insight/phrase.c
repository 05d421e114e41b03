/* SPDX-License-Identifier: BSD-3-Clause
 * phrase - a text that is put together piece by piece
 */
#include "insight/phrase.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct phrase phrase_behind(char *text, size_t size)
{
	size_t used = strlen(text);
	return (struct phrase){text + used, size - used};
}

void phrase_put(struct phrase *x, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(x->at, x->left, format, arguments);
	va_end(arguments);
	size_t used = n < 0 ? 0 : (size_t)n < x->left ? (size_t)n : x->left - 1;
	x->at += used;
	x->left -= used;
}
