/* SPDX-License-Identifier: BSD-3-Clause
 * trace - the trace of a set of ranks, in memory: what arenas become, what is merged, sent, stored and read
 *
 *     pools    strings, vectors, patterns, modules, nodes (frames of call paths, a tree), functions: each thing once,
 *              by number
 *     sites    (function, call path): per column, groups of ranks whose pattern is equal; the dictionary of a group is
 *              a list of stretches whose begin and stride are functions of the rank (rankmap)
 *     objects  tables that are no events: one row = one visit
 *     ranks    per rank: number of events, first site, host, flags
 *
 * Numbers of things mean nothing outside one trace; a merge translates them (merge/merge.h).
 */
#ifndef SPOOR_TRACE_H
#define SPOOR_TRACE_H

#include "trace/base/error.h"
#include "trace/base/index.h"
#include "trace/model/rankmap.h"
#include "trace/model/schema.h"
#include "trace/model/tally.h"
#include "trace/model/histogram.h"
#include "trace/model/value.h"

/* Strings, vectors (as bytes of int64_t) and patterns. Number 0 of the strings is the empty string. */
struct pool {
	struct pool_item {
		uint8_t *bytes; /* malloc'ed, with a NUL behind */
		size_t size;
	} * items;
	uint32_t count, capacity;
	struct index index;
};

struct trace_module {
	uint32_t name,
		/* strings; build_id is raw bytes, 0 if there is none. A module is what its build id says, else its
		 * name. */
		build_id;
};

struct trace_node {
	uint32_t parent, module; /* node; module, or UINT32_MAX: offset is an enum path_gap (record.h) */
	uint64_t offset;
};

struct trace_stretch {
	uint64_t count;               /* values; if more than 1 then at least DICT_STRETCH */
	struct rankmap start, stride; /* stride is empty if count is 1 */
	/* An array value as one map for each element, so that its ranks need not have the same array; `start` says
	 * which ranks (all 0). */
	bool vector;
	uint32_t width; /* elements */
	struct rankmap *elements;
};

/* Array values are kept like that in groups that are no larger than this (it depends on nothing but the shape of the
 * group, so that any order of merging comes to the same). Others are numbers in the pool of vectors. */
#define FAMILY_VALUES 64   /* stretches of the group */
#define FAMILY_WIDTH  256  /* elements of one */
#define FAMILY_ALL    1024 /* elements of all */

/* Why a column gave up the order of its values. */
enum trace_why {
	WHY_THRESHOLD = 1, /* more tokens than the mode allows (lossy:N) */
	WHY_MEMORY = 2,    /* the rank's memory budget was nearly used up */
	WHY_RANKS = 4,     /* more tokens than the mode allows, over all ranks together */
	WHY_ALL = 7,
};

/* A successor that was followed in runs: it came runs.count times after something else, and tally_sum(runs) times in
 * all. */
struct trace_next {
	uint32_t to;
	struct tally runs;
};

struct trace_column {
	struct trace_group *groups;
	uint32_t count;
};

/* What is known of a column that has no order. */
struct trace_lossy {
	uint32_t why;            /* enum trace_why, or'ed over the ranks */
	uint64_t since;          /* the first event (number in its rank) at which this happened to one of them */
	struct tally values;     /* of a vector column: lengths, and constants that stand for a whole vector */
	struct tally elements;   /* of a vector column */
	struct trace_next *next; /* of the successor column; in order of `to`, each once */
	uint32_t next_count, next_capacity;
	/* The first values of some of the ranks, in order, which are counted in the above as well. Each of its groups
	 * has a pattern, which says how many there are. */
	struct trace_column prefix;
};

struct trace_group {
	uint32_t pattern; /* in the pool + 1; 0: constant, one value in the dictionary */
	uint32_t count;   /* stretches, at least 1; the ranks of the group are those of the first one's start */
	struct trace_stretch *dict;
	/* Of a column of arrays: the dictionary has, in order, arrays of edits (trace/model/edits.h), which make the
	 * column's one after the other. There is no pattern. */
	bool edits;
	struct trace_lossy *
		/* NULL: the values are known in order. Else the pattern is 0 and the one value of the dictionary is
		 * VALUE_LOSSY */
		lossy;
};

/* The computations of an edge, sorted by how long they take (trace/model/classes.h). */
struct trace_classes {
	struct trace_class {
		uint32_t key;
		struct histogram compute;
		struct histogram *counts; /* trace/model/counts.h; NULL: none */
	} * each;                         /* by key */
	uint32_t count;
	bool finished;              /* all ranks are in it, and keys and means are what a file has */
	struct trace_column column; /* the key of each visit of the edge */
	/* Of ranks that are in the column: ns; if finished, how much more it is than expected, in 1/CLASS_PARTS of
	 * that */
	struct rankmap mean;
};

