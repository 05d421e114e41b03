/* SPDX-License-Identifier: BSD-3-Clause
 * report - `spoor report FILE|JOB -o FILE`: a trace as one page that explains where the time went
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/export/anonymise.h"
#include "cmd/export/output.h"
#include "cmd/base/filter.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "cmd/report/comparison.h"
#include "cmd/report/html.h"
#include "cmd/report/jobs.h"
#include "cmd/report/report.h"
#include "cmd/report/site.h"
#include "cmd/report/usual.h"
#include "process/process.h"
#include "trace/base/path.h"
#include "insight/verdict.h"

struct report_options {
	const char *out, *archive, *key, *jobs;
	uint32_t rank;
	const char *month, *against;
	bool full, site, archived; /* archived: the trace was found in the archive, not named */
	char own[64];              /* the caller's name */
	struct site_form form;
	struct catalog_filter filter;
};

/* --- the page --- */

/* Of --month and `--user me`. Returns 0, or -1: it is no month. */
static int set_month(struct report_options *o)
{
	time_t now = time(NULL);
	struct tm tm = {.tm_sec = 0};
	int year, month, used = 0;
	localtime_r(&now, &tm);
	if (*o->month && (sscanf(o->month, "%4d-%2d%n", &year, &month, &used) != 2 || o->month[used] || month < 1 ||
	                  month > 12 || year < 1970))
		return -1;
	if (*o->month) {
		tm.tm_year = year - 1900;
		tm.tm_mon = month - 1;
	}
	struct tm first = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = 1, .tm_isdst = -1},
		  next = {.tm_year = tm.tm_year, .tm_mon = tm.tm_mon + 1, .tm_mday = 1, .tm_isdst = -1};
	o->filter.since = (int64_t)mktime(&first);
	o->filter.until = (int64_t)mktime(&next) - 1;
	strftime(o->form.month, sizeof o->form.month, "%Y-%m", &first);
	return 0;
}

/* The caller. */
static void name_user(struct report_options *o)
{
	if (!o->filter.user || strcmp(o->filter.user, "me") != 0)
		return;
	const struct passwd *pw = getpwuid(getuid());
	if (pw)
		snprintf(o->own, sizeof o->own, "%s", pw->pw_name);
	else
		snprintf(o->own, sizeof o->own, "%u", (unsigned)getuid());
	o->filter.user = o->own;
}

/* What does not go together. */
static void check_options(struct report_options *o, int argc, char **argv, int *status)
{
	if (o->month && set_month(o) != 0)
		*status = options_wrong("spoor report", "--month %.40s: expected a month such as 2026-03", o->month);
	else if (o->month && (optind < argc || o->jobs))
		*status = options_wrong("spoor report", "--month is for the page of the archive");
	else if (o->against && (o->site || o->key || optind == argc))
		*status =
			options_wrong("spoor report", "--against is for the page of a trace, which is not anonymised");
	else if (!o->site && filter_selects(&o->filter))
		*status = options_wrong("spoor report",
		                        "options that select traces are for the page of the archive, "
		                        "with --archive and without %s",
		                        optind < argc ? argv[optind] : "a trace");
	else if (!o->site && optind == argc)
		*status = options_wrong("spoor report", "expected FILE|JOB, --archive, or --jobs");
	else if ((o->form.metrics || o->form.mail) && !o->site)
		*status = options_wrong("spoor report", "--openmetrics and --mail are of the archive, with --archive");
	else if (o->form.metrics && o->form.mail)
		*status = options_wrong("spoor report", "--openmetrics and --mail do not go together");
	else if (o->jobs && (!o->site || o->out || o->form.metrics || o->form.mail))
		*status = options_wrong("spoor report", "--jobs is neither for a trace nor for another page");
	else if (!o->out && !o->jobs)
		*status = options_wrong("spoor report", "say with -o where the page is to go");
	else if (o->site && o->key)
		*status = options_wrong("spoor report", "--anonymise is for the page of a trace");
}

