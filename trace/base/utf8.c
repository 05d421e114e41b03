/* SPDX-License-Identifier: BSD-3-Clause
 * utf8 - characters of text that anybody may have written
 */
#include "trace/base/utf8.h"

#include <stdint.h>

/* How many bytes follow the first one, and the code point; 0: it is no UTF-8. */
static size_t read_point(const unsigned char *s, size_t n, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *s < 0x80                 ? 1
	                : *s >= 0xc2 && *s < 0xe0 ? 2
	                : *s >= 0xe0 && *s < 0xf0 ? 3
	                : *s >= 0xf0 && *s < 0xf5 ? 4
	                                          : 0;
	if (length == 0 || length > n)
		return 0;
	*point = length == 1 ? *s : *s & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (s[i] & 0x3f);
	}
	bool surrogate = *point >= 0xd800 && *point < 0xe000;
	return *point < least[length] || surrogate || *point > 0x10ffff ? 0 : length;
}

size_t utf8_length(const char *text, size_t n)
{
	uint32_t point;
	return read_point((const unsigned char *)text, n, &point);
}

/* What acts on the text around it: Unicode's Bidi_Control, Line_Separator and Paragraph_Separator, what has no width,
 * tags, and U+FEFF. */
static bool acts(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

size_t utf8_visible(const char *text, size_t n)
{
	uint32_t point = 0;
	size_t length = read_point((const unsigned char *)text, n, &point);
	return length && acts(point) ? 0 : length;
}
