/* SPDX-License-Identifier: BSD-3-Clause
 * figure - the numbers that spoor shows of runs, all out of one table (insight/figures.def)
 *
 *     trace -> figures (kept in the index) -> sums over runs -> columns (tables, JSON, pages, OpenMetrics, hooks)
 *
 * Also a single run is shown as a group of one, so that no place can say another number than the next. Everything that
 * is added up is an integer: any order of adding comes to the same.
 */
#ifndef SPOOR_FIGURE_H
#define SPOOR_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/histogram.h"
#include "trace/model/trace.h"
#include "trace/read/summary.h"

/* --- what is kept of a trace --- */

enum figure_number {
#define FIGURE(ID, ...) FIGURE_##ID,
#include "insight/figures.def"
	FIGURES
};

/* Times are ns of all ranks together, unless they say otherwise; peaks are what the time would be if all ranks took as
 * long as the one that took longest, so that ratios of sums over traces are means weighted by time. */
union figures {
	struct {
#define FIGURE(ID, key, ...) uint64_t key;
#include "insight/figures.def"
	};
	uint64_t number[FIGURES];
};

struct figure_name {
	const char *key, *unit, *meaning;
};
extern const struct figure_name figure_names[FIGURES];

enum call_figure_number {
#define CALL_FIGURE(ID, ...) CALL_FIGURE_##ID,
#include "insight/figures.def"
	CALL_FIGURES
};

/* Of the calls of a function, or of a call site. */
union figure_calls {
	struct {
#define CALL_FIGURE(ID, key, ...) uint64_t key;
#include "insight/figures.def"
	};
	uint64_t number[CALL_FIGURES];
};

/* A version of all that is kept, which is another one if a line of the table changes. Positive. */
uint32_t figure_version(void);

/* Of each site, t->site_count of them. Returns them, NULL on no memory. The caller frees them. */
union figure_calls *figure_calls_make(const struct trace *t, const struct site_activity *activity);
/* Adds them; what is too large stays the largest number. */
void figure_calls_add(union figure_calls *sum, const union figure_calls *c);
/* s, calls: of this trace. */
void figure_make(union figures *f, const struct trace *t, const struct summary *s, const union figure_calls *calls);

/* --- what is added up --- */

/* Groups of calls have TRACES, JOBS, what is of calls, and WAIT_NS and UNENDED_NS, also in node time. */
enum figure_sum {
#define FIGURE_SUM_NOT(ID)
#define FIGURE_SUM_SUM(ID)               SUM_##ID,
#define FIGURE_SUM_NODES(ID)             SUM_##ID, SUM_NODE_##ID,
#define FIGURE(ID, key, unit, adds, ...) FIGURE_SUM_##adds(ID)
#define SUM(ID, ...)                     SUM_##ID,
#include "insight/figures.def"
	FIGURE_SUMS
};

/* What else is known of a run. */
struct figure_run {
	uint64_t nodes;        /* 0: not known, as 1 */
	uint64_t wall_ns;      /* how long it took by its metadata; 0: not known */
	bool partial;          /* made of what killed ranks left */
	const uint64_t *sizes; /* messages by size class (activity.h) */
};

/* The sums of one run. It counts as no job: who adds knows which traces are of one. */
void figure_sums(const union figures *f, const struct figure_run *run, uint128 sum[FIGURE_SUMS]);
/* Adds those of the calls of a function, or of a call site. */
void figure_sums_add_calls(const union figure_calls *c, uint64_t nodes, uint64_t streams, uint128 sum[FIGURE_SUMS]);

/* --- what is shown --- */

/* How a value is to be shown. */
enum figure_unit {
	UNIT_COUNT,
	UNIT_HOURS,
	UNIT_SECONDS,
	UNIT_SHARE,
	UNIT_BYTES,
	UNIT_MEAN, /* of bytes */
	UNIT_RATIO
};

enum figure_column {
#define COLUMN(ID, ...) COLUMN_##ID,
#include "insight/figures.def"
	FIGURE_COLUMNS
};

struct figure_column_info {
	const char *name;    /* of --sort and --format */
	const char *json;    /* key in JSON and heading in CSV */
	const char *heading; /* of tables */
	const char *words;   /* the same where there is room for words; NULL: the heading */
	enum figure_unit unit;
	bool runs, calls;                   /* is it there in groups of runs; of functions and call sites? */
	bool of_run;                        /* and of a single run? */
	bool in_runs_table, in_calls_table; /* and in tables of them, if nobody says which columns? */
	const char *condition;              /* of hooks, which ask for shares in percent; NULL: they cannot */
	const char *metric;                 /* in OpenMetrics; NULL: it is not there */
	const char *meaning;
};
extern const struct figure_column_info figure_columns[FIGURE_COLUMNS];

/* Returns the column of that name (of --sort); FIGURE_COLUMNS if there is none. */
enum figure_column figure_column(const char *name);
/* In the unit of the column; negative: not known. Shares are 0 .. 1, hours are node hours. calls: of a function or call
 * site; all_ns: SUM_NODE_NS of all traces. */
double figure_value(enum figure_column column, const uint128 sum[FIGURE_SUMS], bool calls, uint128 all_ns);
/* The same of a single run, from figures that are known. */
void figure_values(const union figures *f, const struct figure_run *run, double value[FIGURE_COLUMNS]);

#endif
