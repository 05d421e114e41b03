/* SPDX-License-Identifier: BSD-3-Clause
 * scale - `spoor scale FILE...`: how an application grows with its ranks, and what more of them would cost
 */
#include "cmd/scaling.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/base/filter.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/cmd.h"
#include "cmd/scale_all.h"

#define ALIKE 0.5 /* of the calls at sites of all runs: else they are different programs */

static int find_all(struct scaling *s, struct error *error)
{
	struct growth *g = &s->growth;
	if (growth_match(g) != 0)
		return error_set(error, "no memory");
	if (growth_sizes(g) >= MODEL_LEAST && g->matched < ALIKE)
		return error_set(
			error,
			"these are runs of different programs: %.0f %% of their calls are at call sites that all "
			"of them have",
			100 * g->matched);
	return scaling_find(s, error);
}

static int tell_scaling(const struct scaling *s, bool json)
{
	if (!json) {
		scaling_print(s);
		return 0;
	}
	return json_tell(scaling_json(s));
}

static int scale_runs(struct scaling *s, char **names, int n, const char *archive)
{
	struct error error = {""};
	int rv = open_ahead(names, n, archive);
	for (int i = 0; i < n && rv >= 0; i++)
		rv = growth_add(&s->growth, names[i], archive);
	if (rv < 0)
		return -1;
	if (find_all(s, &error) == 0)
		return 0;
	say_to(stderr, "spoor scale: %s\n", error.text);
	return -1;
}

static int scale_archive(const char *archive, const struct catalog_filter *filter, size_t top, bool json)
{
	struct error error = {""};
	struct scale_all a;
	int rv = scale_all_find(&a, archive, filter, top, &error);
	if (rv != 0)
		say_to(stderr, "spoor scale: %s\n", error.text);
	else if (json)
		rv = json_tell(scale_all_json(&a));
	else
		scale_all_print(&a);
	scale_all_free(&a);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}

/* exe NULL: the operands are the runs. */
static int scale_chosen(struct scaling *s, struct catalog_filter *filter, char **names, int n, const char *archive)
{
	struct error error = {""};
	if (!filter->exe)
		return scale_runs(s, names, n, archive);
	if (scale_runs_find(&s->of, archive, filter, &error) != 0) {
		say_to(stderr, "spoor scale: %s\n", error.text);
		return -1;
	}
	return scale_runs(s, s->of.paths, (int)s->of.count, archive);
}

int cmd_scale(int argc, char **argv)
{
	struct scaling s = {.top = 10};
	struct catalog_filter filter = CATALOG_FILTER_ALL;
	const char *archive = NULL;
	bool json = false, all = false;
	const struct option_line lines[] = {
		OPTION_TEXT("exe", 'e', "GLOB", &filter.exe,
	                    "the runs of this executable in the archive, whose arguments are alike but for numbers"),
		OPTION_FLAG("all", 'a', &all, "each application of the archive, by what the index knows of its runs"),
		OPTION_TEXT("user", 'u', "USER", &filter.user, "with --exe or --all: only of these users"),
		OPTION_READ("since", 'S', "TIME", &filter.since, filter_read_since, WHEN_EXPECTED,
	                    "with --exe or --all: only runs that started at TIME or later"),
		OPTION_READ("until", 'E', "TIME", &filter.until, filter_read_until, WHEN_EXPECTED,
	                    "with --exe or --all: only runs that started at TIME or earlier"),
		OPTION_NUMBER("top", 0, "N", &s.top, 0, UINT32_MAX,
	                      "at most N call sites, with --all applications (default 10; 0: all)"),
		OPTION_FLAG("json", 0, &json, "as JSON; all call sites"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor scale",
		"[FILE|JOB...]",
		"Says how an application scales, from traces of runs with different numbers of "
		"ranks. For calls, bytes, computation and waiting, in total and by call site, it "
		"finds the law by which they grow.",
		NULL,
		lines,
		0,
		-1,
		false};
	int rv;
	if (!options_read(&options, argc, argv, &rv))
		return rv;
	if (all ? optind < argc : !filter.exe == (optind == argc))
		return options_wrong("spoor scale", all || filter.exe
		                                            ? "--exe and --all need no traces"
		                                            : "which runs? FILE|JOB, --exe or --all is missing");
	if (all)
		return scale_archive(archive, &filter, (size_t)s.top, json);
	rv = scale_chosen(&s, &filter, argv + optind, argc - optind, archive);
	if (rv == 0)
		rv = tell_scaling(&s, json);
	scaling_free(&s);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
