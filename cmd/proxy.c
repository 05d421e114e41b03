/* SPDX-License-Identifier: BSD-3-Clause
 * proxy - `spoor proxy`: writes a small C program that makes the calls of a trace
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "cmd/cmd.h"
#include "cmd/base/command.h"
#include "cmd/base/frames.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/export/anonymise.h"
#include "archive/suite.h"
#include "cmd/base/filter.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "cmd/proxy_calibrate.h"
#include "cmd/proxy_suite.h"
#include "cmd/proxy_check.h"
#include "cmd/proxy_try.h"
#include "process/process.h"
#include "proxy/cut.h"
#include "proxy/drawn.h"
#include "proxy/program.h"
#include "proxy/refused.h"
#include "trace/base/path.h"
#include "trace/read/walk.h"

struct proxy {
	const char *output, *archive, *key;
	struct proxy_check check; /* folder NULL: it is not asked for; launcher: what follows -- */
	bool calibrate, time_only, partial, no_run;
	int64_t suite; /* how many; 0: one trace is given */
	struct catalog_filter filter;
	struct work_options work;
	double steps;  /* so many times the turns of its loops */
	char name[64]; /* of the program */
	char *notes;   /* which calls are left out, one a line; malloc'ed */
	size_t notes_size;
	char tried[PROXY_SAID]; /* what running it said; "": nothing */
};

static int parse_proxy(struct proxy *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_TEXT("output", 'o', "DIR", &o->output, "the folder that is made for the program"),
		OPTION_TEXT("check", 0, "DIR", &o->check.folder,
	                    "build and run the program in DIR, and compare its trace with this one"),
		OPTION_FLAG("no-run", 0, &o->no_run, "write the program without running it first"),
		OPTION_DECIMAL("time-limit", 0, "SECONDS", &o->check.seconds, 0, 1e9,
	                       "end the program then (default: ten times the application's, at least 60)"),
		OPTION_DECIMAL("scale", 0, "FACTOR", &o->work.scale, 0, 1000,
	                       "so much of the computation, and of the turns of loops; 0: calls only (default 1)"),
		OPTION_DECIMAL("steps", 0, "FACTOR", &o->steps, 0, 1e9,
	                       "give the main loop FACTOR times as many turns, at least 1 (default 1)"),
		OPTION_FLAG("calibrate", 0, &o->calibrate,
	                    "measure what computations of proxies are made of on this machine, and keep it"),
		OPTION_FLAG("time-only", 0, &o->time_only,
	                    "computations take as long as they took, also if the trace has counters"),
		OPTION_FLAG("partial", 0, &o->partial,
	                    "of a run that was ended: write its program as far as all ranks came"),
		OPTION_NUMBER("suite", 0, "N", &o->suite, 1, SUITE_CHOSEN,
	                      "write N programs that stand for all runs of the archive, and their weights"),
		OPTION_READ("since", 'S', "TIME", &o->filter.since, filter_read_since, WHEN_EXPECTED,
	                    "of a suite: only runs that started at TIME or later"),
		OPTION_READ("until", 'E', "TIME", &o->filter.until, filter_read_until, WHEN_EXPECTED,
	                    "of a suite: only runs that started at TIME or earlier"),
		OPTION_ANONYMISE(&o->key),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor proxy",
		"[FILE|JOB [-- [LAUNCHER] [ARGUMENT...]]]",
		"Writes a program in C that makes the MPI calls of a trace: NAME.c, a Makefile, a README. It needs no "
		"spoor.",
		"It is run before it is written, if that can be done here. The ranks are started with\n"
		"LAUNCHER and ARGUMENT, as spoor replay does. MPICC in the environment is the compiler.",
		lines,
		0,
		1,
		false};
	int end = command_split(argc, argv, &o->check.launcher, &o->check.launcher_count);

	if (!options_read(&options, end, argv, status))
		return -1;
	if (o->calibrate)
		*status = optind == end ? CMD_OK : options_wrong("spoor proxy", "--calibrate needs no trace");
	else if (o->suite)
		*status = optind < end ? options_wrong("spoor proxy", "--suite needs no trace")
		          : o->output  ? CMD_OK
		                       : options_wrong("spoor proxy", "where to? -o DIR is missing");
	else if (optind == end)
		*status = options_wrong("spoor proxy", "which trace? FILE|JOB is missing");
	else if (o->steps != 1 && (o->steps < 1 || o->partial || (o->work.scale > 0 && o->work.scale < 1)))
		*status = options_wrong("spoor proxy",
		                        "--steps is at least 1, and not with --partial or a --scale below 1");
	else if (!o->output == !o->check.folder)
		*status = options_wrong("spoor proxy", "one of -o DIR and --check DIR is needed");
	return *status == CMD_OK ? 0 : -1;
}

