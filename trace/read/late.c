/* SPDX-License-Identifier: BSD-3-Clause
 * late - the rank that the others wait for
 */
#include "trace/read/late.h"

#include "trace/model/stream.h"
#include "trace/read/summary.h"
#include "trace/read/wait_site.h"

#define LATE  0.5  /* of the time in the call that the others wait */
#define WORTH 0.01 /* of the trace's time */
#define MORE  1.1  /* the longest computation / the mean */

bool late_at_site(const struct trace *t, const struct trace_site *s, uint32_t *rank)
{
	uint64_t ranks;
	double mean = (double)s->communicate.sum;
	if (summary_imbalance(s, &ranks) <= 0 || ranks < 2 || trace_schema(t, s)->mpi->waits != WAITS_FOR_ALL)
		return false;
	mean /= (double)ranks;
	*rank = s->least_rank;
	return (mean - (double)s->least) > LATE * mean;
}

bool late_in_trace(const struct trace *t, const struct site_activity *activity, uint32_t *rank)
{
	const struct trace_total *compute = &t->total[TOTAL_COMPUTE];
	uint64_t most = (uint64_t)(WORTH * (double)t->total[TOTAL_ELAPSED].sum);
	bool found = false;
	for (uint32_t i = 0; i < t->site_count; i++) {
		enum wait_kind kind;
		uint32_t late;
		if (trace_initializes(trace_schema(t, &t->sites[i])) || !late_at_site(t, &t->sites[i], &late))
			continue;
		uint64_t wait = wait_site(t, &t->sites[i], &activity->sites[i], &kind);
		if (wait > most) {
			most = wait;
			*rank = stream_rank(t, late);
			found = true;
		}
	}
	if (found || compute->count < 2 || (double)compute->max * (double)compute->count < MORE * (double)compute->sum)
		return found;
	*rank = stream_rank(t, compute->max_rank);
	return true;
}