/* What each rank spent (trace/model/means.h). */
struct trace_means {
	struct rankmap map;
	unsigned step; /* of what is finished: all ranks are in it, and it is what a file has */
	bool finished;
};

struct trace_edge {
	uint32_t to;
	struct histogram compute;
	struct trace_classes *classes; /* NULL: they are not sorted */
	struct histogram *counts;      /* trace/model/counts.h; NULL: none */
};

struct trace_site {
	uint32_t function, node;
	struct rankmap visits;
	struct trace_column *columns; /* the schema's, and behind them the successor (not in object tables) */
	uint32_t column_count;
	struct histogram communicate;
	/* The sums of communicate of single ranks: the least and the most, and a rank that has it (the lowest one). A
	 * rank that spends little time in a call that synchronizes is one that the others wait for. */
	uint64_t least, most;
	uint32_t least_rank, most_rank;
	struct trace_means means; /* of the calls; of ranks to which they matter */
	struct trace_edge *edges; /* by `to`, each once */
	uint32_t edge_count, edge_capacity;
	struct index edge_index;
	struct histogram *counts; /* of the calls */
};

struct trace_function {
	uint32_t string;
	struct schema schema;
};

/* Sums of single ranks, in ns: of the compute times; of all times but that of MPI_Init; what the tracer itself used,
 * which is in neither of them. */
enum trace_total_kind { TOTAL_COMPUTE, TOTAL_ELAPSED, TOTAL_OVERHEAD, TRACE_TOTALS };

/* With more ranks than this, those of single ranks are a map: a trace must not grow with the ranks. */
#define TOTALS_MAX 64

struct trace_total {
	uint64_t count, sum, min, max; /* over `count` ranks; 0: not known (version 1.0) */
	uint32_t min_rank, max_rank;   /* the lowest that has it */
	struct trace_rank_ns {
		uint32_t rank;
		uint64_t ns;
		/* malloc'ed, count of them, by rank; NULL if there are too many. In a file of a complete trace rounded
		 * to a fraction of max - min */
	} * ranks;
	struct trace_means means; /* if there are too many */
	/* What a rank has by the map is moved by so much of its distance from this (trace_total_share). */
	double share;
	uint64_t share_to;
};

/* Why events may be lost, for messages. */
#define TRACE_LOST "memory was used up, or threads or signal handlers called inside of other calls"

/* What was given up when a rank's memory was nearly used up, in this order. */
enum trace_stage { STAGE_COLUMNS, STAGE_PATHS, STAGE_COUNTING, TRACE_STAGES };

struct trace_counter {
	uint32_t name, reason;   /* strings; why ranks did not count it, or stopped; 0: all did */
	uint64_t ranks, missing; /* how many counted it; how many did not, or stopped */
};

#define SLIM_STEPS 5

struct trace_loss {
	bool lossy, structure; /* the mode was lossy:threshold; may the order of calls and handles be given up, too? */
	uint64_t threshold;
	unsigned slim; /* steps that made the file smaller (merge/slim.h) */
	struct {
		uint64_t ranks; /* to how many it happened */
		uint64_t since; /* the first event (number in its rank) at which it did */
	} stage[TRACE_STAGES];
};

struct trace {
	struct pool strings, vector_pool, patterns; /* vectors of an event: event_vector (walk.h) */
	struct trace_module *modules;
	struct trace_node *nodes; /* 0 is the root */
	struct trace_function *functions;
	struct trace_site *sites, *objects;
	uint32_t module_count, node_count, function_count, site_count, object_count;
	uint32_t module_capacity, node_capacity, function_capacity, site_capacity, object_capacity;
	struct index module_index, node_index, function_index, site_index, object_index;
	uint32_t size; /* of MPI_COMM_WORLD */
	/* By rank: number of events; first site; host (string). Of some ranks: events that were not kept
	 * (TRACE_LOST); the site of a call that the rank was in when it ended (only if it was killed). */
	struct rankmap events, first, host, lost, in_flight;
	/* Of hosts whose name has a number: that number; `host` is then the name with a `#` for each of its digits
	 * (trace/model/host.h). */
	struct rankmap host_number;
	/* Where a rank sat, if it is known (trace/model/placement.h): its CPUs as a list relative to the first of them,
	 * and that; what its node has (strings). */
	struct rankmap cpus, first_cpu, topology;
	/* In ms, of ranks that it matters to: from the start of the process to MPI_Init; for how long the process was
	 * ready to run, but had no core, in the run and the calls of MPI together. */
	struct rankmap before, queued;
	struct trace_away *away; /* trace/model/away.h: off the processor between calls */
	uint32_t away_count;
	struct trace_total total[TRACE_TOTALS]; /* by enum trace_total_kind */
	uint32_t bins; /* k: bins of histograms in the file of a complete trace; 0: HISTOGRAM_BINS */
	struct trace_loss loss;
	struct trace_counter counters[TRACE_COUNTERS];
	uint32_t counter_count;
	struct trace_timing *timing; /* trace/model/timing.h: times of each event; by rank */
	uint32_t timing_count;
	struct trace_unended *unended; /* trace/model/unended.h: what killed ranks did not end */
	uint32_t unended_count;
	/* The sites are in `packed`, as bytes, and not in `sites` (trace/model/packed.h). Set before there are any. */
	bool packing;
	/* It was decoded to be merged into another: nodes and sites are in no index, and nothing can be added. */
	bool message, borrowed; /* borrowed: the sites' bytes come with the message, and are somebody else's */
	struct trace_packed *packed;
	struct writer packing_room;
};

