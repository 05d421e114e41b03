/* SPDX-License-Identifier: BSD-3-Clause
 * traffic_sums - what is counted of messages over all ranks (traffic.h): numbers of 64 bits alone, so that the turns of
 * a loop are added as they are
 */
#ifndef SPOOR_INSIGHT_TRAFFIC_SUMS_H
#define SPOOR_INSIGHT_TRAFFIC_SUMS_H

#include "trace/read/call_fields.h"

/* Sizes: class 0 is of empty messages, class n of those of 2^(n-1) .. 2^n - 1 bytes. */
#define TRAFFIC_CLASSES 65

struct traffic_sums {
	uint64_t other_messages, other_bytes; /* to ranks that are not known */
	uint64_t other_one_sided, other_one_sided_bytes;
	/* Messages, one-sided calls and accesses to files whose size is not known; their bytes are 0. */
	uint64_t unknown_sizes;
	/* Messages and requests that are left out: a value that they need is not known (lossy). */
	uint64_t unknown;
	struct {
		uint64_t messages, bytes;
	} sizes[TRAFFIC_CLASSES];
	struct {
		uint64_t calls, sent, received; /* bytes as the arguments say, over all ranks */
	} collectives[COLLECTIVES];
	/* Only of a wish for `passed`: MPI_Alltoall of all ranks, which is the same for each pair of two
	 * ranks: over all pairs. Bytes that collectives passed on of which the pairs are not known, or the
	 * library's choice. */
	uint64_t uniform, uniform_bytes, other_passed_bytes;
};

#endif
