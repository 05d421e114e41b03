/* SPDX-License-Identifier: BSD-3-Clause
 * matrix - `spoor show --matrix`: messages and bytes from rank to rank, and by size
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "insight/traffic.h"
#include "cmd/show/seating.h"
#include "trace/read/walk.h"

static bool has_one_sided(const struct traffic *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->cells[i].one_sided)
			return true;
	return m->sums.other_one_sided > 0;
}

static double rate_of(uint64_t bytes, uint64_t ns)
{
	return ns > 0 ? (double)bytes * 1e3 / (double)ns : 0;
}

static json_t *files_json(const struct traffic *m)
{
	json_t *list = json_array();
	for (size_t i = 0; i < m->file_count; i++) {
		const struct traffic_file *f = &m->files[i];
		json_array_append_new(list,
		                      json_pack("{s:s%, s:I, s:I, s:I, s:I, s:f, s:f}", "file", f->name,
		                                strlen(f->name), "reads", (json_int_t)f->reads, "read",
		                                (json_int_t)f->read, "writes", (json_int_t)f->writes, "written",
		                                (json_int_t)f->written, "read_mb_s", rate_of(f->timed_read, f->read_ns),
		                                "written_mb_s", rate_of(f->timed_written, f->written_ns)));
	}
	return list;
}

/* [from, to, calls, bytes] */
static json_t *one_sided_json(const struct traffic *m)
{
	json_t *list = json_array();
	for (size_t i = 0; i < m->count; i++)
		if (m->cells[i].one_sided)
			json_array_append_new(list, json_pack("[i, i, I, I]", (int)m->cells[i].from,
			                                      (int)m->cells[i].to, (json_int_t)m->cells[i].one_sided,
			                                      (json_int_t)m->cells[i].one_sided_bytes));
	return list;
}

static void matrix_json(const struct traffic *m, json_t *json)
{
	json_t *list = json_array(), *sizes = json_array();
	for (size_t i = 0; i < m->count; i++) {
		const struct traffic_cell *c = &m->cells[i];
		if (c->messages)
			json_array_append_new(list, json_pack("[i, i, I, I]", (int)c->from, (int)c->to,
			                                      (json_int_t)c->messages, (json_int_t)c->bytes));
	}
	for (unsigned i = 0; i < TRAFFIC_CLASSES; i++)
		if (m->sums.sizes[i].messages)
			json_array_append_new(sizes,
			                      json_pack("[I, I, I]", (json_int_t)(i ? UINT64_C(1) << (i - 1) : 0),
			                                (json_int_t)m->sums.sizes[i].messages,
			                                (json_int_t)m->sums.sizes[i].bytes));
	json_object_set_new(json, "matrix", list);
	json_object_set_new(json, "message_sizes", sizes);
	json_object_set_new(json, "matrix_one_sided", one_sided_json(m));
	json_object_set_new(json, "files", files_json(m));
	json_object_set_new(json, "matrix_other_one_sided", json_integer((json_int_t)m->sums.other_one_sided));
	json_object_set_new(json, "matrix_other_one_sided_bytes",
	                    json_integer((json_int_t)m->sums.other_one_sided_bytes));
	json_object_set_new(json, "matrix_other_messages", json_integer((json_int_t)m->sums.other_messages));
	json_object_set_new(json, "matrix_other_bytes", json_integer((json_int_t)m->sums.other_bytes));
	json_object_set_new(json, "matrix_unknown_sizes", json_integer((json_int_t)m->sums.unknown_sizes));
	json_object_set_new(json, "matrix_unordered", json_integer((json_int_t)m->unordered));
}

static void files_print(const struct traffic *m)
{
	if (m->file_count)
		say("\n%12s %16s %10s %12s %16s %10s  %s\n", "READS", "BYTES", "MB/s", "WRITES", "BYTES", "MB/s",
		    "FILE");
	for (size_t i = 0; i < m->file_count; i++) {
		const struct traffic_file *f = &m->files[i];
		json_t *name = json_string(f->name);
		char *text = name ? json_dumps(name, JSON_ENCODE_ANY) : NULL; /* no line ends in it */
		say("%12" PRIu64 " %16" PRIu64 " %10.1f %12" PRIu64 " %16" PRIu64 " %10.1f  %s\n", f->reads, f->read,
		    rate_of(f->timed_read, f->read_ns), f->writes, f->written, rate_of(f->timed_written, f->written_ns),
		    text ? text : "?");
		free(text);
		json_decref(name);
	}
}

