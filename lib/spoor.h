/* SPDX-License-Identifier: BSD-3-Clause
 * spoor - reads traces of MPI jobs: libspoor's interface, for programs in C and C++, and for whatever can call C
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
 * A file is read and checked whole by spoor_open: nothing that is in it can do harm afterwards. Functions that can fail
 * take `error`, a buffer of SPOOR_ERROR_SIZE bytes or NULL, which gets a text that says what, where, and what was
 * expected. What a function returns is valid until the trace (or the walk) that it came from is gone. One trace may be
 * read by several threads at once, one walk by one. Link with `pkg-config --libs spoor`.
 */
#ifndef SPOOR_H
#define SPOOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPOOR_API        2 /* raised when something is added; what is there stays as it is */
#define SPOOR_ERROR_SIZE 512
#define SPOOR_ARGUMENTS  64 /* no function has more parameters and results */

struct spoor_trace;
struct spoor_walk;

/* The version of the library that is loaded, "0.1.0", and its SPOOR_API. */
const char *spoor_version(void);
int spoor_api(void);

/* Reads a trace file. Returns NULL with error set if it cannot be read, or is damaged. The caller closes it. */
struct spoor_trace *spoor_open(const char *path, char *error);
/* The same of bytes in memory, which are copied; name is used in messages. */
struct spoor_trace *spoor_open_memory(const char *name, const void *bytes, size_t size, char *error);
void spoor_close(struct spoor_trace *t);

/* The job's metadata as the text of a JSON object (doc/metadata.md), or "{}" if there is none. */
const char *spoor_metadata(const struct spoor_trace *t);
/* The number of ranks in MPI_COMM_WORLD; some may have left no events. */
uint32_t spoor_ranks(const struct spoor_trace *t);
/* Events of a rank (of its thread 0, which initialised MPI); 0 if there is no such rank. */
uint64_t spoor_events(const struct spoor_trace *t, uint32_t rank);
/* The most threads that a rank has: 1 for a program without MPI_THREAD_MULTIPLE. A rank need not have all of them: then
 * the thread has no events. */
uint32_t spoor_threads(const struct spoor_trace *t);
uint64_t spoor_thread_events(const struct spoor_trace *t, uint32_t rank, uint32_t thread);
/* The name of the node that a rank ran on; "" if it is not known. Valid until this thread asks again. */
const char *spoor_host(const struct spoor_trace *t, uint32_t rank);

/* Call sites: (function, call path), numbered from 0. */
uint32_t spoor_sites(const struct spoor_trace *t);
/* "MPI_Send"; NULL if there is no such site. */
const char *spoor_site_function(const struct spoor_trace *t, uint32_t site);
/* One frame of a site's call path, the innermost first: the file that the code is in, and the return address relative
 * to where that is loaded. Returns 0; 1 if there is no frame `depth`; 2 if frames are missing there (the stack could
 * not be unwound further). */
int spoor_site_frame(const struct spoor_trace *t, uint32_t site, uint32_t depth, const char **module, uint64_t *offset);

enum spoor_kind {
	SPOOR_ABSENT,   /* not there: a result that the call did not set */
	SPOOR_INTEGER,  /* integer is the value (also a rank, a tag, a count) */
	SPOOR_CONSTANT, /* text is its name: "MPI_ANY_SOURCE", "MPI_COMM_WORLD" */
	/* integer with letter: a handle, c1, r0; equal symbols are the same object. count > 0: a request that thread
	 * count - 1 made */
	SPOOR_SYMBOL,
	SPOOR_TEXT,   /* text (may be a string of the program) */
	SPOOR_ARRAY,  /* count elements: spoor_element */
	SPOOR_UNKNOWN /* its order was not recorded (lossy) */
};

struct spoor_value {
	enum spoor_kind kind;
	int64_t integer;
	const char *text;
	char letter;
	uint32_t count;
	uint64_t reserved[2]; /* the library's own */
};

struct spoor_event {
	uint64_t number; /* from 0 */
	uint32_t site;
	const char *function;
	uint32_t count; /* of arguments */
	/* of the MPI standard, with ".": "status.MPI_SOURCE" for results in structures */
	const char *names[SPOOR_ARGUMENTS];
	struct spoor_value values[SPOOR_ARGUMENTS];
};

/* Starts at the first event of a rank. Returns NULL with error set if the rank left none. The caller ends it, before
 * the trace is closed. */
struct spoor_walk *spoor_walk_begin(const struct spoor_trace *t, uint32_t rank, char *error);
/* The same for a thread of a rank; spoor_walk_begin is thread 0. */
struct spoor_walk *spoor_walk_begin_thread(const struct spoor_trace *t, uint32_t rank, uint32_t thread, char *error);
/* All threads of a rank as one sequence, in the order in which their events began. That order is known if the trace has
 * the times of all events (timing: full), and if there is but one thread; else it is an estimate, from times drawn from
 * histograms and from what calls need of each other: it is the same each time, a communicator or a request is made
 * before it is used, and no more than that is certain. Since SPOOR_API 2. */
