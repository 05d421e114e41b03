/* SPDX-License-Identifier: BSD-3-Clause
 * number - a whole number that somebody typed
 */
#include "trace/base/number.h"

#include <stdio.h>
#include <string.h>

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

int number_parse_bytes(const char *text, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMGTP";
	size_t n = strspn(text, "0123456789");
	const char *unit = text + n;
	char digits[24];
	unsigned shift = 0;
	uint64_t number;

	if (n >= sizeof digits)
		return -1;
	snprintf(digits, sizeof digits, "%.*s", (int)n, text);
	unit += *unit == ' ' && unit[1];
	if (*unit) {
		const char *found = strchr(units, *unit);
		if (!found || (unit[1] && strcmp(unit + 1, "iB") != 0))
			return -1;
		shift = 10 * (unsigned)(found - units + 1);
	}
	if (number_parse(digits, max >> shift, &number) != 0)
		return -1;
	*out = number << shift;
	return 0;
}
