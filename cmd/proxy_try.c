/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_try - a program is run before it is handed out
 */
#include "cmd/proxy_try.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "cmd/base/command.h"
#include "cmd/base/compare_totals.h"
#include "cmd/base/sink.h"
#include "cmd/proxy_run.h"
#include "process/process.h"
#include "proxy/cut.h"
#include "trace/file/container.h"
#include "trace/read/summary.h"

/* More ranks than this on a core wait for each other longer than anybody would. */
#define CORE_RANKS 16
/* An application that took longer is run without its computation, s. */
#define COMPUTED_MOST 60.0
/* And then no longer than this, s. */
#define CALLS_MOST 600.0
/* Computation that is off by more than this part is said, if that is more than so much in each rank, ns. */
#define OFF_MOST  0.1
#define OFF_LEAST 1e7

/* Exit statuses of a command that could not be started (POSIX, sh). */
enum { NOT_EXECUTABLE = 126, NOT_FOUND };

struct trial {
	const struct proxy_trial *o;
	const struct trace *trace;
	bool computes;
	char source[PATH_MAX], program[PATH_MAX], output[PATH_MAX];
	char *said;
};

static enum proxy_tried not_run(struct trial *x, const char *why)
{
	snprintf(x->said, PROXY_SAID, "not run: %s", why);
	return PROXY_NOT_RUN;
}

/* The user's launcher, or that of a job, knows where ranks may be; here, cores do. */
static bool is_placed(const struct trial *x)
{
	return x->o->how->launcher_count > 0 || getenv("SLURM_JOB_ID");
}

static const char *launcher_name(const struct trial *x)
{
	const struct proxy_check *how = x->o->how;
	return how->launcher_count && how->launcher[0][0] != '-' ? how->launcher[0]
	       : getenv("SLURM_JOB_ID")                          ? "srun"
	                                                         : "mpirun";
}

static bool is_there(const char *name)
{
	char path[PATH_MAX];
	return strchr(name, '/') ? access(name, X_OK) == 0 : process_find(name, path) != NULL;
}

/* Can it be run at all? Else why not, in `said`. */
static bool may_run(struct trial *x)
{
	char why[PROXY_SAID - 20];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (!process_may_own(NULL))
		snprintf(why, sizeof why, "root starts no programs for another user's trace");
	else if (!is_there(launcher_name(x)))
		snprintf(why, sizeof why, "%.60s is not there", launcher_name(x));
	else if (!is_placed(x) && (long)x->trace->size > CORE_RANKS * cores)
		snprintf(why, sizeof why, "it has %" PRIu32 " ranks, and there are %ld cores", x->trace->size, cores);
	else
		return true;
	not_run(x, why);
	return false;
}

static int write_source(const struct trial *x, const char *text, size_t size)
{
	FILE *f = fopen(x->source, "wx");
	int rv = f ? sink_bytes(f, text, size) : -1;
	if (f && fclose(f) != 0)
		rv = -1;
	return rv;
}

/* Is its computation as long as it is to be? Else it is said, and *again is set. */
static void judge_time(struct trial *x, const struct trace *proxy, bool *again)
{
	struct summary a, b;
	if (!x->computes || x->o->scale <= 0 || summary_make(&a, x->trace, NULL) != 0 ||
	    summary_make(&b, proxy, NULL) != 0)
		return;
	double wanted = (double)a.compute_ns * x->o->scale, found = (double)b.compute_ns;
	*again = fabs(found - wanted) > OFF_MOST * wanted && fabs(found - wanted) > OFF_LEAST * x->trace->size;
	if (*again)
		snprintf(x->said, PROXY_SAID,
		         "here it computes %.3g s in all ranks together; from the trace it should be %.3g s (%+.0f %%)",
		         found * 1e-9, wanted * 1e-9, 100 * (found / wanted - 1));
}

