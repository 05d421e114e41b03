/* SPDX-License-Identifier: BSD-3-Clause
 * verify - `spoor verify FILE...`: structure, checksums, and that every event of every rank decodes
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/open.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

static const char usage[] = "Usage: spoor verify FILE|JOB... [--quick] [--archive DIR]\n"
			    "Checks structure and checksums, and decodes every event of every rank: up to a limit that "
			    "--limit raises (see spoor(1)).\n"
			    "Prints one line a trace; the exit status is 1 if one is not good.\n\n"
			    "      --quick        structure and checksums only\n"
			    "      --archive DIR  look for JOB in this archive\n";

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
		fprintf(stderr, "spoor: %s: %s\n", name, error.text);
	return rv < 0 ? -1 : 0;
}

static int verify(const char *name, const char *archive, bool quick)
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
	if (open_spent(name) != 0)
		rv = -1;
	if (rv == 0 && quick)
		printf("%s: good: %" PRIu64 " ranks, %" PRId64 " events, not decoded\n", name,
		       stream_ranks(&t, &t.events), rankmap_sum(&t.events));
	else if (rv == 0 && unordered)
		printf("%s: good: %" PRIu64 " ranks, %" PRId64 " events, of which %" PRIu64 " are in order: lossy\n",
		       name, stream_ranks(&t, &t.events), rankmap_sum(&t.events), events);
	else if (rv == 0)
		printf("%s: good: %" PRIu64 " ranks, %" PRIu64 " events\n", name, stream_ranks(&t, &t.events), events);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

int cmd_verify(int argc, char **argv)
{
	static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
	                                        {"archive", required_argument, NULL, 'a'},
	                                        {"help", no_argument, NULL, 'h'},
	                                        {NULL, 0, NULL, 0}};
	bool quick = false;
	const char *archive = NULL;
	for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
		switch (option) {
		case 'q':
			quick = true;
			break;
		case 'a':
			archive = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return CMD_OK;
		default:
			fputs(usage, stderr);
			return CMD_USAGE;
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		return CMD_USAGE;
	}
	int rv = CMD_OK;
	if (open_ahead(argv + optind, argc - optind, archive) != 0)
		return CMD_FAILED;
	for (; optind < argc; optind++)
		if (verify(argv[optind], archive, quick) != 0)
			rv = CMD_FAILED;
	return rv;
}
