/* SPDX-License-Identifier: BSD-3-Clause
 * filter - the options that say which traces of the archive are meant: the same words in every command
 */
#ifndef SPOOR_FILTER_H
#define SPOOR_FILTER_H

#include <getopt.h>

#include "archive/catalog.h"

/* Numbers of long options from here on are filters'; a command's own begin with FILTER_END. */
enum {
	FILTER_SINCE = 256,
	FILTER_UNTIL,
	FILTER_MODE,
	FILTER_RULE,
	FILTER_RANKS,
	FILTER_NODES,
	FILTER_ELAPSED,
	FILTER_PARTIAL,
	FILTER_WHOLE,
	FILTER_CLUSTER,
	FILTER_END
};

/* For the arrays of getopt_long. */
#define FILTER_LETTERS "u:s:e:j:n:A:p:q:w:"
#define FILTER_OPTIONS                                                                                                \
	{"user", required_argument, NULL, 'u'}, {"state", required_argument, NULL, 's'},                              \
		{"since", required_argument, NULL, FILTER_SINCE}, {"until", required_argument, NULL, FILTER_UNTIL},   \
		{"exe", required_argument, NULL, 'e'}, {"job", required_argument, NULL, 'j'},                         \
		{"name", required_argument, NULL, 'n'}, {"account", required_argument, NULL, 'A'},                    \
		{"partition", required_argument, NULL, 'p'}, {"qos", required_argument, NULL, 'q'},                   \
		{"cluster", required_argument, NULL, FILTER_CLUSTER}, {"node", required_argument, NULL, 'w'},         \
		{"mode", required_argument, NULL, FILTER_MODE}, {"rule", required_argument, NULL, FILTER_RULE},       \
		{"ranks", required_argument, NULL, FILTER_RANKS}, {"nodes", required_argument, NULL, FILTER_NODES},   \
		{"elapsed", required_argument, NULL, FILTER_ELAPSED}, {"partial", no_argument, NULL, FILTER_PARTIAL}, \
	{                                                                                                             \
		"whole", no_argument, NULL, FILTER_WHOLE                                                              \
	}

/* For --help. */
#define FILTER_USAGE                                                                                             \
	"  -u, --user USER        only of this user\n"                                                           \
	"  -s, --state STATE      only COMPLETED, FAILED or KILLED jobs\n"                                       \
	"      --since TIME       only those that started at TIME or later\n"                                    \
	"      --until TIME       only those that started at TIME or earlier\n"                                  \
	"  -e, --exe GLOB         only of this executable (its path, or its last component)\n"                   \
	"  -j, --job ID           only of this job, array or heterogeneous job\n"                                \
	"  -n, --name GLOB        only jobs of this name\n"                                                      \
	"  -A, --account, -p, --partition, -q, --qos, --cluster GLOB   as the job had them\n"                    \
	"  -w, --node GLOB        only those with ranks on such a node\n"                                        \
	"      --mode GLOB        only traces of this mode: lossless, lossy:*\n"                                 \
	"      --rule GLOB        only those that this rule of the policy decided for\n"                         \
	"      --ranks N[-M], --nodes N[-M]   only with so many; \"64-\" is 64 or more, \"-64\" at most 64\n"    \
	"      --elapsed T[-T]    only those that took so long: 90s, 30m, 12h, 7d; \"1h-\" is an hour or more\n" \
	"      --partial, --whole   only traces that were made of what killed ranks left; only the others\n"
#define FILTER_USAGE_END                                                                                           \
	"Texts are patterns, as for file names (*, ?, [...]); quote them. TIME is 2026-03-31, 2026-03-31T12:00,\n" \
	"2026-03-31T12:00:00 (local), or an age: 30m, 12h, 7d.\n"

/* Takes an option that getopt_long found; value is kept, not copied. Returns 0; 1: it is no filter's; -1: the value is
 * wrong, and *expected says what was expected. */
int filter_read(struct catalog_filter *f, int option, const char *value, const char **expected);

/* Is it one of these words, without regard to case? The list ends with NULL. */
bool filter_is_one_of(const char *text, const char *const *words);
/* Not negative, of at most 11 digits. Returns 0 or -1. */
int filter_number(const char *text, int64_t *number);

#endif
