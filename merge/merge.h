/* SPDX-License-Identifier: BSD-3-Clause
 * merge - the trace of two sets of ranks: the union of their sites
 *
 * Sites are the same if function and call path are. In each column, groups whose pattern and dictionary shape are equal
 * become one group; dictionary positions become functions of the rank. There is no search and no alignment: cost is
 * linear in what is merged. The result does not depend on the order of merging, once it is in canonical form. See
 * DESIGN section 3.
 */
#ifndef SPOOR_MERGE_H
#define SPOOR_MERGE_H

#include "trace/model/packed.h"
#include "trace/model/trace.h"

/* Adds `from` to `into`; they have no rank in common. Returns 0, or -1 with error set; `into` is then good for
 * trace_free only. */
int merge_into(struct trace *into, const struct trace *from, struct error *error);
/* The same; arrays are moved, so that they are never there twice: `from` is then good for trace_free only. */
int merge_take(struct trace *into, struct trace *from, struct error *error);
/* The same of a trace whose sites come in pieces. */
int merge_take_more(struct trace *into, struct trace *from, packed_more *more, void *context, struct error *error);

/* Puts everything in canonical order: traces of the same ranks and events have the same canonical form, byte for byte,
 * however they were merged. A final one (trace_is_final) is refined (merge/refine.h). Memory: the trace twice. Returns
 * 0, or -1 with error set; the trace is then good for trace_free only. */
int merge_finish(struct trace *t, struct error *error);
/* The same; in a final one, sites of different ranks whose call paths differ in at most so many frames become one
 * (merge/tolerate.h). */
int merge_finish_near(struct trace *t, unsigned frames, struct error *error);

/* The same for a trace that is to stay as it is, as a whole one, into *out (which is not initialised yet, and which the
 * caller frees in any case). */
int merge_canonical(struct trace *out, const struct trace *t, struct error *error);

#endif
