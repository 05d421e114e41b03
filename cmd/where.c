/* SPDX-License-Identifier: BSD-3-Clause
 * where - `spoor where JOB[.STEP] | FILE | FOLDER`: in which call every rank is, with which arguments, and since when
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/archive.h"
#include "archive/metadata.h"
#include "archive/privileges.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/stage.h"
#include "cmd/cmd.h"
#include "cmd/show/unended_lines.h"
#include "cmd/show/view.h"
#include "cmd/where/view.h"
#include "deliver/running.h"
#include "policy/policy.h"
#include "trace/base/publish.h"
#include "trace/model/stream.h"
#include "insight/hang.h"
#include "insight/verdict.h"

struct where_options {
	bool json, node;
	const char *step, *policy, *archive, *save;
	int64_t timeout;
	double hung;
};

/* --- what is shown --- */

/* Where to, and what is wanted of it. */
struct where_output {
	json_t *list;      /* NULL: text */
	uint64_t patience; /* ns: insight/verdict.h */
	const char *save;  /* a file for the trace; NULL */
};

/* Does it hang, and why? end: of a run that has ended; else NULL. */
static void show_verdict(const struct where_output *out, const struct trace *t, const struct run_end *end, json_t *one)
{
	char text[HANG_VERDICT];
	struct verdict unused;
	if (one)
		unended_json(t, out->patience, end, one);
	else if (*hang_verdict(text, t, &unused, out->patience, end))
		say("Verdict: %s\n", text);
}

/* One MPI_COMM_WORLD, as `show --last` shows it. */
static int show_trace(const char *name, const char *title, const struct trace *t, const struct container *c,
                      const struct where_output *out)
{
	json_t *list = out->list;
	const struct show s = {.name = name, .container = c, .trace = t, .at = -1};
	json_t *one = list ? json_pack("{s:s, s:I, s:I}", "name", title, "ranks", (json_int_t)t->size, "ranks_here",
	                               (json_int_t)stream_ranks(t, &t->events))
	                   : NULL;
	if (!list)
		say("%s: %" PRIu64 " of %" PRIu32 " rank%s\n", title, stream_ranks(t, &t->events), t->size,
		    t->size == 1 ? "" : "s");
	json_t *meta = c ? open_metadata(c) : NULL;
	struct run_end end;
	show_verdict(out, t, metadata_run_end(meta, &end) ? &end : NULL, one);
	json_decref(meta);
	int rv = show_last(&s, one);
	if (list)
		json_array_append_new(list, one);
	return rv;
}

static int show_world(const char *name, struct where_world *w, const struct where_output *out)
{
	struct where_trace t;
	struct error error = {""};
	char title[128];
	snprintf(title, sizeof title, "%s", *w->step ? w->step : name);
	int rv = where_make(&t, w, name, &error);
	if (rv == 0 && !out->save)
		rv = show_trace(name, title, &t.trace, t.container, out);
	else if (rv == 0 && publish_file(stage_path(out->save), 0600, t.bytes, t.size) != 0)
		rv = error_set(&error, "%s: %s", out->save, strerror(errno));
	if (error.text[0])
		say_to(stderr, "spoor where: %s\n", error.text);
	where_trace_free(&t);
	return rv;
}

static int show_worlds(const char *name, struct where_worlds *w, const struct where_output *out)
{
	int status = CMD_OK;
	if (out->save && w->count > 1) {
		say_to(stderr, "spoor where: %s: there are %zu MPI_COMM_WORLDs; --save is for one: name its step\n",
		       name, w->count);
		return CMD_FAILED;
	}
	for (size_t i = 0; i < w->count; i++)
		if (show_world(name, &w->each[i], out) != 0)
			status = CMD_FAILED;
	if (w->early)
		say_to(stderr, "spoor where: %s: %zu process%s had not initialised MPI yet\n", name, w->early,
		       w->early == 1 ? "" : "es");
	if (w->unread)
		say_to(stderr, "spoor where: %s: %zu could not be read now: %s\n", name, w->unread, w->first);
	return status;
}

/* --- what there is to show --- */

static int take_trace(void *context, const uint8_t *bytes, size_t size, struct error *error)
{
	return where_add(context, "", bytes, size, error);
}

/* Arenas, as a step's folder has them. */
static int where_folder(const char *folder, uid_t owner, gid_t group, const struct where_output *out)
{
	struct where_worlds w;
	struct running r = {.take = take_trace, .context = &w};
	struct error error = {""};
	int status = CMD_FAILED;
	where_begin(&w);
	if (privileges_drop(owner, group, &error) == 0 && running_read(&r, folder, &error) == 0) {
		w.early = r.early;
		w.unread = r.unread;
		snprintf(w.first, sizeof w.first, "%.399s", r.first.text);
		status = w.count || w.early || w.unread ? show_worlds(folder, &w, out) : CMD_FAILED;
		if (w.count == 0 && status == CMD_FAILED)
			error_set(&error, "%s: there are no arenas in it", folder);
	}
	if (error.text[0])
		say_to(stderr, "spoor where: %s\n", error.text);
	where_free(&w);
	return status;
}