static int parse_report(struct report_options *o, int argc, char **argv, int *status)
{
	int64_t rank = 0;
	const char *archive = NULL;
	const struct option_line lines[] = {
		OPTION_TEXT("output", 'o', "FILE", &o->out, "the page; -: standard output"),
		OPTION_NUMBER("rank", 'r', "R", &rank, 0, INT32_MAX,
	                      "whose course of the program is drawn (default 0)"),
		OPTION_FLAG("full", 0, &o->full, "follow every message, however many events there are"),
		OPTION_FLAG("openmetrics", 0, &o->form.metrics,
	                    "figures of the archive for Prometheus, with --archive"),
		OPTION_TEXT("mail", 0, "ADDRESS", &o->form.mail, "the page of the archive as a mail, for sendmail -t"),
		OPTION_ANONYMISE(&o->key),
		OPTION_TEXT("jobs", 0, "DIR", &o->jobs,
	                    "instead of a page: a folder with the pages of the newest 100 traces, and index.html"),
		OPTION_TEXT("archive", 0, "[DIR]", &archive,
	                    "look for JOB in this archive; without a job: the page of the archive"),
		OPTION_TEXT("month", 0, "[YYYY-MM]", &o->month,
	                    "the page of the archive about a month, default: this one; with --user me: your own jobs"),
		OPTION_TEXT("against", 0, "FILE|JOB", &o->against,
	                    "compare: why the trace took longer than this one, or less, and where"),
		OPTION_LIMIT,
		FILTER_LINES(&o->filter),
		OPTION_END};
	const struct options options = {
		"spoor report",
		"FILE|JOB | --archive [DIR] | --month | --jobs DIR",
		"Writes one HTML page about a trace: what ran, where time went, why it was slow. Or, with --archive "
		"and "
		"no trace, about the archive: where the node hours go. Its page takes the options that select traces, "
		"from --user on.",
		FILTER_NOTES,
		lines,
		0,
		1,
		false};

	if (!options_read(&options, argc, argv, status))
		return -1;
	name_user(o);
	o->rank = (uint32_t)rank;
	o->site = (archive || o->jobs || o->month) && optind == argc;
	o->archive = archive && *archive ? archive : NULL;
	check_options(o, argc, argv, status);
	return *status == CMD_OK ? 0 : -1;
}

static int put_sections(struct report *r)
{
	char title[600];
	const char *name = report_meta(r, "job_name"), *exe = path_name(report_meta(r, "exe"));
	uint64_t job = report_meta_number(r, "job");
	snprintf(title, sizeof title, job ? "spoor: %s, job %" PRIu64 : "spoor: %s",
	         name  ? name
	         : exe ? exe
	               : r->show->name,
	         job);
	html_head(r->out, title);
	report_overview(r);
	report_ending(r);
	report_sites(r);
	report_ranks(r);
	report_messages(r);
	int rv = report_timeline(r);
	report_notes(r);
	report_meta_table(r);
	say_to(r->out, "</main>\n");
	html_foot(r->out);
	return rv;
}

static int report_trace(const struct show *s, const struct report_options *o)
{
	int rv = -1;
	struct output out = {.file = NULL};
	struct error error = {""};
	json_t *json = json_object();
	struct usual usual = {.runs.count = 0};
	char text[USUAL_TEXT];
	struct report r = {.show = s, .trace = s->trace, .json = json};
	if (!json || report_gather(&r, json, o->full) != 0)
		goto done;
	if (o->archived && !o->key)
		usual_find_file(&usual, s->name, &r);
	if (usual_text(&usual, &r, text))
		r.usual = text;
	if (output_file(&out, o->out, &error) != 0)
		goto done;
	r.out = out.file;
	rv = put_sections(&r);
	if (open_spent(s->name) != 0)
		rv = -1;
	if (rv == 0)
		rv = output_finish(&out, &error);
done:
	if (error.text[0])
		say_to(stderr, "spoor report: %s\n", error.text);
	output_discard(&out);
	report_free(&r);
	json_decref(json);
	return rv;
}

