/* SPDX-License-Identifier: BSD-3-Clause
 * why - `spoor why JOB`: why a job was slow, or did not end: all its steps on one screen
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/metadata.h"
#include "cmd/base/cell.h"
#include "cmd/base/fresh_index.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/wrap.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/terminal.h"
#include "cmd/cmd.h"
#include "cmd/report/findings.h"
#include "cmd/report/html.h"
#include "cmd/report/usual.h"
#include "cmd/why_sum.h"
#include "trace/base/number.h"
#include "trace/base/path.h"
#include "trace/model/host.h"
#include "trace/model/stream.h"
#include "insight/verdict.h"

#define WIDTH    80
#define INDENT   10
#define DETAILED 3    /* steps that are told; the others have a line */
#define STEPS    1000 /* of a job that are looked at */
#define SUMMED   32   /* steps that are read for what the job lost in all: those that cost most */
#define TOLD     3    /* findings of a step; a job of one step: all */
#define SMALL    0.01 /* parts of the time that are not named */
#define LINE     200  /* bytes of --line */

struct why_step {
	char *folder, *name, *exe;
	int64_t start_ns, end_ns, ranks;
};

struct why {
	const char *wanted;      /* "12", "12.0", "12.0.1" */
	struct catalog *catalog; /* NULL: a file */
	struct why_step *steps;
	size_t count;
	bool more;                /* than STEPS */
	int64_t uid;              /* only traces of this user; -1: of one, whoever that is */
	int64_t found[2], caller; /* users of whom there are some, -1: nobody; who asks */
	bool own;                 /* the caller is one of them */
	bool line;                /* only a line, of the step that cost most */
	double least;             /* findings_make */
	struct why_sum sum;
	json_t *json;
};

/* --- text in 80 columns --- */

/* Words behind a label (NULL: it is printed). */
static void print_wrapped(const char *label, const char *text)
{
	if (label)
		say("  %-*s", INDENT - 2, label);
	wrap_print(text, INDENT, WIDTH);
}

static void print_times(const struct report *r)
{
	struct time_part parts[TIME_PARTS];
	char text[600] = "";
	size_t n = 0;
	report_time_parts(r, parts);
	for (int i = 0; i < TIME_PARTS; i++) {
		double share = r->sum.all_ns ? (double)parts[i].ns / (double)r->sum.all_ns : 0;
		if (share >= SMALL)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %.0f %%", n ? ", " : "", parts[i].name,
			                      100 * share);
	}
	double away = r->sum.all_ns ? (double)r->sum.away_ns / (double)r->sum.all_ns : 0;
	if (n && away >= SMALL)
		snprintf(text + n, sizeof text - n, "; of the computation, %.0f %% of the time was off the processor",
		         100 * away);
	if (n)
		print_wrapped("Time", text);
}

/* --- one trace --- */

static void print_what(const struct report *r)
{
	const json_t *hosts = json_object_get(r->show->meta, "hosts"), *step = json_object_get(r->show->meta, "step");
	const char *state = report_state(r);
	char exe[METADATA_APPLICATION], text[1200], took[HTML_NUMBER], number[24] = "";
	if (json_is_integer(step))
		snprintf(number, sizeof number, "%lld", (long long)json_integer_value(step));
	snprintf(text, sizeof text, "%.300s, %" PRIu32 " ranks on %zu node%s, %s, %.40s",
	         *metadata_application(r->show->meta, exe) ? exe : r->show->name, r->trace->size,
	         json_array_size(hosts), json_array_size(hosts) == 1 ? "" : "s",
	         text_ns(took, (double)show_wall_ns(r->show->meta)), state ? state : "state not known");
	say("Step %.60s\n", report_meta(r, "step") ? report_meta(r, "step") : *number ? number : "-");
	print_wrapped("Ran", text);
}

static void print_findings(const struct findings *f, size_t most)
{
	char text[1800];
	say("  %-*s", INDENT - 2, "Verdict");
	terminal_print_mark(stdout, !strcmp(f->mark, "good")   ? MARK_GOOD
	                            : !strcmp(f->mark, "fair") ? MARK_FAIR
	                            : !strcmp(f->mark, "bad")  ? MARK_BAD
	                                                       : MARK_END);
	print_wrapped(NULL, f->headline);
	terminal_print_mark(stdout, MARK_END);
	for (size_t i = 0; i < f->count && i < most; i++) {
		const struct finding_kind *kind = &finding_kinds[f->list[i].kind];
		snprintf(text, sizeof text, "%s: %s", kind->title, f->list[i].text);
		print_wrapped(i ? "" : "Why", text);
	}
	for (size_t i = 0; i < f->count && i < most; i++)
		if (finding_advice(&f->list[i])) {
			print_wrapped("Try", finding_advice(&f->list[i]));
			break;
		}
	if (f->count > most)
		say("%*s%zu more; spoor why %s tells them.\n", INDENT, "", f->count - most, "JOB.STEP");
}

