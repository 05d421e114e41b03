/* SPDX-License-Identifier: BSD-3-Clause
 * digest - what the index keeps of a trace, so that questions about many traces need not open them
 *
 * Its numbers are those of insight/figures.def, which says what each is.
 */
#ifndef SPOOR_DIGEST_H
#define SPOOR_DIGEST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "insight/figure.h"
#include "insight/outcome.h"
#include "trace/base/budget.h"
#include "trace/base/error.h"
#include "trace/read/activity.h"

/* Call sites that are kept: those with most time. */
#define DIGEST_SITES 16
/* Functions; MPI has fewer. Their names are cut to so many bytes. */
#define DIGEST_FUNCTIONS 1024
#define DIGEST_NAME      63
/* What reading a trace may cost at most (trace/base/budget.h): anybody can put one into an archive. */
#define DIGEST_MEMORY (UINT64_C(3) << 26)
#define DIGEST_STEPS  (2 * BUDGET_READ)
/* Events that are played for the cause; of longer traces it is estimated (insight/cause.h). */
#define DIGEST_PLAYED (UINT64_C(1) << 15)
/* Frames of a call path that are kept as text, from the innermost. */
#define DIGEST_FRAMES 3

struct digest_function {
	char *name;
	union figure_calls calls;
};

struct digest_site {
	uint32_t number; /* in the trace */
	char *function;
	uint64_t identity; /* of function and call path: equal in all traces of the same program file */
	char *frames;      /* "solve+0x41f < libhalo.so+0x80 < ...", innermost first; file names and offsets */
	union figure_calls calls;
};

struct digest {
	union figures figures;
	uint64_t unsized_calls; /* of any kind; not in the index */
	int64_t late_rank;      /* the rank that the others wait for (trace/read/late.h); negative: there is none */
	char *late_node;        /* the host where it is; NULL: not known */
	char *node_times;       /* insight/node_times.h; NULL: not known; only digest_read finds it */
	char *verdict;          /* what it waited for in the end (insight/hang.h); NULL: nothing is known */
	enum outcome proved;    /* what that proves */
	enum outcome cause;     /* what is said first of it: only digest_read and digest_whole find it */
	uint64_t sizes[ACTIVITY_SIZES];    /* messages by size class */
	struct digest_function *functions; /* by name */
	size_t function_count;
	struct digest_site *sites; /* most time first */
	size_t site_count;
};

/* A digest of another version in an index is made anew. */
int64_t digest_version(void);

/* Reads a trace file of this owner (REGULAR_ANYBODY: of whoever). Returns 0, or -1 with error set: it cannot be read,
 * is damaged, of a newer version. The caller frees *d in any case. */
int digest_read(struct digest *d, const char *path, int64_t owner, struct error *error);
/* The same of a trace in memory. end: as of verdict_find. Returns 0, or -1 on no memory. */
struct run_end;
int digest_make(struct digest *d, const struct trace *t, const struct run_end *end);
/* The same with its cause. metadata: of the trace; NULL: none. Returns 0, or -1 with error set. */
int digest_whole(struct digest *d, const struct trace *t, const json_t *metadata, struct error *error);
void digest_free(struct digest *d);

#endif
