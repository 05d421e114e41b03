/* SPDX-License-Identifier: BSD-3-Clause
 * verify - `spoor verify FILE...`: structure, checksums, and that every event of every rank decodes
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "trace/model/stream.h"
#include "trace/read/figures.h"
#include "trace/read/walk.h"

static int verify_rank(const char *name, const struct trace *t, uint32_t rank, uint64_t *events, bool *unordered)
{
	struct walk *w;
	struct event e;
	struct error error = {""};
	int rv = walk_begin(&w, t, rank, &error);
	if (rv == 0) {
		while ((rv = walk_next(w, &e, &error)) == 0)
			++*events;
		*unordered |= walk_unordered(w);
		walk_end(w);
	}
	if (rv < 0 && open_spent(name) == 0)
		say_to(stderr, "spoor: %s: %s\n", name, error.text);
	return rv < 0 ? -1 : 0;
}

static int verify_trace(const char *name, const char *archive, bool quick)
{
	struct container *c;
	struct trace t;
	uint64_t events = 0;
	bool unordered = false;
	int rv = 0;
	if (open_trace(name, archive, &c, &t) != 0)
		return -1;
	int64_t unused;
	if (!quick)
		rv = open_events(name, walk_cost(&t));
	for (uint64_t rank = 0; !quick && rv == 0 && rankmap_next(&t.events, &rank, &unused); rank++)
		rv = verify_rank(name, &t, (uint32_t)rank, &events, &unordered);
	struct error error = {""};
	if (rv == 0 && figures_check(&t, &error) != 0) {
		say_to(stderr, "spoor: %s: its figures contradict each other: %s\n", name, error.text);
		rv = -1;
	}
	if (open_spent(name) != 0)
		rv = -1;
	if (rv == 0 && quick)
		say("%s: good: %" PRIu64 " ranks, %" PRId64 " events, not decoded\n", name, stream_ranks(&t, &t.events),
		    rankmap_sum(&t.events));
	else if (rv == 0 && unordered)
		say("%s: good: %" PRIu64 " ranks, %" PRId64 " events, of which %" PRIu64 " are in order: lossy\n", name,
		    stream_ranks(&t, &t.events), rankmap_sum(&t.events), events);
	else if (rv == 0)
		say("%s: good: %" PRIu64 " ranks, %" PRIu64 " events\n", name, stream_ranks(&t, &t.events), events);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

int cmd_verify(int argc, char **argv)
{
	const char *archive = NULL;
	bool quick = false;
	const struct option_line lines[] = {OPTION_FLAG("quick", 0, &quick, "check structure and checksums only"),
	                                    OPTION_ARCHIVE(&archive), OPTION_LIMIT, OPTION_END};
	const struct options options = {
		"spoor verify",
		"FILE|JOB...",
		"Checks structure and checksums, that figures agree with each other, and decodes every "
		"event of every rank. "
		"Prints a line for each trace. The exit status is 1 if one is damaged.",
		NULL,
		lines,
		1,
		-1,
		false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	if (open_ahead(argv + optind, argc - optind, archive) != 0)
		return CMD_FAILED;
	for (; optind < argc; optind++)
		if (verify_trace(argv[optind], archive, quick) != 0)
			rv = CMD_FAILED;
	return rv;
}
