/* SPDX-License-Identifier: BSD-3-Clause
 * last - `spoor show --last`, `--at`: where every rank was when it ended, or at a time, ranks with the same call path
 * together
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/frames.h"
#include "cmd/base/print_event.h"
#include "trace/model/rankset.h"
#include "trace/read/search.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

enum where { WHERE_BESIDE, WHERE_INSIDE, WHERE_LEFT, WHERES };

struct place {
	uint32_t site;
	enum where where; /* in the call, or it was left; else after it, or (at a time) before it */
	struct rankmap_builder ranks;
	struct rankmap map;
	uint64_t count;
};

/* Did the call not return (doc/events.md, rule 5)? */
static bool was_left(const struct trace *t, const struct event *e)
{
	int error = e->site == UINT32_MAX ? -1 : e->schema->at[PARAMETER_ERROR];
	return error >= 0 && trace_is_constant(t, e->values[error], CONST_LEFT);
}

/* The site of a rank's last event, or UINT32_MAX if it has none. */
static uint32_t site_at_end(const struct show *s, uint32_t rank, enum where *where)
{
	struct walk *w;
	struct event e = {.site = UINT32_MAX};
	struct error error = {""};
	if (walk_begin(&w, s->trace, rank, &error) == 0)
		while (walk_next(w, &e, &error) == 0) {
		}
	if (error.text[0])
		fprintf(stderr, "spoor: %s: %s\n", s->name, error.text);
	if (w && walk_unordered(w))
		e.site = UINT32_MAX;
	*where = was_left(s->trace, &e) ? WHERE_LEFT : WHERE_BESIDE;
	walk_end(w);
	return e.site;
}

/* The site that a rank was in, or was about to come to, at the time asked for. */
static uint32_t site_then(const struct show *s, uint32_t rank, bool *inside)
{
	struct moment m;
	struct error error = {""};
	uint32_t site = UINT32_MAX;
	*inside = false;
	if (search_time(&m, s->trace, rank, s->at, &error) == 0) {
		site = m.site;
		*inside = m.inside;
	} else {
		fprintf(stderr, "spoor: %s: %s\n", s->name, error.text);
	}
	free(m.visits);
	return site;
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->site > y->site) - (x->site < y->site);
}

/* One item of a list: a rank, two, or first-last:step. */
static void print_run(const struct trace *t, uint32_t first, uint32_t count, uint32_t step, bool begin)
{
	char name[STREAM_NAME];
	printf("%s%s", begin ? "" : ",", stream_name(t, first, name));
	if (count > 1)
		printf("%c%s", count == 2 && step > 1 ? ',' : '-', stream_name(t, first + (count - 1) * step, name));
	if (count > 2 && step > 1)
		printf(":%u", step);
}

/* Ranks as runs of equal steps; further threads one by one. */
static void print_ranks(const struct trace *t, const struct rankmap *m)
{
	uint32_t first = 0, count = 0, step = 1;
	bool begin = true;
	int64_t unused;
	for (uint64_t r = 0; rankmap_next(m, &r, &unused); r++) {
		uint32_t rank = (uint32_t)r;
		if (count == 1 && rank < t->size)
			step = rank - first;
		if (count > 0 && rank < t->size && rank == first + count * step) {
			count++;
			continue;
		}
		if (count > 0) {
			print_run(t, first, count, step, begin);
			begin = false;
		}
		first = rank;
		count = 1;
	}
	if (count > 0)
		print_run(t, first, count, step, begin);
}

/* The ranks whose trace is not there. */
static void print_missing(const struct trace *t, uint64_t missing)
{
	struct rankmap_builder b = {0};
	struct rankmap all = {0}, rest = {0};

	printf("%" PRIu64 " rank%s not in this trace", missing, missing == 1 ? " is" : "s are");
	rankmap_add(&b, (struct rank_piece){.first = 0, .count = t->size, .step = 1});
	if (rankmap_take(&b, &all) == 0 && rankset_without(&rest, &all, &t->events) == 0) {
		fputs(": ", stdout);
		print_ranks(t, &rest);
	}
	putchar('\n');
	rankmap_free(&rest);
	rankmap_free(&all);
}

