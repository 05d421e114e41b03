/* SPDX-License-Identifier: BSD-3-Clause
 * replay - `spoor replay`: starts spoor-replay on as many ranks as the trace has, and compares what comes out
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "archive/codec_zstd.h"
#include "cmd/cmd.h"
#include "cmd/replay_scale.h"
#include "cmd/base/command.h"
#include "cmd/base/stage.h"
#include "cmd/base/options.h"
#include "cmd/base/compare_totals.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/replay_options.h"
#include "cmd/base/sink.h"
#include "process/process.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"
#include "trace/read/summary.h"
#include "trace/read/walk.h"

struct replay {
	struct replay_options passed;
	const char *file, *archive, *output;
	bool check;
	char **launcher; /* what follows -- */
	int launcher_count;
	char path[PATH_MAX];
	char *scale; /* as spoor-replay understands it */
};

static const char *replay_program(void)
{
	const char *own = getenv("SPOOR_REPLAY"); /* of a build that is not installed */
	return own && *own ? own : SPOOR_LIBEXECDIR "/spoor-replay";
}

/* --- the command line of the launcher --- */

/* Does the trace say which buffers they were? */
static bool has_buffers(const struct trace *t)
{
	for (uint32_t i = 0; i < t->function_count; i++)
		for (size_t k = 0; k < t->functions[i].schema.count; k++)
			if (t->functions[i].schema.column[k].kind == 'a')
				return true;
	return false;
}

/* Its ranks have the same limits as this command. */
static int add_limit(struct command *c)
{
	static char times[40];

	snprintf(times, sizeof times, "%.17g", budget_raised());
	return budget_raised() == 1 ? 0 : command_add_option(c, "--limit", times);
}

static int command_make(struct command *c, const struct replay *o, const struct trace *trace, const char *check_output,
                        char *number)
{
	static char self[PATH_MAX], seed[40];
	const struct replay_options *passed = &o->passed;

	snprintf(seed, sizeof seed, "%" PRId64, passed->seed);

	if (check_output) {
		ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

		if (n <= 0)
			return -1;
		self[n] = '\0';
		if (command_add(c, self) || command_add(c, "run") || command_add(c, "-f") || command_add(c, "-o") ||
		    command_add(c, check_output) || (has_buffers(trace) && command_add(c, "--buffers")) ||
		    command_add(c, "--"))
			return -1;
	}
	if (command_add_launcher(c, o->launcher, o->launcher_count, trace->size, number) ||
	    command_add(c, replay_program()) ||
	    command_add_option(c, "--compute",
	                       passed->compute ? passed->compute
	                       : check_output  ? "none"
	                                       : NULL) ||
	    command_add_option(c, "--scale", o->scale) || command_add_option(c, "--seed", seed) ||
	    command_add_option(c, "--scratch", passed->scratch) || add_limit(c))
		return -1;
	return (o->passed.partial && command_add(c, "--partial")) ||
	                       (o->passed.verbose && command_add(c, "--verbose")) || command_add(c, o->path)
	               ? -1
	               : 0;
}

/* --- --check --- */

static int open_recorded(const char *path, struct container **container, struct trace *trace)
{
	struct error error = {""};

	if (trace_open(trace, container, path, &codec_zstd, &error) == 0) {
		trace_forget_prefixes(trace); /* as the replay does */
		return 0;
	}
	say_to(stderr, "spoor replay: %s\n", error.text);
	trace_free(trace);
	container_destroy(*container);
	*container = NULL;
	return -1;
}

static int compare_replay(const struct replay *o, const struct trace *trace, const char *output)
{
	struct container *container;
	struct trace replayed;
	struct compare_result result;
	struct error error = {""};
	bool lossy = trace_has_lossy(trace);
	int rv = CMD_FAILED;

	if (open_recorded(output, &container, &replayed) != 0)
		return CMD_FAILED;
	if (replayed.size != trace->size)
		say_to(stderr, "spoor replay: the replay had %u ranks, the trace has %u\n", replayed.size, trace->size);
	else if (lossy && compare_totals(trace, &replayed, "recorded", "replayed", stdout, &result, &error) != 0)
		say_to(stderr, "spoor replay: %s\n", error.text);
	else if (lossy && result.functions_different)
		say("%llu functions differ\n", (unsigned long long)result.functions_different);
	else if (lossy)
		rv = CMD_OK;
	else if (compare_traces(trace, &replayed, "recorded", "replayed", o->passed.partial, false, stdout, &result,
	                        &error) != 0)
		say_to(stderr, "spoor replay: %s\n", error.text);
	else if (result.ranks_different)
		say("%llu of %llu ranks differ\n", (unsigned long long)result.ranks_different,
		    (unsigned long long)(result.ranks + result.threads));
	else
		rv = CMD_OK;
	if (rv == CMD_OK && lossy)
		say("equal as far as it has an order: calls by function, distributions of %llu parameters: %llu "
		    "ranks, %llu events\n",
		    (unsigned long long)result.columns, (unsigned long long)result.ranks,
		    (unsigned long long)result.events);
	else if (rv == CMD_OK && o->passed.partial)
		say("equal: %llu ranks, %llu of %llu events\n", (unsigned long long)result.ranks,
		    (unsigned long long)result.events, (unsigned long long)rankmap_sum(&trace->events));
	else if (rv == CMD_OK && result.threads)
		say("equal: %llu ranks and %llu further threads of theirs, %llu events\n",
		    (unsigned long long)result.ranks, (unsigned long long)result.threads,
		    (unsigned long long)result.events);
	else if (rv == CMD_OK)
		say("equal: %llu ranks, %llu events\n", (unsigned long long)result.ranks,
		    (unsigned long long)result.events);
	trace_free(&replayed);
	container_destroy(container);
	return rv;
}

