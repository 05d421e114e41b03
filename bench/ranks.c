/* SPDX-License-Identifier: BSD-3-Clause
 * ranks - the traces of synthetic ranks
 */
#include "bench/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"
#include "trace/base/varint.h"
#include "trace/model/classes.h"
#include "trace/model/means.h"
#include "trace/model/counts.h"
#include "trace/model/host.h"
#include "trace/model/value.h"

#define STEPS      1000 /* turns of the ranks' main loop */
#define MAX_VALUES 256  /* of one turn of a loop */

struct grid grid_of(int k, uint32_t per_host)
{
	return (struct grid){.n = UINT32_C(1) << k,
	                     .size = {UINT32_C(1) << (k + 2) / 3, UINT32_C(1) << (k + 1) / 3, UINT32_C(1) << k / 3},
	                     .per_host = per_host};
}

static void die(const char *what)
{
	fprintf(stderr, "merge: %s\n", what);
	exit(1);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x7fb5d329728ea185);
	x ^= x >> 27;
	x *= UINT64_C(0x81dadef4bc2dd44d);
	return x ^ x >> 33;
}

struct rank {
	struct trace trace;
	const struct grid *grid;
	uint32_t rank, at[3];
	int64_t null; /* MPI_PROC_NULL */
	uint32_t site_count;
	uint64_t events;
};

static uint32_t string(struct rank *r, const char *text)
{
	return pool_intern(&r->trace.strings, text, strlen(text));
}

/* One turn of a loop has these values; it is made `turns` times. */
static void column(struct rank *r, struct trace_column *c, const int64_t *values, uint32_t n, uint64_t turns,
                   bool reference)
{
	struct trace_group g = {0};
	uint32_t token[MAX_VALUES];
	int64_t dictionary[MAX_VALUES];
	uint32_t known = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (token[i] = 0; token[i] < known && dictionary[token[i]] != values[i];)
			token[i]++;
		if (token[i] == known)
			dictionary[known++] = values[i];
	}
	if (known > 1) {
		struct writer w = {0};
		uint32_t seen = 0;
		writer_uint(&w, turns > 1 ? 2 : 1);
		if (turns > 1) {
			writer_uint(&w, n);
			for (uint32_t i = 0; i < n; i++)
				writer_uint(&w, (token[i] + UINT64_C(1)) << 2);
		}
		writer_uint(&w, n + (turns > 1));
		for (uint32_t i = 0; i < n; i++) {
			writer_uint(&w, token[i] == seen ? 0 : (token[i] + UINT64_C(1)) << 2);
			seen += token[i] == seen;
		}
		if (turns > 1) {
			writer_uint(&w, 2 | (turns > 2));
			if (turns > 2)
				writer_uint(&w, turns - 1);
		}
		g.pattern = pool_intern(&r->trace.patterns, w.data, w.size) + 1;
		writer_free(&w);
	}
	g.dict = calloc(known, sizeof *g.dict);
	for (; g.dict && g.count < known; g.count++) {
		g.dict[g.count].count = 1;
		if (rankmap_single(&g.dict[g.count].start, r->rank, dictionary[g.count], reference) != 0)
			die("no memory");
	}
	if (!g.dict || trace_add_group_take(c, &g) != 0)
		die("no memory");
}

/* Adds values that are all alike. */
static void add_alike(struct rank *r, struct histogram *t, uint64_t count, uint64_t each)
{
	struct histogram one = {
		.count = count,
		.sum = each * count,
		.min = each,
		.max = each,
		.min_rank = r->rank,
		.max_rank = r->rank,
		.squares = (uint128)each * each * count,
		.bins = &(struct histogram_bin){count, each, each, each * count, (uint128)each * each * count},
		.bin_count = 1};
	if (histogram_add(t, &one) != 0)
		die("no memory");
}

static void duration(struct rank *r, struct histogram *t, uint64_t count)
{
	add_alike(r, t, count, 1000 + mix(r->rank * UINT64_C(977) + r->site_count) % 4096);
}

/* A site at a call path of its own, below main. Its columns: values[k][0 .. n), in each of `turns` turns. */
static uint32_t site(struct rank *r, const char *schema, uint64_t line, uint32_t columns, int64_t values[][MAX_VALUES],
                     uint32_t n, uint64_t turns)
{
	struct trace *t = &r->trace;
	uint32_t module = trace_module(
		t, (struct trace_module){string(r, "/home/user/bin/application"), string(r, "\x12\x34\x56\x78")});
	uint32_t node = 0;
	for (uint64_t frame = 0; frame < 4; frame++)
		node = trace_node(t, (struct trace_node){node, module, 0x1000 * (frame + 1) + (frame == 3 ? line : 0)});
	uint32_t number = trace_site(t, trace_function(t, string(r, schema)), node, false);
	if (number == UINT32_MAX)
		die("no memory");
	struct trace_site *s = &t->sites[number];
	if (s->column_count != columns + 1 || rankmap_single(&s->visits, r->rank, (int64_t)(n * turns), false) != 0)
		die("a schema has another number of parameters");
	for (uint32_t k = 0; k < columns; k++)
		column(r, &s->columns[k], values[k], n, turns, false);
	duration(r, &s->communicate, n * turns);
	r->site_count++;
	r->events += n * turns;
	return number;
}

