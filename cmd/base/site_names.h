/* SPDX-License-Identifier: BSD-3-Clause
 * site_names - call sites in tables: the innermost frame, and the nearest one in which sites differ
 *
 * Programs call MPI through wrappers, and then all sites of MPI_Waitall have one innermost frame. The name of a site
 * is that frame's function, and the outermost frame by which it is told from another site of the same MPI function:
 * "UPstream::waitRequests < PCG::scalarSolve at PCG.C:161 (libOpenFOAM.so)". It is the innermost frame alone where that
 * is enough. Where sites have that frame in common as well, up to two nearer ones are there, too:
 * "reduce < smoothSolver::solve at S.C:87 < fvMatrix::solve at M.C:12".
 */
#ifndef SPOOR_SITE_NAMES_H
#define SPOOR_SITE_NAMES_H

#include "cmd/base/frames.h"

enum { SITE_NAMES_FRAMES = 3 };

struct site_names {
	const struct trace *trace;
	struct frames *frames;
	/* By site: the nodes of the frames that tell it from others, from the outermost on; 0: none. */
	uint32_t (*differs)[SITE_NAMES_FRAMES];
};

/* Returns 0, or -1 on no memory; it may be freed in both cases. The trace must outlive it. */
int site_names_make(struct site_names *n, const struct trace *t);
void site_names_free(struct site_names *n);
/* Writes the name of a site, cut to size; empty if it has no call path. */
void site_names_text(const struct site_names *n, uint32_t site, char *out, size_t size);
/* The same of a site of a trace file, if it is of this function. Returns 0, or -1: it is not there. */
int site_names_in_file(const char *path, uint32_t site, const char *function, char *out, size_t size);

#endif
