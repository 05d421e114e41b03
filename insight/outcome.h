/* SPDX-License-Identifier: BSD-3-Clause
 * outcome - what is said first of a run, in one word: what ended it, or what it lost most time to
 *
 * `spoor why`, the page of a trace, the index, `spoor list`, sums over many runs, metrics and hooks have it from here.
 * What ended a run comes before what cost time in it. What is proved comes before what Slurm says.
 */
#ifndef SPOOR_INSIGHT_OUTCOME_H
#define SPOOR_INSIGHT_OUTCOME_H

#include "insight/cause.h"
#include "insight/verdict.h"
#include "trace/read/summary.h"

enum outcome {
	OUTCOME_UNKNOWN,
	OUTCOME_EFFICIENT, /* nothing cost much */
	/* How it ended. The first ones may be proved (verdict.h). */
	OUTCOME_DEADLOCK,
	OUTCOME_MISMATCH,
	OUTCOME_GONE,
	OUTCOME_ERROR,
	OUTCOME_ABORTED,
	OUTCOME_CRASHED,
	OUTCOME_LEFT,
	OUTCOME_MEMORY,
	OUTCOME_NODE,
	OUTCOME_KILLED,
	OUTCOME_TIME_LIMIT,
	OUTCOME_PREEMPTED,
	OUTCOME_CANCELLED,
	OUTCOME_UNENDED, /* it is not known what ended it */
	/* What cost most. */
	OUTCOME_START,
	OUTCOME_CAUSE, /* and an enum cause_kind */
	OUTCOMES = OUTCOME_CAUSE + CAUSES
};

/* From these parallel efficiencies on, a run is good, or fair. */
#define OUTCOME_GOOD 0.8
#define OUTCOME_FAIR 0.6
/* What costs less than this share of the time is not told; of an efficient run, less than twice this. */
#define OUTCOME_WORTH 0.05

/* "deadlock", "small-messages". */
const char *outcome_name(enum outcome o);
/* The other way; OUTCOME_UNKNOWN: there is none of that name. */
enum outcome outcome_named(const char *name);

/* What a verdict proves, or names; OUTCOME_UNENDED: nothing, though a call did not end; OUTCOME_UNKNOWN: all ended. */
enum outcome outcome_proved(const struct verdict *v);
/* Did calls fail in a run that then failed? end: NULL if that is not known. */
bool outcome_has_errors(const struct trace *t, const struct run_end *end);

/* How a run ended: what explains most comes first. */
struct outcome_endings {
	enum outcome list[3];
	uint32_t count; /* 0: it came to its end, or that is not known */
};
/* proved: as of outcome_proved. end: NULL if it is not known. */
struct outcome_endings outcome_endings(enum outcome proved, bool errors, const struct run_end *end);
/* What Slurm's reason for a partial trace is ("time-limit"); OUTCOME_UNKNOWN: no such. */
enum outcome outcome_of_reason(const char *reason);

/* The share of the ranks' time below which a cost is not told. */
double outcome_worth(const struct summary *s, bool partial);
/* By how many ns the last rank came to MPI_Init later after its start than the others in the mean; 0: that is not worth
 * being told. The others wait for it in MPI_Init. */
double outcome_late_start(const struct summary *s);
/* The share of the ranks' time that MPI_Init took, if it took unusually long; else 0. */
double outcome_start(const struct summary *s);
/* Of a run that came to its end: what cost most. s: with its time (summary_set_wall). */
enum outcome outcome_of_costs(const struct causes *c, const struct summary *s, bool partial);

#endif