/* Which site follows: inside a loop of n visits of this site, then the next one; at the end of a turn of the main loop
 * `around`. */
static void successor(struct rank *r, uint32_t number, uint32_t n, uint32_t next, uint64_t turns)
{
	int64_t values[MAX_VALUES] = {0};
	for (uint32_t i = 0; i < n; i++)
		values[i] = i + 1 < n ? number : next;
	struct trace_site *s = &r->trace.sites[number];
	column(r, &s->columns[s->column_count - 1], values, n, turns, true);
	for (uint32_t i = 0; i<n; i += n> 1 ? n - 1 : 1) {
		struct trace_edge *e = trace_edge(s, (uint32_t)values[i]);
		if (!e)
			die("no memory");
		duration(r, &e->compute, turns);
	}
	trace_sort_edges(s);
}

static int64_t neighbour(const struct rank *r, int direction, uint32_t distance)
{
	int dimension = direction / 2, sign = direction % 2 ? 1 : -1;
	int64_t stride = dimension == 0   ? 1
	                 : dimension == 1 ? r->grid->size[0]
	                                  : (int64_t)r->grid->size[0] * r->grid->size[1];
	int64_t at = (int64_t)r->at[dimension] + sign * (int64_t)distance;
	return at < 0 || at >= r->grid->size[dimension] ? r->null : sign * (int64_t)distance * stride;
}

static const char irecv[] = "MPI_Irecv count:i datatype:t source:p tag:i comm:c request:r";
static const char isend[] = "MPI_Isend count:i datatype:t dest:p tag:i comm:c request:r";

/* Receives and sends of one exchange: n neighbours, values of count and peer for each. Returns the sites. */
static void exchange(struct rank *r, uint64_t line, const int64_t *peers, const int64_t *counts, uint32_t n,
                     uint64_t turns, uint32_t sites[2])
{
	int64_t values[6][MAX_VALUES] = {{0}};
	int64_t real = VALUE_CONSTANT + string(r, "MPI_DOUBLE"), world = VALUE_CONSTANT + string(r, "MPI_COMM_WORLD");
	for (int send = 0; send < 2; send++) {
		for (uint32_t i = 0; i < n; i++) {
			values[0][i] = counts[i];
			values[1][i] = real;
			values[2][i] = peers[send ? i : n - 1 - i];
			values[3][i] = 17;
			values[4][i] = world;
			values[5][i] = send * n + i;
		}
		sites[send] = site(r, send ? isend : irecv, line + 0x40 * (uint64_t)send, 6, values, n, turns);
	}
}

static void halo(struct rank *r, uint64_t line, uint32_t distance, uint64_t turns, uint32_t sites[2])
{
	int64_t peers[6] = {0}, counts[6] = {0};
	for (int d = 0; d < 6; d++) {
		peers[d] = neighbour(r, d, distance);
		counts[d] = 4096 >> d / 2;
	}
	exchange(r, line, peers, counts, 6, turns, sites);
}

/* One rank in MAX has neighbours, sizes and an order of them that nobody else has. */
static void odd(struct rank *r, uint64_t line, uint64_t turns, uint32_t sites[2], uint32_t n)
{
	int64_t peers[MAX_VALUES] = {0}, counts[MAX_VALUES] = {0};
	for (uint32_t i = 0; i < n; i++) {
		peers[i] = (int64_t)(mix(r->rank * UINT64_C(131) + i) % r->grid->n) - r->rank;
		counts[i] = (int64_t)(mix(r->rank * UINT64_C(733) + i % (n - 2)) % 100000);
	}
	exchange(r, line, peers, counts, n, turns, sites);
}

/* All sites follow each other and the last is followed by the first, but in the last turn. */
static void finish(struct rank *r, const uint32_t *sites, const uint32_t *visits, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		successor(r, sites[i], visits[i], sites[(i + 1) % n], STEPS);
	char host[32];
	snprintf(host, sizeof host, "node%05u", r->grid->per_host ? r->rank / r->grid->per_host : 0);
	struct trace *t = &r->trace;
	t->size = r->grid->n;
	if (rankmap_single(&t->events, r->rank, (int64_t)r->events, false) != 0 ||
	    rankmap_single(&t->first, r->rank, sites[0], true) != 0 || host_set(t, r->rank, host, strlen(host)) != 0)
		die("no memory");
}

