/* SPDX-License-Identifier: BSD-3-Clause
 * diff_sites - the call sites of two traces side by side
 */
#include "cmd/base/diff_sites.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/base/frames.h"
#include "trace/model/stream.h"
#include "trace/read/activity.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"

/* A time differs if it is so much more or less a rank, and the difference so much of all the time of a rank: two runs
 * of one program never take equally long. */
#define TIME_DIFFERS 0.1
#define TIME_MATTERS 0.01

/* --- what is known of each site --- */

int diff_sites_make(struct diff_input *in, bool bytes, struct error *error)
{
	const struct trace *t = &in->trace;
	in->ranks = stream_ranks(t, &t->events);
	in->ranks += in->ranks == 0;
	in->sites = calloc((size_t)t->site_count + 1, sizeof *in->sites);
	in->names = frames_create(t);
	if (!in->sites || !in->names)
		return error_set(error, "no memory");
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		struct diff_side *side = &in->sites[i];
		if (diff_make_keys(in, i) != 0)
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
	struct site_activity activity = {.sites = NULL};
	int rv = !bytes ? 0 : site_activity_make(&activity, t);
	for (uint32_t i = 0; activity.sites && i < t->site_count; i++) {
		enum wait_kind kind;
		in->sites[i].bytes = activity.sites[i].bytes;
		in->sites[i].wait = wait_site(t, &t->sites[i], &activity.sites[i], &kind);
	}
	site_activity_free(&activity);
	return rv == 0 ? 0 : error_set(error, "no memory");
}

void diff_sites_free(struct diff_input *in)
{
	for (uint32_t i = 0; in->sites && i < in->trace.site_count; i++)
		for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
			free(in->sites[i].keys[m]);
	free(in->sites);
	frames_destroy(in->names);
}

/* --- what differs --- */

int diff_sites_match(struct diff_input *a, struct diff_input *b, struct error *error)
{
	for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
		if (diff_match_by(a, b, (enum match)m) != 0)
			return error_set(error, "no memory");
	return 0;
}

bool diff_row_differs(const struct diff_row *r)
{
	return !r->a || !r->b || r->a->calls != r->b->calls || r->a->bytes != r->b->bytes ||
	       r->a->ranks != r->b->ranks || r->flow;
}

/* Do other sites follow on this one in b than in a? */
static bool flow_differs(const struct diff_input *a, const struct diff_input *b, uint32_t site)
{
	const struct trace_site *x = &a->trace.sites[site], *y = &b->trace.sites[a->sites[site].other];

	if (x->edge_count != y->edge_count)
		return true;
	for (uint32_t i = 0; i < x->edge_count; i++) {
		const struct diff_side *to = &a->sites[x->edges[i].to];
		uint32_t k = 0;
		while (k < y->edge_count && (to->match == MATCH_NONE || y->edges[k].to != to->other))
			k++;
		if (k == y->edge_count)
			return true;
	}
	return false;
}

double diff_per_rank(const struct diff_input *in, uint64_t sum)
{
	return (double)sum / (double)in->ranks;
}

static double time_difference(const struct diff_input *a, const struct diff_input *b, uint64_t x, uint64_t y)
{
	return fabs(diff_per_rank(b, y) - diff_per_rank(a, x));
}

static bool times_differ(const struct diff_input *a, const struct diff_input *b, uint64_t x, uint64_t y)
{
	double d = time_difference(a, b, x, y);
	return d >= TIME_DIFFERS * diff_per_rank(a, x) && d > TIME_MATTERS * diff_per_rank(a, a->time + a->compute);
}

static int by_weight(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int first = diff_row_differs(x) || x->times, second = diff_row_differs(y) || y->times;

	if (first != second)
		return second - first;
	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->site < y->site ? -1 : x->site > y->site;
}

struct diff_row *diff_rows(const struct diff_input *a, const struct diff_input *b, size_t *n)
{
	static const struct diff_side none;
	struct diff_row *rows = calloc((size_t)a->trace.site_count + b->trace.site_count + 1, sizeof *rows);

	*n = 0;
	for (uint32_t i = 0; rows && i < a->trace.site_count; i++) {
		struct diff_row *r = &rows[(*n)++];

		*r = (struct diff_row){.a = &a->sites[i], .site = i};
		r->b = a->sites[i].match ? &b->sites[a->sites[i].other] : NULL;
		r->flow = r->b && flow_differs(a, b, i);
	}
	for (uint32_t i = 0; rows && i < b->trace.site_count; i++)
		if (!b->sites[i].match)
			rows[(*n)++] = (struct diff_row){.b = &b->sites[i], .site = i};
	for (size_t i = 0; rows && i < *n; i++) {
		const struct diff_side *x = rows[i].a ? rows[i].a : &none, *y = rows[i].b ? rows[i].b : &none;

		rows[i].times = x != &none && y != &none &&
		                (times_differ(a, b, x->time, y->time) || times_differ(a, b, x->compute, y->compute));
		rows[i].weight =
			time_difference(a, b, x->time, y->time) + time_difference(a, b, x->compute, y->compute);
	}
	if (rows && *n)
		qsort(rows, *n, sizeof *rows, by_weight);
	return rows;
}