/* --- the runs before --- */

static json_t *usual_json(const struct usual *usual)
{
	const struct history_usual *u = &usual->runs;
	const struct history_cause *cause = &usual->cause;
	if (u->count == 0)
		return json_null();
	return json_pack("{s:I, s:f, s:s, s:f, s:f}", "runs", (json_int_t)u->count, "median_s", u->median, "cause",
	                 cause->what, "before_s", cause->before, "after_s", cause->after);
}

static json_t *ranks_json(const struct cause *c)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < c->rank_count; i++)
		json_array_append_new(list, json_integer(c->ranks[i]));
	return list;
}

/* By an ideal network. */
static json_t *split_json(const struct report *r)
{
	const struct causes *c = &r->causes;
	if (!c->known || !c->played)
		return json_pack("{s:b}", "played", 0);
	const struct cause_split s = causes_split(c, r->trace);
	return json_pack("{s:b, s:f, s:f, s:f, s:f, s:f, s:I}", "played", 1, "computation", s.computation, "imbalance",
	                 s.imbalance, "serialisation", s.serialisation, "transfer", s.transfer, "ideal_ns", c->ideal_ns,
	                 "run_ns", (json_int_t)r->sum.run_ns);
}

static json_t *findings_json(const struct report *r, const struct findings *f)
{
	json_t *list = json_array(), *times = json_object();
	struct time_part parts[TIME_PARTS];
	report_time_parts(r, parts);
	for (int i = 0; i < TIME_PARTS; i++)
		json_object_set_new(times, parts[i].name, json_integer((json_int_t)parts[i].ns));
	for (size_t i = 0; i < f->count; i++) {
		const struct finding_kind *kind = &finding_kinds[f->list[i].kind];
		const struct cause *c = f->list[i].cause;
		json_t *told =
			json_pack("{s:s, s:s, s:f, s:s, s:s?}", "finding", kind->name, "title", kind->title, "share",
		                  f->list[i].share, "text", f->list[i].text, "advice", finding_advice(&f->list[i]));
		if (c)
			json_object_set_new(told, "lost_ns", json_integer((json_int_t)c->ns));
		if (c && c->away > 0)
			json_object_set_new(told, "away", json_real(c->away));
		if (c && c->rank_count)
			json_object_set_new(told, "ranks", ranks_json(c));
		if (f->list[i].saved > 0)
			json_object_set_new(told, "saved", json_real(f->list[i].saved));
		json_array_append_new(list, told);
	}
	return json_pack("{s:s, s:s, s:s, s:O?, s:I, s:I, s:o, s:o, s:o}", "trace", r->show->name, "verdict",
	                 f->headline, "mark", f->mark, "meta", r->show->meta, "all_ns", (json_int_t)r->sum.all_ns,
	                 "away_ns", (json_int_t)r->sum.away_ns, "times_ns", times, "findings", list, "split",
	                 split_json(r));
}

/* In one line of printable ASCII, for Slurm's comments: nothing that scripts or `sacct --parsable` take for more. */
static void print_short(const struct why *w, const struct report *r, const struct findings *f)
{
	const json_t *late = json_object_get(json_array_get(json_object_get(r->json, "balance"), 0), "late_rank");
	char text[600], rank[STREAM_NAME], host[HOST_MAX] = "";
	size_t n = 0;
	if (w->count > 1)
		n += (size_t)snprintf(text, sizeof text,
		                      "step %.40s of %zu: ", report_meta(r, "step") ? report_meta(r, "step") : "",
		                      w->count);
	n += (size_t)snprintf(text + n, sizeof text - n, "%s", f->headline);
	if (r->sum.all_ns)
		n += (size_t)snprintf(text + n, sizeof text - n, "; MPI %.0f %%",
		                      100 * (double)r->sum.mpi_ns / (double)r->sum.all_ns);
	if (r->sum.unended_ns && r->sum.all_ns)
		n += (size_t)snprintf(text + n, sizeof text - n, "; calls that never ended %.0f %%",
		                      100 * (double)r->sum.unended_ns / (double)r->sum.all_ns);
	else if (f->compute >= 0)
		n += (size_t)snprintf(text + n, sizeof text - n, "; efficiency %.0f %%", 100 * f->compute);
	if (late) {
		uint64_t stream = (uint64_t)json_integer_value(late);
		host_get(r->trace, stream_rank(r->trace, stream), host);
		snprintf(text + n, sizeof text - n, "; late: rank %s%s%.64s", stream_name(r->trace, stream, rank),
		         *host ? " on " : "", host);
	}
	comment_print_text(stdout, text, LINE);
	say("\n");
}

