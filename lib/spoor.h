/* SPDX-License-Identifier: BSD-3-Clause
 * spoor - reads traces of MPI jobs: the interface of libspoor, for C, C++, and languages that can call C
 *
 *     struct spoor_trace *t;
 *     struct spoor_walk *w;
 *     struct spoor_event e;
 *     char error[SPOOR_ERROR_SIZE];
 *
 *     if (!(t = spoor_open("job.spoor", error)) || !(w = spoor_walk_begin(t, 0, error)))
 *             return complain(error);
 *     while (spoor_walk_next(w, &e, error) == 0)
 *             printf("%llu %s\n", (unsigned long long)e.number, e.function);
 *     spoor_walk_end(w);
 *     spoor_close(t);
 *
 * Link with the output of `pkg-config --libs spoor`. These rules hold for all functions:
 *
 * - Checks: opening a trace reads and checks the whole file. Nothing in it can do harm afterwards.
 * - Errors: `error` is NULL, or a buffer of SPOOR_ERROR_SIZE bytes. If the function fails, the buffer gets a text that
 *   says what is wrong, where, and what was expected. Otherwise it is not changed.
 * - Ownership: the caller closes traces and ends walks. All other pointers that a function returns, or stores in a
 *   structure, belong to the library. They are valid until the trace is closed, unless stated otherwise.
 * - Threads: several threads may use one trace at the same time. Only one thread at a time may use a walk.
 * - Arguments: traces, walks and structures must not be NULL, unless stated otherwise. Numbers of ranks, threads, sites
 *   and edges start at 0 and may have any value: the result says whether they exist.
 * - Units: times are in nanoseconds.
 */
#ifndef SPOOR_H
#define SPOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPOOR_API        4   /* raised when something is added; existing functions and structures stay as they are */
#define SPOOR_ERROR_SIZE 512 /* bytes of an error text, with its NUL */
#define SPOOR_ARGUMENTS  64  /* the maximum number of arguments of an event: parameters and results */

struct spoor_trace;
struct spoor_walk;

/* Returns the version of the loaded library, such as "0.1.0". It is valid forever. */
const char *spoor_version(void);
/* Returns the SPOOR_API of the loaded library. */
int spoor_api(void);

/* --- a trace --- */

/* Reads and checks the trace file `path`. Returns NULL with `error` set if the file cannot be read or is damaged, if
 * memory is short, or if reading would exceed the library's limits of memory and steps. The caller closes the trace. */
struct spoor_trace *spoor_open(const char *path, char *error);
/* Does the same for `size` bytes in memory, which it copies. `name` stands for the path in error texts. */
struct spoor_trace *spoor_open_memory(const char *name, const void *bytes, size_t size, char *error);
/* Frees a trace. All its walks must have ended. NULL is allowed. */
void spoor_close(struct spoor_trace *t);

/* Returns the job's metadata as the text of a JSON object (doc/metadata.md), "{}" if there is none. */
const char *spoor_metadata(const struct spoor_trace *t);
/* Returns the number of ranks in MPI_COMM_WORLD. Some of them may have left no events. */
uint32_t spoor_ranks(const struct spoor_trace *t);
/* Returns the maximum number of threads of a rank, 1 without MPI_THREAD_MULTIPLE. A rank may have fewer threads. */
uint32_t spoor_threads(const struct spoor_trace *t);
/* Returns the number of events of thread 0 of a rank, the one that initialised MPI. 0 if there is no such rank. */
uint64_t spoor_events(const struct spoor_trace *t, uint32_t rank);
/* Returns the number of events of any thread of a rank. 0 if there is no such rank or thread. */
uint64_t spoor_thread_events(const struct spoor_trace *t, uint32_t rank, uint32_t thread);
/* Returns the name of the node of a rank, "" if it is not known. It is valid until the calling thread calls this
 * function again. */
const char *spoor_host(const struct spoor_trace *t, uint32_t rank);

/* --- call sites --- */

