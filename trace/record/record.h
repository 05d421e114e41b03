/* SPDX-License-Identifier: BSD-3-Clause
 * record - what one rank's recorder keeps in its arena: the graph of sites and what the sites refer to
 *
 *     record ── sites ──> site: function, call path, columns, successor column, times, edges
 *            ── functions (schema strings), strings, vectors        pools, referred to by index
 *            ── path nodes ── modules                               a tree of frames, root = node 0 = outermost
 *            ── objects                                             sites that are no events: one visit = one row of a
 *                table
 *
 * The order of events is in the successor columns: that of a site says, for each visit but the last one of all, which
 * site came next.
 *
 * An event is complete when its site's `visits` counts it: until then whatever was put into columns for it stands
 * behind their end. What follows - `at`, then `events` - only says so again: where the visits of all sites are one more
 * than `events`, the process died in between, and the last event is that of the site in flight, if there still is one.
 * Nothing here is ever moved or removed while recording, except that tables grow, and that a brief site
 * (trace/record/brief.h) becomes a struct site.
 */
#ifndef SPOOR_RECORD_H
#define SPOOR_RECORD_H

#include "trace/record/cell.h"
#include "trace/record/flow.h"
#include "trace/record/time_cell.h"

/* A growing array of equal elements. New elements are complete before `count` tells of them. */
struct table {
	ref at;
	uint32_t count;
	uint64_t capacity; /* bytes */
};

struct record_string {
	uint32_t length;
	char bytes[];
};

struct record_vector {
	uint32_t count;
	uint32_t unused;
	int64_t values[];
};

struct record_module {
	uint32_t name, build_id; /* strings; build_id is raw bytes, string 0 (empty) if there is none */
};

/* A frame: `offset` is the return address relative to the module. Module UINT32_MAX: no module, offset is a path_gap.
 * */
struct record_node {
	uint32_t parent, module;
	uint64_t offset;
};

enum path_gap {
	GAP_NO_UNWIND = 1, /* the frames further out are not known: there was no unwind information */
	GAP_TOO_DEEP = 2,  /* the frames further out were left out: more than CALLPATH_MAX */
	GAP_NO_MODULE = 3, /* one frame in code that belongs to no file */
	GAP_CUT = 4,       /* the frames further out were left out: memory was short */
	GAP_SMALL = 5,     /* the same, so that the file is small (merge/path_cut.h) */
	GAP_STACK = 6,     /* the frames further out are not known: they are on no stack that may be read */
};

/* What is kept of a site's calls, or of an edge's computations, if the policy asks for it. */
struct record_detail {
	struct flow flow;            /* record.timing */
	struct record_time counts[]; /* for each of record.counters */
};

struct record_counters {
	uint32_t count, unused;
	struct {
		uint32_t name, reason; /* strings; reason: why it is not counted, or not any more; 0: it is */
	} each[TRACE_COUNTERS];
};

/* Computation between one site and the next: between the end of the one call and the begin of the other. */
struct record_edge {
	/* sites; no edge (offset 0) leads nowhere: what is there then, arena_header.magic, is no site's id */
	uint32_t to, from;
	ref next;   /* edge of the same site */
	ref detail; /* struct record_detail; 0: none */
	/* of class 0, if there are several (record_class.h) */
	struct time_cell compute;
};

struct site {
	uint16_t function; /* index of the function's schema */
	uint16_t columns;  /* without the successor column */
	uint32_t path;     /* index of the innermost frame's node */
	uint32_t id;       /* index in record.sites, or UINT32_MAX for an object table */
	uint32_t cost;     /* of recording a visit, in ticks, as far as it was measured */
	uint64_t visits;
	struct record_edge *last_edge; /* the recorder's: the edge that was used last; none: offset 0 of the arena */
	ref edges;
	ref detail; /* struct record_detail; 0: none */
	union {
		struct {
			uint32_t self; /* id + 1; 0: it is not in record.sites */
			/* The recorder's: what call.unusual begins with (preload/absence.h). */
			uint32_t unusual;
		};
		uint64_t self_unusual; /* both at once */
	};
	uint64_t generation; /* the recorder's: of the handles that its columns remember (cell_remember) */
	struct time_cell communicate;
	struct cell successor;
	struct cell column[];
};

/* Calls of a function that were only counted, and the time in them, in ticks. */
struct record_counted {
	uint32_t function; /* index in record.functions; UINT32_MAX: there was no room for its name */
	uint32_t unused;
	uint64_t count, ticks, min, max;
};

enum record_state { RECORD_CREATED, RECORD_INITIALIZED, RECORD_FINALIZED };
enum record_flags {
	RECORD_FULL = 1,    /* the budget was used up: some calls were only counted */
	RECORD_OBJECTS = 2, /* object tables are not complete */
};

/* Where the rank is: sites' numbers + 1, 0: none. One word, so that both change at once. */
struct record_at {
	_Alignas(8) uint32_t last; /* site of the last complete event */
	/* of the call that was entered and has not returned, or whose event is not complete yet */
	uint32_t in_flight;
};

#define RECORD_PASSED          16 /* parameters that are looked at, by column */
#define RECORD_PASSED_ELEMENTS 64

static inline void record_at_set(struct record_at *at, uint32_t last, uint32_t in_flight)
{
	struct record_at now = {last, in_flight};
	uint64_t word;
	__builtin_memcpy(&word, &now, sizeof word);
	*(volatile uint64_t *)(void *)at = word;
}

/* What the call in flight was passed, of the parameters that say whom it waits for. The rest is written before the
 * stamp, which says what it is of: it is not known where that is another call's. A call that cannot wait writes nothing
 * here. */
