/* SPDX-License-Identifier: BSD-3-Clause
 * condition - what rules can ask of a job: one table; inside of policy/ only
 */
#ifndef SPOOR_CONDITION_H
#define SPOOR_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/facts.h"

enum condition_kind {
	CONDITION_TEXT,  /* one of the patterns matches */
	CONDITION_RANGE, /* keys NAME_min and NAME_max */
	CONDITION_TIME,  /* "HH:MM-HH:MM" */
	CONDITION_SHARE, /* a part of all jobs */
};

enum condition_name {
	IF_USER,
	IF_GROUP,
	IF_ACCOUNT,
	IF_PARTITION,
	IF_QOS,
	IF_JOB_NAME,
	IF_EXECUTABLE,
	IF_RESERVATION,
	IF_CONTAINER,
	IF_WEEKDAY,
	IF_NODES,
	IF_TASKS,
	IF_RANKS,
	IF_TIME_LIMIT,
	IF_TIME,
	IF_SAMPLE,
	IF_STATE,
	IF_REASON,
	IF_CAUSE,
	IF_ELAPSED,
#define CONDITION_NEVER

#define CONDITION_IF(ID, name) IF_FIGURE_##ID,

#define COLUMN(ID, key, json, heading, words, unit, where, value, condition, ...) CONDITION_##condition
#include "insight/figures.def"
#undef CONDITION_NEVER
#undef CONDITION_IF
	CONDITIONS
};

/* Who can ask for it: rules, before the job; hooks, of its trace. */
enum condition_of { OF_RULES = 1, OF_HOOKS = 2, OF_BOTH = 3 };

/* Who says so before a job runs. What is not Slurm's word, its user can make up. */
enum condition_from {
	FROM_SLURM, /* slurmstepd, which has it from slurmctld; groups: the node's own tables */
	FROM_CLAIM, /* the job's environment; slurmctld is asked before anything is delivered (deliver/claims.h) */
	FROM_ENVIRONMENT, /* the job's environment */
	FROM_PROCESS,     /* the process that starts */
	FROM_TRACE,       /* what the job's processes recorded */
};

struct condition_row {
	const char *name; /* the key in a rule */
	const char *fact; /* what it looks at */
	enum condition_kind kind;
	bool several; /* the fact is a list, separated by commas: one that matches is enough */
	bool late;    /* it may be known only in the process, when that starts */
	enum condition_of of;
	enum condition_from from;
};
extern const struct condition_row condition_table[CONDITIONS];

/* A condition of a rule. Zero-initialised is empty. */
struct condition {
	char **globs; /* of a CONDITION_TEXT: patterns, one of which must match */
	size_t glob_count;
	struct span {
		int from, to; /* minutes of the day */
	} * spans;            /* of a CONDITION_TIME: one must hold the time */
	size_t span_count;
	uint32_t share;       /* of a CONDITION_SHARE: of 2^32 */
	uint64_t least, most; /* of a CONDITION_RANGE */
};

/* The pattern is copied. Return 0, or -1 (no memory). */
int condition_add_glob(struct condition *c, const char *pattern);
int condition_add_span(struct condition *c, int from, int to);
void condition_clear(struct condition *c);

/* The facts of a job, ready to be asked for. */
struct subject {
	const struct facts *facts;
	const char *text[CONDITIONS];                  /* the fact; NULL: not known */
	const char **values;                           /* malloc'ed, with the text that they are in */
	uint32_t first[CONDITIONS], count[CONDITIONS]; /* which of values a condition looks at */
	int64_t number[CONDITIONS];                    /* -1: not known */
	int minutes;                                   /* of the day; -1: not known */
	uint32_t hash;                                 /* of the job, for samples */
	bool has_job;
};

/* Returns 0, or -1 (no memory). The facts must stay. */
int subject_read(struct subject *s, const struct facts *facts);
void subject_free(struct subject *s);

enum verdict { HOLDS, HOLDS_NOT, UNKNOWN };

/* Does it hold for this job? If not, why (if not NULL) gets the reason. UNKNOWN: a late fact is not there; does not say
 * why. */
enum verdict condition_holds(enum condition_name what, const struct condition *c, const struct subject *s,
                             struct error *why);
/* True if b can only hold if a does. */
bool condition_covers(enum condition_name what, const struct condition *a, const struct condition *b);

/* "HH:MM" of the first length bytes as minutes from 0 to 1440, or -1. */
int condition_minutes(const char *text, size_t length);
/* "1-12:00:00", "90", "2:30:00", as Slurm writes times, in minutes (rounded up); -1: none. UNLIMITED: INT64_MAX. */
int64_t condition_time_limit(const char *text);
/* A job's place in 0 to 2^32 - 1, stable for ever: doc/policy.md says how it is made. */
uint32_t condition_hash(uint64_t job);

#endif
