/* SPDX-License-Identifier: BSD-3-Clause
 * exporter - what the formats of `spoor export` have in common
 */
#include "cmd/export/exporter.h"
#include "cmd/base/sink.h"
#include "insight/look_ahead.h"

#include <stdlib.h>
#include <string.h>

/* Frames of a call path as one text; further out than this is of little use in a viewer. */
#define PATH_FRAMES 6

static char *site_path(struct frames *names, const struct trace *t, uint32_t node)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return NULL;
	for (int depth = 0; node != 0 && depth < PATH_FRAMES; node = t->nodes[node].parent, depth++) {
		char frame[512];
		frames_text(names, node, frame, sizeof frame);
		say_to(out, "%s%s", depth ? " < " : "", frame);
		if (strncmp(frame, "main ", 5) == 0)
			break; /* further out is what starts a program */
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

int export_begin(struct export *x, const char *name, const struct trace *t, const json_t *meta)
{
	*x = (struct export){.name = name, .trace = t, .meta = meta, .flops = 1e9};
	struct frames *names = frames_create(t);
	x->paths = calloc((size_t)t->site_count + 1, sizeof *x->paths);
	int rv = names && x->paths && calls_make(&x->calls, t) == 0 ? 0 : error_set(&x->error, "no memory");
	for (uint32_t i = 0; rv == 0 && i < t->site_count; i++)
		if (!(x->paths[i] = site_path(names, t, t->sites[i].node)))
			rv = error_set(&x->error, "no memory");
	if (rv == 0)
		rv = comms_make(&x->comms, &x->calls, &x->error);
	frames_destroy(names);
	progress_begin(&x->progress, "exporting", (uint64_t)rankmap_sum(&t->events), false);
	return rv;
}

void export_end(struct export *x)
{
	progress_end(&x->progress);
	for (uint32_t i = 0; x->paths && i < x->trace->site_count; i++)
		free(x->paths[i]);
	free(x->paths);
	comms_destroy(x->comms);
	calls_free(&x->calls);
}

int track_begin(struct track *t, struct export *x, uint32_t stream, bool timed)
{
	*t = (struct track){.export = x, .stream = stream};
	if (walk_begin(&t->walk, x->trace, stream, &x->error) != 0 ||
	    (timed && event_clock_create(&t->clock, x->trace, stream, &x->error) != 0))
		return -1;
	t->execution = execution_create(&x->calls, x->comms, stream);
	return t->execution ? look_ahead(t->execution, &x->calls, x->comms, stream, &x->error)
	                    : error_set(&x->error, "no memory");
}

int track_next(struct track *t)
{
	struct export *x = t->export;
	int rv = walk_next(t->walk, &t->event, &x->error);
	if (rv != 0) {
		x->cut += rv > 0 && walk_unordered(t->walk);
		return rv;
	}
	if (t->clock)
		event_clock_next(t->clock, &t->event, &t->begin, &t->end);
	if (!(t->list = execution_event(t->execution, &t->event, &t->count)))
		return error_set(&x->error, "no memory");
	if ((++x->done & 0xfff) == 0)
		progress_step(&x->progress, x->done);
	return 0;
}

void track_end(struct track *t)
{
	if (t->execution)
		t->export->unknown += execution_unknown(t->execution);
	walk_end(t->walk);
	event_clock_destroy(t->clock);
	execution_destroy(t->execution);
}
