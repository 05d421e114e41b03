/* SPDX-License-Identifier: BSD-3-Clause
 * scale - by what the computation of a replay is multiplied
 */
#include "cmd/base/scale.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int scale_next(const char **text, struct scale_entry *e)
{
	char number[64], *end;
	size_t n = strcspn(*text, ",");
	const char *is = memrchr(*text, '=', n), *from = is ? is + 1 : *text;
	size_t digits = n - (size_t)(from - *text), name = is ? (size_t)(is - *text) : 0;
	if (n == 0)
		return **text ? -1 : 1;
	if (digits == 0 || digits >= sizeof number || name >= sizeof e->name || (is && name == 0))
		return -1;
	memcpy(number, from, digits);
	number[digits] = '\0';
	memcpy(e->name, *text, name);
	e->name[name] = '\0';
	e->factor = strtod(number, &end);
	if (*end || !strchr("0123456789.", number[0]) || !(e->factor >= 0 && e->factor <= SCALE_MOST))
		return -1;
	*text += n;
	if (**text == ',' && (*text)[1] == '\0')
		return -1;
	*text += **text == ',';
	return 0;
}

int scale_read(void *to, const char *text)
{
	const char *all = text;
	struct scale_entry e;
	int rv = *text ? 0 : -1;
	while (rv == 0)
		rv = scale_next(&text, &e);
	*(const char **)to = all;
	return rv < 0 ? -1 : 0;
}

/* "#3" or "#3-7". */
static bool read_range(const char *name, uint64_t *first, uint64_t *last)
{
	char *end;
	if (name[0] != '#' || !strchr("0123456789", name[1]) || !name[1])
		return false;
	*first = *last = strtoull(name + 1, &end, 10);
	if (*end == '-')
		*last = strtoull(end + 1, &end, 10);
	return *end == '\0';
}

int scale_sites(const char *text, double *by_site, uint32_t count)
{
	struct scale_entry e;
	uint64_t first, last;
	for (uint32_t i = 0; i < count; i++)
		by_site[i] = 1;
	for (int rv; (rv = scale_next(&text, &e)) <= 0;) {
		first = 0;
		last = UINT32_MAX;
		if (rv < 0 || (e.name[0] && !read_range(e.name, &first, &last)))
			return -1;
		for (uint64_t i = first; i <= last && i < count; i++)
			by_site[i] = e.factor;
	}
	return 0;
}