/* Ranks are numbers, their further threads strings "R.T". */
static json_t *json_ranks(const struct trace *t, const struct rankmap *m)
{
	json_t *list = json_array();
	char name[STREAM_NAME];
	int64_t unused;
	for (uint64_t rank = 0; rankmap_next(m, &rank, &unused); rank++)
		json_array_append_new(list, rank < t->size ? json_integer((json_int_t)rank)
		                                           : json_string(stream_name(t, rank, name)));
	return list;
}

static void print_whereabouts(const struct show *s, struct frames *names, const struct place *p, json_t *json)
{
	const struct trace *t = s->trace;
	const struct schema *schema = p->site < t->site_count ? trace_schema(t, &t->sites[p->site]) : NULL;
	json_t *frames = json ? json_array() : NULL;
	if (!json) {
		printf("%" PRIu64 " %s%s (", p->count, stream_threads(t) > 1 ? "thread" : "rank",
		       p->count == 1 ? "" : "s");
		print_ranks(t, &p->map);
		fputs(schema ? (p->where == WHERE_INSIDE ? ") in "
		                : p->where == WHERE_LEFT ? ") left "
		                : s->at >= 0             ? ") before "
		                                         : ") after ")
		             : ") before its first MPI call",
		      stdout);
		if (schema)
			print_function(stdout, schema);
		putchar('\n');
	}
	for (uint32_t node = schema ? t->sites[p->site].node : 0; node != 0; node = t->nodes[node].parent) {
		char text[1024];
		frames_text(names, node, text, sizeof text);
		if (json)
			json_array_append_new(frames, json_string(text));
		else
			printf("    %s\n", text);
	}
	if (json)
		json_array_append_new(
			json, json_pack("{s:o, s:s, s:o, s:o}", "function",
		                        schema ? json_stringn(schema->function, schema->function_length) : json_null(),
		                        "where",
		                        p->where == WHERE_INSIDE ? "in"
		                        : p->where == WHERE_LEFT ? "left"
		                        : s->at >= 0             ? "before"
		                                                 : "after",
		                        "ranks", json_ranks(t, &p->map), "path", frames));
}

int show_last(const struct show *s, json_t *json)
{
	int rv = -1;
	const struct trace *t = s->trace;
	size_t count = 0, n = WHERES * ((size_t)t->site_count + 1);
	struct place *places = calloc(n, sizeof *places);
	struct frames *names = frames_create(t);
	if (!places || !names)
		goto done;
	int64_t site;
	for (uint64_t r = 0; rankmap_next(&t->events, &r, &site); r++) {
		uint32_t rank = (uint32_t)r;
		bool in_flight = rankmap_get(&t->in_flight, rank, &site);
		enum where where = WHERE_BESIDE;
		uint32_t at = s->at >= 0  ? site_then(s, rank, &in_flight)
		              : in_flight ? (uint32_t)site
		                          : site_at_end(s, rank, &where);
		if (in_flight)
			where = WHERE_INSIDE;
		size_t slot = at < t->site_count ? WHERES * (size_t)at + where : n - 1;
		struct place *p = &places[slot];
		p->site = at;
		p->where = where;
		p->count++;
		rankmap_add(&p->ranks, (struct rank_piece){.first = rank, .count = 1, .step = 1});
	}
	for (size_t i = 0; i < n; i++) {
		if (places[i].count == 0)
			continue;
		if (rankmap_take(&places[i].ranks, &places[i].map) != 0)
			goto done;
		places[count++] = places[i];
	}
	qsort(places, count, sizeof *places, by_count);
	json_t *list = json ? json_array() : NULL;
	for (size_t i = 0; i < count; i++)
		print_whereabouts(s, names, &places[i], list);
	uint64_t missing = t->size - stream_ranks(t, &t->events);
	if (json) {
		json_object_set_new(json, s->at >= 0 ? "at" : "last", list);
		json_object_set_new(json, "ranks_missing", json_integer((json_int_t)missing));
	} else if (missing) {
		print_missing(t, missing);
	}
	rv = 0;
done:
	if (rv != 0)
		fputs("spoor: no memory\n", stderr);
	for (size_t i = 0; places && i < (count ? count : n); i++)
		rankmap_free(&places[i].map);
	free(places);
	frames_destroy(names);
	return rv;
}
