/* SPDX-License-Identifier: BSD-3-Clause
 * filter - the options that say which traces of the archive are meant: the same words in every command
 */
#ifndef SPOOR_FILTER_H
#define SPOOR_FILTER_H

#include "archive/catalog.h"
#include "archive/job_state.h"
#include "cmd/base/options.h"
#include "cmd/base/when.h"

#define FILTER_NUMBER_MAX 99999999999 /* more than there are jobs or bytes of interest */

/* The lines of a table of options, for a struct catalog_filter. */
#define FILTER_LINES(f)                                                                                             \
	OPTION_TEXT("user", 'u', "USER", &(f)->user, "only of these users: names, patterns or numbers"),            \
		{.name = "state",                                                                                   \
	         .letter = 's',                                                                                     \
	         .argument = "STATE",                                                                               \
	         .kind = OPTION_IS_READ,                                                                            \
	         .to.any = &(f)->state,                                                                             \
	         .read = filter_read_states,                                                                        \
	         .words = job_states, /* for completion */                                                          \
	         .expected = JOB_STATES,                                                                            \
	         .help = "only in one of these states: CD, F, TIMEOUT, ..."},                                       \
		OPTION_READ("since", 'S', "TIME", &(f)->since, filter_read_since, WHEN_EXPECTED,                    \
	                    "only those that started at TIME or later"),                                            \
		OPTION_READ("until", 'E', "TIME", &(f)->until, filter_read_until, WHEN_EXPECTED,                    \
	                    "only those that started at TIME or earlier"),                                          \
		OPTION_READ("starttime", 0, "TIME", &(f)->since, filter_read_since, WHEN_EXPECTED, NULL),           \
		OPTION_READ("endtime", 0, "TIME", &(f)->until, filter_read_until, WHEN_EXPECTED, NULL),             \
		OPTION_TEXT("exe", 'e', "GLOB", &(f)->exe,                                                          \
	                    "only of this executable (its path, or its last component)"),                           \
		OPTION_READ("job", 'j', "ID", &(f)->jobs, filter_read_jobs, FILTER_JOBS,                            \
	                    "only of these jobs, tasks of arrays (24_3), components (27+1), steps (23.5)"),         \
		OPTION_TEXT("name", 'n', "GLOB", &(f)->job_name, "only jobs of this name"),                         \
		OPTION_TEXT("account", 'A', "GLOB", &(f)->account, "only jobs of this account"),                    \
		OPTION_TEXT("partition", 'p', "GLOB", &(f)->partition, "only jobs of this partition"),              \
		OPTION_TEXT("qos", 'q', "GLOB", &(f)->qos, "only jobs of this quality of service"),                 \
		OPTION_TEXT("cluster", 0, "GLOB", &(f)->cluster, "only jobs of this cluster"),                      \
		OPTION_TEXT("node", 'w', "GLOB", &(f)->node, "only those with ranks on such a node"),               \
		OPTION_TEXT("mode", 0, "GLOB", &(f)->mode, "only traces of this mode: lossless, lossy:*"),          \
		OPTION_TEXT("rule", 0, "GLOB", &(f)->rule, "only those that this rule of the policy decided for"),  \
		OPTION_READ("ranks", 0, "N[-M]", (f)->ranks, filter_read_range, "N, N-, -M or N-M",                 \
	                    "only with this number of ranks; \"64-\" is 64 or more, \"-64\" at most 64"),           \
		OPTION_READ("nodes", 0, "N[-M]", (f)->nodes, filter_read_range, "N, N-, -M or N-M",                 \
	                    "only with this number of nodes"),                                                      \
		OPTION_READ("elapsed", 0, "T[-T]", (f)->elapsed, filter_read_times, "a range of times such as 1h-", \
	                    "only those that took this long: 90s, 30m, 12h, 7d; \"1h-\" is an hour or more"),       \
		OPTION_FLAG("partial", 0, &(f)->partial, "only traces that were made of what killed ranks left"),   \
		OPTION_FLAG("whole", 0, &(f)->whole, "only the others")
#define FILTER_JOBS "job ids such as 23, 24_3, 27+1, 23.5 or 23.batch, at most 64, separated by commas"
/* What --help says below the options. */
#define FILTER_NOTES                                                                           \
	"Texts are patterns, as for file names (*, ?, [...]), or lists of them: a,b; quote\n"  \
	"them. TIME is local, and as Slurm takes it: 2026-03-31T12:00, 03/31, 12:00, today,\n" \
	"now-1hour, or an age: 30m, 12h, 7d. A state is as squeue and sacct have it, KILLED\n" \
	"any that a signal ended."

/* For these lines. A range is two numbers, as in struct catalog_filter. */
int filter_read_since(void *to, const char *text);
int filter_read_until(void *to, const char *text);
int filter_read_jobs(void *to, const char *text);
int filter_read_states(void *to, const char *text);
int filter_read_range(void *to, const char *text);
int filter_read_times(void *to, const char *text);

/* In words: "user alice, since 2026-03-31T00:00:00"; "" if it selects all. malloc'ed; NULL: no memory. */
char *filter_describe(const struct catalog_filter *f);
/* Does it leave any trace out? */
bool filter_selects(const struct catalog_filter *f);

#endif