/* An empty trace: string 0 and node 0. Returns 0 or -1. */
int trace_init(struct trace *t);
void trace_free(struct trace *t);
/* Nothing is added to it any more: gives back the memory in which things are found, but for vectors. */
void trace_unindex(struct trace *t);
/* Nobody asks for frames any more. The trace is then good for trace_free, and for what knows them by number. */
void trace_forget_nodes(struct trace *t);
/* What is in a site; it is empty then. */
void trace_site_free(struct trace_site *s);

/* Each returns the number of the thing, which is added if it is not there, or UINT32_MAX on no memory. */
uint32_t pool_intern(struct pool *p, const void *bytes, size_t n);
uint32_t pool_find(const struct pool *p, const void *bytes, size_t n); /* UINT32_MAX if it is not there */
/* Adds what is not there yet: bytes are malloc'ed, with a NUL behind, and the pool's from then on. UINT32_MAX on no
 * memory (they are the caller's then). */
uint32_t pool_adopt(struct pool *p, uint8_t *bytes, size_t n);
void pool_free(struct pool *p);
uint32_t trace_module(struct trace *t, struct trace_module m);
uint32_t trace_node(struct trace *t, struct trace_node n);
uint32_t trace_function(struct trace *t, uint32_t string); /* UINT32_MAX also if the string is no schema */
/* A new site has columns without groups. object: in the object tables. */
uint32_t trace_site(struct trace *t, uint32_t function, uint32_t node, bool object);
/* Adds a group (which the trace owns then, also on failure). Returns 0 or -1. */
int trace_add_group_take(struct trace_column *c, struct trace_group *g);
/* The same, or its ranks are added to those of a group from `first` on that has the same pattern and a dictionary that
 * is alike. */
int trace_join_group(struct trace_column *c, uint32_t first, struct trace_group *g);
void trace_group_free(struct trace_group *g);
/* All groups; the column is empty then. */
void trace_column_free(struct trace_column *c);
/* May the two be one? Then trace_stretch_join adds the ranks of `from`, which are others, to `to`. Returns 0 or -1. */
bool trace_stretch_alike(const struct trace_stretch *a, const struct trace_stretch *b);
int trace_stretch_join(struct trace_stretch *to, const struct trace_stretch *from);
/* Room for the elements of arrays, if `like` has such, none of which is there yet. Returns 0 or -1. */
int trace_stretch_room(struct trace_stretch *to, const struct trace_stretch *like);
bool trace_stretch_equal(const struct trace_stretch *a, const struct trace_stretch *b);
/* take(context, values, n) for each array that a rank has in a group of edits; n is SIZE_MAX: *values is a constant in
 * place of one. Returns 0, or -1: take did, or the edits are damaged, or there is no memory or budget. */
int trace_edits_each(const struct trace *t, const struct trace_group *g, uint32_t rank,
                     int (*take)(void *context, const int64_t *values, size_t n), void *context);
bool trace_group_equal(const struct trace_group *a, const struct trace_group *b); /* with an order */
/* In ascending order of their first ranks. */
void trace_sort_groups(struct trace_column *c);
/* Makes an empty group one without order, of these ranks. Returns 0 or -1; the caller frees the group in any case. */
int trace_group_lossy(struct trace_group *g, const struct rankmap *ranks);
/* The runs of a successor, added if it is not there; NULL on no memory. Valid until the next one is added. */
struct tally *trace_next(struct trace_lossy *l, uint32_t to);
/* Is it the constant `?`: values of a tally that there was no memory to tell apart? */
bool trace_is_unknown(const struct trace *t, int64_t value);
/* How many values of a tally are that. */
uint64_t trace_unknown(const struct trace *t, const struct tally *tally);
/* Strings have no order: more than TALLY_EXACT different ones are counted as the constant "?". Returns 0 or -1. */
int trace_tally_fold(struct trace *t, struct tally *tally);
/* Are all ranks of MPI_COMM_WORLD in it? Then nothing can be added, and its file has the form *final*; else it is a
 * *part*, which may still be merged. */
