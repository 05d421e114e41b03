/* SPDX-License-Identifier: BSD-3-Clause
 * reason - why a trace is partial, in words
 */
#include "cmd/base/reason.h"

#include <stddef.h>
#include <string.h>

const char *reason_text(const char *reason)
{
	static const struct {
		const char *key, *text;
	} reasons[] = {{"abort", "a rank called MPI_Abort"},
	               {"oom", "memory ran out"},
	               {"node-lost", "a node was lost"},
	               {"time-limit", "it reached its time limit"},
	               {"preempted", "it was preempted"},
	               {"cancelled", "it was cancelled"},
	               {"signal", "it was ended by a signal"},
	               {"exit", "it ended without MPI_Finalize"},
	               {"deadline", "its ranks came to MPI_Finalize too far apart to be merged there"}};

	for (size_t i = 0; reason && i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(reasons[i].key, reason) == 0)
			return reasons[i].text;
	return NULL;
}
