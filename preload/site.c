/* SPDX-License-Identifier: BSD-3-Clause
 * site - where in the program a call is made
 */
#include "preload/site.h"

#include <errno.h>
#include <string.h>

#include "preload/pool.h"
#include "preload/recorder.h"
#include "preload/shortage.h"
#include "preload/stand_in.h"
#include "trace/base/quiet.h"
#include "trace/model/trace.h"

struct node_key {
	const struct recorder *recorder;
	struct record_node node;
};

static bool node_equal(const void *context, uint32_t number)
{
	const struct node_key *k = context;
	const struct record_node *n = table_at(&k->recorder->arena, &k->recorder->record->nodes, number, sizeof *n);
	return n->parent == k->node.parent && n->module == k->node.module && n->offset == k->node.offset;
}

static uint32_t node_of(struct recorder *r, uint32_t parent, uint32_t module, uint64_t offset)
{
	struct node_key k = {r, {parent, module, offset}};
	uint64_t hash = hash_mix(hash_mix(hash_mix(1, parent), module), offset);
	uint32_t i = index_find(&r->nodes, hash, node_equal, &k);
	if (i != INDEX_NONE)
		return i;
	if (shortage_cuts_paths(r) && !r->cutting)
		return UINT32_MAX; /* paths that are new are cut */
	/* where the table cannot be twice as large, what is left of it is for paths that are cut */
	const struct table *nodes = &r->record->nodes;
	if (!r->cutting && nodes->count * sizeof k.node > nodes->capacity / 8 * 7 &&
	    nodes->capacity * 2 > arena_left(&r->arena) / 2) {
		shortage_cut_paths(r);
		return UINT32_MAX;
	}
	i = table_add(&r->arena, &r->record->nodes, &k.node, sizeof k.node);
	if (i == UINT32_MAX)
		return i;
	index_add(&r->nodes, hash, i);
	r->structure += sizeof k.node;
	return i;
}

static uint32_t module_of(struct recorder *r, struct module *m)
{
	/* the list may have been made anew since: find the module by its strings */
	const char *name = module_name(m);
	struct record_module wanted = {pool_string(r, name, strlen(name)),
	                               pool_string(r, m->build_id, m->build_id_size)};
	for (uint32_t i = 0; i < r->record->modules.count; i++) {
		const struct record_module *known = table_at(&r->arena, &r->record->modules, i, sizeof *known);
		if (known->build_id == wanted.build_id && (known->build_id || known->name == wanted.name))
			return i;
	}
	return table_add(&r->arena, &r->record->modules, &wanted, sizeof wanted);
}

/* A call path as the record has it: nodes without parents, outermost first. Returns how many; 0 if there is no room. */
static size_t frames_of(struct recorder *r, const struct callpath *path, struct record_node frames[CALLPATH_MAX + 1])
{
	size_t n = 0;
	bool ignored = false;
	struct module *m = NULL;
	if (path->gap)
		frames[n++] = (struct record_node){.module = UINT32_MAX, .offset = (uint64_t)path->gap};
	for (size_t i = path->count; i-- > 0;) {
		uintptr_t address = path->frame[i].address;
		if (!m || address - m->at.start >= m->at.end - m->at.start)
			m = module_find(unwinder_modules(r->unwinder), address);
		if (m && m->number == UINT32_MAX)
			m->number = module_of(r, m);
		if (m && m->number == UINT32_MAX)
			return 0;
		uint64_t entry = 0;
		bool was_ignored = ignored;
		ignored = m && r->ignored && ignored_frame(r->ignored, m, address, &entry);
		if (ignored && was_ignored) /* the run has its frame */
			continue;
		frames[n++] =
			m ? (struct record_node){.module = m->number, .offset = ignored ? entry : address - m->at.bias}
			  : (struct record_node){.module = UINT32_MAX, .offset = GAP_NO_MODULE};
	}
	return n;
}

/* The node of the innermost frame. */
static uint32_t path_of(struct recorder *r, const struct record_node *frames, size_t n)
{
	uint32_t at = 0;
	for (size_t i = 0; i < n && at != UINT32_MAX; i++)
		at = node_of(r, at, frames[i].module, frames[i].offset);
	return at;
}

uint32_t site_width(const char *schema)
{
	uint32_t n = 0;
	for (; *schema; schema++)
		n += *schema == ' ';
	return n;
}

/* What the columns of a call are, without that of an error. */
static const char *schema_of(uint32_t function)
{
	const char *buffers = call_buffers ? mpi_schema_buffers[function % FN_COUNT] : NULL;
	return buffers ? buffers : mpi_functions[function % FN_COUNT].schema;
}

