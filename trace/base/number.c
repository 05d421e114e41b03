/* SPDX-License-Identifier: BSD-3-Clause
 * number - a whole number that somebody typed
 */
#include "trace/base/number.h"

int number_parse(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;
	if (!*text)
		return -1;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)(unsigned char)*text - '0';
		if (digit > 9 || n > (max - digit) / 10 || digit > max)
			return -1;
		n = n * 10 + digit;
	}
	*out = n;
	return 0;
}
