/* SPDX-License-Identifier: BSD-3-Clause
 * gather - the figures of a trace that its page and `spoor why` tell
 */
#include <stdlib.h>
#include <string.h>

#include "archive/job_state.h"
#include "archive/metadata.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"

/* With more events to look at than this, messages are not followed unless --full says so: a few seconds' work. */
#define EVENTS_WALKED 20000000

const char *report_class_name(enum report_class c)
{
	static const char *const names[CLASSES] = {
		"computation",          "sending and receiving",          "collective calls",
		"waiting for requests", "files and one-sided operations", "other MPI calls"};
	return names[c];
}

enum report_class report_class_of(const struct mpi_function *f)
{
	switch (f->class) {
	case MPI_CLASS_POINT_TO_POINT:
		return CLASS_MESSAGES;
	case MPI_CLASS_COMPLETION:
		return CLASS_WAITING;
	case MPI_CLASS_WINDOW:
	case MPI_CLASS_ONE_SIDED:
	case MPI_CLASS_FILE:
		return CLASS_FILES;
	default:
		return mpi_is_collective(f) && !mpi_initializes(f) ? CLASS_COLLECTIVES : CLASS_OTHER;
	}
}

uint64_t report_number(const struct report *r, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(r->json, key));
}

const char *report_state(const struct report *r)
{
	return job_state_word(report_meta(r, "state"), report_meta(r, "reason"));
}

const char *report_meta(const struct report *r, const char *key)
{
	const char *s = r->show->meta ? json_string_value(json_object_get(r->show->meta, key)) : NULL;
	return s && *s ? s : NULL;
}

uint64_t report_meta_number(const struct report *r, const char *key)
{
	json_int_t v = r->show->meta ? json_integer_value(json_object_get(r->show->meta, key)) : 0;
	return v > 0 ? (uint64_t)v : 0;
}

bool report_partial(const struct report *r)
{
	return metadata_number(r->show->meta, "partial", 0) > 0;
}

static int count_traffic(struct report *r, bool full)
{
	const struct trace *t = r->trace;
	struct error error = {""};
	struct progress progress;
	const struct traffic_wish wish = {
		.most = full ? 0 : EVENTS_WALKED, .progress = progress_callback, .context = &progress};
	r->few_events = r->sum.events <= EVENTS_WALKED || full;
	progress_begin(&progress, "counting messages", 0, false);
	int rv = traffic_make(&r->traffic, t, &wish, &error);
	progress_end(&progress);
	if (rv > 0)
		return 0;
	if (rv < 0) {
		say_to(stderr, "spoor: %s: %s\n", r->show->name, error.text);
		return -1;
	}
	r->has_traffic = true;
	r->sent = calloc((size_t)t->size + 1, sizeof *r->sent);
	r->received = calloc((size_t)t->size + 1, sizeof *r->received);
	if (!r->sent || !r->received) {
		say_to(stderr, "spoor: no memory\n");
		return -1;
	}
	for (size_t i = 0; i < r->traffic.count; i++) {
		const struct traffic_cell *c = &r->traffic.cells[i];
		if (c->from < t->size && c->to < t->size) {
			r->sent[c->from] += c->bytes + c->one_sided_bytes;
			r->received[c->to] += c->bytes + c->one_sided_bytes;
		}
	}
	return 0;
}

static int find_causes(struct report *r)
{
	struct error error = {""};
	if (causes_find(&r->causes, r->trace, &error) == 0)
		return 0;
	say_to(stderr, "spoor: %s: %s\n", r->show->name, error.text);
	return -1;
}

int report_gather(struct report *r, json_t *json, bool full)
{
	const struct trace *t = r->trace;
	if (show_summary(r->show, json) != 0 || show_sites(r->show, json) != 0 || show_waits(r->show, json) != 0 ||
	    summary_make(&r->sum, t, NULL) != 0)
		return -1;
	summary_set_wall(&r->sum, show_wall_ns(r->show->meta));
	if ((report_partial(r) || !rankmap_empty(&t->in_flight)) && show_last(r->show, json) != 0)
		return -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct schema *s = trace_schema(t, &t->sites[i]);
		if (!trace_initializes(s))
			r->class_ns[report_class_of(s->mpi)] += t->sites[i].communicate.sum;
	}
	r->class_ns[CLASS_COMPUTE] = r->sum.compute_ns;
	if (seats_make(&r->seats, t) != 0) {
		say_to(stderr, "spoor: no memory\n");
		return -1;
	}
	return find_causes(r) == 0 ? count_traffic(r, full) : -1;
}

void report_free(struct report *r)
{
	traffic_free(&r->traffic);
	causes_free(&r->causes);
	seats_free(&r->seats);
	free(r->sent);
	free(r->received);
}

void report_time_parts(const struct report *r, struct time_part parts[TIME_PARTS])
{
	const struct summary *s = &r->sum;
	for (int c = 0; c < CLASSES; c++)
		parts[c] = (struct time_part){report_class_name((enum report_class)c), r->class_ns[c], c};
	parts[CLASSES] = (struct time_part){"starting (MPI_Init)", s->init_ns, 6};
	parts[CLASSES + 1] = (struct time_part){"calls that never ended", s->unended_ns, 7};
	parts[CLASSES + 2] = (struct time_part){"computation that never ended", s->unended_compute_ns, 0};
	parts[CLASSES + 3] = (struct time_part){"tracing", s->overhead_ns, 8};
}