bool trace_is_final(const struct trace *t);
/* Does any column have no order? */
bool trace_has_lossy(const struct trace *t);
/* Makes columns without order have none from the start: what they have in order of their first values goes. */
void trace_forget_prefixes(struct trace *t);
/* means.c: adds the ranks of `from` to a total. Returns 0 or -1. */
int trace_total_add(struct trace_total *to, const struct trace_total *from);
/* The edge from a site, added if it is not there; NULL on no memory. Valid until the next one is added. */
struct trace_edge *trace_edge(struct trace_site *s, uint32_t to);
/* Puts the edges of a site in ascending order of `to`. */
void trace_sort_edges(struct trace_site *s);
/* The edge from a site whose edges are in order; NULL if there is none. */
const struct trace_edge *trace_edge_to(const struct trace_site *s, uint32_t to);

/* The name of a value that is a named constant (value_is_constant). */
static inline const char *trace_constant_name(const struct trace *t, int64_t v)
{
	return (const char *)t->strings.items[(uint64_t)v - (uint64_t)VALUE_CONSTANT].bytes;
}

/* Is it this one? */
bool trace_is_constant(const struct trace *t, int64_t v, enum mpi_constant constant);

static inline const struct schema *trace_schema(const struct trace *t, const struct trace_site *s)
{
	return &t->functions[s->function].schema;
}

/* MPI_Init, MPI_Init_thread: to start is not to communicate. */
bool trace_initializes(const struct schema *s);

/* The ranks of a group: the keys of this map. */
static inline const struct rankmap *trace_group_ranks(const struct trace_group *g)
{
	return &g->dict[0].start;
}

/* "threshold+memory" and the like: the words of a set of enum trace_why. Returns out. */
#define WHY_SIZE 40
const char *trace_why_text(uint32_t why, char out[WHY_SIZE]);

/* check.c: checks everything that one part says of another: numbers in range, patterns, kinds. To be called on whatever
 * was read from outside, before anything else looks at it. Returns 0, or -1 with error set. */
int trace_check(const struct trace *t, struct error *error);

/* extract.c: the trace of one rank, from an arena that arena_open has opened (it is used up by that). What a killed
 * rank left half done is taken back. Returns 0, or -1 with error set. The caller frees *t in any case. */
struct arena;
int trace_extract(struct trace *t, struct arena *a, struct error *error);
/* The same, packed (trace/model/packed.h). */
int trace_extract_packed(struct trace *t, struct arena *a, struct error *error);

/* format.c: the chunks of doc/trace-format.md. */
struct container;
struct codec;
struct chunk;
/* Encodes a trace as a container, with further chunks behind its own. Returns 0 or -1; *bytes is malloc'ed. */
int trace_encode(const struct trace *t, const struct chunk *further, size_t n, const struct codec *codec,
                 uint8_t **bytes, size_t *size);
/* The same of a packed trace, for another process of the same job, without the bytes of its sites: they follow
 * (trace/model/packed.h). */
int trace_encode_tables(const struct trace *t, uint8_t **bytes, size_t *size);
/* Decodes and checks, at the cost of the reader's budget (trace/base/budget.h). Returns 0, or -1 with error set. The
 * caller frees *t in any case. */
int trace_decode(struct trace *t, const struct container *c, struct error *error);
/* The same, packed, to be merged into another trace and for nothing else (trace.message). What trace_encode_tables has
 * made is not checked. */
int trace_decode_packed(struct trace *t, const struct container *c, struct error *error);
/* The same for a reader that needs only some columns: where what follows from another column (derive.h) is none of them
 * it is not made, and its ranks are a group whose values are not known. *left_out: were there any? */
typedef bool trace_needs(const struct schema *s, size_t column);
int trace_decode_some(struct trace *t, const struct container *c, trace_needs *needs, bool *left_out,
                      struct error *error);
/* Opens a file and decodes it, with a budget of its own if the caller has begun none. Returns 0, or -1 with error set.
 * The caller gives both back in any case. */
int trace_open(struct trace *t, struct container **c, const char *path, const struct codec *codec, struct error *error);
/* The same of a file that is open, which is closed in any case; name is used in messages. */
int trace_take(struct trace *t, struct container **c, int fd, const char *name, const struct codec *codec,
               struct error *error);

#endif