/* Returns the number of call sites. A site is an MPI function together with a call path. */
uint32_t spoor_sites(const struct spoor_trace *t);
/* Returns the name of a site's MPI function, such as "MPI_Send". NULL if there is no such site. */
const char *spoor_site_function(const struct spoor_trace *t, uint32_t site);
/* Gets one frame of a site's call path; depth 0 is the innermost frame. Stores the path of the file with the code in
 * *module, and the return address in *offset, in bytes relative to the file's load address.
 * Returns 0, or without storing anything: 1 if there is no such frame or site; 2 if frames are missing at this depth,
 * because the stack could not be unwound further. */
int spoor_site_frame(const struct spoor_trace *t, uint32_t site, uint32_t depth, const char **module, uint64_t *offset);

/* --- events --- */

enum spoor_kind {
	SPOOR_ABSENT,   /* the call did not set this result, or the argument was not significant */
	SPOOR_INTEGER,  /* integer: a count, a tag, a rank in the call's communicator */
	SPOOR_CONSTANT, /* text: the name of a constant, such as "MPI_ANY_SOURCE" or "MPI_COMM_WORLD" */
	SPOOR_SYMBOL,   /* letter and integer: an MPI object such as c1 or r0; equal symbols are the same object */
	SPOOR_TEXT,     /* text: a string of the program */
	SPOOR_ARRAY,    /* count elements, for spoor_element */
	SPOOR_UNKNOWN   /* the order of the values was not recorded (mode lossy) */
};

/* One argument of an event, or one element of an array. */
struct spoor_value {
	enum spoor_kind kind;
	int64_t integer;
	const char *text;
	char letter;          /* of a symbol: the kind of object (doc/events.md) */
	uint32_t count;       /* of an array: its length; of a request: 0, or 1 + the other thread that created it */
	uint64_t reserved[2]; /* used by the library */
};

struct spoor_event {
	uint64_t number;                            /* in its thread, from 0 */
	uint32_t site;                              /* the call site */
	const char *function;                       /* "MPI_Send" */
	uint32_t count;                             /* the number of arguments */
	const char *names[SPOOR_ARGUMENTS];         /* as in the MPI standard; "status.MPI_SOURCE" for structures */
	struct spoor_value values[SPOOR_ARGUMENTS]; /* in the order of the MPI standard */
};

/* Starts a walk at the first event of thread 0 of a rank. Returns NULL with `error` set if there is no such rank, if it
 * left no events, or if memory is short. The caller ends the walk before closing the trace. */
struct spoor_walk *spoor_walk_begin(const struct spoor_trace *t, uint32_t rank, char *error);
/* Does the same for any thread of a rank. */
struct spoor_walk *spoor_walk_begin_thread(const struct spoor_trace *t, uint32_t rank, uint32_t thread, char *error);
/* Starts a walk over the events of all threads of a rank, in the order in which they began. spoor_walk_exact says
 * whether that order is known. Returns as spoor_walk_begin. Since SPOOR_API 2. */
struct spoor_walk *spoor_walk_begin_time(const struct spoor_trace *t, uint32_t rank, char *error);
/* Returns 1 if the order of the walk's events is known, 0 if it is an estimate. It is known for a walk of one thread,
 * and if the trace has the times of all events (timing: full). An estimate is the same each time. It only guarantees
 * that objects are created before they are used. */
int spoor_walk_exact(const struct spoor_walk *w);
/* Returns the thread of the last event that spoor_walk_next returned. */
uint32_t spoor_walk_thread(const struct spoor_walk *w);
/* Gets the next event. Returns 0, 1 after the last event, or -1 with `error` set if the trace contradicts itself. Also
 * returns 1 where the order of the events is no longer known (structure: lossy), before all spoor_thread_events of
 * them. The pointers in *e are valid until the next call. */