static void tell_report(struct why *w, const struct why_step *step, const struct report *r, size_t most)
{
	struct findings f;
	struct usual usual = {.runs.count = 0};
	char text[USUAL_TEXT];
	findings_make(&f, r, w->least);
	if (!w->line)
		findings_saved(&f, r);
	if (step && !w->line)
		usual_find(&usual, w->catalog, step->folder, step->name, r);
	if (w->json) {
		json_t *told = findings_json(r, &f);
		json_object_set_new(told, "usual", usual_json(&usual));
		json_array_append_new(json_object_get(w->json, "steps"), told);
	} else if (w->line) {
		print_short(w, r, &f);
	} else {
		print_what(r);
		print_findings(&f, most);
		print_times(r);
		if (usual_text(&usual, r, text))
			print_wrapped("Usual", text);
	}
}

/* step: of a job; NULL: a file. most: findings that are told; 0: it is only added to the job's sum. Returns 0, or -1
 * after a message. */
static int tell_trace(struct why *w, const char *path, const struct why_step *step, size_t most)
{
	struct container *c;
	struct trace t;
	if (open_trace(path, NULL, &c, &t) != 0)
		return -1;
	json_t *shown = json_object();
	struct show s = {
		.name = container_name(c), .container = c, .trace = &t, .at = -1, .patience = VERDICT_PATIENCE};
	s.meta = open_metadata(c);
	struct report r = {.show = &s, .trace = &t, .json = shown};
	int rv = shown ? report_gather(&r, shown, false) : -1;
	if (rv == 0 && step)
		why_sum_add(&w->sum, &r, step->name);
	if (rv == 0 && most)
		tell_report(w, step, &r, most);
	if (open_spent(s.name) != 0)
		rv = -1;
	report_free(&r);
	json_decref(shown);
	json_decref(s.meta);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

/* --- a job --- */

static void forget_steps(struct why *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->steps[i].folder);
		free(w->steps[i].name);
		free(w->steps[i].exe);
	}
	w->count = 0;
	w->more = false;
}

static void note_user(struct why *w, int64_t uid)
{
	int at = w->found[0] < 0 || w->found[0] == uid ? 0 : 1;
	if (w->found[at] < 0)
		w->found[at] = uid;
	w->own |= uid == w->caller;
}

/* A trace of the job; of one step or world only, where that is asked for. */
static int take_step(void *context, const struct catalog_row *row)
{
	struct why *w = context;
	struct why_step *s = &w->steps[w->count];
	if (w->uid >= 0 && row->uid != w->uid)
		return 0;
	note_user(w, row->uid);
	if (w->count == STEPS) {
		w->more = true;
		return 0;
	}
	*s = (struct why_step){.folder = strdup(row->folder),
	                       .name = strdup(row->name),
	                       .exe = strdup(*row->application ? row->application : path_name(row->exe)),
	                       .start_ns = row->start_ns,
	                       .end_ns = row->end_ns,
	                       .ranks = row->ranks};
	w->count++;
	return s->folder && s->name && s->exe ? 0 : 1;
}

/* Anybody can call their traces a part of anybody's job. The caller's own are not hidden by that; else it must be said
 * whose are meant. */
static int choose_user(struct why *w, const struct catalog_filter *filter, struct error *error)
{
	if (w->found[1] < 0)
		return 0;
	if (!w->own)
		return error_set(error,
		                 "job %s has traces of user %" PRId64 " and of user %" PRId64 ": say with --user whose",
		                 w->wanted, w->found[0], w->found[1]);
	forget_steps(w);
	w->uid = w->caller;
	return catalog_list(w->catalog, filter, false, take_step, w, error);
}

static int find_steps(struct why *w, const char *archive, struct error *error)
{
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	if (job_id_parse_list(&filter.jobs, w->wanted) != 0)
		return error_set(error, "%s: no such file, and not the number of a job", w->wanted);
	filter.sort = "start";
	w->steps = calloc(STEPS, sizeof *w->steps);
	int rv = w->steps ? fresh_index(&w->catalog, archive, true, false, error) : error_set(error, "out of memory");
	if (rv == 0)
		rv = catalog_lock(w->catalog, CATALOG_SHARE, 10000, error);
	if (rv == 0)
		rv = catalog_list(w->catalog, &filter, false, take_step, w, error);
	if (rv == 0)
		rv = choose_user(w, &filter, error);
	if (rv > 0)
		rv = error_set(error, "out of memory");
	if (rv == 0 && w->count == 0)
		rv = error_set(error, "%s: no trace of such a job%s in the archive %s", w->wanted,
		               w->uid >= 0 ? " and user" : "", w->catalog->archive);
	if (w->catalog)
		catalog_lock(w->catalog, CATALOG_UNLOCK, 0, NULL);
	return rv;
}