/* What the application's executable is called, as the name of a program. */
static void name_program(struct proxy *o, const struct trace *t)
{
	uint32_t node = t->site_count ? t->sites[0].node : 0;
	const char *path = "proxy", *base;
	size_t n = 0;
	while (node && t->nodes[node].parent)
		node = t->nodes[node].parent;
	for (uint32_t i = 0; i < t->node_count && node; i++) /* the outermost frame is libc's in some programs */
		if (t->nodes[i].module != UINT32_MAX && t->nodes[i].module < t->module_count) {
			const char *one = (const char *)t->strings.items[t->modules[t->nodes[i].module].name].bytes;
			if (!strstr(one, ".so")) {
				path = one;
				break;
			}
		}
	base = path_name(path);
	for (; *base && n + 1 < sizeof o->name; base++)
		o->name[n++] = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') ||
		                               (*base >= '0' && *base <= '9') || *base == '_'
		                       ? *base
		                       : '_';
	o->name[n] = '\0';
	if (n == 0 || strcmp(o->name, "README") == 0 || strcmp(o->name, "Makefile") == 0 ||
	    strcmp(o->name, "clean") == 0) /* they are something else in the folder */
		snprintf(o->name, sizeof o->name, "proxy");
}

static void write_makefile(const struct proxy *o, FILE *out)
{
	say_to(out,
	       "MPICC = mpicc\nCFLAGS = -std=c99 -O2 -Wall -Wextra\n"
	       "# Functions are found when the program starts, not when they are first called: the application's "
	       "time\n"
	       "# for that is in the trace. A linker that does not know the option needs none.\n"
	       "LDFLAGS = -Wl,-z,now\n\n%s: %s.c\n\t$(MPICC) $(CFLAGS) -o $@ %s.c "
	       "$(LDFLAGS) "
	       "-lm\n\nclean:\n\trm -f %s\n\n.PHONY: clean\n",
	       o->name, o->name, o->name, o->name);
}

