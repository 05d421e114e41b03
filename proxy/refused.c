/* SPDX-License-Identifier: BSD-3-Clause
 * refused - why no program can be generated of a trace
 */
#include "proxy/refused.h"

#include <inttypes.h>

#include "proxy/cut.h"
#include "proxy/drawn.h"
#include "proxy/recipe.h"
#include "trace/base/repeated.h"
#include "trace/model/stream.h"

int refused_list(const struct trace *t, bool partial, FILE *out)
{
	int found = 0;
	uint64_t killed = cut_killed(t);
	size_t functions = 0;
	if (stream_threads(t) > 1)
		found++, fputs("  ranks with several threads that call MPI\n", out);
	found += drawn_refused(t, out);
	if (stream_ranks(t, &t->events) < t->size)
		found++, fputs("  ranks that are missing in the trace\n", out);
	else if (killed && !partial)
		found++, fprintf(out,
		                 "  %" PRIu64 " of %" PRIu32
		                 " ranks did not come to MPI_Finalize (--partial writes as far as all ranks came)\n",
		                 killed, t->size);
	if (!rankmap_empty(&t->lost))
		found++, fputs("  events that were not recorded: " TRACE_LOST "\n", out);
	for (uint32_t i = 0; i < t->function_count; i++) {
		const struct schema *s = &t->functions[i].schema;
		bool used = false;
		for (uint32_t k = 0; k < t->site_count && !used; k++)
			used = t->sites[k].function == i;
		if (killed && partial && s->mpi->function == FN_MPI_Abort)
			continue; /* it comes behind what is written */
		if (!used || s->object || (recipe_of(s) && s->at[PARAMETER_ERROR] < 0))
			continue;
		if (repeated_next(&functions))
			fprintf(out, "  %.*s%s%s\n", (int)s->function_length, s->function, recipe_of(s) ? "" : ": ",
			        recipe_of(s) ? ", which returned an error" : recipe_missing(s));
	}
	if (repeated_more(functions))
		fprintf(out, "  and %zu more functions\n", repeated_more(functions));
	return found + (functions > 0);
}
