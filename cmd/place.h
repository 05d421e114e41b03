/* SPDX-License-Identifier: BSD-3-Clause
 * place - `spoor place`: what it has found, and the files that bring it about
 */
#ifndef SPOOR_PLACE_H
#define SPOOR_PLACE_H

#include <jansson.h>

#include "cmd/what_if_platform.h"
#include "insight/placed_time.h"
#include "insight/placing.h"
#include "trace/read/seats.h"

struct place_job {
	const char *name; /* of the trace */
	const struct trace *trace;
	struct traffic traffic;
	struct peers peers;
	struct seats seats;
	struct machine machine;
	bool current;          /* the machine is that of the run */
	struct machine ran_on; /* nodes 0: it is not known where it ran */
	struct arrangement ran;
	struct arrangement_cost ran_cost;
	bool ran_sockets;  /* are those of ran_cost known? */
	uint32_t *host_of; /* of current: a rank of each node */
	enum placing_by by;
	struct placing placing;
	const char *platform; /* a file; NULL: none is described */
	char platform_name[PLATFORM_NAME];
	struct network network;
	struct placed_time time; /* against place_before */
	const char *folder;      /* where the files are written; NULL: nowhere */
};

enum place_verdict { PLACE_GAIN, PLACE_NO_GAIN_FOUND, PLACE_NO_GAIN_POSSIBLE };
/* Against how it ran, on the machine of the run; else against what srun does by itself. */
const struct arrangement_cost *place_before(const struct place_job *p);
/* That placement. */
const struct arrangement *place_before_arrangement(const struct place_job *p);
/* Calls of MPI_Neighbor_*: whom they reach is not known here. */
uint64_t place_neighbors(const struct place_job *p);
/* Is all counted that was sent, but for collectives in which the MPI library chooses the way? */
bool place_is_whole(const struct place_job *p);
/* Is it proved that no placement has less between nodes than what was found? */
bool place_is_best(const struct place_job *p);
enum place_verdict place_judge(const struct place_job *p);

void place_print(const struct place_job *p);
/* New; NULL on no memory. */
json_t *place_json(const struct place_job *p);

/* Writes the folder `out`, which must not exist. Returns 0, or -1 after a message. */
int place_write(const struct place_job *p, const char *out);

#endif
