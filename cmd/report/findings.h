/* SPDX-License-Identifier: BSD-3-Clause
 * findings - why a job was slow, or did not end, in plain words, each with what to try
 *
 * `spoor why` and the page of a trace tell the same ones. The words in their titles are explained in doc/glossary.md.
 */
#ifndef SPOOR_REPORT_FINDINGS_H
#define SPOOR_REPORT_FINDINGS_H

#include "cmd/report/report.h"

/* Those that ended the job come first, then those that cost time, then what is missing in the figures. */
enum finding {
	FINDING_DEADLOCK,
	FINDING_MISMATCH,
	FINDING_GONE,
	FINDING_ENDED,
	FINDING_UNENDED,
	FINDING_OOM,
	FINDING_TIME_LIMIT,
	FINDING_ENDING, /* where most ranks were */
	FINDING_LATE,
	FINDING_SITE,
	FINDING_SENDER,
	FINDING_IMBALANCE,
	FINDING_SERIAL,
	FINDING_SERIALISED,
	FINDING_MOVING,
	FINDING_TRANSFER,
	FINDING_SHARED,
	FINDING_SMALL,
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

struct findings {
	char headline[256];
	const char *mark;                         /* "good", "fair", "bad"; "": not known */
	double compute, imbalance, communication; /* shares of the ranks' time; negative: not known */
	size_t count;
	struct {
		enum finding kind;
		double share; /* of the ranks' time; 0: it costs none, or that is not known */
		char text[1600];
	} list[FINDINGS]; /* what to look at first comes first */
};

/* r: gathered (report_gather). */
void findings_make(struct findings *f, const struct report *r);
/* The mark of an efficiency. */
const char *findings_mark(double efficiency);

#endif
