/* SPDX-License-Identifier: BSD-3-Clause
 * digest - what the index keeps of a trace
 */
#include "archive/digest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "archive/metadata.h"
#include "trace/base/budget.h"
#include "trace/base/regular.h"
#include "trace/file/container.h"
#include "trace/model/host.h"
#include "insight/hang.h"
#include "insight/node_times.h"
#include "trace/read/late.h"
#include "insight/verdict.h"
#include "trace/read/summary.h"

static char *copy_name(const struct schema *s)
{
	return strndup(s->function, s->function_length < DIGEST_NAME ? s->function_length : DIGEST_NAME);
}

/* --- call sites --- */

static int add_verdict(struct digest *d, const struct trace *t, const struct run_end *end)
{
	char text[HANG_VERDICT];
	struct verdict found;
	bool any = *hang_verdict(text, t, &found, VERDICT_PATIENCE, end);
	d->proved = outcome_proved(&found);
	if (!any)
		return 0;
	d->verdict = strdup(text);
	return d->verdict ? 0 : -1;
}

static int add_late(struct digest *d, const struct trace *t, const struct site_activity *activity)
{
	char host[HOST_MAX];
	uint32_t rank;
	if (!late_in_trace(t, activity, &rank))
		return 0;
	d->late_rank = rank;
	host_get(t, rank, host);
	d->late_node = *host ? strdup(host) : NULL;
	return *host && !d->late_node ? -1 : 0;
}

/* The name of a module's file; what the trace says is anybody's text. */
static void module_name(const struct trace *t, uint32_t module, char out[64])
{
	const struct pool_item *name = &t->strings.items[t->modules[module].name];
	const char *text = (const char *)name->bytes, *slash = strrchr(text, '/');
	size_t n = 0;

	for (text = slash ? slash + 1 : text; text[n] && n < 63; n++)
		out[n] = text[n] > ' ' && text[n] < 0x7f ? text[n] : '?';
	out[n] = '\0';
}

static uint64_t hash_module(uint64_t h, const struct trace *t, uint32_t module)
{
	const struct trace_module *m = &t->modules[module];
	const struct pool_item *id = &t->strings.items[m->build_id ? m->build_id : m->name];
	return hash_mix(h, hash_bytes(id->bytes, id->size));
}

static int name_site(struct digest_site *d, const struct trace *t, uint32_t number)
{
	const struct trace_site *s = &t->sites[number];
	const struct schema *schema = trace_schema(t, s);
	uint64_t h = hash_bytes(schema->function, schema->function_length);
	char text[DIGEST_FRAMES * 100 + 8] = "", name[64];
	size_t n = 0, frames = 0;

	for (uint32_t node = s->node; node; node = t->nodes[node].parent) {
		const struct trace_node *frame = &t->nodes[node];
		h = hash_mix(frame->module == UINT32_MAX ? h : hash_module(h, t, frame->module), frame->offset);
		if (frame->module == UINT32_MAX || frames > DIGEST_FRAMES)
			continue;
		if (frames++ == DIGEST_FRAMES) {
			n += (size_t)snprintf(text + n, sizeof text - n, " ...");
			continue;
		}
		module_name(t, frame->module, name);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s+0x%llx", n ? " < " : "", name,
		                      (unsigned long long)frame->offset);
	}
	d->number = number;
	d->identity = h;
	d->function = copy_name(schema);
	d->frames = strdup(n ? text : "-");
	return d->function && d->frames ? 0 : -1;
}

/* --- the whole --- */

struct work {
	struct digest *d;
	const struct trace *t;
	union figure_calls *calls; /* of each site */
	uint32_t *order;
};

static int by_function(const void *a, const void *b, void *context)
{
	const struct work *w = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct schema *p = trace_schema(w->t, &w->t->sites[x]), *q = trace_schema(w->t, &w->t->sites[y]);
	size_t n = p->function_length < q->function_length ? p->function_length : q->function_length;
	int order = memcmp(p->function, q->function, n);
	return order ? order : (p->function_length > q->function_length) - (p->function_length < q->function_length);
}

