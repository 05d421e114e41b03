/* SPDX-License-Identifier: BSD-3-Clause
 * act_collective - what a collective call sends and receives
 */
#ifndef SPOOR_EXPORT_ACT_COLLECTIVE_H
#define SPOOR_EXPORT_ACT_COLLECTIVE_H

#include "cmd/export/act.h"
#include "trace/read/handles.h"

/* Fills in root and bytes of an operation, of which kind (m->collective) and communicator are known. self: the rank in
 * MPI_COMM_WORLD of the stream that calls. */
void act_collective(struct act *m, const struct comms *comms, struct handles *handles, uint32_t stream, uint32_t self,
                    const struct event *e);

#endif