struct spoor_walk *spoor_walk_begin_time(const struct spoor_trace *t, uint32_t rank, char *error);
/* Of a walk in the order of time: is the order known (1), or an estimate (0)? Of other walks 1. */
int spoor_walk_exact(const struct spoor_walk *w);
/* Which thread the last event was of. */
uint32_t spoor_walk_thread(const struct spoor_walk *w);
void spoor_walk_end(struct spoor_walk *w);
/* The next event: 0; 1 at the end; -1 with error set if the trace contradicts itself. What *e points to is valid until
 * the next call. e->number counts the events of the thread. */
int spoor_walk_next(struct spoor_walk *w, struct spoor_event *e, char *error);
/* An element of an array: 0, or -1 if there is none. */
int spoor_element(const struct spoor_trace *t, const struct spoor_value *array, uint32_t i,
                  struct spoor_value *element);

/* --- times and counters (SPOOR_API 2) ---
 *
 * A site has a histogram of the times of its calls, and so has each of its edges - one for each site that came next -
 * of what was computed between the end of the one call and the begin of the other. They are over all ranks and visits;
 * the tracer's own time is in none of them. Where the policy named counters, each of these places has a histogram of
 * each counter, too: its values are counts instead of ns.
 */
struct spoor_histogram {
	/* ns, or counts; the others mean nothing if count is 0. In a complete trace the sum may be rounded to 12 bits,
	 * and min and max are at most 1/128 of their distance from the mean too far out */
	uint64_t count, sum, min, max;
	double mean, deviation;                              /* the deviation is rounded in a complete trace */
	uint32_t min_rank, min_thread, max_rank, max_thread; /* who had the extreme values; of several the lowest */
	uint64_t min_visit,
		/* in which of its visits of the site (of an edge: that it leads to), from 0; about, if 64 or more */
		max_visit;
	uint32_t bins;        /* spoor_bin; 0 in traces of format 1.0 */
	const void *reserved; /* the library's own */
};

struct spoor_bin {
	uint64_t count, min, max; /* all values are from min to max */
	double mean, deviation;
};

#define SPOOR_CALLS UINT32_MAX /* in the place of an edge: the calls of the site itself */

/* How many edges a site has, numbered from 0; and the site that edge `edge` leads to, UINT32_MAX if there is none of
 * that number. */
uint32_t spoor_site_edges(const struct spoor_trace *t, uint32_t site);
uint32_t spoor_edge_to(const struct spoor_trace *t, uint32_t site, uint32_t edge);
/* The times of the site's calls (edge: SPOOR_CALLS) or of an edge. 0, or -1: there is no such site or edge. */
int spoor_time(const struct spoor_trace *t, uint32_t site, uint32_t edge, struct spoor_histogram *h);
/* The i-th bin, from the least values to the greatest: 0, or -1: there is none. */
int spoor_bin(const struct spoor_histogram *h, uint32_t i, struct spoor_bin *bin);

/* What was counted: PAPI's name, "PAPI_TOT_INS"; in how many ranks (threads are counted like ranks); in how many it was
 * not, or not to the end, and why. */
struct spoor_counter {
	const char *name, *reason; /* "": all counted it */
	uint64_t ranks, missing;
};
uint32_t spoor_counters(const struct spoor_trace *t);
/* 0, or -1: there is no such counter. */
int spoor_counter(const struct spoor_trace *t, uint32_t counter, struct spoor_counter *c);
/* As spoor_time, of a counter. */
int spoor_count(const struct spoor_trace *t, uint32_t site, uint32_t edge, uint32_t counter, struct spoor_histogram *h);

/* The sums of single ranks, ns: what they computed between calls; all their time but that of MPI_Init; what the tracer
 * used, which is in neither. */
enum spoor_total_kind { SPOOR_COMPUTE, SPOOR_ELAPSED, SPOOR_OVERHEAD };
struct spoor_total {
	uint64_t ranks, sum, min, max; /* ranks is 0 in traces of format 1.0: not known */
	uint32_t min_rank, min_thread, max_rank, max_thread;
};
/* 0, or -1: no such kind. */
int spoor_total(const struct spoor_trace *t, enum spoor_total_kind kind, struct spoor_total *total);
/* That of one rank (rounded in a complete trace, to a fraction of max - min): 0; 1: it is not known, because there are
 * more than 64 ranks, or no such rank. */
int spoor_rank_total(const struct spoor_trace *t, enum spoor_total_kind kind, uint32_t rank, uint32_t thread,
                     uint64_t *ns);

/* The times of each event, if the policy asked for them (timing: full). What is known of those of a rank: */
struct spoor_timing {
	uint64_t
		/* the first ones, which have times; later ones are in histograms only if that is less than
		 * spoor_thread_events: memory was used up */
		events;
	double error;  /* each time is at most so much off, relative: 0 is exact */
	int64_t start; /* when the first event began, ns since 1970 */
};
/* 0; 1: the rank has no such times. */
int spoor_timing(const struct spoor_trace *t, uint32_t rank, uint32_t thread, struct spoor_timing *timing);
/* Begin and end of the event that spoor_walk_next gave last, ns since the rank's first event began: 0; 1: it has no
 * times; -1 with error set: no memory. To be asked of each event of the walk, from the first one on: otherwise 1. Of a
 * walk in the order of time: since the first event of all of the rank's threads, and when 1 is returned they are set,
 * too, to the estimate that gave the event its place. */
int spoor_walk_times(struct spoor_walk *w, uint64_t *begin, uint64_t *end, char *error);

#ifdef __cplusplus
}
#endif

#endif
