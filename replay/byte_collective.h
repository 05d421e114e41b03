/* SPDX-License-Identifier: BSD-3-Clause
 * byte_collective - collective calls of a trace without order whose ranks have different datatypes
 *
 * Counts are drawn so that all ranks have the same ones. With different datatypes these are different sizes. So those
 * who send tell the others how many bytes come, and bytes are moved. It is complete when it returns, whatever the call.
 */
#ifndef SPOOR_BYTE_COLLECTIVE_H
#define SPOOR_BYTE_COLLECTIVE_H

#include "replay/outcome.h"

enum byte_collective { BYTE_BCAST, BYTE_GATHER, BYTE_SCATTER, BYTE_ALLGATHER, BYTE_ALLTOALL };
struct side {
	const void *buf;
	int count;
	const int *counts; /* NULL: all are `count` */
	MPI_Datatype type;
};
int byte_collective(enum byte_collective kind, struct side send, struct side receive, int root, MPI_Comm comm);

#endif
