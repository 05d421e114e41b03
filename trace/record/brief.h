/* SPDX-License-Identifier: BSD-3-Clause
 * brief - a site of one or two visits, in few words
 *
 * Most sites of a large program are visited once or twice. Such a site has no columns and no edges: it has the values
 * of each visit, what came next, and the times. It becomes a struct site before its third visit.
 *
 *     MPI_Send count=8 dest=1, then MPI_Recv; again, then MPI_Bcast, which is the last event of all
 *
 *         visits 2   values 40 40   next 7 -   call 311 290   compute 15 -
 *
 * `values` are numbers of strings: the values of a visit's columns, in the stored form (trace/model/value.h), one
 * behind the other. Sites with the same arguments share them.
 *
 * What is said of a visit is written before `visits` counts it; `next` and `compute` before the next event counts.
 */
#ifndef SPOOR_BRIEF_H
#define SPOOR_BRIEF_H

#include "trace/model/schema.h"
#include "trace/record/record.h"

#define BRIEF_VISITS 2

struct brief {
	uint16_t function;
	uint16_t visits;
	uint32_t path;
	uint32_t values[BRIEF_VISITS];  /* strings */
	uint32_t next[BRIEF_VISITS];    /* sites; of the last event of all it means nothing, nor does `compute` */
	uint32_t call[BRIEF_VISITS];    /* ticks */
	uint64_t compute[BRIEF_VISITS]; /* visit of the next site << 40 | ticks: of the edge */
};

#define BRIEF_TICKS_BITS 40
#define BRIEF_TICKS_MOST ((UINT64_C(1) << BRIEF_TICKS_BITS) - 1)

/* What record.sites has of a brief site: its reference, and this bit. */
#define BRIEF_MARK 1u

/* The site with this number, which must exist; NULL: it is not brief, or it is. */
static inline struct brief *brief_at(const struct arena *a, const struct record *r, uint32_t i)
{
	ref at = *(const ref *)table_at(a, &r->sites, i, sizeof(ref));
	return at & BRIEF_MARK ? arena_at(a, struct brief, at - BRIEF_MARK) : NULL;
}

static inline struct site *brief_not(const struct arena *a, const struct record *r, uint32_t i)
{
	ref at = *(const ref *)table_at(a, &r->sites, i, sizeof(ref));
	return at & BRIEF_MARK ? NULL : arena_at(a, struct site, at);
}

/* Writes the stored form of what n cells expect (n at most SCHEMA_MAX). Returns its length. */
#define BRIEF_BYTES (SCHEMA_MAX * 20)
size_t brief_write(const struct cell *cells, size_t n, uint8_t out[BRIEF_BYTES]);
/* The values of a stored form. Returns how many there are; SIZE_MAX: damaged. */
size_t brief_read(const struct record_string *s, int64_t values[SCHEMA_MAX]);

#endif