int spoor_walk_next(struct spoor_walk *w, struct spoor_event *e, char *error);
/* Ends a walk, and frees it. NULL is allowed. */
void spoor_walk_end(struct spoor_walk *w);
/* Gets element i of an array, a value of the last event. Returns 0, or -1 if `array` is not an array or is shorter. */
int spoor_element(const struct spoor_trace *t, const struct spoor_value *array, uint32_t i,
                  struct spoor_value *element);

/* --- times and counters (SPOOR_API 2) ---
 *
 * Each site has a histogram of the times of its calls. Each edge of a site leads to a site that came next. It has a
 * histogram of the times between the end of the one call and the start of the other. Histograms are over all ranks and
 * visits. The tracer's own time is in none of them. If the policy named counters, each site and edge also has a
 * histogram of each counter, with counts instead of nanoseconds.
 */
struct spoor_histogram {
	uint64_t count;         /* the number of values; if 0, the other members have no meaning */
	uint64_t sum;           /* in a complete trace it may be rounded to 12 significant bits */
	uint64_t min, max;      /* in a complete trace the range may be wider, by 1/128 of the distance from the mean */
	double mean, deviation; /* the deviation is rounded in a complete trace */
	uint32_t min_rank, min_thread, max_rank, max_thread; /* who had the extreme values; of several the lowest */
	uint64_t min_visit;   /* in which visit of the site (of an edge: of its target), from 0; rounded from 64 on */
	uint64_t max_visit;   /* the same for the maximum */
	uint32_t bins;        /* for spoor_bin; may be 0 */
	const void *reserved; /* used by the library */
};

struct spoor_bin {
	uint64_t count, min, max; /* all values are from min to max */
	double mean, deviation;
};

#define SPOOR_CALLS UINT32_MAX /* instead of an edge: the calls of the site itself */

/* Returns the number of edges of a site, 0 if there is no such site. */
uint32_t spoor_site_edges(const struct spoor_trace *t, uint32_t site);
/* Returns the site to which an edge leads, UINT32_MAX if there is no such edge. */
uint32_t spoor_edge_to(const struct spoor_trace *t, uint32_t site, uint32_t edge);
/* Gets the times of an edge, or of the site's calls if `edge` is SPOOR_CALLS. Returns 0, or -1 if there is no such site
 * or edge. */
int spoor_time(const struct spoor_trace *t, uint32_t site, uint32_t edge, struct spoor_histogram *h);
/* Gets bin i of a histogram, in ascending order of values. Returns 0, or -1 if there is no such bin. */
int spoor_bin(const struct spoor_histogram *h, uint32_t i, struct spoor_bin *bin);

/* A counter. Threads count like ranks here. */
struct spoor_counter {
	const char *name;   /* PAPI's name, such as "PAPI_TOT_INS" */
	const char *reason; /* why it was not counted everywhere; "": it was */
	uint64_t ranks;     /* the ranks that counted it */
	uint64_t missing;   /* the ranks that did not count it, or not until the end */
};
/* Returns the number of counters. */
uint32_t spoor_counters(const struct spoor_trace *t);
/* Gets a counter. Returns 0, or -1 if there is no such counter. */
int spoor_counter(const struct spoor_trace *t, uint32_t counter, struct spoor_counter *c);
/* Does the same as spoor_time for a counter, whose values are counts. Also returns -1 if there is no such counter. */
int spoor_count(const struct spoor_trace *t, uint32_t site, uint32_t edge, uint32_t counter, struct spoor_histogram *h);

/* Sums of each rank: its time between calls; all its time but that of MPI_Init; the time that the tracer used, which is
 * in neither of the others. */
enum spoor_total_kind { SPOOR_COMPUTE, SPOOR_ELAPSED, SPOOR_OVERHEAD };
struct spoor_total {
	uint64_t ranks;         /* the number of ranks (and threads) with such a sum; if 0, it is not known */
	uint64_t sum, min, max; /* over these ranks */
	uint32_t min_rank, min_thread, max_rank, max_thread; /* who had the extreme values; of several the lowest */
};
/* Gets a total over all ranks. Returns 0, or -1 if there is no such kind. */
int spoor_total(const struct spoor_trace *t, enum spoor_total_kind kind, struct spoor_total *total);
/* Gets the sum of one rank (and thread) in *ns. In a complete trace it is rounded to a fraction of max - min.
 * With more than 64 ranks it is rounded: by 3 %, or by more where all ranks differ. Returns 0, or 1 if it is not
 * known. */