static void make_halo(struct rank *r)
{
	uint32_t sites[2], visits[2] = {6, 6};
	halo(r, 0x100, 1, STEPS, sites);
	finish(r, sites, visits, 2);
}

/* Multigrid by recursion and nothing else, so that each level has call paths of its own: on level k the ranks whose
 * coordinates are multiples of 2^k exchange with neighbours that far away. */
static void make_recursive(struct rank *r)
{
	uint32_t sites[64], visits[64], n = 0;
	for (uint32_t level = 0; level < 10; level++) {
		uint32_t step = UINT32_C(1) << level;
		if (step >= r->grid->size[0] || (r->at[0] | r->at[1] | r->at[2]) & (step - 1))
			break;
		halo(r, 0x1000 + 0x100 * level, step, STEPS, &sites[n]);
		visits[n] = visits[n + 1] = 6;
		n += 2;
	}
	finish(r, sites, visits, n);
}

static void make_irregular(struct rank *r)
{
	uint32_t sites[2], visits[2] = {6, 6};
	if (mix(r->rank + UINT64_C(1)) % 20 == 0) {
		uint32_t n = 6 + (uint32_t)(mix(r->rank) % 6);
		odd(r, 0x100, STEPS, sites, n);
		visits[0] = visits[1] = n;
	} else {
		halo(r, 0x100, 1, STEPS, sites);
	}
	finish(r, sites, visits, 2);
}

static void make_worst(struct rank *r)
{
	uint32_t sites[2], n = 6 + (uint32_t)(mix(r->rank) % 6), visits[2] = {n, n};
	odd(r, 0x100, STEPS, sites, n);
	finish(r, sites, visits, 2);
}

/* Values that are all alike, in place of those that are there. */
static void alike(struct rank *r, struct histogram *t, uint64_t count, uint64_t each)
{
	histogram_free(t);
	add_alike(r, t, count, each);
}

static void total(struct rank *r, enum trace_total_kind kind, uint64_t sum)
{
	struct trace_rank_ns own = {r->rank, sum};
	const struct trace_total one = {.count = 1,
	                                .sum = sum,
	                                .min = sum,
	                                .max = sum,
	                                .min_rank = r->rank,
	                                .max_rank = r->rank,
	                                .ranks = &own};
	if (trace_total_add(&r->trace.total[kind], &one) != 0)
		die("no memory");
}

/* All computations of an edge are of one class, which a quarter of the ranks has other than the others. These wait: one
 * in three in another call than the others. */
static void make_classes(struct rank *r)
{
	make_halo(r);
	struct trace *t = &r->trace;
	struct trace_edge *e = &t->sites[0].edges[0];
	const uint64_t most = UINT64_C(400000000), each = r->rank % 4 == 1 ? most : most / 4;
	struct trace_site *s = &t->sites[r->rank % 4 == 2];
	alike(r, &e->compute, e->compute.count, each);
	struct trace_classes *c = classes_make(e);
	if (!c || classes_add_times(c, class_key(each), &e->compute, NULL, counts_same) != 0 ||
	    classes_set_constant(c, r->rank, class_key(each)) != 0 ||
	    rankmap_single(&c->mean, r->rank, (int64_t)each, false) != 0)
		die("no memory");
	if (each < most) {
		uint64_t wait = (most - each) * e->compute.count / s->communicate.count;
		alike(r, &s->communicate, s->communicate.count, wait);
		if (rankmap_single(&s->means.map, r->rank, means_code(wait), false) != 0)
			die("no memory");
	}
	s->least = s->most = s->communicate.sum;
	s->least_rank = s->most_rank = r->rank;
	total(r, TOTAL_COMPUTE, each * e->compute.count);
	total(r, TOTAL_ELAPSED, most * e->compute.count);
}

const struct workload workloads[WORKLOADS] = {{"halo3d", make_halo, 16},
                                              {"classes", make_classes, 16},
                                              {"recursive", make_recursive, 16},
                                              {"irregular", make_irregular, 14},
                                              {"worst", make_worst, 12}};
struct trace *ranks_make(const struct workload *w, const struct grid *grid, uint32_t rank)
{
	struct rank r = {.grid = grid, .rank = rank};
	if (trace_init(&r.trace) != 0)
		die("no memory");
	r.at[0] = rank % grid->size[0];
	r.at[1] = rank / grid->size[0] % grid->size[1];
	r.at[2] = rank / grid->size[0] / grid->size[1];
	r.null = VALUE_CONSTANT + string(&r, "MPI_PROC_NULL");
	w->make(&r);
	struct trace *t = malloc(sizeof *t);
	if (!t)
		die("no memory");
	*t = r.trace;
	return t;
}