/* The rank time of a step. */
static double weight_of(const struct why_step *s)
{
	return (double)s->ranks * (double)(s->end_ns - s->start_ns);
}

/* How many steps cost more? */
static size_t dearer_steps(const struct why *w, size_t step)
{
	size_t larger = 0;
	for (size_t i = 0; i < w->count; i++)
		larger += weight_of(&w->steps[i]) > weight_of(&w->steps[step]) ||
		          (i < step && weight_of(&w->steps[i]) >= weight_of(&w->steps[step]));
	return larger;
}

/* The step that cost most, and which part of the rank time of all steps. */
static void find_dearest(struct why *w)
{
	double all = 0, most = -1;
	for (size_t i = 0; i < w->count; i++) {
		const double weight = weight_of(&w->steps[i]);
		all += weight;
		if (weight > most) {
			most = weight;
			w->sum.dearest = w->steps[i].name;
		}
	}
	w->sum.part = all > 0 ? most / all : 0;
}

static void tell_sum(struct why *w)
{
	char text[WHY_SUM_TEXT];
	find_dearest(w);
	if (w->json) {
		json_object_set_new(w->json, "all", why_sum_json(&w->sum));
	} else if (!w->line && w->count > 1) {
		say("All steps\n");
		print_wrapped("Lost", why_sum_text(&w->sum, w->count, text));
	}
}

static int tell_job(struct why *w)
{
	int rv = 0;
	char name[64], exe[64], elapsed[32], path[2 * PATH_MAX];
	if (!w->json && !w->line)
		say("Job %s: %zu trace%s%s\n", w->wanted, w->count, w->count == 1 ? "" : "s",
		    w->count > DETAILED ? "; those that cost most are told" : "");
	for (size_t i = 0; i < w->count; i++) {
		const struct why_step *s = &w->steps[i];
		snprintf(path, sizeof path, "%s/%s/%s.spoor", w->catalog->archive, s->folder, s->name);
		if (dearer_steps(w, i) < (w->line ? 1 : DETAILED)) {
			if (tell_trace(w, path, s, w->count == 1 ? FINDINGS_MOST : TOLD) != 0)
				rv = -1;
			continue;
		}
		if (!w->line && dearer_steps(w, i) < SUMMED && tell_trace(w, path, s, 0) != 0)
			rv = -1;
		if (w->json)
			json_array_append_new(json_object_get(w->json, "others"), json_string(path));
		else if (!w->line)
			say("Step %-20s %-24.24s %9s  %" PRId64 " ranks\n", cell_text(name, s->name),
			    cell_text(exe, s->exe), cell_elapsed(elapsed, s->start_ns, s->end_ns), s->ranks);
	}
	tell_sum(w);
	if (w->more)
		say_to(stderr, "spoor: the job has more than %d traces; only these were looked at\n", STEPS);
	return rv;
}

int cmd_why(int argc, char **argv)
{
	const char *archive = NULL;
	bool json = false;
	double least = -1;
	struct why w = {.uid = -1, .found = {-1, -1}, .caller = getuid()};
	struct error error = {""};
	const struct option_line lines[] = {
		OPTION_FLAG("json", 0, &json, "as JSON"),
		OPTION_FLAG("line", 0, &w.line, "one line of at most 200 characters, for a comment in Slurm"),
		OPTION_READ("user", 'u', "USER", &w.uid, options_read_user, OPTIONS_USER,
	                    "of a job: only traces whose files are this user's"),
		OPTION_DECIMAL("least", 0, "PERCENT", &least, 0, 100,
	                       "causes that cost less of the time are not told (5; 10 if the job is efficient)"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor why",
	                                "FILE|JOB",
	                                "Says why a job was slow, or did not end: what ran, where its time went, and "
	                                "what to try first. JOB is 12, "
	                                "12.STEP or 12.STEP.N. Of a job, all steps are told.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	if (json && w.line)
		return options_wrong("spoor why", "--json and --line do not go together");
	w.wanted = argv[optind];
	w.least = least / 100;
	w.json = json ? json_pack("{s:s, s:[], s:[]}", "job", w.wanted, "steps", "others") : NULL;
	if (access(w.wanted, F_OK) == 0)
		rv = tell_trace(&w, w.wanted, NULL, FINDINGS_MOST);
	else if ((rv = find_steps(&w, archive, &error)) == 0)
		rv = tell_job(&w);
	if (error.text[0])
		say_to(stderr, "spoor: %s\n", error.text);
	if (json && rv == 0 && (json_print(stdout, w.json, JSON_INDENT(2)) != 0 || say("\n") == EOF))
		rv = -1;
	json_decref(w.json);
	forget_steps(&w);
	free(w.steps);
	catalog_close(w.catalog);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