static void matrix_print(const struct traffic *m)
{
	bool one_sided = has_one_sided(m);
	say("%8s %8s %14s %16s", "FROM", "TO", "MESSAGES", "BYTES");
	if (one_sided)
		say(" %14s %16s", "ONE-SIDED", "BYTES");
	say("\n");
	for (size_t i = 0; i < m->count; i++) {
		const struct traffic_cell *c = &m->cells[i];
		say("%8u %8u %14" PRIu64 " %16" PRIu64, c->from, c->to, c->messages, c->bytes);
		if (one_sided)
			say(" %14" PRIu64 " %16" PRIu64, c->one_sided, c->one_sided_bytes);
		say("\n");
	}
	bool sized = false;
	for (unsigned i = 0; i < TRAFFIC_CLASSES; i++)
		sized |= m->sums.sizes[i].messages > 0;
	if (sized)
		say("\n%19s %14s %16s\n", "SIZE, BYTES", "MESSAGES", "BYTES");
	for (unsigned i = 0; i < TRAFFIC_CLASSES; i++) {
		char size[48];
		if (m->sums.sizes[i].messages == 0)
			continue;
		if (i < 2)
			snprintf(size, sizeof size, "%u", i);
		else
			snprintf(size, sizeof size, "%" PRIu64 "-%" PRIu64, UINT64_C(1) << (i - 1),
			         (UINT64_C(1) << (i - 1)) * 2 - 1);
		say("%19s %14" PRIu64 " %16" PRIu64 "\n", size, m->sums.sizes[i].messages, m->sums.sizes[i].bytes);
	}
	if (m->sums.other_messages)
		say("and %" PRIu64 " messages, %" PRIu64 " bytes, in communicators whose members are not known\n",
		    m->sums.other_messages, m->sums.other_bytes);
	if (m->sums.other_one_sided)
		say("and %" PRIu64 " one-sided calls, %" PRIu64 " bytes, to ranks that are not known\n",
		    m->sums.other_one_sided, m->sums.other_one_sided_bytes);
	if (m->sums.unknown_sizes)
		say("%" PRIu64 " messages, one-sided calls or accesses to files are of a datatype whose size is not "
		    "known; their bytes are not counted\n",
		    m->sums.unknown_sizes);
	if (m->unordered)
		say("%" PRIu64 " events are not in it, because their order is not known; `spoor show` counts theirs\n",
		    m->unordered);
	files_print(m);
}

/* How far messages and one-sided calls went. */
static void print_split(const struct seating_split *d)
{
	say("\n%24s %14s %16s\n", "DISTANCE", "MESSAGES", "BYTES");
	for (unsigned i = 0; i < SEATS_DISTANCES; i++)
		if (d->messages[i])
			say("%24s %14" PRIu64 " %16" PRIu64 "\n", seating_distances[i], d->messages[i], d->bytes[i]);
}

static json_t *split_json(const struct seating_split *d)
{
	static const char *const names[SEATS_DISTANCES] = {"socket", "node", "far", "unknown"};
	json_t *json = json_object();
	for (unsigned i = 0; i < SEATS_DISTANCES; i++)
		json_object_set_new(json, names[i],
		                    json_pack("[I, I]", (json_int_t)d->messages[i], (json_int_t)d->bytes[i]));
	return json;
}

static void split_distances(const struct trace *t, const struct traffic *m, json_t *json)
{
	struct seats seats;
	struct seating_split split;
	if (seats_make(&seats, t) == 0) {
		seating_split(&seats, m, &split);
		if (json)
			json_object_set_new(json, "matrix_distances", split_json(&split));
		else if (split.all_messages)
			print_split(&split);
	}
	seats_free(&seats);
}

int show_matrix(const struct show *s, json_t *json)
{
	struct traffic m;
	struct progress progress;
	struct error error = {""};
	const struct traffic_wish wish = {.progress = progress_callback, .context = &progress};
	progress_begin(&progress, "counting messages", 0, false);
	int rv = traffic_make(&m, s->trace, &wish, &error);
	progress_end(&progress);
	if (rv != 0)
		say_to(stderr, "spoor: %s: %s\n", s->name, error.text);
	else if (json)
		matrix_json(&m, json);
	else
		matrix_print(&m);
	if (rv == 0)
		split_distances(s->trace, &m, json);
	traffic_free(&m);
	return rv;
}