int spoor_rank_total(const struct spoor_trace *t, enum spoor_total_kind kind, uint32_t rank, uint32_t thread,
                     uint64_t *ns);

/* The times of each event of a rank, if the policy asked for them (timing: full). */
struct spoor_timing {
	uint64_t events; /* the first events have times; later ones do not, because memory was used up */
	double error;    /* the maximum relative error of a time; 0: exact */
	int64_t start;   /* the start of the first event, since 1970 (UTC) */
};
/* Gets what is known of these times. Returns 0, or 1 if the rank or thread has no such times. */
int spoor_timing(const struct spoor_trace *t, uint32_t rank, uint32_t thread, struct spoor_timing *timing);
/* Gets start and end of the event that spoor_walk_next returned last, relative to the start of the rank's first event.
 * In a walk of one thread, call it for each event from the first one on; otherwise it returns 1.
 * Returns 0; 1 if the event has no times; -1 with `error` set if memory is short.
 * In a walk over all threads, times are relative to the first event of all of them. There *begin and *end are also set
 * if 1 is returned, to the estimate that gave the event its place. */
int spoor_walk_times(struct spoor_walk *w, uint64_t *begin, uint64_t *end, char *error);

/* --- events in blocks (SPOOR_API 3) ---
 *
 * For languages that work on whole arrays: the next events of a walk, a column at a time.
 */
#define SPOOR_NO_TIME UINT64_MAX
/* Values in blocks that are no numbers. No argument has such a number. */
#define SPOOR_VALUE_NAMED INT64_MIN /* to INT64_MIN + UINT32_MAX: texts, for spoor_value_name */
#define SPOOR_VALUE_ABSENT \
	(INT64_MIN + (INT64_C(1) << 32))             /* not set by the call, or the function has no such argument */
#define SPOOR_VALUE_UNKNOWN (SPOOR_VALUE_ABSENT + 1) /* the order of the values was not recorded */

struct spoor_block {
	uint64_t room;            /* how many events each array has room for */
	uint32_t *site;           /* gets the call sites; NULL: not wanted */
	uint64_t *begin, *end;    /* get the times as of spoor_walk_times, or SPOOR_NO_TIME; NULL: not wanted */
	uint32_t columns;         /* arguments that are wanted */
	const char *const *names; /* their names, as in spoor_event: "count", "status.MPI_SOURCE" */
	/* Get their values: of integers and ranks the number, of symbols their number, of arrays their length, of
	 * constants and texts a value for spoor_value_name. */
	int64_t *const *values;
};
/* Gets the next events of a walk, at most b->room. Returns how many they are, 0 after the last one, or -1 with `error`
 * set if the trace contradicts itself or memory is short. The walk must be used only with this function. */
int64_t spoor_walk_block(struct spoor_walk *w, const struct spoor_block *b, char *error);
/* Returns the text of a value in a block, such as "MPI_ANY_SOURCE"; NULL if it is a number. */
const char *spoor_value_name(const struct spoor_trace *t, int64_t value);

/* --- tables (SPOOR_API 3) ---
 *
 * Rows and columns; each column is one array. The caller frees a table with spoor_table_free. Its arrays are valid
 * until then.
 */
enum spoor_type {
	SPOOR_INTEGERS, /* int64_t */
	SPOOR_NUMBERS,  /* double; NaN: not known */
	SPOOR_TEXTS     /* UTF-8 as a rule; each text ends in a NUL */
};
struct spoor_table;

