/* SPDX-License-Identifier: BSD-3-Clause
 * summary - a job in a few numbers
 */
#include "trace/read/summary.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/away.h"
#include "trace/model/stream.h"
#include "trace/model/unended.h"

/* What is less than this fraction of the computation may come from rounding: sums of edges are, each for itself. */
#define ROUNDED 200
/* Of a histogram, that are looked at. */
#define PLACES 16

uint64_t summary_ranks(const struct trace_site *s)
{
	return rankmap_size_not_zero(&s->visits);
}

double summary_without_wait(const struct trace_site *s)
{
	const double ranks = (double)summary_ranks(s);
	double mean = 0, least = (double)s->least * ranks / (double)s->communicate.count;
	for (int i = 0; i < PLACES; i++)
		mean += histogram_at(&s->communicate, (i + 0.5) / PLACES / ranks) / PLACES;
	return mean < least ? mean : least;
}

double summary_imbalance(const struct trace_site *s, uint64_t *ranks)
{
	*ranks = summary_ranks(s);
	return *ranks && s->communicate.sum ? (double)s->most * (double)*ranks / (double)s->communicate.sum : 0;
}

uint64_t summary_compute(const struct trace *t, uint64_t *unplaced)
{
	const struct trace_total *total = &t->total[TOTAL_COMPUTE];
	uint64_t edges = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			edges += t->sites[i].edges[k].compute.sum;
	*unplaced = total->count && total->sum > edges ? total->sum - edges : 0;
	if (*unplaced < total->sum / ROUNDED)
		*unplaced = 0;
	return total->count ? total->sum : edges;
}

double summary_unplaced_mean(const struct trace *t)
{
	uint64_t unplaced, edges = 0, events = (uint64_t)rankmap_sum(&t->events), firsts = rankmap_size(&t->first);
	summary_compute(t, &unplaced);
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].edge_count; k++)
			edges += t->sites[i].edges[k].compute.count;
	return events > firsts + edges ? (double)unplaced / (double)(events - firsts - edges) : 0;
}

double summary_lost_share(const struct summary *s)
{
	return s->lost ? (double)s->lost / ((double)s->lost + (double)s->events) : 0;
}

/* What a site read or wrote. Of a split pair the bytes are at its begin; the time is that of both. */
static void add_file(struct summary_file *f, const struct trace_site *site, const struct schema *schema,
                     const struct activity *a)
{
	f->calls += activity_kind(schema) == ACTIVITY_DATA ? site->communicate.count : 0;
	f->bytes += a->bytes;
	f->unsized += a->unsized;
	if (schema->mpi->form == FORM_BLOCKING) {
		f->timed_bytes += a->bytes;
		f->ns += site->communicate.sum;
	}
}

/* What a site passed on. */
static void add_activity(struct summary *s, const struct trace_site *site, const struct schema *schema,
                         const struct activity *a)
{
	const struct mpi_function *f = schema->mpi;
	s->messages += a->messages;
	s->bytes += a->message_bytes;
	s->unsized += a->messages ? a->unsized : 0;
	if (f->class == MPI_CLASS_ONE_SIDED && f->moves) {
		s->one_sided += site->communicate.count;
		s->one_sided_bytes += a->bytes;
		s->one_sided_unsized += a->unsized;
	}
	if (f->class == MPI_CLASS_FILE && f->moves)
		add_file(f->moves == MOVES_READ ? &s->read : &s->written, site, schema, a);
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static void add_unended(struct summary *s, const struct trace *t)
{
	for (uint32_t i = 0; i < t->unended_count; i++)
		*(t->unended[i].call ? &s->unended_ns : &s->unended_compute_ns) += t->unended[i].sum;
	/* who waits in one cannot wait for longer than it is in MPI */
	s->mpi_ns = plus(s->mpi_ns, s->unended_ns);
	s->elapsed_ns = plus(s->elapsed_ns, s->unended_ns);
}

/* What is known of the processes besides their calls. */
static void add_process(struct summary *s, const struct trace *t)
{
	int64_t ms;
	for (uint64_t r = 0; rankmap_next(&t->before, &r, &ms) && budget_step(1); r++) {
		const uint64_t ns = (uint64_t)ms * 1000000;
		s->before_ranks++;
		s->before_ns = plus(s->before_ns, ns);
		if (ns > s->before_max_ns) {
			s->before_max_ns = ns;
			s->before_max_rank = (uint32_t)r;
		}
	}
	for (uint32_t i = 0; i < t->away_count; i++)
		s->away_ns = plus(s->away_ns, t->away[i].us * 1000);
	if (s->away_ns > s->compute_ns)
		s->away_ns = s->compute_ns;
}

uint64_t summary_all(uint64_t parts, uint64_t streams, uint64_t wall)
{
	uint64_t all;
	if (__builtin_mul_overflow(streams, wall, &all))
		all = UINT64_MAX;
	return all > parts ? all : parts;
}

void summary_set_wall(struct summary *s, uint64_t wall_ns)
{
	s->parts_ns =
		plus(plus(plus(s->mpi_ns, s->compute_ns), plus(s->init_ns, s->overhead_ns)), s->unended_compute_ns);
	s->all_ns = summary_all(s->parts_ns, s->streams, wall_ns);
	s->wall_ns = wall_ns || !s->streams ? wall_ns : s->parts_ns / s->streams;
}

int summary_make(struct summary *s, const struct trace *t, const struct site_activity *v)
{
	struct site_activity own = {.sites = NULL};
	if (!v && site_activity_make(&own, t) != 0) {
		site_activity_free(&own);
		return -1;
	}
	const struct site_activity *sent = v ? v : &own;
	*s = (struct summary){
		.ranks = (uint32_t)stream_ranks(t, &t->events),
		.events = (uint64_t)rankmap_sum(&t->events),
		.lost = (uint64_t)rankmap_sum(&t->lost),
		.load_balance = -1,
		.communication_efficiency = -1,
		.parallel_efficiency = -1,
	};
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *site = &t->sites[i];
		const struct schema *schema = trace_schema(t, site);
		*(trace_initializes(schema) ? &s->init_ns : &s->mpi_ns) += site->communicate.sum;
		add_activity(s, site, schema, &sent->sites[i]);
	}
	s->compute_ns = summary_compute(t, &s->unplaced_ns);
	memcpy(s->sizes, sent->sizes, sizeof s->sizes);
	site_activity_free(&own);
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED],
				 *overhead = &t->total[TOTAL_OVERHEAD];
	s->streams = rankmap_size(&t->events);
	s->overhead_ns = overhead->sum;
	s->overhead_min_ns = overhead->min;
	s->overhead_min_rank = overhead->min_rank;
	s->overhead_max_ns = overhead->max;
	s->overhead_max_rank = overhead->max_rank;
	s->elapsed_ns = elapsed->count ? elapsed->sum : s->mpi_ns + s->compute_ns;
	add_unended(s, t);
	add_process(s, t);
	s->run_ns = elapsed->max;
	s->compute_min_ns = compute->min;
	s->compute_max_ns = compute->max;
	s->compute_min_rank = compute->min_rank;
	s->compute_max_rank = compute->max_rank;
	if (compute->count && compute->max && elapsed->max) {
		s->load_balance = (double)compute->sum / (double)compute->count / (double)compute->max;
		s->communication_efficiency = (double)compute->max / (double)elapsed->max;
		s->parallel_efficiency = s->load_balance * s->communication_efficiency;
	}
	summary_set_wall(s, 0);
	return 0;
}
