/* SPDX-License-Identifier: BSD-3-Clause
 * when - times as Slurm's commands take them
 */
#include "cmd/base/when.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "trace/base/number.h"

#define LONGEST UINT64_C(99999999999)

/* The length of a unit that text begins with, in seconds; 0: none. *rest is behind its letters. */
static int64_t read_unit(const char *text, const char **rest)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"seconds", 1}, {"minutes", 60}, {"hours", 3600}, {"days", 86400}, {"weeks", 604800}};
	size_t n = 0;

	while (isalpha((unsigned char)text[n]))
		n++;
	*rest = text + n;
	for (size_t i = 0; n && i < sizeof units / sizeof *units; i++)
		if (!strncasecmp(text, units[i].name, n))
			return units[i].seconds;
	return 0;
}

/* "1hour", and with `bare` also "60". */
static int read_span(const char *text, bool bare, int64_t *seconds)
{
	uint64_t number;

	if (number_read(&text, LONGEST, &number) != 0)
		return -1;
	int64_t unit = *text ? read_unit(text, &text) : bare ? 1 : 0;
	if (!unit || *text || (int64_t)number > (int64_t)LONGEST / unit)
		return -1;
	*seconds = (int64_t)number * unit;
	return 0;
}

/* Relative to now. */
static int read_relative(const char *text, int64_t now, int64_t *seconds)
{
	int64_t span = 0;

	if (!strncasecmp(text, "now", 3)) {
		const char *sign = text + 3;
		if (*sign && ((*sign != '-' && *sign != '+') || read_span(sign + 1, true, &span) != 0))
			return -1;
		*seconds = *sign == '-' ? now - span : now + span;
		return 0;
	}
	if (read_span(text, false, &span) != 0)
		return -1;
	*seconds = now - span;
	return 0;
}

/* Days from today, and the hour; -1: the whole day. */
static bool read_name(const char *text, int *days, int *hour)
{
	static const struct {
		const char *name;
		int days, hour;
	} names[] = {{"today", 0, -1}, {"yesterday", -1, -1}, {"tomorrow", 1, -1}, {"midnight", 0, 0},
	             {"noon", 0, 12},  {"fika", 0, 15},       {"teatime", 0, 16}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcasecmp(text, names[i].name)) {
			*days = names[i].days;
			*hour = names[i].hour;
			return true;
		}
	return false;
}

struct form {
	const char *format;
	bool date, year, minutes, seconds; /* which of them it has */
};

/* The whole text in one of the forms, over what tm has. */
static const struct form *read_form(const char *text, struct tm *tm)
{
	static const struct form forms[] = {
		{"%Y-%m-%dT%H:%M:%S", true, true, true, true}, {"%Y-%m-%dT%H:%M", true, true, true, false},
		{"%Y-%m-%d", true, true, false, false},        {"%m/%d/%y-%H:%M:%S", true, true, true, true},
		{"%m/%d/%y-%H:%M", true, true, true, false},   {"%m/%d/%y", true, true, false, false},
		{"%m/%d-%H:%M:%S", true, false, true, true},   {"%m/%d-%H:%M", true, false, true, false},
		{"%m/%d", true, false, false, false},          {"%m.%d.%y-%H:%M:%S", true, true, true, true},
		{"%m.%d.%y-%H:%M", true, true, true, false},   {"%m.%d.%y", true, true, false, false},
		{"%m.%d-%H:%M:%S", true, false, true, true},   {"%m.%d-%H:%M", true, false, true, false},
		{"%m.%d", true, false, false, false},          {"%m%d%y", true, true, false, false},
		{"%m%d", true, false, false, false},           {"%I:%M:%S %p", false, false, true, true},
		{"%I:%M %p", false, false, true, false},       {"%I:%M:%S%p", false, false, true, true},
		{"%I:%M%p", false, false, true, false},        {"%H:%M:%S", false, false, true, true},
		{"%H:%M", false, false, true, false},
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm read = *tm;
		const char *rest = strptime(text, forms[i].format, &read);
		if (rest && !*rest) {
			*tm = read;
			return &forms[i];
		}
	}
	return NULL;
}

int when_parse(const char *text, bool end, int64_t now, int64_t *seconds)
{
	time_t current = (time_t)now;
	struct tm today, tm;
	int days = 0, hour = -1, day_of_month = 0; /* 0: it was not said */

	if (read_relative(text, now, seconds) == 0)
		return 0;
	if (!localtime_r(&current, &today))
		return -1;
	tm = today;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	if (read_name(text, &days, &hour)) {
		tm.tm_mday += days;
		tm.tm_hour = hour < 0 ? 0 : hour;
		if (end && hour < 0) {
			tm.tm_hour = 23;
			tm.tm_min = tm.tm_sec = 59;
		}
	} else {
		const struct form *form = read_form(text, &tm);
		if (!form)
			return -1;
		if (end && form->date && !form->minutes) {
			tm.tm_hour = 23;
			tm.tm_min = 59;
		}
		if (end && !form->seconds)
			tm.tm_sec = 59;
		/* a date that is still to come is last year's: the archive has what was */
		if (form->date && !form->year &&
		    (tm.tm_mon > today.tm_mon || (tm.tm_mon == today.tm_mon && tm.tm_mday > today.tm_mday)))
			tm.tm_year--;
		day_of_month = form->date ? tm.tm_mday : 0;
	}
	tm.tm_isdst = -1;
	*seconds = (int64_t)mktime(&tm); /* which takes 30 February for 2 March */
	return *seconds > 0 && (!day_of_month || day_of_month == tm.tm_mday) ? 0 : -1;
}