/* Makes the function known to the record. Returns false if there is no room. */
static bool function_known(struct recorder *r, uint32_t function)
{
	if (r->functions[function])
		return true;
	char *schema = r->room.schema;
	const char *text = schema_of(function);
	size_t n = strlen(text);
	if (n + sizeof " error:i" > sizeof r->room.schema)
		return false;
	memcpy(schema, text, n + 1);
	if (function >= FUNCTION_ERROR) {
		memcpy(schema + n, " error:i", sizeof " error:i");
		n += sizeof " error:i" - 1;
	}
	uint32_t string = pool_string(r, schema, n);
	uint32_t i =
		string != r->unknown ? table_add(&r->arena, &r->record->functions, &string, sizeof string) : UINT32_MAX;
	if (i == UINT32_MAX)
		return false;
	const struct mpi_function *f = &mpi_functions[function % FN_COUNT];
	r->functions[function] = i + 1;
	if (i < FUNCTIONS)
		r->waits[i] = f->waits != WAITS_NOT || mpi_is_collective(f);
	r->widths[function] = site_width(schema);
	return true;
}

uint32_t site_function(struct recorder *r, uint32_t function)
{
	return function_known(r, function) ? r->functions[function] - 1 : UINT32_MAX;
}

struct site_key {
	const struct recorder *recorder;
	uint32_t function, path;
};

/* Of a table of sites of more than so many bytes. */
#define SITES_TABLE 16384
#define LAST_PLACES 128

static bool site_equal(const void *context, uint32_t number)
{
	const struct site_key *k = context;
	const struct brief *b = brief_at(&k->recorder->arena, k->recorder->record, number);
	if (b)
		return b->function == k->function && b->path == k->path;
	const struct site *s = brief_not(&k->recorder->arena, k->recorder->record, number);
	return s->function == k->function && s->path == k->path;
}

/* A new site, which is in no index. NULL: no room. */
static struct site *site_new(struct recorder *r, uint32_t function, uint32_t path)
{
	ref at = record_new_site(&r->arena, r->functions[function] - 1, path, r->widths[function]);
	if (!at)
		return NULL;
	struct site *s = arena_at(&r->arena, struct site, at);
	record_set_roles(s, schema_of(function), strlen(schema_of(function)));
	s->id = r->record->sites.count;
	s->self = s->id + 1;
	s->cost = (uint32_t)r->cost;
	if (table_add(&r->arena, &r->record->sites, &at, sizeof at) == UINT32_MAX) {
		arena_free_range(&r->arena, at, sizeof *s + s->columns * sizeof *s->column);
		return NULL;
	}
	r->structure += sizeof at + sizeof *s + s->columns * sizeof *s->column;
	return s;
}

/* Where the table cannot be twice as large, what is left of it is for sites without a path. */
static bool last_places(struct recorder *r)
{
	const struct table *sites = &r->record->sites;
	return (sites->count + LAST_PLACES) * sizeof(ref) > sites->capacity && sites->capacity * 2 > SITES_TABLE &&
	       !arena_room(&r->arena, sites->capacity * 2);
}

static struct site *site_find(struct recorder *r, uint32_t function, uint32_t path, bool brief)
{
	if (path == UINT32_MAX || !function_known(r, function))
		return NULL;
	struct site_key k = {r, r->functions[function] - 1, path};
	uint64_t hash = hash_mix(hash_mix(2, k.function), path);
	uint32_t i = index_find(&r->sites, hash, site_equal, &k);
	if (i != INDEX_NONE)
		return stand_in_site(r, i, r->widths[function], brief);
	/* sites are never given back: they get a part of the memory, then paths are cut */
	if (shortage_frames(r) < CALLPATH_MAX)
		shortage_cut_paths(r);
	if (!r->holding && last_places(r))
		return NULL;
	struct site *s = brief ? stand_in_new(r, k.function, path, r->widths[function]) : site_new(r, function, path);
	if (!s)
		return NULL;
	index_add(&r->sites, hash, s->id);
	recorder_calibrate(r);
	return s;
}

uint32_t site_function_of(const struct recorder *r, uint32_t number)
{
	uint32_t function = 0;
	while (function < FUNCTIONS - 1 && r->functions[function] != number + 1)
		function++;
	return function;
}

struct site *site_of_error(struct recorder *r, uint32_t number, uint32_t path)
{
	int saved = errno;
	uint32_t function = site_function_of(r, number) % FN_COUNT + FUNCTION_ERROR;
	struct site *error = site_get(r, function, path);
	if (!error)
		error = site_get(r, function, site_cut_path(r, NULL));
	if (!error)
		error = shortage_counter(r, function);
	errno = saved;
	return error;
}

struct site *site_get(struct recorder *r, uint32_t function, uint32_t path)
{
	return site_find(r, function, path, false);
}

/* What the memo has of a brief site: its number, marked, for a site is aligned. */
static void *known_briefly(const struct site *s)
{
	return (void *)((uintptr_t)s->id << 1 | 1); /* NOLINT: no address */
}

struct site *site_known(struct recorder *r, uint32_t function, void *known, bool brief)
{
	uintptr_t number = (uintptr_t)known;
	if (number % 2 == 0)
		return known;
	struct site *s = stand_in_site(r, (uint32_t)(number >> 1), r->widths[function], brief);
	if (s && !stand_in_is(r, s))
		memo_change(&r->memo, s);
	return s;
}

