/* SPDX-License-Identifier: BSD-3-Clause
 * last - `spoor show --last`, `--at`, `spoor where`: where every rank was when it ended, or is, or was at a time; ranks
 * with the same call path and arguments together
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/frames.h"
#include "cmd/base/passed_text.h"
#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "trace/base/budget.h"
#include "trace/model/rankset.h"
#include "trace/model/unended.h"
#include "trace/read/search.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

enum where { WHERE_BESIDE, WHERE_INSIDE, WHERE_LEFT };

struct place {
	uint32_t site;
	enum where where; /* in the call, or it was left; else after it, or (at a time) before it */
	struct rankmap_builder ranks;
	struct rankmap map;
	uint64_t count;
	const struct trace_unended *since; /* how long its ranks had been there; NULL: that is not known */
	const char *passed;                /* what they passed to the call that they were in; "" if nothing is known */
};

struct places {
	const struct show *show;
	struct passed_text *passed;
	struct pool keys; /* of each place: site, where and arguments */
	struct place *each;
	uint32_t capacity;
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
		say_to(stderr, "spoor: %s: %s\n", s->name, error.text);
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
		say_to(stderr, "spoor: %s: %s\n", s->name, error.text);
	}
	free(m.visits);
	return site;
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	uint32_t first = rankmap_first(&x->map), other = rankmap_first(&y->map);
	return x->count != y->count ? (x->count < y->count ? 1 : -1)
	       : x->site != y->site ? (x->site < y->site ? -1 : 1)
	                            : (first > other) - (first < other);
}

