/* SPDX-License-Identifier: BSD-3-Clause
 * diff - `spoor diff A B`: two traces, call site by call site: calls, bytes, time, structure
 *
 * Sites are matched by their call paths: first where modules (build ids) and offsets are equal; of the rest, where
 * function, file and line of every frame are; of the rest, where functions and files are, in order of appearance, so
 * that a program that was changed and built anew finds its sites again.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/compare_events.h"
#include "cmd/base/open_trace.h"
#include "cmd/base/frames.h"
#include "trace/model/value.h"
#include "trace/file/container.h"
#include "trace/read/activity.h"
#include "trace/read/summary.h"
#include "trace/model/stream.h"
#include "trace/read/walk.h"

#define FRAME_SIZE 512

enum match { MATCH_NONE, MATCH_EXACT, MATCH_LINE, MATCH_SYMBOL };
static const char *const match_names[] = {"none", "exact", "line", "function"};

/* One site of one of the traces. */
struct side {
	char *keys[MATCH_SYMBOL + 1]; /* by how it is matched */
	uint64_t calls, ranks, bytes, time, compute;
	enum match match;
	uint32_t other; /* site of the other trace, if it is matched */
};

struct input {
	const char *name;
	struct container *container;
	struct trace trace;
	struct frames *names;
	struct side *sites;
	uint64_t events, time, compute; /* as spoor show has them */
	uint64_t lost, unplaced;        /* what no site says more of: calls, computation (ns) */
};

struct diff_options {
	bool all, json, no_bytes;
	int64_t top;
	const char *archive;
};

/* --- call paths as texts --- */

static char *append_key(char *text, const char *more)
{
	size_t n = text ? strlen(text) : 0, m = strlen(more);
	char *longer = realloc(text, n + m + 1);

	if (!longer) {
		free(text);
		return NULL;
	}
	memcpy(longer + n, more, m + 1);
	return longer;
}

/* "main at halo.c:41 (halo)" without the line: the name of a function in a file stays when lines move. */
static void without_line(char *frame)
{
	char *at = strstr(frame, " at "), *colon = at ? strchr(at, ':') : NULL, *plus = strchr(frame, '+'), *end;

	if (colon) {
		end = colon + 1 + strspn(colon + 1, "0123456789");
		memmove(colon, end, strlen(end) + 1);
	} else if (plus) { /* "function (module+0x12)", "module+0x12" */
		end = strchr(plus, ')');
		if (end)
			memmove(plus, end, strlen(end) + 1);
		else
			*plus = '\0';
	}
}

static int make_keys(struct input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	const struct trace_site *s = &t->sites[site];
	struct side *side = &in->sites[site];
	const struct schema *schema = trace_schema(t, s);
	char text[FRAME_SIZE + 64];

	snprintf(text, sizeof text, "%.*s", (int)schema->function_length, schema->function);
	for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
		side->keys[m] = append_key(NULL, text);
	for (uint32_t node = s->node; node != 0; node = t->nodes[node].parent) {
		const struct trace_node *n = &t->nodes[node];
		size_t used = 0;

		text[0] = '<';
		text[1] = '\0';
		if (n->module != UINT32_MAX) {
			const struct trace_module *module = &t->modules[n->module];
			const struct pool_item *id =
				&t->strings.items[module->build_id ? module->build_id : module->name];

			for (size_t i = 0; module->build_id && i < id->size && used < FRAME_SIZE / 2; i++)
				used += (size_t)snprintf(text + 1 + used, sizeof text - 1 - used, "%02x", id->bytes[i]);
			if (!module->build_id)
				snprintf(text + 1, FRAME_SIZE, "%s", (const char *)id->bytes);
		}
		snprintf(text + strlen(text), 40, "+%" PRIx64, n->offset);
		side->keys[MATCH_EXACT] = side->keys[MATCH_EXACT] ? append_key(side->keys[MATCH_EXACT], text) : NULL;
		text[0] = '<';
		frames_text(in->names, node, text + 1, FRAME_SIZE);
		side->keys[MATCH_LINE] = side->keys[MATCH_LINE] ? append_key(side->keys[MATCH_LINE], text) : NULL;
		without_line(text);
		side->keys[MATCH_SYMBOL] = side->keys[MATCH_SYMBOL] ? append_key(side->keys[MATCH_SYMBOL], text) : NULL;
	}
	return side->keys[MATCH_EXACT] && side->keys[MATCH_LINE] && side->keys[MATCH_SYMBOL] ? 0 : -1;
}

