/* SPDX-License-Identifier: BSD-3-Clause
 * dump - `spoor dump FILE|JOB [--rank R]`: every event of a rank, decoded, one a line
 *
 * The threads of a rank come one after the other, which is always the same and exact; or, with --by-time, in the order
 * of time (trace/read/interleave.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "trace/read/search.h"
#include "trace/model/stream.h"
#include "trace/read/timeline.h"
#include "trace/read/interleave.h"

struct dump {
	const char *file, *archive;
	int64_t rank, thread; /* -1: all */
	bool named;           /* lines say of which stream they are */
	int64_t from, count;
	double at; /* ns; negative: not asked for */
	bool times, by_time;
};

/* When events begin and end: as the trace has it, and from where it has it no more with mean times. */
struct watch {
	const struct trace *t;
	struct timeline *line;
	bool first;
	uint32_t last;     /* site */
	double begin, end; /* ns */
	bool exact;
};

static void watch_tick(struct watch *c, uint32_t site)
{
	uint64_t begin, end;
	c->exact = c->line && timeline_next(c->line, site, &begin, &end) == 0;
	if (c->exact) {
		c->begin = (double)begin;
		c->end = (double)end;
	} else {
		timeline_close(c->line);
		c->line = NULL;
		const struct trace_site *last = c->first ? NULL : &c->t->sites[c->last];
		for (uint32_t i = 0; last && i < last->edge_count; i++)
			if (last->edges[i].to == site)
				c->end += histogram_mean(&last->edges[i].compute);
		c->begin = c->end;
		c->end += histogram_mean(&c->t->sites[site].communicate);
	}
	c->first = false;
	c->last = site;
}

static void print_times(bool exact, double begin, double end)
{
	say(exact ? " begin=%.9f end=%.9f" : " begin=~%.9f end=~%.9f", begin * 1e-9, end * 1e-9);
}

static void warn_cut(const struct dump *o, const char *name, uint64_t last)
{
	fflush(stdout);
	say_to(stderr,
	       "spoor: %s: rank %s: the order of events is not known any more behind event %" PRIu64
	       ": successors were counted, not kept (spoor show --sites)\n",
	       o->file, name, last);
}

static int dump_stream(const struct trace *t, uint32_t stream, const struct dump *o)
{
	int rv = 0;
	struct walk *w;
	struct event e;
	struct error error = {""};
	char name[STREAM_NAME];
	struct watch watch = {.t = t, .first = true};
	uint64_t from = o->from;
	bool none;
	stream_name(t, stream, name);
	if (o->times && !(watch.line = timeline_open(t, stream, &none)) && !none) {
		error_set(&error, "no memory");
		goto fail;
	}
	if (walk_begin(&w, t, stream, &error) != 0)
		goto fail;
	if (o->at >= 0) {
		struct moment m;
		rv = search_time(&m, t, stream, o->at, &error);
		if (rv == 0 && o->times) /* they are added up */
			from = m.event > from ? m.event : from;
		else if (rv == 0 && walk_seek(w, m.event, m.site, m.visits) != 0)
			rv = error_set(&error, "no memory");
		free(m.visits);
	}
	for (uint64_t left = o->count; rv == 0 && left > 0 && (rv = walk_next(w, &e, &error)) == 0;) {
		if (o->times)
			watch_tick(&watch, e.site);
		if (e.number < from)
			continue;
		left--;
		if (o->named)
			say("%s: ", name);
		print_event_open(stdout, t, &e);
		if (o->times)
			print_times(watch.exact, watch.begin, watch.end);
		say("\n");
		if (ferror(stdout))
			break;
	}
	if (rv == 1 && walk_unordered(w))
		warn_cut(o, name, e.number);
	walk_end(w);
	if (!error.text[0]) {
		timeline_close(watch.line);
		return ferror(stdout) ? -1 : 0;
	}
fail:
	timeline_close(watch.line);
	fflush(stdout);
	say_to(stderr, "spoor: %s: %s\n", o->file, error.text);
	return -1;
}

/* All threads of a rank, in the order of time. */
static int dump_interleaved(const struct trace *t, uint32_t rank, const struct dump *o)
{
	struct interleave *w;
	struct interleaved e;
	struct error error = {""};
	uint64_t line = 0, left = o->count, last = 0;
	char name[STREAM_NAME];
	uint32_t stream;
	int rv = interleave_begin(&w, t, rank, &error);
	bool exact = rv == 0 && interleave_exact(w);
	while (rv == 0 && left > 0 && (rv = interleave_next(w, &e, &error)) == 0) {
		last = e.event->number;
		if ((int64_t)line++ < o->from || (o->at >= 0 && (double)e.end <= o->at))
			continue;
		left--;
		if (o->named)
			say("%s%s: ", exact ? "" : "~", stream_name(t, e.stream, name));
		print_event_open(stdout, t, e.event);
		if (o->times)
			print_times(e.timed, (double)e.begin, (double)e.end);
		say("\n");
		if (ferror(stdout))
			break;
	}
	if (rv == 1 && interleave_cut(w, &stream))
		warn_cut(o, stream_name(t, stream, name), last);
	if (rv < 0) {
		fflush(stdout);
		say_to(stderr, "spoor: %s: %s\n", o->file, error.text);
	}
	interleave_end(w);
	return rv < 0 || ferror(stdout) ? -1 : 0;
}