/* In how many frames, counted from the outermost, a known path and another one differ; not more than `most`. */
static size_t path_distance(const struct recorder *r, uint32_t path, const struct record_node *frames, size_t n,
                            size_t most)
{
	size_t length = 0, distance;
	for (uint32_t at = path; at;
	     at = ((struct record_node *)table_at(&r->arena, &r->record->nodes, at, sizeof *frames))->parent)
		length++;
	distance = n > length ? n - length : 0;
	for (size_t i = length; i > 0 && distance < most; i--) {
		const struct record_node *node = table_at(&r->arena, &r->record->nodes, path, sizeof *node);
		distance += i > n || node->module != frames[i - 1].module || node->offset != frames[i - 1].offset;
		path = node->parent;
	}
	return distance;
}

/* Approximate call paths (ICS'13, section 3.3): the site of the function whose path differs least, in at most
 * `tolerance` frames; of several the oldest. NULL if there is none. */
static struct site *site_near(const struct recorder *r, uint32_t function, const struct record_node *frames, size_t n)
{
	struct site *best = NULL;
	size_t least = r->tolerance + (size_t)1;
	for (uint32_t i = 0; r->functions[function] && i < r->record->sites.count && least > 0; i++) {
		struct site *s = brief_not(&r->arena, r->record, i);
		if (!s || s->function != r->functions[function] - 1)
			continue;
		size_t distance = path_distance(r, s->path, frames, n, least);
		if (distance < least) {
			least = distance;
			best = s;
		}
	}
	return best;
}

/* The node of r->path, which is short. */
static uint32_t short_path(struct recorder *r)
{
	size_t n = frames_of(r, &r->path, r->frames);
	r->cutting = true;
	uint32_t at = n ? path_of(r, r->frames, n) : UINT32_MAX;
	r->cutting = false;
	return at;
}

uint32_t site_cut_path(struct recorder *r, void *return_address)
{
	/* the innermost frame, too, may be too much */
	r->path.count = return_address && shortage_frames(r) > 0;
	r->path.gap = GAP_CUT;
	r->path.frame[0].address = (uintptr_t)return_address;
	return short_path(r);
}

/* Unwinding for every other call takes longer than most calls do: the program has more paths than the memo, and always
 * others. */
#define UNWOUND_MOST  65536
#define UNWOUND_SHARE 4

struct site *site_unwind(struct recorder *r, uint32_t function, void *return_address, void *cfa, bool brief)
{
	struct quiet before = quiet_begin();
	if (++r->unwound > UNWOUND_MOST && r->unwound > r->record->events / UNWOUND_SHARE)
		shortage_cut_paths(r);
	unwind_path(r->unwinder, &r->path, return_address, cfa, CALLPATH_MAX);
	size_t n = frames_of(r, &r->path, r->frames);
	struct site *s = r->tolerance && n ? site_near(r, function, r->frames, n) : NULL;
	if (!s && n)
		s = site_find(r, function, path_of(r, r->frames, n), brief);
	if (s && stand_in_is(r, s))
		memo_add_apart(&r->memo, function, &r->path, known_briefly(s), cfa);
	else if (s)
		memo_add(&r->memo, function, &r->path, s, cfa);
	quiet_end(before);
	return s;
}

struct site *site_unwind_cut(struct recorder *r, uint32_t function, void *return_address, void *cfa)
{
	struct quiet before = quiet_begin();
	unwind_path(r->unwinder, &r->path, return_address, cfa, shortage_frames(r));
	struct site *s = site_get(r, function, short_path(r));
	if (s)
		memo_add(&r->memo, function, &r->path, s, cfa);
	quiet_end(before);
	return s;
}

struct edge_key {
	const struct recorder *recorder;
	uint32_t from, to;
};

static bool edge_equal(const void *context, uint32_t at)
{
	const struct edge_key *k = context;
	const struct record_edge *e = arena_at(&k->recorder->arena, struct record_edge, at);
	return e->from == k->from && e->to == k->to;
}

/* The edge, or 0. Most sites have few. */
static ref edge_find(const struct recorder *r, const struct site *from, uint32_t to)
{
	ref at = from->edges;
	for (int i = 0; at && i < 4; i++) {
		const struct record_edge *e = arena_at(&r->arena, struct record_edge, at);
		if (e->to == to)
			return at;
		at = e->next;
	}
	if (!at)
		return 0;
	uint32_t found = index_find(&r->edges, hash_mix(hash_mix(3, from->id), to), edge_equal,
	                            &(struct edge_key){r, from->id, to});
	return found == INDEX_NONE ? 0 : found;
}

struct record_edge *site_edge(struct recorder *r, struct site *from, uint32_t to)
{
	ref at = edge_find(r, from, to);
	if (!at) {
		if (!shortage_keeps_edge(r)) /* there may be as many as pairs of sites */
			return NULL;
		at = record_new_edge(&r->arena, from->id, to);
		if (!at)
			return NULL;
		r->structure += sizeof(struct record_edge);
		struct record_edge *e = arena_at(&r->arena, struct record_edge, at);
		e->next = from->edges;
		arena_barrier();
		from->edges = at;
		index_add(&r->edges, hash_mix(hash_mix(3, e->from), e->to), at);
	}
	return from->last_edge = arena_at(&r->arena, struct record_edge, at);
}