/* --- what is known of each site --- */

static int read_input(struct input *in, const char *name, const struct diff_options *o, struct error *error)
{
	in->name = name;
	if (open_trace(name, o->archive, &in->container, &in->trace) != 0)
		return -1;
	const struct trace *t = &in->trace;
	in->sites = calloc((size_t)t->site_count + 1, sizeof *in->sites);
	in->names = frames_create(t);
	if (!in->sites || !in->names)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		struct side *side = &in->sites[i];
		if (make_keys(in, i) != 0)
			return error_set(error, "no memory");
		side->calls = (uint64_t)rankmap_sum(&s->visits);
		side->ranks = stream_ranks_any(t, &s->visits);
		side->time = s->communicate.count ? s->communicate.sum : 0;
		in->time += trace_initializes(trace_schema(t, s)) ? 0 : side->time;
		in->events += side->calls;
	}
	for (uint32_t i = 0; i < t->site_count; i++) /* the computation before a site */
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			if (t->sites[i].edges[k].compute.count) {
				in->sites[t->sites[i].edges[k].to].compute += t->sites[i].edges[k].compute.sum;
			}
	in->compute = summary_compute(t, &in->unplaced);
	in->lost = (uint64_t)rankmap_sum(&t->lost);
	if (!o->no_bytes && open_events(name, walk_cost(t)) != 0)
		return -1;
	struct site_activity activity = {.sites = NULL};
	int rv = o->no_bytes ? 0 : site_activity_make(&activity, t);
	for (uint32_t i = 0; activity.sites && i < t->site_count; i++)
		in->sites[i].bytes = activity.sites[i].bytes;
	site_activity_free(&activity);
	return rv == 0 ? 0 : error_set(error, "no memory");
}

static void free_input(struct input *in)
{
	for (uint32_t i = 0; in->sites && i < in->trace.site_count; i++)
		for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
			free(in->sites[i].keys[m]);
	free(in->sites);
	frames_destroy(in->names);
	trace_free(&in->trace);
	container_destroy(in->container);
}

/* --- matching --- */

struct key {
	const char *text;
	uint32_t site;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int rv = strcmp(x->text, y->text);

	return rv ? rv : x->site < y->site ? -1 : x->site > y->site;
}

static struct key *sorted_keys(const struct input *in, enum match m, size_t *n)
{
	struct key *keys = malloc(((size_t)in->trace.site_count + 1) * sizeof *keys);

	*n = 0;
	for (uint32_t i = 0; keys && i < in->trace.site_count; i++)
		if (in->sites[i].match == MATCH_NONE)
			keys[(*n)++] = (struct key){in->sites[i].keys[m], i};
	if (keys && *n)
		qsort(keys, *n, sizeof *keys, compare_keys);
	return keys;
}

/* Sites of equal keys are paired in order. */
static int match_by(struct input *a, struct input *b, enum match m)
{
	size_t n, k, i = 0, j = 0;
	struct key *x = sorted_keys(a, m, &n), *y = sorted_keys(b, m, &k);
	int rv = x && y ? 0 : -1;
	while (rv == 0 && i < n && j < k) {
		int order = strcmp(x[i].text, y[j].text);
		if (order == 0) {
			a->sites[x[i].site].match = b->sites[y[j].site].match = m;
			a->sites[x[i].site].other = y[j].site;
			b->sites[y[j].site].other = x[i].site;
		}
		i += order <= 0;
		j += order >= 0;
	}
	free(x);
	free(y);
	return rv;
}