static void write_readme(const struct proxy *o, const struct trace *t, FILE *out)
{
	say_to(out,
	       "%s.c is a program of its own that stands for an application: it makes the MPI calls of %" PRIu32
	       " ranks\n(%" PRId64
	       " calls), with the sizes, partners and datatypes that they had. It was written by `spoor proxy`\n"
	       "from a trace. It has no data and no code of the application.\n\n"
	       "    make\n"
	       "    mpirun -n %" PRIu32 " ./%s\n\n"
	       "It must be run with so many ranks. Functions have the names of the application's, where these were "
	       "known.\n\n"
	       "The same calls come in the same order. A receive from MPI_ANY_SOURCE names the rank whose message it "
	       "got,\nunless nothing depends on it. What else depended on chance is not forced: how many requests "
	       "MPI_Waitsome\nfinds complete, whether MPI_Test or MPI_Iprobe finds something before it did. They poll "
	       "until they find what\nthey did find.\n\n",
	       o->name, t->size, rankmap_sum(&t->events), t->size, o->name);
	say_to(out,
	       o->work.calibration
	               ? "Between the calls it makes turns of small blocks of code, so many that the processor's "
	                 "counters\n"
	                 "say what they said of the application, by call. How long that takes, the machine decides.\n"
	               : "Between the calls it spins for as long as the application computed, by call. Compiled with "
	                 "-DSLEEP it\nsleeps instead, for more ranks than cores.\n");
	if (o->no_run || o->tried[0])
		say_to(out, "When it was written: %s.\n\n", o->tried[0] ? o->tried : "not run");
	say_to(out, "Compiled with -DSCALE=X it computes X times as much in each place.\n");
	if (trace_has_lossy(t))
		say_to(out, "Sizes that have no order in the trace are drawn from what was counted; -DSEED=N draws in "
		            "another order.\n");
	if (o->work.scale != 1)
		say_to(out, "As it is, it computes %g times as much as the application in all.\n", o->work.scale);
	if (*o->notes) {
		say_to(out, "It makes %s calls than the application:\n\n", o->steps > 1 ? "more" : "fewer");
		say_lines(out, o->notes);
	} else if (o->work.scale != 1)
		say_to(out, "What the calls take is not scaled, nor is their number.\n");
}

static void function_name(void *frames, uint32_t node, char *out, size_t size)
{
	frames_function(frames, node, out, size);
}

static FILE *open_part(const struct proxy *o, const char *name, const char *ending)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s%s", stage_path(o->output), name, ending);
	FILE *f = fopen(path, "wx");
	if (!f)
		say_to(stderr, "spoor proxy: %s: %s\n", path, strerror(errno));
	return f;
}

static int close_part(const struct proxy *o, FILE *f)
{
	bool bad = ferror(f) != 0;
	if (fclose(f) == 0 && !bad)
		return 0;
	say_to(stderr, "spoor proxy: %s: cannot be written: %s\n", o->output, strerror(errno));
	return -1;
}

static void remove_parts(const struct proxy *o)
{
	const char *const names[] = {o->name, "Makefile", "README"};
	for (int i = 0; i < 3; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s%s", stage_path(o->output), names[i], i ? "" : ".c");
		unlink(path);
	}
	rmdir(stage_path(o->output));
}

/* The text is whole before the folder is made: after an error there is nothing. */
static int write_folder(const struct proxy *o, const struct trace *t, const char *program, size_t size)
{
	int rv = -1;
	FILE *f;
	if (mkdir(stage_path(o->output), 0777) != 0) {
		say_to(stderr, "spoor proxy: %s: %s\n", o->output, strerror(errno));
		return -1;
	}
	if (!(f = open_part(o, o->name, ".c")))
		goto done;
	sink_bytes(f, program, size);
	if (close_part(o, f) != 0 || !(f = open_part(o, "Makefile", "")))
		goto done;
	write_makefile(o, f);
	if (close_part(o, f) != 0 || !(f = open_part(o, "README", "")))
		goto done;
	write_readme(o, t, f);
	rv = close_part(o, f);
done:
	if (rv != 0)
		remove_parts(o);
	return rv;
}

static int generate_program(struct proxy *o, const struct trace *t, char **text, size_t *size)
{
	char title[200];
	struct error error = {""};
	struct frames *frames = frames_create(t);
	FILE *out = open_memstream(text, size);
	int rv = -1;
	snprintf(title, sizeof title, "%s - the MPI calls of %" PRIu32 " ranks; written by spoor proxy from a trace",
	         o->name, t->size);
	FILE *notes = open_memstream(&o->notes, &o->notes_size);
	const struct program p = {t, title, function_name, frames, &o->work, o->steps, cut_killed(t) > 0, notes};
	if (frames && out && notes)
		rv = program_write(&p, out, &error);
	if (out)
		fclose(out);
	if (notes)
		fclose(notes);
	if (rv != 0)
		say_to(stderr, "spoor proxy: %s\n", error.text[0] ? error.text : "no memory");
	frames_destroy(frames);
	return rv;
}

