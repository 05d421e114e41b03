/* SPDX-License-Identifier: BSD-3-Clause
 * error - a human text in a buffer that the caller owns
 */
#include "trace/base/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *error, const char *format, ...)
{
	if (error && !error->text[0]) {
		va_list ap;
		va_start(ap, format);
		vsnprintf(error->text, sizeof error->text, format, ap);
		va_end(ap);
	}
	return -1;
}