/* --- what differs --- */

struct row {
	const struct side *a, *b; /* one may be NULL */
	uint32_t site;            /* of a, or of b if there is no a */
	bool flow;                /* other sites follow */
	double weight;
};

static bool is_different(const struct row *r)
{
	return !r->a || !r->b || r->a->calls != r->b->calls || r->a->bytes != r->b->bytes ||
	       r->a->ranks != r->b->ranks || r->flow;
}

/* Do other sites follow on this one in b than in a? */
static bool flow_differs(const struct input *a, const struct input *b, uint32_t site)
{
	const struct trace_site *x = &a->trace.sites[site], *y = &b->trace.sites[a->sites[site].other];

	if (x->edge_count != y->edge_count)
		return true;
	for (uint32_t i = 0; i < x->edge_count; i++) {
		const struct side *to = &a->sites[x->edges[i].to];
		uint32_t k = 0;
		while (k < y->edge_count && (to->match == MATCH_NONE || y->edges[k].to != to->other))
			k++;
		if (k == y->edge_count)
			return true;
	}
	return false;
}

static double difference(uint64_t a, uint64_t b)
{
	return a > b ? (double)(a - b) : (double)(b - a);
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int first = is_different(x), second = is_different(y);

	if (first != second)
		return second - first;
	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->site < y->site ? -1 : x->site > y->site;
}

static struct row *make_rows(const struct input *a, const struct input *b, size_t *n)
{
	static const struct side none;
	struct row *rows = calloc((size_t)a->trace.site_count + b->trace.site_count + 1, sizeof *rows);

	*n = 0;
	for (uint32_t i = 0; rows && i < a->trace.site_count; i++) {
		struct row *r = &rows[(*n)++];

		*r = (struct row){&a->sites[i], a->sites[i].match ? &b->sites[a->sites[i].other] : NULL, i, false, 0};
		r->flow = r->b && flow_differs(a, b, i);
	}
	for (uint32_t i = 0; rows && i < b->trace.site_count; i++)
		if (!b->sites[i].match)
			rows[(*n)++] = (struct row){NULL, &b->sites[i], i, false, 0};
	for (size_t i = 0; rows && i < *n; i++) {
		const struct side *x = rows[i].a ? rows[i].a : &none, *y = rows[i].b ? rows[i].b : &none;

		rows[i].weight = difference(x->time, y->time) + difference(x->compute, y->compute);
	}
	if (rows && *n)
		qsort(rows, *n, sizeof *rows, by_weight);
	return rows;
}

/* --- output --- */

static void print_pair(const char *name, uint64_t a, uint64_t b)
{
	if (a == b)
		printf("  %s %" PRIu64, name, a);
	else
		printf("  %s %" PRIu64 " -> %" PRIu64 " (%+.1f %%)", name, a, b,
		       a ? 100 * ((double)b - (double)a) / (double)a : 100.0);
}

static void print_time(const char *name, uint64_t a, uint64_t b)
{
	printf("  %s %.6f -> %.6f s", name, (double)a * 1e-9, (double)b * 1e-9);
	if (a)
		printf(" (%+.1f %%)", 100 * ((double)b - (double)a) / (double)a);
}

/* The innermost frames of a site: enough to find it. */
static void print_frames(const struct input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	const struct schema *s = trace_schema(t, &t->sites[site]);
	char frame[FRAME_SIZE];
	int shown = 0;

	printf("%.*s", (int)s->function_length, s->function);
	for (uint32_t node = t->sites[site].node; node != 0 && shown < 3; node = t->nodes[node].parent, shown++) {
		frames_text(in->names, node, frame, sizeof frame);
		printf("%s%s", shown ? " < " : "  ", frame);
		if (strncmp(frame, "main ", 5) == 0)
			break;
	}
	putchar('\n');
}

