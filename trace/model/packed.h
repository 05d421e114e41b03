/* SPDX-License-Identifier: BSD-3-Clause
 * packed - a trace whose sites are bytes but for the one that is being worked at
 *
 * A site in memory takes 2 to 3 KB, most of it pointers; as bytes, 100 to 200. Programs with thousands of sites are
 * merged while the job still has its memory, so traces that are merged are packed (trace.packing). Whoever goes through
 * sites says so:
 *
 *     look .. leave    to read one, or only its columns or its times
 *     open .. close    to change one, or only its times
 *
 * With a trace that is not packed, these only give and take pointers. The bytes mean nothing outside of the job.
 * Tables of objects are never packed.
 */
#ifndef SPOOR_PACKED_H
#define SPOOR_PACKED_H

#include "trace/model/trace.h"

/* A site of a packed trace. */
struct trace_packed {
	uint32_t function, node;
	uint8_t *bytes; /* NULL: a site without anything */
	uint32_t times; /* where they begin in the bytes: behind visits and columns */
	uint32_t size : 29;
	uint32_t traits : 3; /* enum packed_trait */
};

/* The function and the call path of site i. */
void packed_key(const struct trace *t, uint32_t i, uint32_t *function, uint32_t *node);
/* Its visits by rank; valid until a site is added. `room` is where they may be made: the caller gives it to
 * rankmap_free. NULL: no memory. */
const struct rankmap *packed_visits(const struct trace *t, uint32_t i, struct rankmap *room);

/* What few sites have, so that the others need not be looked at. */
enum packed_trait {
	PACKED_SPLIT = 1,     /* a column of several groups */
	PACKED_UNORDERED = 2, /* a column that has given up the order of its values */
	PACKED_CLASSES = 4,   /* an edge with classes, or means of ranks */
};
/* Has site i one of these? */
bool packed_has(const struct trace *t, uint32_t i, unsigned traits);
/* Which of them a column makes. */
unsigned packed_column_traits(const struct trace_column *c);

/* Gives it another call path: where there is a site of that function and path already, there are two then. */
static inline void packed_set_node(struct trace *t, uint32_t i, uint32_t node)
{
	*(t->packing ? &t->packed[i].node : &t->sites[i].node) = node;
}

/* Site i, to read. `room` is where it is made, and is passed to packed_leave, also if there are more than one at a
 * time. NULL: no memory; then there is nothing to leave. */
const struct trace_site *packed_look(const struct trace *t, uint32_t i, struct trace_site *room);
/* The same for somebody who asks for its visits and columns alone, or for its visits and what is measured: times,
 * edges, counts. The rest need not be there. */
const struct trace_site *packed_look_columns(const struct trace *t, uint32_t i, struct trace_site *room);
const struct trace_site *packed_look_times(const struct trace *t, uint32_t i, struct trace_site *room);
void packed_leave(const struct trace *t, struct trace_site *room);

/* Site i, to change. NULL: no memory; then there is nothing to close. packed_close packs it again; it is to be called
 * whatever has failed before. Returns 0, or -1: no memory; the trace is then good for trace_free only. */
struct trace_site *packed_open(struct trace *t, uint32_t i, struct trace_site *room);
int packed_close(struct trace *t, uint32_t i, struct trace_site *s);
/* The same for somebody who only changes what is measured. */
struct trace_site *packed_open_times(struct trace *t, uint32_t i, struct trace_site *room);
int packed_close_times(struct trace *t, uint32_t i, struct trace_site *s);
/* What packed_look_times has made of a site of a packed trace becomes the site, with these visits and columns
 * (trace/model/packed_column.h), which make these traits. */
int packed_close_columns(struct trace *t, uint32_t i, struct trace_site *s, const struct writer *columns,
                         unsigned traits);

/* Changes all sites that have one of these traits, or all if that is 0. `change` returns how much it has changed, or
 * -1: no memory. Returns the sum, or -1. */
int packed_change(struct trace *t, unsigned traits, int (*change)(struct trace *t, struct trace_site *s));

/* For another process of the same job: what is known of all sites but their bytes. Strings, nodes and functions go
 * another way, and are there when it is read, into a trace that has no sites. Returns 0, or -1 (no memory, or another
 * release of spoor). */
void packed_put(struct writer *w, const struct trace *t);
int packed_get(struct reader *r, struct trace *t);
/* Their bytes go in pieces of PACKED_PIECE bytes at most, or of one site. Returns the site behind the last one of the
 * piece that begins with this one. *size: its bytes. Both processes get the same. */
#define PACKED_PIECE (UINT32_C(1) << 19)
uint32_t packed_piece(const struct trace *t, uint32_t first, size_t *size);
/* The bytes of these sites are copied `to` there; the sites are dropped. */
void packed_piece_take(struct trace *t, uint32_t first, uint32_t end, uint8_t *to);
/* What that has written is theirs in a trace that packed_get has made, and must be there until they are dropped. */
void packed_piece_lend(struct trace *t, uint32_t first, uint32_t end, const uint8_t *bytes);
/* Called before site i is used, for each in turn. Returns 0 when its bytes are there, or -1. */
typedef int packed_more(void *context, struct trace *t, uint32_t i);

/* Nobody needs site i any more. The trace is then good for trace_free only. */
void packed_drop(struct trace *t, uint32_t i);

#endif
