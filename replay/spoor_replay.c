/* SPDX-License-Identifier: BSD-3-Clause
 * spoor-replay - one rank of a replay, an MPI program: its command line, and what can be known before MPI_Init
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "cmd/base/replay_options.h"
#include "replay/allowance.h"
#include "replay/object_check.h"
#include "replay/replayer.h"
#include "replay/say.h"
#include "replay/thread_check.h"
#include "trace/base/budget.h"
#include "trace/base/number.h"
#include "trace/file/container.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

/* ---- before MPI_Init: everything that can be known ---- */

/* A number that a launcher tells its processes. */
static bool read_launcher(const char *const *names, uint32_t *value)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		uint64_t n;
		if (text && number_parse(text, UINT32_MAX, &n) == 0) {
			*value = (uint32_t)n;
			return true;
		}
	}
	return false;
}

static int load_trace(struct replayer *r, bool plan)
{
	static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
	static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
	char text[PLAN_TEXT], whole[PLAN_TEXT + 100], *missing = NULL;
	uint32_t size;
	read_launcher(rank_names, &r->rank);
	if (trace_open(&r->trace, &r->container, r->file, &codec_zstd, &r->error) != 0) {
		if (r->rank == 0)
			replay_say(NULL, "%s", r->error.text);
		return -1;
	}
	trace_forget_prefixes(&r->trace); /* a column is drawn, all of it, or none */
	if (!plan && read_launcher(size_names, &size) && size != r->trace.size)
		return replayer_refuse_size(r, size);
	const char *why = thread_check_refusal(&r->trace, r->options.partial, text, sizeof text);
	if (why)
		return replayer_refuse(r, why);
	if (!r->options.partial && plan_partial(&r->trace, text)) {
		snprintf(whole, sizeof whole, "this is no whole run: %s (--partial replays what there is)", text);
		return replayer_refuse(r, whole);
	}
	replay_outcome.lossy = trace_has_lossy(&r->trace);
	if (replay_outcome.lossy && unrecorded_possible(&r->trace, &r->error) != 0)
		return replayer_refuse(r, r->error.text);
	r->scales = malloc(((size_t)r->trace.site_count + 1) * sizeof *r->scales);
	if (!r->scales || scale_sites(r->options.scale, r->scales, r->trace.site_count) != 0)
		return replayer_refuse(r, r->scales ? "--scale: expected #SITE=NUMBER where there is a name; `spoor "
		                                      "replay` knows names"
		                                    : "no memory");
	r->plans = plan_create(&r->trace, &missing);
	for (uint32_t i = 0; r->plans && i < r->trace.function_count; i++)
		replay_outcome.known_buffers |= r->plans[i].known_buffers;
	if (r->plans)
		return 0;
	if (r->rank == 0)
		replay_say(r->file, missing ? "calls in this trace that cannot be replayed here:" : "no memory");
	if (r->rank == 0 && missing)
		fprintf(stderr, "%s\n", missing); /* plan.c made its names visible */
	free(missing);
	return -1;
}

/* Can the threads of all ranks be replayed? */
static int check_threads(struct replayer *r)
{
	int rv = 0;
	for (uint32_t rank = 0; rank < r->trace.size && rv == 0 && stream_threads(&r->trace) > 1; rank++) {
		struct thread_order *threads = NULL;
		if (thread_order_create(&threads, &r->trace, rank, &r->error) != 0)
			rv = replayer_refuse(r, r->error.text);
		thread_order_destroy(threads);
	}
	return rv;
}

/* Are all objects there that a rank's events use? What a trace without order, or a part of one, lacks is not known. */
static int check_objects(struct replayer *r, bool plan)
{
	bool all = walk_cost(&r->trace) <= OBJECT_CHECK_STEPS; /* then the plan has looked at all ranks */
	if (replay_outcome.lossy || r->options.partial || plan != all)
		return 0;
	for (uint32_t rank = 0; rank < r->trace.size; rank++)
		if ((plan || rank == r->rank) && object_check_rank(&r->trace, rank, &r->error) != 0) {
			replay_say(r->file, "%s", r->error.text);
			return -1;
		}
	return 0;
}

/* Returns false if there is nothing to do, or what there is is wrong; *status is that of the program then. */
static bool read_options(struct replayer *r, bool *plan, int argc, char **argv, int *status)
{
	struct replay_options o = REPLAY_OPTIONS_DEFAULT;
	const struct option_line lines[] = {REPLAY_OPTION_LINES(&o),
	                                    OPTION_FLAG("plan", 0, plan, "only say whether it can be replayed"),
	                                    OPTION_LIMIT, OPTION_END};
	const struct options options = {"spoor-replay",
	                                "FILE",
	                                "Replays a trace as one of the ranks of an MPI program: every recorded call, "
	                                "with the recorded sizes and outcomes. `spoor replay FILE` starts it.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};
	if (!options_read(&options, argc, argv, status))
		return false;
	r->options = (struct replayer_options){.scale = o.scale,
	                                       .seed = (uint64_t)o.seed,
	                                       .scratch = o.scratch,
	                                       .partial = o.partial,
	                                       .verbose = o.verbose};
	while (o.compute && strcmp(o.compute, REPLAY_COMPUTE_WORDS[r->options.compute]) != 0)
		r->options.compute++;
	r->file = argv[optind];
	return true;
}

int main(int argc, char **argv)
{
	static struct replayer r;
	bool plan = false;
	int status;
	if (argc == 2 && strcmp(argv[1], "--test") == 0) /* spoor doctor: an MPI program that does nothing */
		return MPI_Init(NULL, NULL) || MPI_Finalize();
	if (!read_options(&r, &plan, argc, argv, &status))
		return status;
	/* a trace may say that there are more communicators than memory holds */
	static struct budget budget = {.memory = BUDGET_MEMORY, .steps = UINT64_MAX, .grows = true};
	budget_begin(&budget);
	if (load_trace(&r, plan) != 0 || check_objects(&r, plan) != 0) {
		struct error limit = {""};
		if (r.rank == 0 && budget_explain(r.file, &limit))
			replay_say(NULL, "%s", limit.text);
		return 2;
	}
	status = plan ? check_threads(&r) : 0;
	allowance_set(budget.memory);
	budget_end(&budget);
	status = plan ? status : replayer_run(&r);
	replayer_free(&r);
	free(r.plans);
	free(r.scales);
	trace_free(&r.trace);
	container_destroy(r.container);
	return status == 0 ? 0 : 1;
}