static void diff_row(const struct input *a, const struct input *b, const struct row *r)
{
	const struct side *only = r->a ? r->a : r->b;

	printf("%c ", !r->b ? '-' : !r->a ? '+' : is_different(r) ? '!' : ' ');
	print_frames(r->a ? a : b, r->site);
	if (!r->a || !r->b) {
		printf("    only in %s:  calls %" PRIu64 "  ranks %" PRIu64 "  bytes %" PRIu64 "  time %.6f s\n",
		       r->a ? a->name : b->name, only->calls, only->ranks, only->bytes, (double)only->time * 1e-9);
		return;
	}
	printf("  ");
	print_pair("calls", r->a->calls, r->b->calls);
	if (r->a->ranks != r->b->ranks)
		print_pair("ranks", r->a->ranks, r->b->ranks);
	if (r->a->bytes || r->b->bytes)
		print_pair("bytes", r->a->bytes, r->b->bytes);
	printf("\n  ");
	print_time("time", r->a->time, r->b->time);
	print_time("before it", r->a->compute, r->b->compute);
	printf("%s\n", r->flow ? "  other calls follow" : "");
}

static json_t *side_json(const struct side *s)
{
	return s ? json_pack("{sI sI sI sI sI}", "calls", (json_int_t)s->calls, "ranks", (json_int_t)s->ranks, "bytes",
	                     (json_int_t)s->bytes, "time_ns", (json_int_t)s->time, "compute_ns", (json_int_t)s->compute)
	         : json_null();
}

static json_t *place_json(const struct input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	json_t *frames = json_array();
	char frame[FRAME_SIZE];
	for (uint32_t node = t->sites[site].node; node != 0; node = t->nodes[node].parent) {
		frames_text(in->names, node, frame, sizeof frame);
		json_array_append_new(frames, json_sprintf("%s", frame));
	}
	return frames;
}

/* What the ranks did in all, and what of it no site says more of. */
static void diff_totals(const struct input *a, const struct input *b, const char *equal)
{
	printf("ranks   %u -> %u\n", a->trace.size, b->trace.size);
	printf("events  %" PRIu64 " -> %" PRIu64 "%s%s\n", a->events, b->events, *equal ? ", " : "", equal);
	if (a->lost + b->lost)
		printf("counted %" PRIu64 " -> %" PRIu64 " calls that are no events\n", a->lost, b->lost);
	printf("time in MPI %.6f -> %.6f s, between calls %.6f -> %.6f s (all ranks)\n", (double)a->time * 1e-9,
	       (double)b->time * 1e-9, (double)a->compute * 1e-9, (double)b->compute * 1e-9);
	if (a->unplaced || b->unplaced)
		printf("of that %.6f -> %.6f s between calls are at no site\n", (double)a->unplaced * 1e-9,
		       (double)b->unplaced * 1e-9);
}

