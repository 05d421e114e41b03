/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate - sums over the traces of an archive: groups, how they are put together, and their form as bytes
 */
#include "archive/aggregate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_group.h"
#include "trace/base/varint.h"

const char *const aggregate_names[] = {"all", "user", "account", "partition", "executable", "application",
                                       "job", "node", "month",   "function",  "site",       NULL};

const char *const aggregate_reasons[AGGREGATE_REASONS] = {"abort",     "oom",    "node-lost", "time-limit", "preempted",
                                                          "cancelled", "signal", "exit",      "deadline",   "other"};

#define DROP_LEAST 1024 /* groups: to put them in order costs time */

/* --- groups --- */

static void group_free(struct aggregate_group *g)
{
	free(g->key);
	free(g->sizes);
	free(g->function);
	free(g->frames);
	free(g->example.folder);
	free(g->example.name);
	free(g->example.user);
	free(g->example.exe);
}

void aggregate_free_group(struct aggregate_group *g)
{
	group_free(g);
	free(g);
}

struct aggregate *aggregate_create(enum aggregate_by by)
{
	struct aggregate *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	a->by = by;
	a->total.last_job = INT64_MIN;
	a->total.key = strdup("");
	a->skipped = json_array();
	if (a->total.key && a->skipped)
		return a;
	aggregate_destroy(a);
	return NULL;
}

void aggregate_destroy(struct aggregate *a)
{
	if (!a)
		return;
	aggregate_free_hung(a);
	for (size_t i = 0; i < a->count; i++)
		aggregate_free_group(a->groups[i]);
	group_free(&a->total);
	free(a->groups);
	index_free(&a->index);
	json_decref(a->skipped);
	free(a);
}

struct group_selection {
	const struct aggregate *a;
	const char *key;
};

static bool has_key(const void *context, uint32_t number)
{
	const struct group_selection *w = context;
	return strcmp(w->a->groups[number]->key, w->key) == 0;
}

struct aggregate_group *aggregate_group(struct aggregate *a, const char *key)
{
	struct group_selection w = {a, key};
	uint64_t hash = hash_bytes(key, strlen(key));
	uint32_t number = index_find(&a->index, hash, has_key, &w);

	if (number != INDEX_NONE)
		return a->groups[number];
	if (a->top.count && a->count / 2 >= a->top.count && a->count >= DROP_LEAST)
		aggregate_drop(a);
	if (a->count == a->capacity) {
		size_t capacity = a->capacity ? 2 * a->capacity : 64;
		struct aggregate_group **more = realloc(a->groups, capacity * sizeof(struct aggregate_group *));
		if (!more)
			return NULL;
		a->groups = more;
		a->capacity = capacity;
	}
	struct aggregate_group *g = calloc(1, sizeof *g);
	if (!g || !(g->key = strdup(key)) || index_add(&a->index, hash, (uint32_t)a->count)) {
		free(g ? g->key : NULL);
		free(g);
		return NULL;
	}
	g->last_job = INT64_MIN;
	return a->groups[a->count++] = g;
}

int aggregate_add_sizes(struct aggregate_group *g, const uint64_t *sizes)
{
	if (!g->sizes && !(g->sizes = calloc(ACTIVITY_SIZES, sizeof *g->sizes)))
		return -1;
	for (int i = 0; i < ACTIVITY_SIZES; i++)
		g->sizes[i] += sizes[i];
	return 0;
}

int aggregate_reason(const char *reason)
{
	for (int i = 0; i < AGGREGATE_REASONS - 1; i++)
		if (strcmp(reason, aggregate_reasons[i]) == 0)
			return i;
	return AGGREGATE_REASONS - 1;
}

static int replace(char **to, const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		return -1;
	free(*to);
	*to = copy;
	return 0;
}

int aggregate_example(struct aggregate_group *g, const struct aggregate_example *e)
{
	struct aggregate_example *mine = &g->example;

	if (mine->name && (e->weight < mine->weight || (e->weight == mine->weight && strcmp(e->name, mine->name) >= 0)))
		return 0;
	mine->weight = e->weight;
	mine->site = e->site;
	return replace(&mine->folder, e->folder) || replace(&mine->name, e->name) || replace(&mine->user, e->user) ||
	                       replace(&mine->exe, e->exe)
	               ? -1
	               : 0;
}