static int where_file(const char *name, const char *archive, const struct where_output *out)
{
	struct container *c = NULL;
	struct trace t = {.size = 0};
	int rv = open_trace(name, archive, &c, &t);
	if (rv == 0)
		rv = show_trace(name, name, &t, c, out);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

/* 123, 123_4, 123.0: slurmctld knows jobs by these; of another name it is no job. */
static bool is_job(const char *name, char *job, size_t size, const char **step)
{
	size_t n = strspn(name, "0123456789_+"), more = name[n] == '.' ? strspn(name + n + 1, "0123456789") : 0;
	bool batch = !strcmp(name + n, ".batch") || !strcmp(name + n, ".interactive");
	if (n == 0 || n >= size || (name[n] && !batch && (more == 0 || name[n + 1 + more])))
		return false;
	memcpy(job, name, n);
	job[n] = '\0';
	*step = name[n] ? name + n + 1 : NULL;
	return true;
}

static int where_slurm(const struct where_options *o, const char *name, const char *job, const char *step,
                       const struct where_output *out)
{
	struct where_worlds w;
	where_begin(&w);
	int status = where_job(&w, job, step, (unsigned)o->timeout);
	if (status == CMD_OK)
		status = show_worlds(name, &w, out);
	if (status == CMD_OK && w.count == 0 && w.early == 0) {
		say_to(stderr,
		       "spoor where: job %s: no process of it is traced; `spoor doctor %s` on one of its nodes says "
		       "why\n",
		       name, job);
		status = CMD_FAILED;
	}
	where_free(&w);
	return status;
}

static int where_on_node(const struct where_options *o, const char *job)
{
	struct problems problems = {0};
	struct facts none = {0};
	struct decision d;
	const char *path = o->policy ? o->policy : archive_policy();

	policy_default_decision(&d);
	struct policy *policy = policy_load(path, false, &problems);
	if (policy)
		policy_decide(policy, &none, &d);
	policy_destroy(policy);
	problems_clear(&problems);
	return where_node(d.spool, job, o->step);
}

static int where_named(const struct where_options *o, const char *name, const struct where_output *out)
{
	char job[64];
	const char *step;
	struct stat st;
	if (o->node)
		return where_on_node(o, name);
	if (stat(name, &st) == 0)
		return S_ISDIR(st.st_mode) ? where_folder(name, st.st_uid, st.st_gid, out)
		                           : where_file(name, o->archive, out);
	if (is_job(name, job, sizeof job, &step))
		return where_slurm(o, name, job, step ? step : o->step, out);
	say_to(stderr, "spoor where: %s: %s, and no job's number\n", name, strerror(errno));
	return CMD_FAILED;
}

int cmd_where(int argc, char **argv)
{
	struct where_options o = {.timeout = 10, .hung = (double)VERDICT_PATIENCE};
	const struct option_line lines[] = {
		OPTION_FLAG("json", 0, &o.json, "as JSON"),
		OPTION_NUMBER("timeout", 't', "SECONDS", &o.timeout, 1, 3600,
	                      "wait so long for the nodes (default 10); then those that have answered are shown"),
		OPTION_READ("hung", 0, "TIME", &o.hung, options_read_time, OPTIONS_TIME,
	                    "who computes for longer while others wait is gone, not slow (default 60s)"),
		OPTION_FLAG("node", 0, &o.node, "in a step on a node of the job: write what `spoor where` asks for"),
		OPTION_TEXT("save", 'o', "FILE", &o.save,
	                    "write the trace until now to FILE, for `spoor show`, `report`, `dump`, `diff`; nothing is "
	                    "shown"),
		OPTION_TEXT("step", 0, "STEP", &o.step, "only this step of the job"),
		OPTION_TEXT("policy", 0, "FILE", &o.policy,
	                    "with --node: the policy; default: that of SPOOR_POLICY, or of Slurm's plugin stack"),
		OPTION_ARCHIVE(&o.archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor where",
		"JOB[.STEP]|FILE|FOLDER",
		"Shows in which MPI call the ranks are, where it was made, what it was passed, and for how long. Ranks "
		"in no call are shown after their last one. Ranks at the same place are together, the most first. It "
		"asks a running job of Slurm, which is neither stopped nor slowed; or reads a trace, or a folder of "
		"arenas.",
		NULL,
		lines,
		1,
		1,
		false};
	int status;
	if (!options_read(&options, argc, argv, &status))
		return status;
	if (stage_begin("spoor where", o.save, false) != 0)
		return CMD_FAILED;
	const struct where_output out = {o.json ? json_array() : NULL, (uint64_t)o.hung, o.save};
	status = where_named(&o, argv[optind], &out);
	if (out.list && status == CMD_OK) {
		json_print(stdout, out.list, JSON_INDENT(2));
		say("\n");
	}
	json_decref(out.list);
	return status;
}
