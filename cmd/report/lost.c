/* SPDX-License-Identifier: BSD-3-Clause
 * lost - what a run lost, in three parts that add up
 */
#include "cmd/report/lost.h"

bool lost_find(struct lost *l, const struct report *r)
{
	const struct summary *s = &r->sum;
	uint64_t counted = r->trace->total[TOTAL_COMPUTE].count, run = s->run_ns, most = s->compute_max_ns;
	if (!r->ideal.known || !counted || !run || s->parallel_efficiency < 0)
		return false;
	/* Times that are drawn for each rank may make it longer than it was. */
	uint64_t ideal = r->ideal.run_ns < most ? most : r->ideal.run_ns > run ? run : r->ideal.run_ns;
	l->imbalance = ((double)most - (double)s->compute_ns / (double)counted) / (double)run;
	l->serialisation = (double)(ideal > most ? ideal - most : 0) / (double)run;
	l->transfer = (double)(run > ideal ? run - ideal : 0) / (double)run;
	return true;
}