static int print_differences(const struct input *a, const struct input *b, const struct diff_options *o,
                             const char *equal)
{
	size_t n, shown = 0, different = 0, matched[MATCH_SYMBOL + 1] = {0}, only_a = 0, only_b = 0;
	struct row *rows = make_rows(a, b, &n);

	if (!rows)
		return -1;
	for (size_t i = 0; i < n; i++) {
		different += is_different(&rows[i]);
		only_a += !rows[i].b;
		only_b += !rows[i].a;
		matched[rows[i].a ? rows[i].a->match : MATCH_NONE]++;
	}
	json_t *list = o->json ? json_array() : NULL;

	if (!o->json) {
		diff_totals(a, b, equal);
		printf("sites   %u -> %u: %zu matched by address, %zu by line, %zu by function; %zu only in %s, %zu "
		       "only in %s; %zu differ\n",
		       a->trace.site_count, b->trace.site_count, matched[MATCH_EXACT], matched[MATCH_LINE],
		       matched[MATCH_SYMBOL], only_a, a->name, only_b, b->name, different);
	}
	for (size_t i = 0; i < n && (o->top == 0 || (int64_t)shown < o->top); i++) {
		if (!o->all && !is_different(&rows[i]))
			break;
		shown++;
		const struct input *in = rows[i].a ? a : b;
		const struct schema *s = trace_schema(&in->trace, &in->trace.sites[rows[i].site]);

		if (o->json)
			json_array_append_new(list,
			                      json_pack("{ss% so so so sb ss}", "function", s->function,
			                                (size_t)s->function_length, "path",
			                                place_json(in, rows[i].site), "a", side_json(rows[i].a), "b",
			                                side_json(rows[i].b), "other_successors", rows[i].flow, "match",
			                                match_names[rows[i].a ? rows[i].a->match : MATCH_NONE]));
		else
			diff_row(a, b, &rows[i]);
	}
	if (o->json) {
		json_t *all = json_pack(
			"{s[ii] s[II] s[II] s[II] s[II] s[II] ss sI si si so}", "ranks", (int)a->trace.size,
			(int)b->trace.size, "events", (json_int_t)a->events, (json_int_t)b->events, "time_ns",
			(json_int_t)a->time, (json_int_t)b->time, "compute_ns", (json_int_t)a->compute,
			(json_int_t)b->compute, "unplaced_ns", (json_int_t)a->unplaced, (json_int_t)b->unplaced,
			"events_lost", (json_int_t)a->lost, (json_int_t)b->lost, "equal", equal, "different",
			(json_int_t)different, "only_a", (int)only_a, "only_b", (int)only_b, "sites", list);

		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(all);
	} else if (shown < (o->all ? n : different)) {
		printf("and %zu more (--top 0 shows all)\n", (o->all ? n : different) - shown);
	}
	free(rows);
	return 0;
}

static int compare_inputs(struct input *a, struct input *b, const struct diff_options *o, struct error *error)
{
	struct compare_result result;
	struct error unused = {""};
	const char *equal = "";

	if (match_by(a, b, MATCH_EXACT) != 0 || match_by(a, b, MATCH_LINE) != 0 || match_by(a, b, MATCH_SYMBOL) != 0)
		return error_set(error, "no memory");
	if (a->trace.size == b->trace.size && !o->no_bytes &&
	    compare_traces(&a->trace, &b->trace, a->name, b->name, false, NULL, &result, &unused) == 0)
		equal = result.ranks_different ? "not the same on all ranks"
		                               : "all with the same parameters in the same order";
	return print_differences(a, b, o, equal) == 0 ? 0 : error_set(error, "no memory");
}

int cmd_diff(int argc, char **argv)
{
	struct diff_options o = {.top = 20};
	struct input a = {.name = NULL}, b = {.name = NULL};
	struct error error = {""};
	const struct option_line lines[] = {
		OPTION_FLAG("all", 0, &o.all, "also sites in which nothing differs but time"),
		OPTION_NUMBER("top", 0, "N", &o.top, 0, UINT32_MAX, "at most N sites (default 20; 0: all)"),
		OPTION_FLAG("no-bytes", 0, &o.no_bytes, "do not count bytes or compare events"),
		OPTION_FLAG("json", 0, &o.json, "as JSON"),
		OPTION_ARCHIVE(&o.archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {
		"spoor diff",
		"A B",
		"Compares two traces (files or jobs) call site by call site: calls, bytes, time, structure. Those that "
		"differ most come first.",
		NULL,
		lines,
		2,
		2,
		false};
	int rv;

	if (!options_read(&options, argc, argv, &rv))
		return rv;
	rv = open_ahead(argv + optind, 2, o.archive) != 0 || read_input(&a, argv[optind], &o, &error) != 0 ||
	     read_input(&b, argv[optind + 1], &o, &error) != 0 || compare_inputs(&a, &b, &o, &error) != 0;

	if (rv && error.text[0] && open_spent(argv[optind]) == 0)
		fprintf(stderr, "spoor diff: %s\n", error.text);
	free_input(&a);
	free_input(&b);
	return rv ? CMD_FAILED : CMD_OK;
}