/* Opens the folder of a file for looking up names in it; -1: there is none. */
static int open_folder_of(const char *file)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(file, '/');
	if (strcmp(file, "-") == 0)
		return -1;
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
	return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The page of the archive. Root gives up its rights to read it, for good: a child does that, and the page is root's. */
static int report_archive(const struct report_options *o)
{
	struct output out;
	struct error error = {""};
	int status = 0, rv = output_file(&out, o->out, &error);
	if (rv == 0) {
		pid_t child = process_child();
		if (child == 0) {
			struct site_form form = o->form;
			form.beside = open_folder_of(o->out);
			rv = report_site(out.file, o->archive, &o->filter, &form, &error);
			if (rv == 0 && (fflush(out.file) != 0 || ferror(out.file)))
				rv = error_set(&error, "%s: cannot be written", o->out);
			if (rv != 0)
				say_to(stderr, "spoor report: %s\n", error.text);
			_exit(rv == 0 ? 0 : 1);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			rv = error_set(&error, "cannot start a process: %s", strerror(errno));
		else if (status != 0)
			rv = -1;
	}
	if (rv == 0)
		rv = output_finish(&out, &error);
	if (error.text[0])
		say_to(stderr, "spoor report: %s\n", error.text);
	output_discard(&out);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

/* Opens a trace, and writes its page. Returns 0, or -1 after a message. */
static int report_file(const char *trace, const struct report_options *o)
{
	struct container *c;
	struct trace t;
	int rv = 0;
	if (stage_begin("spoor report", o->out, true) != 0 || open_trace(trace, o->archive, &c, &t) != 0)
		return -1;
	struct show s = {.name = container_name(c),
	                 .container = c,
	                 .trace = &t,
	                 .rank = o->rank,
	                 .at = -1,
	                 .patience = VERDICT_PATIENCE};
	s.meta = o->key ? open_claims(c) : open_metadata(c); /* a pseudonym is of what the trace says */
	if (o->key) {
		rv = anonymise(&t, &s.meta, o->key, "spoor report");
		s.name = "(anonymised)";
	}
	if (rv == 0)
		rv = report_trace(&s, o);
	json_decref(s.meta);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

/* Two traces side by side. */
static int report_both(const char *trace, const struct report_options *o)
{
	struct output out = {.file = NULL};
	struct error error = {""};
	int rv = stage_begin("spoor report", o->out, true) != 0 || output_file(&out, o->out, &error) != 0 ? -1 : 0;
	if (rv == 0)
		rv = report_comparison(out.file, trace, o->against, o->archive, &error);
	if (rv == 0)
		rv = output_finish(&out, &error);
	if (error.text[0])
		say_to(stderr, "spoor report: %s\n", error.text);
	output_discard(&out);
	return rv;
}

/* Of --jobs. */
static int report_to(void *context, const char *trace, const char *page)
{
	struct report_options o = *(const struct report_options *)context;
	o.out = page;
	o.archived = true;
	return report_file(trace, &o);
}

int cmd_report(int argc, char **argv)
{
	struct report_options o = {.filter = CATALOG_FILTER_ALL};
	struct error error = {""};
	int rv;
	if (parse_report(&o, argc, argv, &rv) != 0)
		return rv;
	if (o.jobs && jobs_write(o.jobs, o.archive, &o.filter, report_to, &o, &error) != 0) {
		say_to(stderr, "spoor report: %s\n", error.text);
		return CMD_FAILED;
	}
	if (o.jobs)
		return CMD_OK;
	if (o.site)
		return report_archive(&o);
	if (o.against)
		return report_both(argv[optind], &o) == 0 ? CMD_OK : CMD_FAILED;
	o.archived = access(argv[optind], F_OK) != 0;
	return report_file(argv[optind], &o) == 0 ? CMD_OK : CMD_FAILED;
}
