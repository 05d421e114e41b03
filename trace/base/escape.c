/* SPDX-License-Identifier: BSD-3-Clause
 * escape - any bytes as one printable word
 */
#include "trace/base/escape.h"

#include <assert.h>
#include <stdbool.h>

static bool is_plain(unsigned char c)
{
	return c > 0x20 && c < 0x7f && c != '%' && c != ';';
}

static int hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int escape_write(char *out, size_t size, const char *value)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	assert(size > 0);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (n + (is_plain(*p) ? 1 : 3) >= size) {
			out[0] = '\0';
			return -1;
		}
		if (is_plain(*p)) {
			out[n++] = (char)*p;
		} else {
			out[n++] = '%';
			out[n++] = hex[*p >> 4];
			out[n++] = hex[*p & 15];
		}
	}
	out[n] = '\0';
	return (int)n;
}

int escape_read(char *out, size_t size, const char *text, size_t n, char nul)
{
	size_t length = 0;

	assert(size > 0);
	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)text[i];
		if (c == '%') {
			int high = i + 2 < n ? hex_digit((unsigned char)text[i + 1]) : -1;
			int low = high >= 0 ? hex_digit((unsigned char)text[i + 2]) : -1;
			c = low < 0 ? 0 : high || low ? high << 4 | low : (unsigned char)nul;
			i += 2;
		} else if (!is_plain((unsigned char)c)) {
			c = 0;
		}
		if (c == 0 || length + 1 >= size) {
			out[0] = '\0';
			return -1;
		}
		out[length++] = (char)c;
	}
	out[length] = '\0';
	return (int)length;
}