/* One rank: one of its threads, or all, one after the other. */
static int dump_rank(const struct trace *t, struct dump *o)
{
	uint32_t rank = (uint32_t)o->rank, stream, more;
	if (rank >= t->size) {
		say_to(stderr, "spoor: %s: rank %u does not exist: the trace has %u ranks\n", o->file, rank, t->size);
		return -1;
	}
	if (o->thread >= 0 && o->thread >= (int64_t)stream_threads(t)) {
		say_to(stderr, "spoor: %s: rank %u has no thread %" PRId64 "\n", o->file, rank, o->thread);
		return -1;
	}
	if (o->thread >= 0)
		return dump_stream(t, (uint32_t)o->thread * t->size + rank, o);
	uint32_t thread = 0, other;
	if (!stream_next(t, rank, &thread, &stream))
		return dump_stream(t, rank, o); /* says that it is missing */
	other = thread + 1;
	o->named = thread > 0 || stream_next(t, rank, &other, &more);
	if (o->by_time)
		return dump_interleaved(t, rank, o);
	for (int rv = 0; rv == 0 && stream_next(t, rank, &thread, &stream); thread++)
		if ((rv = dump_stream(t, stream, o)) != 0)
			return rv;
	return 0;
}

static int parse_dump(struct dump *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_NUMBER("rank", 'r', "R", &o->rank, 0, INT32_MAX,
	                      "only rank R of MPI_COMM_WORLD; without it each line begins with \"R: \""),
		OPTION_NUMBER("thread", 0, "T", &o->thread, 0, INT32_MAX,
	                      "only thread T of it; without it, the events of its threads follow each other, and the "
	                      "lines of further threads begin with \"R.T: \""),
		OPTION_FLAG("by-time", 0, &o->by_time,
	                    "the events of all threads of a rank in the order in which they began; the place of a line "
	                    "that begins with ~ (\"~R.T: \") is an estimate"),
		OPTION_NUMBER("from", 0, "N", &o->from, 0, INT64_MAX,
	                      "begin with event N (from 0); with --by-time, with line N of the rank"),
		OPTION_READ(
			"at", 0, "TIME", &o->at, options_read_time, OPTIONS_TIME,
			"begin with the event that was under way at a time (12.5s, 300ms) from MPI_Init on, or came "
			"next"),
		OPTION_FLAG("times", 0, &o->times,
	                    "with begin and end of each event, in s from MPI_Init of its rank on; with ~ where they "
	                    "are estimates, added up from mean times"),
		OPTION_NUMBER("count", 0, "N", &o->count, 0, INT64_MAX,
	                      "at most N events of a thread; with --by-time of a rank"),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor dump",
	                                "FILE|JOB",
	                                "Prints the events of one rank, or of all, in order, one a line. The times of "
	                                "all events are in a trace only with timing: full.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};

	if (!options_read(&options, argc, argv, status))
		return -1;
	if (o->thread >= 0 && o->rank < 0)
		*status = options_wrong("spoor dump", "--thread: say with --rank of which rank");
	else if (o->thread >= 0 && o->by_time)
		*status = options_wrong("spoor dump",
		                        "--by-time is the order of all threads of a rank, and --thread names one");
	o->file = argv[optind];
	return *status == CMD_OK ? 0 : -1;
}

int cmd_dump(int argc, char **argv)
{
	struct dump o = {.rank = -1, .thread = -1, .count = INT64_MAX, .at = -1};
	int rv;

	if (parse_dump(&o, argc, argv, &rv) != 0)
		return rv;
	struct container *c;
	struct trace t;
	if (open_trace(o.file, o.archive, &c, &t) != 0)
		return CMD_FAILED;
	static char buffer[1 << 16];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	if (o.rank >= 0) {
		rv = dump_rank(&t, &o);
	} else {
		int64_t unused;
		uint32_t thread = 0, first;
		o.named = true;
		for (uint32_t rank = 0; o.by_time && rv == 0 && rank < t.size; rank++, thread = 0)
			if (stream_next(&t, rank, &thread, &first))
				rv = dump_interleaved(&t, rank, &o);
		for (uint64_t stream = 0; !o.by_time && rv == 0 && rankmap_next(&t.events, &stream, &unused); stream++)
			rv = dump_stream(&t, (uint32_t)stream, &o);
	}
	if (fflush(stdout) != 0)
		rv = -1;
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