/* Returns the number of rows, and of columns. */
uint64_t spoor_table_rows(const struct spoor_table *t);
uint32_t spoor_table_columns(const struct spoor_table *t);
/* Returns the name of a column, NULL if there is no such column; and its type. */
const char *spoor_table_name(const struct spoor_table *t, uint32_t column);
enum spoor_type spoor_table_type(const struct spoor_table *t, uint32_t column);
/* Return the array of a column, one element a row. NULL if it is of another type, or empty. */
const int64_t *spoor_table_integers(const struct spoor_table *t, uint32_t column);
const double *spoor_table_numbers(const struct spoor_table *t, uint32_t column);
/* Returns the texts of a column one after the other, each with its NUL; *size is of all of them together, in bytes. */
const char *spoor_table_texts(const struct spoor_table *t, uint32_t column, size_t *size);
/* NULL is allowed. */
void spoor_table_free(struct spoor_table *t);

/* The following return NULL with `error` set if memory is short, or if reading exceeds the library's limits. */

/* Returns a row for each call site: site, function, name (where it is), path (frames from the innermost on, in lines),
 * calls, ranks, ns (of all ranks), mean_ns, min_ns, max_ns, max_rank, bytes passed on, unsized (calls of unknown size),
 * wait_ns (estimated; doc/activity.md, "Waiting"), wait_kind, unended_ns (in calls that never ended; also in wait_ns),
 * imbalance (the most of a rank / the mean), late_rank (-1: none). */
struct spoor_table *spoor_site_table(const struct spoor_trace *t, char *error);
/* Returns a row for each figure of the run that is known: figure, value, unit. doc/figures.md says what they mean. */
struct spoor_table *spoor_figures(const struct spoor_trace *t, char *error);
/* Returns a row for each pair of ranks between which something was sent: sender, receiver, messages, bytes, one_sided
 * (calls), one_sided_bytes. */
struct spoor_table *spoor_matrix(const struct spoor_trace *t, char *error);
/* Returns a row for each thing that MPI did for a thread of a rank, in order: event, act ("send", "receive begin"),
 * collective (its name), comm (equal numbers are the same communicator on all ranks; -1: not known), peer (a rank of
 * MPI_COMM_WORLD; -1: nobody, or not known), tag (-1: any), bytes (-1: not known), message (its number among those of
 * the same sender, receiver, tag and communicator; -1: not known yet), began (the event that began it). */
struct spoor_table *spoor_acts(const struct spoor_trace *t, uint32_t rank, uint32_t thread, char *error);

/* --- why a run took so long (SPOOR_API 4) ---
 *
 * doc/activity.md and doc/glossary.md define causes. A site that is not known is -1.
 */

/* Returns one row: outcome (what is said first of the run: "efficient", "imbalance", "deadlock"), verdict (what it
 * waited for in the end, a text; "" if it ended), played (1: the following are by an ideal network, else only
 * estimated or not known), run_ns, lost_ns (of all ranks), ideal_ns (the run on an ideal network), and shares of
 * the ranks' time that add up to 1: computation, imbalance, serialisation, transfer. */
struct spoor_table *spoor_outcome(const struct spoor_trace *t, char *error);
/* Returns a row for each cause of lost time, most first: cause ("imbalance", "small-messages"), share (of the
 * ranks' time), ns (of all ranks), place (where, a text), ranks (who computes longer: "2,5-7"; ""), behind and site
 * (the computation between calls of these; or the calls of site), wait_site (where most of it is waited), place_ns
 * (of ns, at this place), ranks_ns and others_ns (what one of those ranks computes there, and one of the others),
 * busy (ranks that compute at a time), calls, bytes. No rows: it is not known. */
struct spoor_table *spoor_causes(const struct spoor_trace *t, char *error);
/* Returns a row for each change of the run that was simulated, the one that saves most first: change, saved (part
 * of the run), run_ns (with it), base_ns (simulated without it), cause and place (that it would remove; ""). No
 * rows: the trace cannot be simulated. */
struct spoor_table *spoor_what_if(const struct spoor_trace *t, char *error);
/* Returns a row for each call site at which ranks waited: site, function, name, late_sender_ns, late_receiver_ns,
 * collective_ns, unended_ns (in calls that never ended), exact (1: from the times of all events, else estimated). */
