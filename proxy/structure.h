/* SPDX-License-Identifier: BSD-3-Clause
 * structure - what a proxy is made of: the loops of all ranks together, and everything that differs between visits and
 * ranks
 *
 * The loop nest (trace/read/loop_nest.h) has the sites of all ranks, and an own one, site 0, from which each rank
 * begins. In a turn of a loop its children come in their order, each so often as its column says: 0 is a branch not
 * taken, more than 1 a loop. So one program holds for all ranks, and its control flow is one column for each node.
 *
 *     A B B C A B B C A D    A and what follows it is a loop of 3 turns: B 2 2 0, C 1 1 0, D 0 0 1
 */
#ifndef SPOOR_PROXY_STRUCTURE_H
#define SPOOR_PROXY_STRUCTURE_H

#include "proxy/detours.h"
#include "proxy/series.h"
#include "trace/model/trace.h"
#include "trace/read/loop_nest.h"
#include "trace/read/walk.h"

#define COLUMN_NONE UINT32_MAX

/* The values of a column: of each rank, the number of its runs in structure.runs; COLUMN_NONE: it has no visit. */
struct proxy_column {
	uint32_t *of_rank;
	bool numbers; /* not of strings and arrays */
	bool used;    /* a program asks for it */
};

#define BASE_VARIES INT64_MIN

struct proxy_site {
	uint32_t site;          /* of the trace */
	uint32_t first;         /* its columns: one for each of the schema; those that nobody asks for are empty */
	int64_t *base;          /* of each rank: what `p` values are relative to; BASE_VARIES: not always the same */
	bool requests_in_order; /* outstanding.h */
};

struct event_range {
	uint32_t rank;
	uint64_t first, end; /* events */
};

/* What of a trace is taken. */
struct taken_events {
	const uint64_t *ends;               /* of each rank: so many of its events; NULL: all */
	const struct event_range *left_out; /* but these, in order */
	uint32_t left_out_count;
	/* So many turns more of a loop of the nest, as those at its end are; 0: none (lengthen.h). */
	uint64_t turns_more;
	uint32_t loop;
};

struct structure {
	const struct trace *trace;
	uint32_t ranks;
	struct taken_events taken;
	uint32_t left_out; /* of taken.left_out, the next one of a walk */
	struct loop_nest nest;
	struct proxy_site *sites; /* of the nest */
	uint32_t *local;          /* of each site of the trace, its number in the nest; 0: it is not visited */
	struct pool runs, vectors;
	struct proxy_column *columns;
	uint32_t column_count;
	/* Polls that found nothing, as many as come in a row: they are no visits. A program polls where something was
	 * found, until it is. */
	struct event_range *polls; /* in order */
	uint32_t polls_count, polls_capacity;
	struct detours detours;
	struct nest_edge *edges; /* in order */
	uint32_t edge_count;
	uint32_t *times;  /* of each node: the column of how often it comes in a turn of its parent */
	uint32_t *choice; /* of each set in any order: the column of which child it is (from 0); else COLUMN_NONE */
};

/* taken: what it names must outlive the structure. Returns 0, or -1 with error set. The caller frees it in any case. */
int structure_make(struct structure *s, const struct trace *t, const struct taken_events *taken, struct error *error);
/* The same without columns: sites, loops and polls. */
int structure_loops(struct structure *s, const struct trace *t, const struct taken_events *taken, struct error *error);
/* The columns of one that has loops; part of structure_make. */
int structure_columns(struct structure *s, struct error *error);
/* May turns of loops that are alike be left out of a walk: are all events taken? */
bool structure_leaps(const struct structure *s);
/* The next event of a rank that is taken; as walk_next. */
int structure_event(struct structure *s, struct walk *w, uint32_t rank, struct event *e, struct error *error);
void structure_free(struct structure *s);

/* The runs of a column on a rank; NULL: none. */
static inline const struct runs *structure_runs(const struct structure *s, uint32_t column, uint32_t rank)
{
	uint32_t number = s->columns[column].of_rank[rank];
	return number == COLUMN_NONE ? NULL : (const struct runs *)s->runs.items[number].bytes;
}

/* Does a column say the same again each `turns` visits, on all ranks? visits: of each rank at most; NULL: not known. */
bool structure_is_periodic(const struct structure *s, uint32_t column, uint64_t turns, const struct rankmap *visits);

/* Is a node passed at most once by each rank: is its parent's turn the only one? */
bool structure_is_single(const struct structure *s, uint32_t node);

#endif
