/* SPDX-License-Identifier: BSD-3-Clause
 * summary - a job in a few numbers
 */
#include "trace/read/summary.h"

#include <string.h>

#include "trace/model/stream.h"

double summary_imbalance(const struct trace_site *s, uint64_t *ranks)
{
	*ranks = rankmap_size(&s->visits);
	return *ranks && s->communicate.sum ? (double)s->most * (double)*ranks / (double)s->communicate.sum : 0;
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
		if (!trace_initializes(schema))
			s->mpi_ns += site->communicate.sum;
		for (uint32_t k = 0; k < site->edge_count; k++)
			s->compute_ns += site->edges[k].compute.sum;
		s->messages += sent->sites[i].messages;
		s->bytes += sent->sites[i].message_bytes;
		s->unsized += sent->sites[i].messages ? sent->sites[i].unsized : 0;
	}
	memcpy(s->sizes, sent->sizes, sizeof s->sizes);
	site_activity_free(&own);
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE], *elapsed = &t->total[TOTAL_ELAPSED],
				 *overhead = &t->total[TOTAL_OVERHEAD];
	s->overhead_ns = overhead->sum;
	s->overhead_min_ns = overhead->min;
	s->overhead_min_rank = overhead->min_rank;
	s->overhead_max_ns = overhead->max;
	s->overhead_max_rank = overhead->max_rank;
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
	return 0;
}