struct spoor_table *spoor_waits(const struct spoor_trace *t, char *error);
/* Returns a row for each pair of ranks and call site, most first: waiter, late (the rank that it waits for), site
 * (where it waits), waits (how often), ns. On an ideal network: what is waited for what others compute first. Fails
 * if the trace cannot be played: it must be whole and lossless, with one thread a rank. */
struct spoor_table *spoor_waits_for(const struct spoor_trace *t, char *error);
/* Returns the critical path on an ideal network, in order of time: rank, begin_ns (from the end of MPI_Init on),
 * ns, behind and site (it computes between calls of these). All ns together are that run. Fails as spoor_waits_for. */
struct spoor_table *spoor_critical_path(const struct spoor_trace *t, char *error);

/* Returns the call sites of two runs side by side, those that differ most first: function, name, match ("exact",
 * "line", "function"; "none": only one run has it), differs ("calls": in what it does; "time"; ""), change_ns (of a
 * rank in the mean, b - a); then, each of a and of b with the suffix _a or _b: site, calls, ranks, bytes, ns,
 * wait_ns, compute_ns (before its calls). */
struct spoor_table *spoor_compare(const struct spoor_trace *a, const struct spoor_trace *b, char *error);
/* Returns why one run took longer than the other, the largest difference first: cause (or "computation"), ns_a,
 * ns_b, change_ns (all of a rank in the mean), place (where the worse one has most of it). No rows: it is not
 * known. */
struct spoor_table *spoor_compare_causes(const struct spoor_trace *a, const struct spoor_trace *b, char *error);

/* --- archives (SPOOR_API 3) ---
 *
 * Only one thread at a time may use an archive.
 */
struct spoor_archive;

/* Which traces are meant. Zero-initialised: all. Texts are lists of globs, separated by commas. */
struct spoor_filter {
	const char *user, *state, *exe, *account, *partition, *job_name, *node;
	const char *jobs;     /* "12", "12.0", "12-15" */
	int64_t since, until; /* start of the trace, in seconds since 1970 (UTC); 0: no limit */
	int64_t limit;        /* 0: none; else this number of traces, the newest */
};

/* Opens the index of an archive, and brings it up to date; NULL: the site's archive. Root may not: the index holds what
 * users wrote. Returns NULL with `error` set. The caller closes it. */
struct spoor_archive *spoor_archive_open(const char *path, char *error);
/* NULL is allowed. */
void spoor_archive_close(struct spoor_archive *a);
/* Returns a row for each trace, the newest first: job, trace ("12.0"), user, state (Slurm's word), reason, exe,
 * application, job_name, account, partition, start_ns and end_ns (since 1970, UTC), ranks, nodes, size (of the file, in
 * bytes), mpi (share of the ranks' time, 0 to 1), path. filter: NULL: all. */
struct spoor_table *spoor_jobs(struct spoor_archive *a, const struct spoor_filter *filter, char *error);
/* Returns a row for each group of traces, with the columns of `spoor aggregate --csv`. by: "user", "account",
 * "partition", "executable", "application", "job", "node", "month", "function", "site", or "all". */
struct spoor_table *spoor_aggregate(struct spoor_archive *a, const char *by, const struct spoor_filter *filter,
                                    char *error);
/* Returns a row for each application and number of ranks, as `spoor trend` has them, what became slower first:
 * application, ranks, runs, median_s (of the last 20 runs), last_s, last_ns (the start of the last one, since 1970),
 * change (0.3: 30 % longer; 0: none), since_ns, cause and at (the call that takes longer, and where), before_s and
 * after_s (what it takes). Without filter->since: of 180 days. Since SPOOR_API 4. */
struct spoor_table *spoor_trends(struct spoor_archive *a, const struct spoor_filter *filter, char *error);

#ifdef __cplusplus
}
#endif

#endif