/* One item of a list: a rank, two, or first-last:step. */
static void print_run(const struct trace *t, uint32_t first, uint32_t count, uint32_t step, bool begin)
{
	char name[STREAM_NAME];
	say("%s%s", begin ? "" : ",", stream_name(t, first, name));
	if (count > 1)
		say("%c%s", count == 2 && step > 1 ? ',' : '-', stream_name(t, first + (count - 1) * step, name));
	if (count > 2 && step > 1)
		say(":%u", step);
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

	say("%" PRIu64 " rank%s not in this trace", missing, missing == 1 ? " is" : "s are");
	rankmap_add(&b, (struct rank_piece){.first = 0, .count = t->size, .step = 1});
	if (rankmap_take(&b, &all) == 0 && rankset_without(&rest, &all, &t->events) == 0) {
		say(": ");
		print_ranks(t, &rest);
	}
	say("\n");
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

/* "43 min 12 s", "12.3 s": three digits are enough. */
static void print_duration(uint64_t ns)
{
	uint64_t s = ns / 1000000000;
	if (s >= 3600)
		say("%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		say("%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		say("%.3g s", (double)ns * 1e-9);
}

/* The times are of all ranks in the call, whatever they passed. */
static void print_since(const struct trace_unended *u)
{
	say(", for ");
	print_duration(u->min);
	if (u->max / 2 > u->min && u->max - u->min >= 100000000) {
		say(" to ");
		print_duration(u->max);
	}
}

static void print_whereabouts(const struct show *s, struct frames *names, const struct place *p, json_t *json)
{
	const struct trace *t = s->trace;
	const struct schema *schema = p->site < t->site_count ? trace_schema(t, &t->sites[p->site]) : NULL;
	json_t *frames = json ? json_array() : NULL;
	if (!json) {
		say("%" PRIu64 " %s%s (", p->count, stream_threads(t) > 1 ? "thread" : "rank",
		    p->count == 1 ? "" : "s");
		print_ranks(t, &p->map);
		say(schema ? (p->where == WHERE_INSIDE ? ") in "
		              : p->where == WHERE_LEFT ? ") left "
		              : s->at >= 0             ? ") before "
		                                       : ") after ")
		           : ") before its first MPI call");
		if (schema)
			print_function(stdout, schema);
		say("%s%s", *p->passed ? " " : "", p->passed);
		if (p->since)
			print_since(p->since);
		say("\n");
	}
	for (uint32_t node = schema ? t->sites[p->site].node : 0; node != 0; node = t->nodes[node].parent) {
		char text[1024];
		frames_text(names, node, text, sizeof text);
		if (json)
			json_array_append_new(frames, json_string(text));
		else
			say("    %s\n", text);
	}
	if (!json)
		return;
	json_t *one =
		json_pack("{s:o, s:s, s:o, s:o, s:o}", "function",
	                  schema ? json_stringn(schema->function, schema->function_length) : json_null(), "where",
	                  p->where == WHERE_INSIDE ? "in"
	                  : p->where == WHERE_LEFT ? "left"
	                  : s->at >= 0             ? "before"
	                                           : "after",
	                  "ranks", json_ranks(t, &p->map), "path", frames, "arguments", passed_text_json(p->passed));
	if (p->since) {
		json_object_set_new(one, "min_ns", json_integer((json_int_t)p->since->min));
		json_object_set_new(one, "max_ns", json_integer((json_int_t)p->since->max));
	}
	json_array_append_new(json, one);
}

/* The place with this site and these arguments, added if it is not there; NULL on no memory. */
static struct place *place_get(struct places *all, uint32_t site, enum where where, const char *passed)
{
	char head[32];
	int n = snprintf(head, sizeof head, "%" PRIu32 " %d ", site, (int)where);
	size_t size = (size_t)n + strlen(passed) + 1;
	char *key = malloc(size);
	if (!key)
		return NULL;
	memcpy(key, head, (size_t)n);
	memcpy(key + n, passed, size - (size_t)n);
	uint32_t before = all->keys.count, number = pool_intern(&all->keys, key, size - 1);
	free(key);
	if (number == UINT32_MAX)
		return NULL;
	if (!budget_grow(&all->each, number, &all->capacity, sizeof *all->each))
		return NULL;
	if (number == before)
		all->each[number] = (struct place){
			.site = site, .where = where, .passed = (const char *)all->keys.items[number].bytes + n};
	return &all->each[number];
}

/* Where a rank was. */
static struct place *place_of(struct places *all, uint32_t rank)
{
	const struct show *s = all->show;
	const struct trace_unended *u = s->at < 0 ? unended_of(s->trace, rank) : NULL;
	enum where where = WHERE_BESIDE;
	int64_t site;
	if (u) {
		struct place *p = place_get(all, u->site, u->call ? WHERE_INSIDE : WHERE_BESIDE,
		                            passed_text_of(all->passed, u, rank));
		if (p)
			p->since = u;
		return p;
	}
	bool in_flight = rankmap_get(&s->trace->in_flight, rank, &site);
	uint32_t at = s->at >= 0  ? site_then(s, rank, &in_flight)
	              : in_flight ? (uint32_t)site
	                          : site_at_end(s, rank, &where);
	return place_get(all, at, in_flight ? WHERE_INSIDE : where, "");
}

static int find_places(struct places *all)
{
	const struct trace *t = all->show->trace;
	int64_t unused;
	for (uint64_t r = 0; rankmap_next(&t->events, &r, &unused); r++) {
		struct place *p = place_of(all, (uint32_t)r);
		if (!p)
			return -1;
		p->count++;
		rankmap_add(&p->ranks, (struct rank_piece){.first = (uint32_t)r, .count = 1, .step = 1});
	}
	for (uint32_t i = 0; i < all->keys.count; i++)
		if (rankmap_take(&all->each[i].ranks, &all->each[i].map) != 0)
			return -1;
	if (all->keys.count > 1)
		qsort(all->each, all->keys.count, sizeof *all->each, by_count);
	return 0;
}

int show_last(const struct show *s, json_t *json)
{
	int rv = -1;
	const struct trace *t = s->trace;
	struct places all = {.show = s, .passed = passed_text_create(t)};
	struct frames *names = frames_create(t);
	if (!all.passed || !names || find_places(&all) != 0)
		goto done;
	json_t *list = json ? json_array() : NULL;
	for (uint32_t i = 0; i < all.keys.count; i++)
		print_whereabouts(s, names, &all.each[i], list);
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
		say_to(stderr, "spoor: no memory\n");
	for (uint32_t i = 0; i < all.keys.count; i++)
		rankmap_free(&all.each[i].map);
	budget_free(all.each);
	pool_free(&all.keys);
	passed_text_destroy(all.passed);
	frames_destroy(names);
	return rv;
}
