/* SPDX-License-Identifier: BSD-3-Clause
 * list - `spoor list`: the traces of the archive, one a line
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "archive/archive.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: spoor list [FILTER...] [--json] [--archive DIR]\n"
	"Lists the traces of the archive that you may read, by start.\n\n"
	"  -u, --user USER      only of this user (a glob)\n"
	"  -s, --state STATE    only COMPLETED, FAILED or KILLED jobs\n"
	"      --since TIME     only those that started at TIME or later\n"
	"      --until TIME     only those that started at TIME or earlier\n"
	"  -e, --exe GLOB       only of this executable (its path, or its last component)\n"
	"      --json           the whole metadata, an object a line\n"
	"      --archive DIR    this archive; else SPOOR_ARCHIVE of the environment, else the policy's\n\n"
	"TIME is 2026-03-31, 2026-03-31T12:00, 2026-03-31T12:00:00 (local), or an age: 30m, 12h, 7d.\n";

static int wrong(const char *message, const char *argument)
{
	fprintf(stderr, "spoor list: %s%s\n%s", message, argument, usage);
	return CMD_USAGE;
}

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

/* --- the table --- */

/* A text of the archive on a terminal: no control characters, no blanks, not too long. Returns out. */
static const char *cell(char out[64], const char *text)
{
	size_t n = 0;
	for (; text[n] && n < 63; n++)
		out[n] = (unsigned char)text[n] <= 0x20 || text[n] == 0x7f ? '?' : text[n];
	out[n] = '\0';
	return n ? out : strcpy(out, "-");
}

static const char *format_start(char out[32], int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	if (ns <= 0 || !localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(out, "-");
	return out;
}

static const char *format_elapsed(char out[32], int64_t start, int64_t end)
{
	if (start <= 0 || end < start) {
		strcpy(out, "-");
	} else {
		int64_t s = (end - start) / 1000000000;
		snprintf(out, 32, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
	}
	return out;
}

static const char *format_size(char out[32], uint64_t bytes)
{
	static const char units[] = "BKMGT";
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(out, 32, unit && value < 10 ? "%.1f%c" : "%.0f%c", value, units[unit]);
	return out;
}

static const char *format_count(char out[32], int64_t count)
{
	if (count < 0)
		strcpy(out, "-");
	else
		snprintf(out, 32, "%" PRId64, count);
	return out;
}

#define ROW "%-16s %-10s %-10s %-19s %9s %6s %5s %6s  %s\n"

static void print_row(const struct archive_entry *e)
{
	char name[64], user[64], state[64], exe[64], start[32], elapsed[32], ranks[32], nodes[32], size[32];
	const json_t *m = e->metadata;
	int64_t begin = metadata_number(m, "start_ns", 0), end = metadata_number(m, "end_ns", -1);
	const char *path = metadata_text(m, "exe", ""), *slash = strrchr(path, '/');
	size_t hosts = json_array_size(json_object_get(m, "hosts"));

	printf(ROW, cell(name, e->name), cell(user, metadata_text(m, "user", "")), cell(state, metadata_text(m, "state", "")),
	       format_start(start, begin), format_elapsed(elapsed, begin, end),
	       format_count(ranks, metadata_number(m, "ranks", -1)),
	       format_count(nodes, hosts ? (int64_t)hosts : metadata_number(m, "nodes", -1)), format_size(size, e->size),
	       cell(exe, slash ? slash + 1 : path));
}

static void print_json(const struct archive_entry *e)
{
	json_t *object = json_copy((json_t *)e->metadata);

	json_object_set_new(object, "name", json_string(e->name));
	json_object_set_new(object, "path", json_string(e->path));
	json_object_set_new(object, "size", json_integer((json_int_t)e->size));
	char *text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(12));
	if (text)
		puts(text);
	free(text);
	json_decref(object);
}

static int list(const char *archive, const struct archive_filter *filter, bool json)
{
	char folder[4096];
	struct archive_list found;
	struct error error = {""};

	if ((!archive && archive_default(folder, sizeof folder, &error)) ||
	    archive_read(&found, archive ? archive : folder, filter, &error)) {
		fprintf(stderr, "spoor: %s\n", error.text);
		return CMD_FAILED;
	}
	if (!json)
		printf(ROW, "JOB", "USER", "STATE", "START", "ELAPSED", "RANKS", "NODES", "SIZE", "EXECUTABLE");
	for (size_t i = 0; i < found.count; i++)
		json ? print_json(&found.entries[i]) : print_row(&found.entries[i]);
	if (found.unreadable)
		fprintf(stderr, "spoor: %zu traces are not yours to read\n", found.unreadable);
	if (found.damaged)
		fprintf(stderr, "spoor: %zu files are damaged and were left out\n", found.damaged);
	int status = found.damaged ? CMD_FAILED : CMD_OK;
	archive_list_free(&found);
	return status;
}

static bool is_state(const char *text)
{
	static const char *const states[] = {"COMPLETED", "FAILED", "KILLED"};
	for (size_t i = 0; i < 3; i++) {
		if (!strcasecmp(text, states[i]))
			return true;
	}
	return false;
}

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{"user", required_argument, NULL, 'u'},  {"state", required_argument, NULL, 's'},
		{"since", required_argument, NULL, 'S'}, {"until", required_argument, NULL, 'U'},
		{"exe", required_argument, NULL, 'e'},   {"archive", required_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'j'},        {"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}};
	struct archive_filter filter = {0};
	const char *archive = NULL;
	bool json = false;

	for (int option; (option = getopt_long(argc, argv, "u:s:e:h", options, NULL)) != -1;) {
		switch (option) {
		case 'u':
			filter.user = optarg;
			break;
		case 's':
			if (!is_state(optarg))
				return wrong("expected COMPLETED, FAILED or KILLED, found ", optarg);
			filter.state = optarg;
			break;
		case 'S':
		case 'U':
			if (read_time(optarg, option == 'U', option == 'S' ? &filter.since : &filter.until))
				return wrong("not a time: ", optarg);
			break;
		case 'e':
			filter.exe = optarg;
			break;
		case 'a':
			archive = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return CMD_OK;
		default:
			fputs(usage, stderr);
			return CMD_USAGE;
		}
	}
	if (optind < argc)
		return wrong("unexpected argument ", argv[optind]);
	return list(archive, &filter, json);
}
