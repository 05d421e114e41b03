/* SPDX-License-Identifier: BSD-3-Clause
 * cursor - where a rank is in one column of a trace: what walk.c and search.c have in common
 */
#ifndef SPOOR_CURSOR_H
#define SPOOR_CURSOR_H

#include "trace/model/edits.h"
#include "trace/model/value.h"
#include "trace/model/pattern.h"
#include "trace/model/trace.h"

struct column_cursor {
	bool open;
	bool constant;
	bool prefix; /* what comes behind the pattern is not known: VALUE_LOSSY */
	struct pattern_cursor pattern;
	uint32_t token;
	uint64_t left;         /* of the run of token under way */
	struct dict_run *dict; /* of this rank */
	uint32_t count, at;    /* stretches; the one that the next new value is in */
	uint64_t known;        /* new values so far */
	/* A group of edits: its arrays are made one after the other. `at` is the one of edits, `place` in it. */
	bool edited;
	uint64_t place;
	struct edits *edits;
	const struct trace *trace;
	struct pool *own;
};

/* Opens a column for a rank: finds its group, evaluates the dictionary. patterns: of the trace, parsed when first used;
 * own: for arrays of this rank. Returns 0; 1 if the rank has nothing there; -1 on no memory or damage. The caller
 * closes it in any case. */
int column_cursor_open(struct column_cursor *c, const struct trace *t, const struct trace_column *column, uint32_t rank,
                       struct pattern *patterns, struct pool *own);
/* The same, with the first values of a rank whose column has no order. Without this it has VALUE_LOSSY from the start.
 */
int column_cursor_open_prefix(struct column_cursor *c, const struct trace *t, const struct trace_column *column,
                              uint32_t rank, struct pattern *patterns, struct pool *own);
void column_cursor_close(struct column_cursor *c);
/* The next value. Returns 0, or 1 at the end of the column, -1 on no memory or contradiction. Of a group of edits it is
 * an array of this rank. */
int column_cursor_next(struct column_cursor *c, int64_t *value);
/* Of a group of edits: makes the next value, c->edits. Returns as above. The array is only good until the next one. */
int column_cursor_edit(struct column_cursor *c);
/* Leaves n values out, of a cursor that has just been opened: costs what the pattern's size costs. Returns 0, or -1:
 * there are fewer. */
int column_cursor_skip(struct column_cursor *c, uint64_t n);

#endif
