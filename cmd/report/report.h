/* SPDX-License-Identifier: BSD-3-Clause
 * report - the sections of a trace's page
 *
 * Figures come from the object that `spoor show --json` prints, so that both say the same; graphics and a few sums from
 * the trace itself. Graphics are SVG in the page, with titles, and a table beside them says the same in words.
 */
#ifndef SPOOR_REPORT_REPORT_H
#define SPOOR_REPORT_REPORT_H

#include <stdbool.h>

#include "cmd/show/view.h"
#include "insight/cause.h"
#include "insight/traffic.h"
#include "trace/read/seats.h"
#include "trace/read/summary.h"

/* What time is spent on; the numbers are those of the colours (style.c). */
enum report_class {
	CLASS_COMPUTE,
	CLASS_MESSAGES,
	CLASS_COLLECTIVES,
	CLASS_WAITING,
	CLASS_FILES,
	CLASS_OTHER,
	CLASSES
};

struct report {
	FILE *out;
	const struct show *show;
	const struct trace *trace;
	const json_t *json; /* of show: summary, functions, balance, sites, waits, last */
	struct summary sum;
	uint64_t class_ns[CLASSES]; /* over all ranks, without MPI_Init */
	struct seats seats;
	struct traffic traffic;
	struct causes causes;
	bool few_events;           /* all may be walked */
	bool has_traffic;          /* else more would have to be walked for it than may */
	const char *usual;         /* how long runs like it took before; NULL: not known */
	uint64_t *sent, *received; /* bytes, by rank, with one-sided ones; NULL without traffic */
};

const char *report_class_name(enum report_class c);
enum report_class report_class_of(const struct mpi_function *f);

/* A number of the show object, 0 if it is not there. key may be "summary.mpi_ns". */
uint64_t report_number(const struct report *r, const char *key);
const char *report_meta(const struct report *r, const char *key); /* a text of the metadata, NULL if it is not there */
const char *report_state(const struct report *r); /* Slurm's word for the job's state (archive/job_state.h), or NULL */
uint64_t report_meta_number(const struct report *r, const char *key);
bool report_partial(const struct report *r);

/* Fills r, of which show, trace and json are set: an empty object, which gets what `spoor show --json` prints. full:
 * follows messages however many events there are. Returns 0, or -1 after a message; report_free in both cases. */
int report_gather(struct report *r, json_t *json, bool full);
void report_free(struct report *r);

/* Parts of the ranks' time, with the number of the colour (style.c). The rest was before MPI_Init, or behind
 * MPI_Finalize. */
struct time_part {
	const char *name;
	uint64_t ns;
	int colour;
};
#define TIME_PARTS (CLASSES + 4)
void report_time_parts(const struct report *r, struct time_part parts[TIME_PARTS]);

/* The sections, in their order. */
void report_overview(struct report *r);
void report_ending(struct report *r); /* where every rank was, of a partial trace */
void report_sites(struct report *r);
void report_waits(struct report *r); /* a part of the sites */
void report_ranks(struct report *r);
void report_messages(struct report *r);
int report_timeline(struct report *r); /* 0 or -1 */
void report_notes(struct report *r);
void report_meta_table(struct report *r);

#endif
