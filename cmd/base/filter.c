/* SPDX-License-Identifier: BSD-3-Clause
 * filter - the options that say which traces of the archive are meant
 */
#include "cmd/base/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/job_state.h"
#include "cmd/base/cell.h"
#include "cmd/base/sink.h"
#include "cmd/base/when.h"
#include "trace/base/number.h"

static const char units[] = "smhd";
static const int64_t unit_seconds[] = {1, 60, 3600, 86400};

/* A number, and the unit behind it where times is set. *text is moved behind both; it stays where there is no digit.
 * Returns 0, or -1: it is too large, or has no known unit although one is needed. */
static int read_length(const char **text, bool times, int64_t *value)
{
	char digits[16];
	size_t n = strspn(*text, "0123456789");
	uint64_t number;

	if (n == 0)
		return 0;
	if (n >= sizeof digits)
		return -1;
	memcpy(digits, *text, n);
	digits[n] = '\0';
	if (number_parse(digits, FILTER_NUMBER_MAX, &number) != 0)
		return -1;
	*value = (int64_t)number;
	*text += n;
	const char *unit = times && **text ? strchr(units, **text) : NULL;
	if (unit) {
		*value *= unit_seconds[unit - units];
		++*text;
	}
	return 0;
}

int filter_read_since(void *to, const char *text)
{
	return when_parse(text, false, (int64_t)time(NULL), to);
}

int filter_read_until(void *to, const char *text)
{
	return when_parse(text, true, (int64_t)time(NULL), to);
}

int filter_read_jobs(void *to, const char *text)
{
	return job_id_parse_list(to, text);
}

int filter_read_states(void *to, const char *text)
{
	*(const char **)to = text;
	return job_state_check_list(text);
}

/* "N", "N-", "-M" or "N-M". */
static int read_range(const char *text, bool times, int64_t range[2])
{
	int64_t least = -1, most = -1;

	if (read_length(&text, times, &least) != 0)
		return -1;
	if (*text == '-') {
		text++;
		if (read_length(&text, times, &most) != 0 || (least < 0 && most < 0))
			return -1;
	} else {
		most = least;
	}
	if (*text || (least < 0 && most < 0))
		return -1;
	range[0] = least < 0 ? 0 : least;
	range[1] = most;
	return 0;
}

int filter_read_range(void *to, const char *text)
{
	return read_range(text, false, to);
}

int filter_read_times(void *to, const char *text)
{
	return read_range(text, true, to);
}

bool filter_selects(const struct catalog_filter *f)
{
	return f->user || f->state || f->exe || f->account || f->partition || f->qos || f->job_name || f->cluster ||
	       f->node || f->mode || f->rule || f->since || f->until || f->jobs.count || f->ranks[0] ||
	       f->ranks[1] >= 0 || f->nodes[0] || f->nodes[1] >= 0 || f->elapsed[0] || f->elapsed[1] >= 0 ||
	       f->partial || f->whole;
}

static void add_range(FILE *out, const char *name, const int64_t range[2])
{
	if (range[0] > 0 && range[1] >= 0)
		say_to(out, "%s from %lld to %lld, ", name, (long long)range[0], (long long)range[1]);
	else if (range[0] > 0)
		say_to(out, "%s from %lld on, ", name, (long long)range[0]);
	else if (range[1] >= 0)
		say_to(out, "%s up to %lld, ", name, (long long)range[1]);
}

char *filter_describe(const struct catalog_filter *f)
{
	const struct {
		const char *name, *text;
	} texts[] = {
		{"user", f->user},           {"state", f->state}, {"executable", f->exe},    {"account", f->account},
		{"partition", f->partition}, {"QoS", f->qos},     {"job name", f->job_name}, {"cluster", f->cluster},
		{"node", f->node},           {"mode", f->mode},   {"rule", f->rule}};
	char *text = NULL, time[32];
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return NULL;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].text)
			say_to(out, "%s %s, ", texts[i].name, texts[i].text);
	if (f->jobs.count)
		say_to(out, "%zu job%s, ", f->jobs.count, f->jobs.count == 1 ? "" : "s");
	if (f->since)
		say_to(out, "since %s, ", cell_start(time, f->since * 1000000000));
	if (f->until)
		say_to(out, "until %s, ", cell_start(time, f->until * 1000000000));
	add_range(out, "ranks", f->ranks);
	add_range(out, "nodes", f->nodes);
	add_range(out, "seconds", f->elapsed);
	say_to(out, "%s", f->partial ? "partial traces, " : f->whole ? "whole traces, " : "");
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	if (n >= 2)
		text[n - 2] = '\0';
	return text;
}
