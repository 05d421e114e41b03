/* SPDX-License-Identifier: BSD-3-Clause
 * filter - the options that say which traces of the archive are meant
 */
#include "cmd/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "trace/base/number.h"

#define NUMBER_MAX UINT64_C(99999999999) /* more than there are jobs or bytes of interest */

/* Returns 0, or -1: it is no time. end: a day without a time means its end. */
static int read_time(const char *text, bool end, int64_t *seconds)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
	size_t digits = strspn(text, "0123456789");

	if (digits > 0 && digits < 10 && text[digits] && !text[digits + 1]) {
		static const char units[] = "smhd";
		static const int64_t lengths[] = {1, 60, 3600, 86400};
		const char *unit = strchr(units, text[digits]);
		if (!unit)
			return -1;
		*seconds = (int64_t)time(NULL) - strtoll(text, NULL, 10) * lengths[unit - units];
		return 0;
	}
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *rest = strptime(text, forms[i], &tm);
		if (!rest || *rest)
			continue;
		bool day = i == 2;
		if (day && end) {
			tm.tm_hour = 23;
			tm.tm_min = tm.tm_sec = 59;
		}
		tm.tm_isdst = -1;
		*seconds = (int64_t)mktime(&tm);
		return *seconds > 0 ? 0 : -1;
	}
	return -1;
}

bool filter_is_one_of(const char *text, const char *const *words)
{
	while (*words && strcasecmp(text, *words))
		words++;
	return *words != NULL;
}

/* "N", "N-", "-M" or "N-M", each with a unit if they are times. Returns 0, or -1: it is no range. */
static int read_range(const char *text, bool times, int64_t *min, int64_t *max)
{
	static const char units[] = "smhd";
	static const int64_t lengths[] = {1, 60, 3600, 86400};
	int64_t ends[2] = {0, -1};
	bool dash = false;

	for (int i = 0; i < 2; i++) {
		size_t digits = strspn(text, "0123456789");
		if (digits > 12)
			return -1;
		if (digits) {
			ends[i] = strtoll(text, NULL, 10);
			text += digits;
			const char *unit = times && *text ? strchr(units, *text) : NULL;
			if (unit) {
				ends[i] *= lengths[unit - units];
				text++;
			}
		}
		if (i == 0 && *text == '-') {
			dash = true;
			text++;
		} else if (i == 0) {
			ends[1] = digits ? ends[0] : -1;
			break;
		}
	}
	*min = ends[0];
	*max = ends[1];
	return *text || (!dash && ends[1] < 0) || (dash && ends[0] == 0 && ends[1] < 0) ? -1 : 0;
}

int filter_number(const char *text, int64_t *number)
{
	uint64_t n;
	if (number_parse(text, NUMBER_MAX, &n) != 0)
		return -1;
	*number = (int64_t)n;
	return 0;
}

/* Patterns, each by its option. */
static const char **pattern(struct catalog_filter *f, int option)
{
	switch (option) {
	case 'u':
		return &f->user;
	case 'e':
		return &f->exe;
	case 'n':
		return &f->job_name;
	case 'A':
		return &f->account;
	case 'p':
		return &f->partition;
	case 'q':
		return &f->qos;
	case 'w':
		return &f->node;
	case FILTER_CLUSTER:
		return &f->cluster;
	case FILTER_MODE:
		return &f->mode;
	case FILTER_RULE:
		return &f->rule;
	default:
		return NULL;
	}
}

int filter_read(struct catalog_filter *f, int option, const char *value, const char **expected)
{
	static const char *const states[] = {"COMPLETED", "FAILED", "KILLED", NULL};
	const char **text = pattern(f, option);

	if (text) {
		*text = value;
		return 0;
	}
	switch (option) {
	case 's':
		f->state = value;
		*expected = "expected COMPLETED, FAILED or KILLED, found ";
		return filter_is_one_of(value, states) ? 0 : -1;
	case FILTER_SINCE:
	case FILTER_UNTIL:
		*expected = "not a time: ";
		return read_time(value, option == FILTER_UNTIL, option == FILTER_SINCE ? &f->since : &f->until);
	case 'j':
		*expected = "expected a number, found ";
		return filter_number(value, &f->job);
	case FILTER_RANKS:
		*expected = "expected N, N-, -M or N-M ranks, found ";
		return read_range(value, false, &f->ranks_min, &f->ranks_max);
	case FILTER_NODES:
		*expected = "expected N, N-, -M or N-M nodes, found ";
		return read_range(value, false, &f->nodes_min, &f->nodes_max);
	case FILTER_ELAPSED:
		*expected = "expected a range of times such as 1h-, found ";
		return read_range(value, true, &f->elapsed_min, &f->elapsed_max);
	case FILTER_PARTIAL:
	case FILTER_WHOLE:
		f->partial = option == FILTER_PARTIAL ? 1 : -1;
		return 0;
	default:
		return 1;
	}
}
