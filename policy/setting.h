/* SPDX-License-Identifier: BSD-3-Clause
 * setting - the knobs of capturing, in one table: each line is a key of a policy, of the decision, of the handoff, and
 * of `spoor run`
 *
 * A new setting is a line of SETTINGS (and one in doc/policy.md): from it come the member of struct settings, the key
 * in a policy and in its rules, the fact in a decision, the field of the handoff, the option --NAME of `spoor run`, and
 * the line of `spoor policy explain`. The tracer finds it as handoff.set.NAME. libc only.
 */
#ifndef SPOOR_SETTING_H
#define SPOOR_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

/* SETTINGS(X): X(name, kind, least, most, standard, words, reach, help)
 *
 *     kind   COUNT  a number from least to most; words is its unit, for messages ("seconds")
 *            BYTES  the same in bytes; a text such as "8 MiB" is read, too
 *            CHOICE the place of one of the words in "first|second|third", which go from the least captured to the
 *            most;
 *                   of "off|on", true and false in a policy, and --NAME alone, mean the words
 *            GRADE  a CHOICE whose last word may be followed by `:E`, a fraction: what is captured of it may be wrong
 *                   by that much, relative to itself. least and most are those of E in millionths. As a number it is
 *                   the place of the word, but the last word is GRADE_EXACT, and with E it is GRADE_EXACT - E in
 *                   millionths, so that what captures more is more.
 *            TEXT   names of a-z A-Z 0-9 _ : . = + - * ?, separated by commas; least and most bound how many there may
 *                   be, standard is 0 (none)
 *     reach  TRACER  it is handed to the tracer, and `spoor run` has an option for it
 *            SITE    it ends with what root or the helper does
 *
 * Every number is a uint64_t, a TEXT a char[SETTING_TEXT_SIZE]. The standard value is what holds where nothing is said.
 * Order is that of output. */
#define SETTINGS(X)                                                                                                    \
	X(memory, BYTES, UINT64_C(1) << 20, UINT64_C(2) << 30, UINT64_C(8) << 20, "bytes", TRACER,                     \
	  "memory of a rank for its trace")                                                                            \
	X(deadline, COUNT, 1, 3600, 10, "seconds", TRACER, "time for merging in MPI_Finalize")                         \
	X(structure, CHOICE, 0, 1, 0, "lossy|exact", TRACER,                                                           \
	  "exact: modes lossy:N keep the order of calls and handles")                                                  \
	X(site_tolerance, COUNT, 0, 64, 0, "frames", TRACER,                                                           \
	  "calls whose call paths differ in at most this number of frames are one site")                               \
	X(site_ignore, TEXT, 0, IGNORED_MAX, 0, "modules and functions", TRACER,                                       \
	  "frames of these (libpetsc.so, *wrap*) that follow each other count as one, by which they were entered")     \
	X(retention, COUNT, 0, 36500, 0, "days", SITE, "how long the archive keeps the trace; 0: no limit")            \
	X(spool_reserve, BYTES, 0, UINT64_C(1) << 50, UINT64_C(64) << 20, "bytes", SITE,                               \
	  "free space that the spool's disk must have, beside the memory of the ranks")                                \
	X(spool_user, BYTES, 0, UINT64_C(1) << 50, 0, "bytes", SITE,                                                   \
	  "what all steps of a user may use of a node's spool; 0: half of the free space")                             \
	X(deliver_memory, BYTES, UINT64_C(64) << 20, UINT64_C(1) << 40, UINT64_C(224) << 20, "bytes", SITE,            \
	  "memory of a process that delivers a trace")                                                                 \
	X(deliver_cpu, COUNT, 1, 36000, 10, "seconds", SITE, "processor time of such a process")                       \
	X(containers, CHOICE, 0, 1, 0, "skip|trace", TRACER, "what happens to programs in containers")                 \
	X(buffers, CHOICE, 0, 1, 0, "off|on", TRACER,                                                                  \
	  "record buffers as symbols, the same symbol for the same address")                                           \
	X(timing, GRADE, 1, 500000, 1, "aggregate|histogram|full", TRACER,                                             \
	  "aggregate: sums of times; histogram: their distribution, too; full: the time of each event, too; "          \
	  "full:E: with an error of at most E")                                                                        \
	X(bins, COUNT, 1, 64, 8, "bins", TRACER, "maximum number of bins of a histogram of times in a complete trace") \
	X(counters, TEXT, 0, COUNTERS_MAX, 0, "PAPI events", TRACER,                                                   \
	  "events to count during and between calls (perf::TASK-CLOCK, PAPI_TOT_INS, ...)")

#define SETTING_TEXT_SIZE 256
#define COUNTERS_MAX      8
#define IGNORED_MAX       16
#define GRADE_EXACT       UINT64_C(1000010)

#define SETTING_MEMBER_COUNT(name)                                            uint64_t name;
#define SETTING_MEMBER_BYTES(name)                                            uint64_t name;
#define SETTING_MEMBER_CHOICE(name)                                           uint64_t name;
#define SETTING_MEMBER_GRADE(name)                                            uint64_t name;
#define SETTING_MEMBER_TEXT(name)                                             char name[SETTING_TEXT_SIZE];
#define SETTING_MEMBER(name, kind, least, most, standard, words, reach, help) SETTING_MEMBER_##kind(name)

struct settings {
	SETTINGS(SETTING_MEMBER)
};

enum setting_kind { SETTING_COUNT, SETTING_BYTES, SETTING_CHOICE, SETTING_GRADE, SETTING_TEXT };

struct setting {
	const char *name;
	enum setting_kind kind;
	size_t offset; /* in struct settings */
	uint64_t least, most, standard;
	const char *words;
	bool tracer;
	const char *help;
};

/* The table, with setting_count lines. */
#define SETTING_ONE(name, kind, least, most, standard, words, reach, help) +1
enum { setting_count = SETTINGS(SETTING_ONE) };
extern const struct setting setting_table[];

/* The line of that name, n bytes long; NULL: there is none. */
const struct setting *setting_find(const char *name, size_t n);
void settings_default(struct settings *all);

/* The value of a setting that is no TEXT, and of one that is. */
uint64_t setting_number(const struct setting *s, const struct settings *all);
const char *setting_text(const struct setting *s, const struct settings *all);
/* The value must be in range. */
void setting_put_number(const struct setting *s, struct settings *all, uint64_t value);

/* What a GRADE says of errors: in millionths; 0: there are none, or it is not its last word. */
uint64_t setting_error(uint64_t grade);

/* Reads a value as people write it. Returns 0, or -1 and leaves *all alone. */
int setting_parse(const struct setting *s, struct settings *all, const char *text);
/* Writes it as setting_parse reads it. Returns out. */
char *setting_format(const struct setting *s, const struct settings *all, char out[SETTING_TEXT_SIZE]);
/* What is expected: "seconds from 1 to 3600". Returns out. */
#define SETTING_EXPECTED_SIZE 200
char *setting_expected(const struct setting *s, char out[SETTING_EXPECTED_SIZE]);

/* Copies one value. */
void setting_copy(const struct setting *s, struct settings *to, const struct settings *from);
/* < 0, 0, > 0: a captures less than, as much as, more than b. Of a TEXT: by how many names there are. */
int setting_compare(const struct setting *s, const struct settings *a, const struct settings *b);

#endif
