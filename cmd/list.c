/* SPDX-License-Identifier: BSD-3-Clause
 * list - `spoor list`: the traces of the archive, one a line
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "archive/archive.h"
#include "archive/join.h"
#include "archive/catalog.h"
#include "archive/scan.h"
#include "cmd/cmd.h"

static const char usage[] =
	"Usage: spoor list [FILTER...] [--sort KEY] [--reverse] [--limit N] [--json] [--archive DIR]\n"
	"Lists the traces of the archive that you may read, by start, from its index (see spoor index).\n\n"
	"  -u, --user USER        only of this user\n"
	"  -s, --state STATE      only COMPLETED, FAILED or KILLED jobs\n"
	"      --since TIME       only those that started at TIME or later\n"
	"      --until TIME       only those that started at TIME or earlier\n"
	"  -e, --exe GLOB         only of this executable (its path, or its last component)\n"
	"  -j, --job ID           only of this job, array or heterogeneous job\n"
	"  -n, --name GLOB        only jobs of this name\n"
	"  -A, --account, -p, --partition, -q, --qos, --cluster GLOB   as the job had them\n"
	"  -w, --node GLOB        only those with ranks on such a node\n"
	"      --mode GLOB        only traces of this mode: lossless, lossy:*\n"
	"      --rule GLOB        only those that this rule of the policy decided for\n"
	"      --ranks N[-M], --nodes N[-M]   only with so many; \"64-\" is 64 or more, \"-64\" at most 64\n"
	"      --elapsed T[-T]    only those that took so long: 90s, 30m, 12h, 7d; \"1h-\" is an hour or more\n"
	"      --partial, --whole   only traces that were made of what killed ranks left; only the others\n"
	"      --sort KEY         start, job, user, ranks, nodes, size, elapsed or exe\n"
	"      --reverse          the other way round\n"
	"      --limit N          no more than N\n"
	"      --json             the whole metadata, an object a line\n"
	"      --archive DIR      this archive; else SPOOR_ARCHIVE of the environment, else the policy's\n\n"
	"Texts are patterns, as for file names (*, ?, [...]); quote them. TIME is 2026-03-31, 2026-03-31T12:00,\n"
	"2026-03-31T12:00:00 (local), or an age: 30m, 12h, 7d.\n";

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
	snprintf(out, 32, "%" PRId64, count);
	return count > 0 ? out : strcpy(out, "-");
}

#define ROW "%-16s %-10s %-10s %-19s %9s %6s %5s %6s  %s\n"

struct output {
	FILE *file;
	const char *archive;
};

static int print_row(void *context, const struct catalog_row *r)
{
	char name[64], user[64], state[64], exe[64], start[32], elapsed[32], ranks[32], nodes[32], size[32];
	const char *slash = strrchr(r->exe, '/');
	const struct output *o = context;

	fprintf(o->file, ROW, cell(name, r->name), cell(user, r->user), cell(state, r->state), format_start(start, r->start_ns),
	       format_elapsed(elapsed, r->start_ns, r->end_ns), format_count(ranks, r->ranks), format_count(nodes, r->nodes),
	       format_size(size, r->size), cell(exe, slash ? slash + 1 : r->exe));
	return 0;
}

/* The metadata as it is, with the file's own facts behind it. */
static int print_json(void *context, const struct catalog_row *r)
{
	const struct output *o = context;
	size_t n = strlen(r->metadata);
	char path[4400];

	snprintf(path, sizeof path, "%s/%s/%s.spoor", o->archive, r->day, r->name);
	json_t *own = json_pack("{s:s, s:s, s:I}", "name", r->name, "path", path, "size", (json_int_t)r->size);
	char *text = own ? json_dumps(own, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
	if (text && n > 2)
		fprintf(o->file, "%.*s,%s\n", (int)(n - 1), r->metadata, text + 1);
	free(text);
	json_decref(own);
	return 0;
}

static void tell(const char *text)
{
	fprintf(stderr, "spoor: %s\n", text);
}

static int list(const char *archive, const struct catalog_filter *filter, bool json)
{
	char folder[4096];
	struct scan scan = {.wait = 2000};
	struct catalog *catalog = NULL;
	struct error error = {""};
	size_t unreadable = 0, damaged = 0, size = 0;
	char *text = NULL;
	int status = CMD_FAILED, fresh = -1;
	struct output output = {open_memstream(&text, &size), NULL};

	if (!archive && archive_default(folder, sizeof folder, &error) == 0)
		archive = folder;
	if (archive) {
		/* the parts of what was not joined yet; of one that cannot be joined, the parts are listed */
		struct join_search joining = {.archive = archive, .since = (int64_t)time(NULL) - JOIN_AGE, .job = -1};
		join_archive(&joining, NULL);
	}
	if (!output.file)
		error_set(&error, "out of memory");
	if (!output.file || !archive || catalog_open(&catalog, archive, archive_group(), &error) ||
	    (fresh = scan_archive(catalog, &scan, &error)) < 0 || catalog_lock(catalog, CATALOG_SHARE, 10000, &error))
		goto done;
	if (fresh > 0)
		fputs("spoor: the index could not be brought up to date now: the newest traces may be missing\n", stderr);
	if (!json)
		fprintf(output.file, ROW, "JOB", "USER", "STATE", "START", "ELAPSED", "RANKS", "NODES", "SIZE", "EXECUTABLE");
	output.archive = catalog->archive;
	if (catalog_list(catalog, filter, json, json ? print_json : print_row, &output, &error))
		goto done;
	damaged = catalog_troubles(catalog, tell, &unreadable);
	if (unreadable)
		fprintf(stderr, "spoor: %zu traces are not yours to read\n", unreadable);
	if (damaged)
		fprintf(stderr, "spoor: %zu files are damaged and were left out\n", damaged);
	status = damaged ? CMD_FAILED : CMD_OK;
done:
	/* Printed when the index is free again: a pager that waits for its reader must not keep everybody else from changing it. */
	catalog_close(catalog);
	if (output.file)
		fclose(output.file);
	if (text && (fwrite(text, 1, size, stdout) != size || fflush(stdout)))
		error_set(&error, "the list cannot be written: %s", strerror(errno));
	free(text);
	if (error.text[0]) {
		fprintf(stderr, "spoor: %s\n", error.text);
		status = CMD_FAILED;
	}
	return status;
}

static bool is_one_of(const char *text, const char *const *words)
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

enum { SINCE = 256, UNTIL, ARCHIVE, JSON, MODE, RULE, RANKS, NODES, ELAPSED, PARTIAL, WHOLE, SORT, REVERSE, LIMIT, CLUSTER };

static const struct option options[] = {
	{"user", required_argument, NULL, 'u'},      {"state", required_argument, NULL, 's'},
	{"since", required_argument, NULL, SINCE},   {"until", required_argument, NULL, UNTIL},
	{"exe", required_argument, NULL, 'e'},       {"archive", required_argument, NULL, ARCHIVE},
	{"job", required_argument, NULL, 'j'},       {"name", required_argument, NULL, 'n'},
	{"account", required_argument, NULL, 'A'},   {"partition", required_argument, NULL, 'p'},
	{"qos", required_argument, NULL, 'q'},       {"cluster", required_argument, NULL, CLUSTER},
	{"node", required_argument, NULL, 'w'},      {"mode", required_argument, NULL, MODE},
	{"rule", required_argument, NULL, RULE},     {"ranks", required_argument, NULL, RANKS},
	{"nodes", required_argument, NULL, NODES},   {"elapsed", required_argument, NULL, ELAPSED},
	{"partial", no_argument, NULL, PARTIAL},     {"whole", no_argument, NULL, WHOLE},
	{"sort", required_argument, NULL, SORT},     {"reverse", no_argument, NULL, REVERSE},
	{"limit", required_argument, NULL, LIMIT},   {"json", no_argument, NULL, JSON},
	{"help", no_argument, NULL, 'h'},            {NULL, 0, NULL, 0}};

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
	case CLUSTER:
		return &f->cluster;
	case MODE:
		return &f->mode;
	case RULE:
		return &f->rule;
	default:
		return NULL;
	}
}