static bool is_equal(const struct trial *x, const struct trace *proxy, struct error *error)
{
	struct compare_result result;
	if (compare_traces(x->trace, proxy, "application", "proxy", cut_killed(x->trace) > 0, true, stderr, &result,
	                   error) != 0 ||
	    result.ranks_different)
		return false;
	return !trace_has_lossy(x->trace) ||
	       (compare_totals(x->trace, proxy, "application", "proxy", stderr, &result, error) == 0 &&
	        result.functions_different == 0);
}

static enum proxy_tried judge(struct trial *x, bool *again)
{
	struct container *container = NULL;
	struct trace proxy;
	struct error error = {""};
	bool good = trace_open(&proxy, &container, x->output, &codec_zstd, &error) == 0;
	if (good && !x->o->shortened)
		good = is_equal(x, &proxy, &error);
	if (!good)
		say_to(stderr, "spoor proxy: %s\n", error.text[0] ? error.text : "the program makes other calls");
	else
		judge_time(x, &proxy, again);
	trace_free(&proxy);
	container_destroy(container);
	return good ? PROXY_GOOD : PROXY_WRONG;
}

static enum proxy_tried run_once(struct trial *x, const struct proxy_run *r, bool *again)
{
	unlink(x->output);
	x->said[0] = '\0';
	int status = proxy_run(x->program, x->output, x->trace, r);
	if (status == COMMAND_TOO_LONG) {
		say_to(stderr,
		       "spoor proxy: the program was not done after %.0f s, and was ended; --time-limit lets it run "
		       "longer\n",
		       r->seconds);
		return PROXY_WRONG;
	}
	if (status != 0 && access(x->output, F_OK) != 0)
		return not_run(x, "it could not be started");
	if (status != 0) {
		say_to(stderr, "spoor proxy: the program ended with status %d\n", status);
		return PROXY_WRONG;
	}
	return access(x->output, F_OK) == 0 ? judge(x, again) : not_run(x, "it was not traced");
}

static enum proxy_tried run(struct trial *x)
{
	const struct proxy_check *how = x->o->how;
	double limit = proxy_run_limit(x->trace) * fmax(1, x->o->steps);
	struct proxy_run r = {.launcher = how->launcher, .launcher_count = how->launcher_count};
	bool again = false;
	x->computes = proxy_run_took(x->trace) <= COMPUTED_MOST &&
	              (is_placed(x) || x->trace->size <= sysconf(_SC_NPROCESSORS_ONLN));
	r.seconds = how->seconds > 0 ? how->seconds : x->computes ? limit : fmin(limit, CALLS_MOST);
	int status = proxy_build(x->source, x->program, x->computes ? NULL : "-DSCALE=0");
	if (status == NOT_FOUND || status == NOT_EXECUTABLE)
		return not_run(x, "there is no compiler");
	if (status != 0) {
		say_to(stderr, "spoor proxy: the program cannot be compiled\n");
		return PROXY_WRONG;
	}
	enum proxy_tried tried = run_once(x, &r, &again);
	if (tried == PROXY_GOOD && again) { /* who else was on the machine may not be there any more */
		again = false;
		tried = run_once(x, &r, &again);
	}
	return tried;
}

enum proxy_tried proxy_try(const struct proxy_trial *o, const struct trace *t, const char *text, size_t size,
                           char said[PROXY_SAID])
{
	struct trial x = {.o = o, .trace = t, .said = said};
	char work[PATH_MAX / 2];
	enum proxy_tried rv = PROXY_NOT_RUN;
	said[0] = '\0';
	if (!may_run(&x))
		return rv;
	if (proxy_run_folder(work) != 0)
		return not_run(&x, "there is no folder for it");
	snprintf(x.source, sizeof x.source, "%s/proxy.c", work);
	snprintf(x.program, sizeof x.program, "%s/proxy", work);
	snprintf(x.output, sizeof x.output, "%s/proxy.spoor", work);
	rv = write_source(&x, text, size) == 0 ? run(&x) : not_run(&x, "its folder cannot be written");
	unlink(x.source);
	unlink(x.program);
	unlink(x.output);
	rmdir(work);
	return rv;
}