int aggregate_merge_group(struct aggregate_group *to, const struct aggregate_group *from)
{
	for (int i = 0; i < FIGURE_SUMS; i++)
		to->sum[i] += from->sum[i];
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		to->reasons[i] += from->reasons[i];
	for (int i = 0; i < OUTCOMES; i++)
		to->causes[i] += from->causes[i];
	if ((from->sizes && aggregate_add_sizes(to, from->sizes)) ||
	    (from->example.name && aggregate_example(to, &from->example)))
		return -1;
	return from->function && !to->function &&
	                       (replace(&to->function, from->function) || replace(&to->frames, from->frames))
	               ? -1
	               : 0;
}

int aggregate_merge(struct aggregate *to, const struct aggregate *from)
{
	for (size_t i = 0; i < from->count; i++) {
		struct aggregate_group *g = aggregate_group(to, from->groups[i]->key);
		if (!g || aggregate_merge_group(g, from->groups[i]))
			return -1;
	}
	for (size_t i = 0; i < from->hung_count; i++)
		if (aggregate_add_hung(to, &from->hung[i]))
			return -1;
	to->dropped += from->dropped;
	to->unreadable += from->unreadable;
	to->missing += from->missing;
	return aggregate_merge_group(&to->total, &from->total) || json_array_extend(to->skipped, from->skipped) ? -1
	                                                                                                        : 0;
}

/* Paths of files may be no UTF-8, which JSON must be. */
int aggregate_skip(struct aggregate *a, const char *problem)
{
	json_t *text = json_string(problem);
	char *plain = text ? NULL : strdup(problem);

	for (char *p = plain; p && *p; p++)
		*p = (unsigned char)*p < 0x80 ? *p : '?';
	if (plain)
		text = json_string(plain);
	free(plain);
	return json_array_append_new(a->skipped, text);
}

/* --- bytes --- */

static void write_text(struct writer *w, const char *text)
{
	size_t n = text ? strlen(text) : 0;
	writer_uint(w, text ? n + 1 : 0);
	writer_bytes(w, text, n);
}

/* *text stays NULL if there was none. */
static void get_text(struct reader *r, char **text)
{
	uint64_t n = reader_uint(r);
	const uint8_t *bytes = n ? reader_bytes(r, n - 1) : NULL;

	if (!bytes)
		return;
	free(*text);
	*text = strndup((const char *)bytes, n - 1);
	r->bad |= !*text;
}

/* Those that there are, each with its number: 0 is behind the last. */
static void write_causes(struct writer *w, const uint64_t *causes)
{
	for (uint64_t i = 0; i < OUTCOMES; i++)
		if (causes[i]) {
			writer_uint(w, i + 1);
			writer_uint(w, causes[i]);
		}
	writer_uint(w, 0);
}

static void read_causes(struct reader *r, uint64_t *causes)
{
	for (uint64_t i; !r->bad && (i = reader_uint(r)) != 0;) {
		uint64_t n = reader_uint(r);
		if (i <= OUTCOMES)
			causes[i - 1] = n;
		r->bad |= i > OUTCOMES;
	}
}

static void write_group(struct writer *w, const struct aggregate_group *g)
{
	const struct aggregate_example *e = &g->example;

	write_text(w, g->key);
	for (int i = 0; i < FIGURE_SUMS; i++) {
		writer_uint(w, (uint64_t)g->sum[i]);
		writer_uint(w, (uint64_t)(g->sum[i] >> 64));
	}
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		writer_uint(w, g->reasons[i]);
	write_causes(w, g->causes);
	writer_uint(w, g->sizes != NULL);
	for (int i = 0; g->sizes && i < ACTIVITY_SIZES; i++)
		writer_uint(w, g->sizes[i]);
	write_text(w, g->function);
	write_text(w, g->frames);
	writer_uint(w, e->weight);
	writer_uint(w, e->site);
	write_text(w, e->folder);
	write_text(w, e->name);
	write_text(w, e->user);
	write_text(w, e->exe);
}

