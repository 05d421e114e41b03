/* SPDX-License-Identifier: BSD-3-Clause
 * export - `spoor export FILE|JOB`: a trace in the forms of other tools
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/export/anonymise.h"
#include "cmd/export/exporter.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "trace/read/walk.h"

enum format { FORMAT_NONE, FORMAT_OTF2, FORMAT_CHROME, FORMAT_SIMGRID, FORMAT_SPOOR };

struct export_options {
	enum format format;
	const char *formats[FORMAT_SPOOR + 1], *out, *archive, *key;
	double flops;
};

static int parse_export(struct export_options *o, int argc, char **argv, int *status)
{
	const struct option_line lines[] = {
		OPTION_TEXT("otf2", 0, "DIR", &o->formats[FORMAT_OTF2],
	                    "an OTF2 archive, DIR/traces.otf2: for Vampir, ViTE, Scalasca"),
		OPTION_TEXT("chrome", 0, "FILE", &o->formats[FORMAT_CHROME],
	                    "JSON for Perfetto and chrome://tracing (FILE -: standard output)"),
		OPTION_TEXT("simgrid", 0, "DIR", &o->formats[FORMAT_SIMGRID],
	                    "time-independent traces that SimGrid's smpirun -replay runs on other machines"),
		OPTION_TEXT("spoor", 0, "FILE", &o->formats[FORMAT_SPOOR], "a trace again, with --anonymise"),
		OPTION_ANONYMISE(&o->key),
		OPTION_DECIMAL("flops", 0, "RATE", &o->flops, 1, 1e18,
	                       "of --simgrid: operations in a second of recorded computation (default 1e9)"),
		OPTION_ARCHIVE(&o->archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor export",
	                                "FILE|JOB",
	                                "Writes a trace for other tools. One of the first four options is needed.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};

	if (!options_read(&options, argc, argv, status))
		return -1;
	for (int f = FORMAT_NONE + 1; f <= FORMAT_SPOOR; f++) {
		if (o->formats[f] && o->format != FORMAT_NONE) {
			*status = options_wrong("spoor export", "one format at a time");
			return -1;
		}
		if (o->formats[f]) {
			o->format = (enum format)f;
			o->out = o->formats[f];
		}
	}
	if (o->format == FORMAT_NONE)
		*status = options_wrong("spoor export", "expected --otf2, --chrome, --simgrid or --spoor");
	else if (o->format == FORMAT_SPOOR && !o->key)
		*status = options_wrong("spoor export", "--spoor is for --anonymise; without it, copy the file");
	return *status == CMD_OK ? 0 : -1;
}

/* The trace as a file of its own. What else stood in the file is left out: it may say who it was. */
static int export_spoor(struct export *x, const char *name)
{
	struct output out = {.file = NULL};
	uint8_t *bytes = NULL;
	size_t n = 0;
	char *text = x->meta ? json_dumps(x->meta, JSON_COMPACT) : NULL;
	struct chunk chunk = {.id = "META", .data = (const uint8_t *)text, .size = text ? strlen(text) : 0};
	int rv = trace_encode(x->trace, &chunk, text != NULL, &codec_zstd, &bytes, &n);
	if (rv != 0)
		error_set(&x->error, "no memory");
	else
		rv = output_file(&out, name, &x->error);
	if (rv == 0 && sink_bytes(out.file, bytes, n) != 0)
		rv = error_set(&x->error, "%s: cannot be written: %s", name, strerror(errno));
	if (rv == 0)
		rv = output_finish(&out, &x->error);
	output_discard(&out);
	free(bytes);
	free(text);
	return rv;
}

static int export_as(struct export *x, const struct export_options *o)
{
	switch (o->format) {
	case FORMAT_OTF2:
		return export_otf2(x, o->out);
	case FORMAT_CHROME:
		return export_chrome(x, o->out);
	case FORMAT_SIMGRID:
		return export_simgrid(x, o->out);
	case FORMAT_SPOOR:
		return export_spoor(x, o->out);
	case FORMAT_NONE:
		break;
	}
	return -1;
}

/* What the reader of the export has to know. */
static void print_notes(const struct export *x)
{
	const struct trace *t = x->trace;
	if (metadata_number(x->meta, "partial", 0) > 0)
		say_to(stderr, "spoor export: %s: a partial trace: each rank up to where it ended\n", x->name);
	if (stream_ranks(t, &t->events) < t->size)
		say_to(stderr, "spoor export: %s: ranks that are missing in the trace: %" PRIu64 "\n", x->name,
		       t->size - stream_ranks(t, &t->events));
	if (!rankmap_empty(&t->lost))
		say_to(stderr, "spoor export: %s: events that were not recorded (" TRACE_LOST "): %" PRId64 "\n",
		       x->name, rankmap_sum(&t->lost));
	if (x->cut)
		say_to(stderr,
		       "spoor export: %s: ranks that end early, because the order of their calls was given up: "
		       "%" PRIu64 "\n",
		       x->name, x->cut);
	if (x->unknown)
		say_to(stderr,
		       "spoor export: %s: a lossy trace: messages and requests left out because a value is not known: "
		       "%" PRIu64 "\n",
		       x->name, x->unknown);
	if (x->foreign)
		say_to(stderr,
		       "spoor export: %s: calls that the replay does not know, and that take no time there (files, "
		       "one-sided operations, neighbors): %" PRIu64 "\n",
		       x->name, x->foreign);
	if (x->left_out)
		say_to(stderr,
		       "spoor export: %s: messages and operations left out: without a known partner, or cancelled: "
		       "%" PRIu64 "\n",
		       x->name, x->left_out);
	if (x->unsized)
		say_to(stderr,
		       "spoor export: %s: messages of a size that is not known; they are empty in the replay: %" PRIu64
		       "\n",
		       x->name, x->unsized);
}

int cmd_export(int argc, char **argv)
{
	struct export_options o = {.format = FORMAT_NONE, .flops = 1e9};
	struct container *c;
	struct trace t;
	struct export x = {.name = NULL};
	int rv;
	if (parse_export(&o, argc, argv, &rv) != 0)
		return rv;
	bool file = o.format == FORMAT_CHROME || o.format == FORMAT_SPOOR;
	if (stage_begin("spoor export", o.out, file) != 0 || open_trace(argv[optind], o.archive, &c, &t) != 0)
		return CMD_FAILED;
	if (o.format != FORMAT_SPOOR && open_expect(container_name(c), walk_cost(&t)) != 0) {
		trace_free(&t);
		container_destroy(c);
		return CMD_FAILED;
	}
	json_t *meta = o.key || o.format == FORMAT_SPOOR ? open_claims(c) : open_metadata(c);
	if (o.key && anonymise(&t, &meta, o.key, "spoor export") != 0)
		rv = -1;
	else
		rv = export_begin(&x, container_name(c), &t, meta);
	if (rv != 0 && o.key && !x.name)
		goto done;
	x.flops = o.flops;
	if (rv == 0)
		rv = export_as(&x, &o);
	progress_end(&x.progress);
	if (open_spent(x.name) != 0)
		rv = -1;
	else if (rv == 0)
		print_notes(&x);
	else
		say_to(stderr, "spoor export: %s: %s\n", x.name, x.error.text);
	export_end(&x);
done:
	json_decref(meta);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