/* Returns 0, or the exit status with what was wrong said. */
static int read_condition(struct catalog_filter *f, int option, const char *value)
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
		return is_one_of(value, states) ? 0 : wrong("expected COMPLETED, FAILED or KILLED, found ", value);
	case SINCE:
	case UNTIL:
		return read_time(value, option == UNTIL, option == SINCE ? &f->since : &f->until) ? wrong("not a time: ", value) : 0;
	case 'j':
	case LIMIT:
		*(option == 'j' ? &f->job : &f->limit) = strtoll(value, NULL, 10);
		return *value && strlen(value) < 12 && strspn(value, "0123456789") == strlen(value) ? 0 : wrong("expected a number, found ", value);
	case RANKS:
		return read_range(value, false, &f->ranks_min, &f->ranks_max) ? wrong("expected N, N-, -M or N-M ranks, found ", value) : 0;
	case NODES:
		return read_range(value, false, &f->nodes_min, &f->nodes_max) ? wrong("expected N, N-, -M or N-M nodes, found ", value) : 0;
	case ELAPSED:
		return read_range(value, true, &f->elapsed_min, &f->elapsed_max) ? wrong("expected a range of times such as 1h-, found ", value) : 0;
	case SORT:
		f->sort = value;
		return is_one_of(value, catalog_sorts) ? 0 : wrong("cannot sort by ", value);
	default:
		return -1;
	}
}

int cmd_list(int argc, char **argv)
{
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	const char *archive = NULL;
	bool json = false;

	for (int option; (option = getopt_long(argc, argv, "u:s:e:j:n:A:p:q:w:h", options, NULL)) != -1;) {
		int status = 0;
		switch (option) {
		case ARCHIVE:
			archive = optarg;
			break;
		case JSON:
			json = true;
			break;
		case PARTIAL:
		case WHOLE:
			filter.partial = option == PARTIAL ? 1 : -1;
			break;
		case REVERSE:
			filter.reverse = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return CMD_OK;
		case '?':
			fputs(usage, stderr);
			return CMD_USAGE;
		default:
			status = read_condition(&filter, option, optarg);
		}
		if (status)
			return status;
	}
	if (optind < argc)
		return wrong("unexpected argument ", argv[optind]);
	return list(archive, &filter, json);
}