static void read_group(struct reader *r, struct aggregate_group *g)
{
	struct aggregate_example *e = &g->example;

	for (int i = 0; i < FIGURE_SUMS; i++) {
		uint64_t low = reader_uint(r);
		g->sum[i] = (uint128)reader_uint(r) << 64 | low;
	}
	for (int i = 0; i < AGGREGATE_REASONS; i++)
		g->reasons[i] = reader_uint(r);
	read_causes(r, g->causes);
	if (reader_uint(r)) {
		uint64_t sizes[ACTIVITY_SIZES];
		for (int i = 0; i < ACTIVITY_SIZES; i++)
			sizes[i] = reader_uint(r);
		r->bad |= aggregate_add_sizes(g, sizes) != 0;
	}
	get_text(r, &g->function);
	get_text(r, &g->frames);
	e->weight = reader_uint(r);
	e->site = (uint32_t)reader_uint(r);
	get_text(r, &e->folder);
	get_text(r, &e->name);
	get_text(r, &e->user);
	get_text(r, &e->exe);
}

static void write_hung(struct writer *w, const struct aggregate_hung *h)
{
	writer_uint(w, h->node_ns);
	write_text(w, h->name);
	write_text(w, h->user);
	write_text(w, h->exe);
	write_text(w, h->verdict);
}

static void read_hung(struct reader *r, struct aggregate *a)
{
	struct aggregate_hung h = {.node_ns = reader_uint(r)};
	get_text(r, &h.name);
	get_text(r, &h.user);
	get_text(r, &h.exe);
	get_text(r, &h.verdict);
	r->bad |= !h.name || !h.user || !h.exe || !h.verdict || aggregate_add_hung(a, &h) != 0;
	free(h.name);
	free(h.user);
	free(h.exe);
	free(h.verdict);
}

int aggregate_encode(const struct aggregate *a, uint8_t **bytes, size_t *size)
{
	struct writer w = {0};
	const json_t *text;
	size_t i;

	writer_uint(&w, a->by);
	writer_uint(&w, a->dropped);
	writer_uint(&w, a->unreadable);
	writer_uint(&w, a->missing);
	writer_uint(&w, json_array_size(a->skipped));
	json_array_foreach(a->skipped, i, text) write_text(&w, json_string_value(text));
	writer_uint(&w, a->hung_count);
	for (i = 0; i < a->hung_count; i++)
		write_hung(&w, &a->hung[i]);
	write_group(&w, &a->total);
	writer_uint(&w, a->count);
	for (i = 0; i < a->count; i++)
		write_group(&w, a->groups[i]);
	*bytes = w.data;
	*size = w.size;
	if (!w.failed)
		return 0;
	writer_free(&w);
	return -1;
}

int aggregate_decode(struct aggregate **out, const uint8_t *bytes, size_t size)
{
	struct reader r = reader_of(bytes, size);
	uint64_t by = reader_uint(&r);
	struct aggregate *a = by <= AGGREGATE_SITE ? aggregate_create((enum aggregate_by)by) : NULL;
	char *text = NULL;

	*out = NULL;
	if (!a)
		return -1;
	a->dropped = reader_uint(&r);
	a->unreadable = reader_uint(&r);
	a->missing = reader_uint(&r);
	for (size_t n = reader_count(&r); n > 0 && !r.bad; n--) {
		get_text(&r, &text);
		r.bad |= !text || aggregate_skip(a, text);
	}
	for (size_t n = reader_count(&r); n > 0 && !r.bad; n--)
		read_hung(&r, a);
	get_text(&r, &text);
	read_group(&r, &a->total);
	for (size_t n = reader_count(&r); n > 0 && !r.bad; n--) {
		get_text(&r, &text);
		struct aggregate_group *g = text ? aggregate_group(a, text) : NULL;
		if (g)
			read_group(&r, g);
		r.bad |= !g;
	}
	free(text);
	if (!r.bad && r.at == r.end) {
		*out = a;
		return 0;
	}
	aggregate_destroy(a);
	return -1;
}