struct record_passed {
	uint64_t stamp; /* record_passed_stamp of the call */
	uint32_t mask;  /* columns of the site that are known: those below 32 */
	uint32_t count; /* elements of the array */
	int64_t array;  /* 0: they are in `elements`, at most that many; else where they are, from here on */
	int64_t value[RECORD_PASSED];
	int64_t elements[RECORD_PASSED_ELEMENTS];
};

/* As the column would have it; but named constants are PASSED_CONSTANT + enum mpi_constant: they need no string. */
#define PASSED_CONSTANT (VALUE_NONE + 2)

/* site: record_at.in_flight. A site has no two calls with the same number of events before them. */
static inline uint64_t record_passed_stamp(uint32_t site, uint64_t events)
{
	return (uint64_t)site << 32 | (uint32_t)events;
}

/* Computation in which the rank was off the processor (preload/absence.h). */
#define RECORD_AWAYS 16
struct record_away {
	uint32_t from, to; /* sites' numbers + 1; 0: none */
	uint64_t ns;
};

struct record {
	uint32_t state, flags;
	uint32_t rank, size; /* in MPI_COMM_WORLD */
	uint64_t world;      /* equal for the ranks of one MPI_COMM_WORLD */
	uint64_t events;     /* complete ones */
	uint64_t
		/* calls that are no events: those in `counted`, and those from signal handlers inside the recorder */
		lost;
	struct record_at at;
	uint32_t first;         /* number of the first event's site, + 1 */
	uint32_t thread;        /* of the rank: 0 is the one that initialised MPI; see trace/model/stream.h */
	ref counters;           /* struct record_counters; 0: none */
	uint32_t cpus;          /* string: the CPUs that the kernel allows it, "0-3,8" */
	struct table sites;     /* ref: struct site, or marked, struct brief (trace/record/brief.h) */
	struct table functions; /* uint32_t: string of the schema, "MPI_Send count:i ..." */
	struct table strings;   /* ref; 0 is the empty string */
	struct table vectors;   /* ref */
	struct table modules;   /* struct record_module */
	struct table nodes;     /* struct record_node; 0 is the root */
	struct table objects;   /* ref: sites */
	/* Two readings of both clocks, far apart: ticks * (ns[1] - ns[0]) / (ticks[1] - ticks[0]) */
	uint64_t clock_ticks[2], clock_ns[2];
	int64_t realtime_ns; /* of clock_ns[0], since 1970 */
	ref facts;           /* struct record_string, in no pool: key=value lines of the process; 0 if none */
	uint32_t host;       /* string */
	uint32_t topology;   /* string: what the node has (trace/model/placement.h) */
	uint32_t bins;       /* trace.bins */
	uint32_t unused;
	uint64_t timing;      /* 0, or 1 + the digits of flows (flow.h) */
	uint64_t untimed;     /* the first event that is not in them, because of memory, + 1; 0: none */
	uint64_t first_ticks; /* when the first event began; only with flows */
	uint64_t own_ticks;   /* used by the recorder itself, and left out of all times */
	uint64_t structure;   /* the structure may be lossy */
	uint64_t threshold;   /* tokens of a column; UINT64_MAX: any number */
	uint64_t stage[4];    /* by enum trace_stage: the event at which it came, + 1 */
	struct table counted; /* struct record_counted */
	uint64_t loose_ticks; /* computation before events that no edge leads to */
	/* In ticks: when the call in flight began, or the one inside of it ended; else when the last event did. */
	uint64_t since;
	struct record_passed passed;
	struct record_away away[RECORD_AWAYS]; /* the edges at which it was so for longest */
	uint64_t before_ns, queue_ns;          /* struct trace, before and queued */
	/* Of whoever reads the arena of a killed process: when that ended, in ns since 1970; 0: not known. */
	int64_t ended_ns;
	/* zeroes: what time cells without a histogram refer to (time_cell.h) */
	struct record_time never, poor;
};

/* Appends an element to a table. Returns its index, or UINT32_MAX if there was no room. Commits the arena. */
uint32_t table_add(struct arena *a, struct table *t, const void *element, size_t size);

static inline void *table_at(const struct arena *a, const struct table *t, uint32_t i, size_t size)
{
	return a->base + t->at + (uint64_t)i * size;
}

/* A new record as the root of a new arena: tables are empty but for string 0 and node 0. Returns NULL if there is no
 * room. */
struct record *record_create(struct arena *a);

/* Adds to a pool, without looking whether it is there. Returns the index or UINT32_MAX. */
uint32_t record_add_string(struct arena *a, struct record *r, const void *bytes, size_t n);
uint32_t record_add_vector(struct arena *a, struct record *r, const int64_t *values, size_t n);
/* A site with its columns, not yet in any table. Returns 0 if there is no room. */
ref record_new_site(struct arena *a, uint32_t function, uint32_t path, uint32_t columns);
/* Calls take for each column of the record, in any order, with the values of it that count. What is to give up its
 * order when memory is short is listed here, and only here. */
typedef void record_take(void *context, struct cell *cell, uint64_t values);
void record_each_column(struct arena *a, struct record *r, record_take *take, void *context);
/* Empties the words of all histograms that are full: to be called every TIME_FULL / TIME_ONE events at most. */
void record_times_empty(struct arena *a, struct record *r);
/* What time cells refer to that have no histogram. */
struct time_none record_no_times(const struct arena *a);
/* A new edge, in no list. Returns 0 if there is no room. */
ref record_new_edge(struct arena *a, uint32_t from, uint32_t to);
/* What becomes of each column when it gives up its order (enum column_role), by the n bytes of the schema. */
void record_set_roles(struct site *s, const char *schema, size_t n);

#endif
