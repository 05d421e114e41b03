/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_check - `spoor proxy --check`
 */
#include "cmd/proxy_check.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/codec_zstd.h"
#include "cmd/base/command.h"
#include "cmd/base/compare_totals.h"
#include "cmd/base/sink.h"
#include "cmd/base/status.h"
#include "cmd/proxy_run.h"
#include "proxy/cut.h"
#include "trace/file/container.h"
#include "trace/read/summary.h"

/* The program of a folder. Returns 0, or -1 after a message. */
static int find_source(const char *folder, char *path, size_t size)
{
	DIR *dir = opendir(folder);
	int found = 0;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);
		if (n > 2 && strcmp(e->d_name + n - 2, ".c") == 0) {
			snprintf(path, size, "%s/%s", folder, e->d_name);
			found++;
		}
	}
	if (!dir)
		say_to(stderr, "spoor proxy: %s: %s\n", folder, strerror(errno));
	else if (found != 1)
		say_to(stderr, "spoor proxy: %s: expected one program in C, there are %d\n", folder, found);
	if (dir)
		closedir(dir);
	return dir && found == 1 ? 0 : -1;
}

/* Returns 0, or -1 after a message. */
static int run_program(const char *source, const char *program, const char *output, const struct trace *t,
                       const struct proxy_check *o)
{
	const struct proxy_run run = {o->launcher, o->launcher_count, o->seconds > 0 ? o->seconds : proxy_run_limit(t)};
	if (proxy_build(source, program, NULL) != 0) {
		say_to(stderr, "spoor proxy: %s: it cannot be compiled\n", source);
		return -1;
	}
	int status = proxy_run(program, output, t, &run);
	if (status == COMMAND_TOO_LONG)
		say_to(stderr,
		       "spoor proxy: the program was not done after %.0f s, and was ended; --time-limit lets it run "
		       "longer\n",
		       run.seconds);
	else if (status != 0)
		say_to(stderr, "spoor proxy: the program ended with status %d\n", status);
	return status == 0 ? 0 : -1;
}

static void print_time(const char *what, double a, double b)
{
	say("%-26s %14.6f %14.6f %+9.1f %%\n", what, a, b, a > 0 ? 100 * (b / a - 1) : 0.0);
}

static void print_share(const char *what, double a, double b)
{
	if (a >= 0 && b >= 0)
		say("%-26s %14.3f %14.3f %+9.3f\n", what, a, b, b - a);
}

/* What is counted between the calls of a rank, in the mean; negative: it is not counted. */
static double counted_mean(const struct trace *t, const char *name)
{
	double sum = 0;
	for (uint32_t i = 0; i < t->counter_count; i++) {
		if (strcmp(proxy_counter_name(t, i), name) != 0)
			continue;
		for (uint32_t s = 0; s < t->site_count; s++)
			for (uint32_t e = 0; e < t->sites[s].edge_count; e++)
				if (t->sites[s].edges[e].counts)
					sum += (double)t->sites[s].edges[e].counts[i].sum;
		return t->counters[i].ranks ? sum / (double)t->counters[i].ranks : -1;
	}
	return -1;
}

static void print_counters(const struct trace *t, const struct trace *proxy)
{
	for (uint32_t i = 0; i < t->counter_count; i++) {
		const char *name = proxy_counter_name(t, i);
		if (!proxy_counter_usable(t, i))
			continue;
		double a = counted_mean(t, name), b = counted_mean(proxy, name);
		if (b >= 0)
			say("%-26s %14.0f %14.0f %+9.1f %%\n", name, a, b, a > 0 ? 100 * (b / a - 1) : 0.0);
		else
			say("%-26s %14.0f %14s\n", name, a, "not counted");
	}
}

static int print_table(const struct trace *t, const struct trace *proxy, const struct compare_result *exact,
                       const struct compare_result *result)
{
	struct summary a, b;
	if (summary_make(&a, t, NULL) != 0 || summary_make(&b, proxy, NULL) != 0)
		return -1;
	say("%-26s %14s %14s %11s\n", "", "APPLICATION", "PROXY", "DIFFERENCE");
	say("%-26s %14" PRIu64 " %14" PRIu64 " %+9" PRId64 "\n", "events", a.events, b.events,
	    (int64_t)b.events - (int64_t)a.events);
	say("%-26s %14s %14" PRIu64 "\n", "ranks that differ", "", exact->ranks_different);
	say("%-26s %14s %14" PRIu64 "\n", "  not by chance", "", result->ranks_different);
	if (result->vain[0] + result->vain[1])
		say("%-26s %14" PRIu64 " %14" PRIu64 "\n", "polls that found nothing", result->vain[0],
		    result->vain[1]);
	print_time("time, s", (double)a.run_ns * 1e-9, (double)b.run_ns * 1e-9);
	print_time("computation, s", (double)a.compute_ns * 1e-9, (double)b.compute_ns * 1e-9);
	print_time("in MPI, s", (double)a.mpi_ns * 1e-9, (double)b.mpi_ns * 1e-9);
	print_share("parallel efficiency", a.parallel_efficiency, b.parallel_efficiency);
	print_share("load balance", a.load_balance, b.load_balance);
	print_share("communication efficiency", a.communication_efficiency, b.communication_efficiency);
	print_counters(t, proxy);
	return 0;
}

/* What has no order: calls by function, and how often each size came. */
static int compare_drawn(const struct trace *t, const struct trace *proxy)
{
	struct compare_result result;
	struct error error = {""};
	if (compare_totals(t, proxy, "application", "proxy", stdout, &result, &error) != 0) {
		say_to(stderr, "spoor proxy: %s\n", error.text);
		return CMD_FAILED;
	}
	say("%-26s %14" PRIu64 "\n", "parameters without order", result.columns);
	say("%-26s %14s %14" PRIu64 "\n", "functions that differ", "", result.functions_different);
	return result.functions_different ? CMD_FAILED : CMD_OK;
}

static int compare_program(const struct trace *t, const char *output)
{
	struct container *container = NULL;
	struct trace proxy;
	struct compare_result exact, result;
	struct error error = {""};
	bool partial = cut_killed(t) > 0;
	int rv = CMD_FAILED;
	if (trace_open(&proxy, &container, output, &codec_zstd, &error) != 0 ||
	    compare_traces(t, &proxy, "application", "proxy", partial, false, NULL, &exact, &error) != 0 ||
	    compare_traces(t, &proxy, "application", "proxy", partial, true, stdout, &result, &error) != 0)
		say_to(stderr, "spoor proxy: %s\n", error.text);
	else if (print_table(t, &proxy, &exact, &result) == 0 && result.ranks_different == 0)
		rv = trace_has_lossy(t) ? compare_drawn(t, &proxy) : CMD_OK;
	trace_free(&proxy);
	container_destroy(container);
	return rv;
}

int proxy_check(const struct proxy_check *o, const struct trace *t)
{
	char source[PATH_MAX], work[PATH_MAX / 2], program[PATH_MAX], output[PATH_MAX];
	int rv = CMD_FAILED;
	if (find_source(o->folder, source, sizeof source) != 0 || proxy_run_folder(work) != 0)
		return CMD_FAILED;
	snprintf(program, sizeof program, "%s/proxy", work);
	snprintf(output, sizeof output, "%s/proxy.spoor", work);
	if (run_program(source, program, output, t, o) == 0)
		rv = compare_program(t, output);
	unlink(program);
	unlink(output);
	rmdir(work);
	return rv;
}
