/* SPDX-License-Identifier: BSD-3-Clause
 * site_names - call sites in tables: the innermost frame, and the nearest one in which sites differ
 *
 * Programs call MPI through wrappers, and then all sites of MPI_Waitall have one innermost frame. The name of a site
 * is that frame's function, and the first frame further out whose path no other site of the same MPI function has:
 * "UPstream::waitRequests < PCG::scalarSolve at PCG.C:161 (libOpenFOAM.so)". It is the innermost frame alone where that
 * is enough.
 */
#ifndef SPOOR_SITE_NAMES_H
#define SPOOR_SITE_NAMES_H

#include "cmd/base/frames.h"

struct site_names {
	const struct trace *trace;
	struct frames *frames;
	uint32_t *differs; /* by site: the node of the frame that tells it from others; 0: it has no path */
};

/* Returns 0, or -1 on no memory; it may be freed in both cases. The trace must outlive it. */
int site_names_make(struct site_names *n, const struct trace *t);
void site_names_free(struct site_names *n);
/* Writes the name of a site, cut to size; empty if it has no call path. */
void site_names_text(const struct site_names *n, uint32_t site, char *out, size_t size);

#endif
