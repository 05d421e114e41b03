/* SPDX-License-Identifier: BSD-3-Clause
 * number - a whole number that somebody typed
 */
#include "trace/base/number.h"

#include <stdlib.h>
#include <string.h>

int number_read(const char **text, uint64_t max, uint64_t *out)
{
	const char *at = *text;
	uint64_t n = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (digit > max || n > (max - digit) / 10)
			return -1;
		n = n * 10 + digit;
	}
	if (at == *text)
		return -1;
	*text = at;
	*out = n;
	return 0;
}

int number_parse(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t n;
	if (number_read(&text, max, &n) != 0 || *text)
		return -1;
	*out = n;
	return 0;
}

int number_variable(const char *name, int none)
{
	const char *text = getenv(name);
	uint64_t n;
	return text && number_parse(text, INT32_MAX, &n) == 0 ? (int)n : none;
}

int number_parse_bytes(const char *text, uint64_t max, uint64_t *out)
{
	static const char units[] = "KMGTP";
	const char *unit = text;
	unsigned shift = 0;
	uint64_t number;

	if (number_read(&unit, max, &number) != 0)
		return -1;
	unit += *unit == ' ' && unit[1];
	if (*unit) {
		const char *found = strchr(units, *unit);
		if (!found || (unit[1] && strcmp(unit + 1, "iB") != 0))
			return -1;
		shift = 10 * (unsigned)(found - units + 1);
	}
	if (number > max >> shift)
		return -1;
	*out = number << shift;
	return 0;
}