/* What the replay lacks because the trace does, and how much that is. */
static void say_missing(const struct trace *t)
{
	uint64_t unplaced, lost = (uint64_t)rankmap_sum(&t->lost), compute = summary_compute(t, &unplaced);
	if (lost)
		say_to(stderr,
		       "spoor replay: %" PRIu64 " calls (%.1f %% of all) were only counted: they are not replayed\n",
		       lost, 100 * (double)lost / ((double)lost + (double)rankmap_sum(&t->events)));
	if (unplaced)
		say_to(stderr,
		       "spoor replay: where %.3f s of %.3f s of computation were is not in the trace: they are shared "
		       "among "
		       "the calls whose own is not known\n",
		       (double)unplaced * 1e-9, (double)compute * 1e-9);
}

/* Nothing is started if the trace cannot be replayed; spoor-replay says why. */
static int run_plan(const struct replay *o)
{
	struct command c = {.name = "spoor replay"};

	if (command_add(&c, replay_program()) || command_add(&c, "--plan") ||
	    (o->passed.partial && command_add(&c, "--partial")) || add_limit(&c) || command_add(&c, o->path))
		return -1;
	return command_run(&c) == 0 ? 0 : -1;
}

static int run_checked(const struct replay *o, const struct trace *trace)
{
	const char *temporary = getenv("TMPDIR");
	char folder[PATH_MAX] = "", output[PATH_MAX + 16], number[16];
	struct command c = {.name = "spoor replay"};
	int rv = CMD_FAILED;

	if (o->output) {
		snprintf(output, sizeof output, "%s", o->output);
	} else {
		snprintf(folder, sizeof folder, "%s/spoor-check.XXXXXX",
		         temporary && temporary[0] == '/' ? temporary : "/tmp");
		if (!mkdtemp(folder)) {
			say_to(stderr, "spoor replay: %s: %s\n", folder, strerror(errno));
			return CMD_FAILED;
		}
		snprintf(output, sizeof output, "%s/replay.spoor", folder);
	}
	if (command_make(&c, o, trace, output, number) == 0) {
		int status = command_run(&c);

		if (status != 0)
			say_to(stderr, "spoor replay: the replay ended with status %d\n", status);
		if (access(output, R_OK) == 0)
			rv = compare_replay(o, trace, output);
		if (status != 0)
			rv = CMD_FAILED;
	}
	if (folder[0]) {
		unlink(output);
		rmdir(folder);
	}
	return rv;
}

static int parse_replay(struct replay *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_FLAG("check", 0, &o->check, "trace the replay, and compare its trace with this one"),
		REPLAY_OPTION_LINES(&o->passed),
		OPTION_TEXT("output", 'o', "FILE", &o->output, "with --check: keep the trace of the replay"),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor replay",
	                                "FILE|JOB [-- [LAUNCHER] [ARGUMENT...]]",
	                                "Runs a trace as an MPI program on the same number of ranks: every recorded "
	                                "call with the recorded sizes "
	                                "and outcomes.",
	                                "LAUNCHER starts the ranks: srun inside of a job of Slurm, else mpirun. What\n"
	                                "follows -- is added to its arguments if it begins with -. Anything else\n"
	                                "replaces it: spoor replay FILE -- mpirun --hostfile hosts",
	                                lines,
	                                1,
	                                1,
	                                false};
	int end = command_split(argc, argv, &o->launcher, &o->launcher_count);

	if (!options_read(&options, end, argv, status))
		return -1;
	if (o->output && !o->check)
		*status = options_wrong("spoor replay", "--output goes with --check");
	o->file = argv[optind];
	return *status == CMD_OK ? 0 : -1;
}

/* Ranks that root starts run what the trace says: it must be root's, where nobody else can put another in its place. */
static bool is_own_trace(const char *path)
{
	struct stat st;
	struct error unused = {""};

	if (geteuid() != 0 || stat(path, &st) != 0 || (st.st_uid == 0 && stage_allowed(path, &unused) == 0))
		return true; /* or is not there, which is said later */
	say_to(stderr,
	       "spoor replay: %s: others can write it: root starts no programs for another user's trace; do this as "
	       "an ordinary user\n",
	       path);
	return false;
}

int cmd_replay(int argc, char **argv)
{
	static struct replay o = {.passed = REPLAY_OPTIONS_DEFAULT};
	char number[16];
	struct command c = {.name = "spoor replay"};
	struct container *container;
	struct trace trace;
	struct error error = {""};
	int rv;

	if (parse_replay(&o, argc, argv, &rv) != 0)
		return rv;
	rv = CMD_FAILED;
	if (archive_resolve(o.file, o.archive, o.path, sizeof o.path, &error) != 0) {
		say_to(stderr, "spoor replay: %s\n", error.text);
		return CMD_FAILED;
	}
	if (access(replay_program(), X_OK) != 0) {
		say_to(stderr, "spoor replay: %s: %s: it is installed with spoor where an MPI library is\n",
		       replay_program(), strerror(errno));
		return CMD_FAILED;
	}
	if (!is_own_trace(o.path) || open_trace(o.path, NULL, &container, &trace) != 0)
		return CMD_FAILED;
	trace_forget_prefixes(&trace); /* as the replay does */
	if (open_expect(container_name(container), walk_cost(&trace)) != 0)
		goto done;
	o.scale = replay_scale(&trace, o.passed.scale);
	if (!o.scale || run_plan(&o) != 0)
		goto done;
	say_missing(&trace);
	if (o.check)
		rv = run_checked(&o, &trace);
	else if (command_make(&c, &o, &trace, NULL, number) == 0)
		rv = command_run(&c);
done:
	free(o.scale);
	trace_free(&trace);
	container_destroy(container);
	return rv;
}