static int by_site_time(const void *a, const void *b, void *context)
{
	const struct work *w = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = w->calls[x].ns + w->calls[x].unended_ns, q = w->calls[y].ns + w->calls[y].unended_ns;
	return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

static int add_functions(struct work *w)
{
	struct digest *d = w->d;
	uint32_t n = w->t->site_count;

	d->functions = calloc(n < DIGEST_FUNCTIONS ? (size_t)n + 1 : DIGEST_FUNCTIONS, sizeof *d->functions);
	if (!d->functions)
		return -1;
	qsort_r(w->order, n, sizeof *w->order, by_function, w);
	for (uint32_t i = 0; i < n; i++) {
		const union figure_calls *c = &w->calls[w->order[i]];
		if (i == 0 || by_function(&w->order[i - 1], &w->order[i], w)) {
			if (d->function_count == DIGEST_FUNCTIONS)
				break;
			d->functions[d->function_count].name = copy_name(trace_schema(w->t, &w->t->sites[w->order[i]]));
			if (!d->functions[d->function_count++].name)
				return -1;
		}
		figure_calls_add(&d->functions[d->function_count - 1].calls, c);
	}
	return 0;
}

static int add_digest_sites(struct work *w)
{
	struct digest *d = w->d;
	uint32_t n = w->t->site_count;

	d->sites = calloc(DIGEST_SITES, sizeof *d->sites);
	if (!d->sites)
		return -1;
	qsort_r(w->order, n, sizeof *w->order, by_site_time, w);
	for (uint32_t i = 0; i < n && d->site_count < DIGEST_SITES; i++) {
		uint32_t number = w->order[i];
		if (w->calls[number].ns == 0 && w->calls[number].unended_ns == 0)
			break;
		if (trace_initializes(trace_schema(w->t, &w->t->sites[number])))
			continue;
		struct digest_site *s = &d->sites[d->site_count++];
		s->calls = w->calls[number];
		if (name_site(s, w->t, number) != 0)
			return -1;
	}
	return 0;
}

int64_t digest_version(void)
{
	return figure_version();
}

int digest_make(struct digest *d, const struct trace *t, const struct run_end *end)
{
	struct summary s;
	struct work w = {d, t, NULL, calloc((size_t)t->site_count + 1, sizeof *w.order)};
	struct site_activity activity = {.sites = NULL};
	int rv = -1;

	*d = (struct digest){.late_rank = -1};
	if (!w.order || site_activity_make(&activity, t) != 0 || !(w.calls = figure_calls_make(t, &activity)))
		goto done;
	summary_make(&s, t, &activity);
	for (uint32_t i = 0; i < t->site_count; i++) {
		w.order[i] = i;
		d->unsized_calls += activity.sites[i].unsized;
	}
	figure_make(&d->figures, t, &s, w.calls);
	memcpy(d->sizes, s.sizes, sizeof d->sizes);
	rv = add_functions(&w) || add_digest_sites(&w) || add_verdict(d, t, end) || add_late(d, t, &activity) ? -1 : 0;
done:
	site_activity_free(&activity);
	free(w.calls);
	free(w.order);
	return rv;
}

/* What the metadata say of the run. */
struct digest_run {
	bool known; /* how it has ended */
	struct run_end end;
	uint64_t wall_ns;
};

static struct digest_run run_of(const json_t *metadata)
{
	struct digest_run run = {.known = false};
	run.known = metadata_run_end(metadata, &run.end);
	run.wall_ns = metadata_figure_run(metadata).wall_ns;
	return run;
}

static void read_run(struct digest_run *run, const char *path, const struct container *c)
{
	struct error unused;
	const struct chunk *chunk = container_find(c, "META");
	json_t *metadata = chunk ? metadata_parse(path, chunk->data, chunk->size, &unused) : NULL;
	*run = run_of(metadata);
	json_decref(metadata);
}

static int find_cause(struct digest *d, const struct trace *t, const struct digest_run *run, struct error *error)
{
	const struct run_end *end = run->known ? &run->end : NULL;
	struct outcome_endings e = outcome_endings(d->proved, outcome_has_errors(t, end), end);
	struct summary s;
	struct causes causes = {.known = false};
	int rv = 0;
	if (e.count) {
		d->cause = e.list[0];
		return 0;
	}
	if (summary_make(&s, t, NULL) != 0)
		return -1;
	summary_set_wall(&s, run->wall_ns);
	rv = causes_find_within(&causes, t, DIGEST_PLAYED, error);
	if (rv == 0)
		d->cause = outcome_of_costs(&causes, &s, run->end.partial);
	causes_free(&causes);
	return rv;
}

static int digest_trace(struct digest *d, const struct trace *t, const struct digest_run *run, const char *path,
                        struct error *error)
{
	return digest_make(d, t, run->known ? &run->end : NULL) == 0 ? 0 : error_set(error, "%s: no memory", path);
}

int digest_whole(struct digest *d, const struct trace *t, const json_t *metadata, struct error *error)
{
	const struct digest_run run = run_of(metadata);
	return digest_trace(d, t, &run, "the trace", error) == 0 ? find_cause(d, t, &run, error) : -1;
}

int digest_read(struct digest *d, const char *path, int64_t owner, struct error *error)
{
	struct budget budget = {.memory = DIGEST_MEMORY, .steps = DIGEST_STEPS};
	struct container *c = NULL;
	struct trace t = {.size = 0};
	struct digest_run run = {.known = false};
	bool left_out = false;
	int rv = -1;

	*d = (struct digest){.late_rank = -1};
	budget_begin(&budget);
	int fd = regular_open(AT_FDCWD, path, owner, NULL, error);
	if (fd >= 0 && container_take(&c, fd, path, &codec_zstd, error) == 0 && (read_run(&run, path, c), true) &&
	    trace_decode_some(&t, c, activity_needs, &left_out, error) == 0)
		rv = digest_trace(d, &t, &run, path, error);
	/* what was left out may say how much they passed on, what a rank waits for, and whom */
	if (rv == 0 && left_out &&
	    (d->unsized_calls || t.unended_count || (uint64_t)rankmap_sum(&t.events) <= DIGEST_PLAYED)) {
		digest_free(d);
		trace_free(&t);
		t = (struct trace){.size = 0};
		rv = trace_decode(&t, c, error) == 0 ? digest_trace(d, &t, &run, path, error) : -1;
	}
	if (rv == 0)
		rv = find_cause(d, &t, &run, error);
	if (rv == 0)
		d->node_times = node_times_text(&t);
	if (budget_explain(path, error))
		rv = -1;
	trace_free(&t);
	container_destroy(c);
	budget_end(&budget);
	return rv;
}

void digest_free(struct digest *d)
{
	for (size_t i = 0; i < d->function_count; i++)
		free(d->functions[i].name);
	for (size_t i = 0; i < d->site_count; i++) {
		free(d->sites[i].function);
		free(d->sites[i].frames);
	}
	free(d->functions);
	free(d->sites);
	free(d->verdict);
	free(d->node_times);
	free(d->late_node);
	*d = (struct digest){.late_rank = -1};
}