/* Returns -1 if it is not to be written, after a message. */
static int try_program(struct proxy *o, const struct trace *t, const char *text, size_t size)
{
	bool scaled = o->work.scale > 0 && o->work.scale < 1;
	const struct proxy_trial trial = {.how = &o->check,
	                                  .scale = o->steps == 1 ? o->work.scale : 0,
	                                  .steps = o->steps,
	                                  .shortened = (scaled || o->steps != 1) && o->notes_size > 0};
	if (o->no_run || proxy_try(&trial, t, text, size, o->tried) != PROXY_WRONG)
		return 0;
	say_to(stderr, "spoor proxy: no program was written; --no-run writes it as it is\n");
	return -1;
}

static int check_trace(const struct trace *t, bool partial)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int found = f ? refused_list(t, partial, f) : 1;
	if (f)
		fclose(f);
	if (found)
		say_to(stderr, "spoor proxy: no program can be generated from this trace, because of:\n");
	if (found && text)
		say_lines(stderr, text);
	free(text);
	return found ? -1 : 0;
}

static int write_suite_of(const struct proxy *o)
{
	char scale[40];
	const char *passed[8] = {"--scale", scale};
	int n = 2;
	snprintf(scale, sizeof scale, "%.17g", o->work.scale);
	if (o->time_only)
		passed[n++] = "--time-only";
	if (o->no_run)
		passed[n++] = "--no-run";
	if (o->key) {
		passed[n++] = "--anonymise";
		passed[n] = o->key;
	}
	const struct proxy_suite s = {.archive = o->archive,
	                              .output = o->output,
	                              .wanted = (size_t)o->suite,
	                              .filter = &o->filter,
	                              .passed = passed};
	return proxy_suite(&s);
}

int cmd_proxy(int argc, char **argv)
{
	struct proxy o = {.work = {.scale = 1}, .steps = 1, .filter = CATALOG_FILTER_ALL};
	struct container *c;
	struct trace t;
	json_t *meta = NULL;
	char *text = NULL;
	size_t size;
	struct error error = {""};
	int rv;
	if (parse_proxy(&o, argc, argv, &rv) != 0)
		return rv;
	if (o.calibrate)
		return proxy_calibrate();
	if (o.suite)
		return write_suite_of(&o);
	if (o.output && access(o.output, F_OK) == 0) {
		say_to(stderr, "spoor proxy: %s: is there already\n", o.output);
		return CMD_FAILED;
	}
	if (stage_begin("spoor proxy", o.output, false) != 0 || open_trace(argv[optind], o.archive, &c, &t) != 0)
		return CMD_FAILED;
	rv = CMD_FAILED;
	if (o.check.folder) {
		if (process_may_own("spoor proxy"))
			rv = proxy_check(&o.check, &t);
		goto done;
	}
	int status = CMD_OK;
	o.work.calibration = o.time_only ? NULL : proxy_calibration(&t, &status);
	if (status != CMD_OK || check_trace(&t, o.partial) != 0 ||
	    open_expect(container_name(c), 2 * walk_cost(&t)) != 0)
		goto done;
	if (drawn_has_room(&t, &error) != 0) {
		say_to(stderr, "spoor proxy: no program can be generated from this trace: %s\n", error.text);
		goto done;
	}
	if (o.key && anonymise(&t, &meta, o.key, "spoor proxy") != 0)
		goto done;
	name_program(&o, &t);
	if (generate_program(&o, &t, &text, &size) == 0 && open_spent(container_name(c)) == 0 &&
	    try_program(&o, &t, text, size) == 0 && write_folder(&o, &t, text, size) == 0) {
		say_lines(stdout, o.notes);
		if (o.tried[0])
			say_to(stderr, "spoor proxy: %s\n", o.tried);
		rv = CMD_OK;
	}
done:
	free(text);
	free(o.notes);
	json_decref(meta);
	trace_free(&t);
	container_destroy(c);
	return rv;
}
