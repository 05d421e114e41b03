/* SPDX-License-Identifier: BSD-3-Clause
 * what_if - `spoor what-if FILE|JOB`: what the run would save without each cause of lost time, or on another network
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/site_names.h"
#include "cmd/base/wrap.h"
#include "cmd/cmd.h"
#include "cmd/what_if_platform.h"
#include "cmd/what_if_text.h"
#include "insight/simulate.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

#define WIDTH  80
#define INDENT 11
/* Causes that cost less of the time are not looked at. */
#define WORTH 0.005
/* How often a trace is walked at most, for the limit of steps. */
#define WALKS 32

struct what_if_command {
	const char *platform; /* a file; NULL: the trace's own network */
	char name[PLATFORM_NAME];
	struct network network;
	double least; /* changes that save less are not told */
	bool json;
};

static json_t *level_json(const struct network_level *l)
{
	return json_pack("{s:f, s:f, s:f, s:o}", "latency_ns", l->latency, "overhead_ns", l->overhead, "gap_ns", l->gap,
	                 "bytes_per_s", l->byte > 0 ? json_real(1e9 / l->byte) : json_null());
}

static json_t *base_json(const struct what_if_command *o, const struct what_ifs *w)
{
	const struct network_level *l = w->network.levels;
	return json_pack("{s:s, s:I, s:I, s:f, s:b, s:{s:o, s:o, s:o}}", "platform",
	                 o->platform ? o->name : "calibrated", "run_ns", (json_int_t)w->base_ns, "recorded_ns",
	                 (json_int_t)w->recorded_ns, "off", (double)w->base_ns / w->recorded_ns - 1, "all_eager",
	                 w->eager, "levels", "socket", level_json(&l[0]), "node", level_json(&l[1]), "switch",
	                 level_json(&l[2]));
}

static json_t *one_json(const struct what_ifs *w, const struct what_if *one, const struct trace *t,
                        const struct site_names *names)
{
	char text[WHAT_IF_TEXT], place[WHAT_IF_TEXT];
	const double run = w->observed ? w->recorded_ns : (double)w->base_ns;
	json_t *told = json_pack("{s:s, s:I, s:f, s:I, s:s}", "change", what_if_name(one->kind), "run_ns",
	                         (json_int_t)one->run_ns, "saved", one->saved, "saved_ns",
	                         (json_int_t)(one->saved * run), "text", what_if_text(text, w, one, t, names));
	if (one->cause) {
		json_object_set_new(told, "cause", json_string(cause_name(one->cause->kind)));
		json_object_set_new(told, "place", json_string(what_if_place(place, one, t, names)));
	}
	return told;
}

static int tell_json(const struct what_if_command *o, const struct what_ifs *w, const char *file, const struct trace *t,
                     const struct site_names *names)
{
	json_t *list = json_array();
	for (size_t i = 0; i < w->count; i++)
		json_array_append_new(list, one_json(w, &w->list[i], t, names));
	return json_tell(json_pack("{s:s, s:o, s:o}", "trace", file, "base", base_json(o, w), "what_if", list));
}

static void tell_text(const struct what_if_command *o, const struct what_ifs *w, const struct trace *t,
                      const struct site_names *names)
{
	char text[WHAT_IF_TEXT];
	size_t told = 0;
	say("  %-*s", INDENT - 2, "Base");
	wrap_print(what_if_base_text(text, w, o->name), INDENT, WIDTH);
	for (size_t i = 0; i < w->count; i++) {
		if (w->list[i].saved < o->least)
			continue;
		say("  %-*s", INDENT - 2, told++ ? "" : "What if");
		wrap_print(what_if_text(text, w, &w->list[i], t, names), INDENT, WIDTH);
	}
	if (told == 0)
		say("  %-*sNo change that was tried saves so much.\n", INDENT - 2, "What if");
}

static int find(struct what_ifs *w, struct causes *causes, const struct trace *t, const struct what_if_command *o,
                struct error *error)
{
	int rv = causes_find(causes, t, error);
	if (rv == 0)
		rv = what_ifs_find(w, t, causes, o->platform ? &o->network : NULL, WORTH, error);
	if (rv == 0 && !w->known)
		rv = error_set(error,
		               "it cannot be simulated: that needs a whole lossless trace with one thread a rank, at "
		               "most %llu events and %d ranks",
		               (unsigned long long)SIMULATE_EVENTS, SIMULATE_RANKS);
	return rv;
}

static int tell_trace(const struct what_if_command *o, const char *file, const struct trace *t)
{
	struct what_ifs w = {.known = false};
	struct causes causes = {.known = false};
	struct site_names names = {.trace = NULL};
	struct error error = {""};
	int rv = open_expect(file, WALKS * walk_cost(t));
	if (rv == 0 && (rv = find(&w, &causes, t, o, &error)) != 0)
		say_to(stderr, "spoor: %s: %s\n", file, error.text);
	if (rv == 0 && (rv = site_names_make(&names, t)) != 0)
		say_to(stderr, "spoor: out of memory\n");
	if (rv == 0 && o->json)
		rv = tell_json(o, &w, file, t, &names);
	else if (rv == 0)
		tell_text(o, &w, t, &names);
	site_names_free(&names);
	what_ifs_free(&w);
	causes_free(&causes);
	return rv;
}

static int read_platform(struct what_if_command *o)
{
	struct error error = {""};
	if (!o->platform || !strcmp(o->platform, "calibrated"))
		o->platform = NULL;
	else if (platform_read(&o->network, o->name, o->platform, &error) != 0)
		return say_to(stderr, "spoor: %s\n", error.text), -1;
	return 0;
}

int cmd_what_if(int argc, char **argv)
{
	const char *archive = NULL;
	struct what_if_command o = {.least = 1};
	const struct option_line lines[] = {
		OPTION_TEXT("platform", 'p', "FILE|calibrated", &o.platform,
	                    "the network that it is simulated on; default: calibrated by the trace's own times"),
		OPTION_DECIMAL("least", 0, "PERCENT", &o.least, 0, 100, "changes that save less are not told (1)"),
		OPTION_FLAG("json", 0, &o.json, "as JSON, with all changes"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor what-if",
	                                "FILE|JOB",
	                                "Says what a run would save without each cause of lost time, or on a better "
	                                "network, by simulating it.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	o.least /= 100;
	if (read_platform(&o) != 0)
		return CMD_FAILED;
	struct container *c;
	struct trace t;
	if (open_trace(argv[optind], archive, &c, &t) != 0)
		return CMD_FAILED;
	rv = tell_trace(&o, container_name(c), &t);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
