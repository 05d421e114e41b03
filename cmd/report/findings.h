/* SPDX-License-Identifier: BSD-3-Clause
 * findings - why a job was slow, or did not end, in plain words, each with what to try
 *
 * `spoor why` and the page of a trace tell the same ones. The words in their titles are explained in doc/glossary.md.
 */
#ifndef SPOOR_REPORT_FINDINGS_H
#define SPOOR_REPORT_FINDINGS_H

#include "cmd/report/report.h"
#include "insight/outcome.h"

/* Those that ended the job come first, then those that cost time, then what is missing in the figures. */
enum finding {
	FINDING_DEADLOCK,
	FINDING_MISMATCH,
	FINDING_GONE,
	FINDING_ERROR,
	FINDING_ABORTED,
	FINDING_CRASHED,
	FINDING_LEFT,
	FINDING_OOM,
	FINDING_NODE,
	FINDING_KILLED,
	FINDING_TIME_LIMIT,
	FINDING_PREEMPTED,
	FINDING_CANCELLED,
	FINDING_UNENDED, /* it is not known what ended it */
	FINDING_ENDING,  /* where most ranks were */
	FINDING_SITE,    /* only where causes are not known */
	FINDING_IMBALANCE,
	FINDING_SERIAL,
	FINDING_SERIALISED,
	FINDING_MOVING,
	FINDING_SMALL,
	FINDING_TRANSFER,
	FINDING_BARRIERS,
	FINDING_FILES,
	FINDING_OTHER,
	FINDING_BUSY,
	FINDING_SHARED,
	FINDING_START,
	FINDING_TRACING,
	FINDING_COUNTED,
	FINDING_UNPLACED,
	FINDINGS
};

extern const struct finding_kind {
	const char *name, *title;
	const char *advice; /* what to try; NULL: nothing */
} finding_kinds[FINDINGS];

#define FINDINGS_MOST (2 * FINDINGS)

struct findings {
	char headline[256];
	const char *mark;                         /* "good", "fair", "bad"; "": not known */
	double compute, imbalance, communication; /* shares of the ranks' time; negative: not known */
	size_t count;
	struct finding_text {
		enum finding kind;
		double share; /* of the ranks' time; 0: it costs none, or that is not known */
		char text[1600];
		char advice[256];          /* of this place; else that of the kind */
		const struct cause *cause; /* of r; NULL */
		double saved;              /* part of the run that it would be shorter without it; 0: not known */
	} list[FINDINGS_MOST];             /* what to look at first comes first */
};

/* r: gathered (report_gather). worth: what costs less than this share of the time is not told; negative: as
 * outcome_worth has it. */
void findings_make(struct findings *f, const struct report *r, double worth);
/* What to try; NULL: nothing. */
const char *finding_advice(const struct finding_text *f);
/* What tells of it: the one of its name; FINDINGS: none does. */
enum finding finding_of_outcome(enum outcome o);
/* Says in the text of each finding that is a cause how much shorter the run would be without it (insight/what_if.h),
 * where that is known: of a trace that can be simulated, and has few enough events to be asked at once. */
void findings_saved(struct findings *f, const struct report *r);
/* Of a reason why runs differ (cmd/base/diff_reasons.h): "Small messages", "Computation". */
const char *findings_reason_title(int reason);
/* The mark of an efficiency. */
const char *findings_mark(double efficiency);

#endif
