/* SPDX-License-Identifier: BSD-3-Clause
 * salvage - makes a trace of the arenas that ranks left behind: they were killed, or did not find each other at MPI_Finalize
 */
#ifndef SPOOR_SALVAGE_H
#define SPOOR_SALVAGE_H

#include "trace/error.h"

/* Looks at all arenas (`*.arena`) in a folder in which nothing records any more. Those of one MPI_COMM_WORLD become one file `world-<hex>.spoor` in the
 * same folder, in the form in which the tracer leaves it, with the fact `partial=1` (and `ranks_missing=N`); then they are removed. An arena of a
 * process that never initialised MPI, or whose rank is in the world's file already, is removed. One that cannot be read stays, and is
 * told of in error (the first one).
 * Returns the number of traces made, or -1 if the folder cannot be read or nothing could be made of some arena. */
int salvage_folder(const char *folder, struct error *error);

#endif
