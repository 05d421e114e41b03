/* SPDX-License-Identifier: BSD-3-Clause
 * options - the options of a command in one table: reading them, --help, manual pages and completion come from it
 *
 *     int64_t rank = 0;
 *     const char *archive = NULL;
 *     const struct option_line lines[] = {
 *             OPTION_NUMBER("rank", 'r', "R", &rank, 0, INT32_MAX, "whose loops are shown (default 0)"),
 *             OPTION_TEXT("archive", 0, "DIR", &archive, "look for JOB in this archive"),
 *             OPTION_END};
 *     const struct options options = {"spoor show", "FILE|JOB", "Shows a trace.", NULL, lines, 1, 1, false};
 *     int status;
 *     if (!options_read(&options, argc, argv, &status))
 *             return status;
 *     show(argv[optind], archive, rank);
 *
 * The argument's name says what it is, for completion: DIR, FILE, USER, GLOB, ... In brackets, "[DIR]" and "[=WORD]",
 * it may be left out: the value is then "". The second form needs `=`; the first takes the next word, too.
 */
#ifndef SPOOR_OPTIONS_H
#define SPOOR_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_line {
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* NULL: it has none */
	enum {
		OPTION_IS_FLAG,
		OPTION_IS_TEXT,
		OPTION_IS_NUMBER,
		OPTION_IS_BYTES,
		OPTION_IS_DECIMAL,
		OPTION_IS_WORD,
		OPTION_IS_READ
	} kind;
	union {
		bool *flag;
		const char **text;
		int64_t *number;
		uint64_t *bytes;
		double *decimal;
		void *any;
	} to;
	uint64_t from, until;     /* of NUMBER and BYTES */
	double least, most;       /* of DECIMAL */
	const char *const *words; /* NULL-terminated */
	int (*read)(void *to, const char *text);
	const char *expected;
	const char *help;
};

/* A line whose help is NULL is another spelling: it is read, and not shown.
 * Sets a flag. */
#define OPTION_FLAG(name_, letter_, to_, help_)                                                         \
	{                                                                                               \
		.name = name_, .letter = letter_, .kind = OPTION_IS_FLAG, .to.flag = to_, .help = help_ \
	}
/* A text that is not empty; kept, not copied. */
#define OPTION_TEXT(name_, letter_, argument_, to_, help_)                                                       \
	{                                                                                                        \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_TEXT, .to.text = to_, \
		.help = help_                                                                                    \
	}
/* A whole number from least to most; neither is negative. */
#define OPTION_NUMBER(name_, letter_, argument_, to_, least_, most_, help_)                                          \
	{                                                                                                            \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_NUMBER, .to.number = to_, \
		.from = least_, .until = most_, .help = help_                                                        \
	}
/* A size: number_parse_bytes. */
#define OPTION_BYTES(name_, letter_, argument_, to_, least_, most_, help_)                                         \
	{                                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_BYTES, .to.bytes = to_, \
		.from = least_, .until = most_, .help = help_                                                      \
	}
/* A number that need not be whole. */
#define OPTION_DECIMAL(name_, letter_, argument_, to_, least_, most_, help_)                                           \
	{                                                                                                              \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_DECIMAL, .to.decimal = to_, \
		.least = least_, .most = most_, .help = help_                                                          \
	}
/* One of the words, without regard to case; the value is that of the list. */
#define OPTION_WORD(name_, letter_, argument_, to_, words_, help_)                                               \
	{                                                                                                        \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_WORD, .to.text = to_, \
		.words = words_, .help = help_                                                                   \
	}
/* Whatever read() takes: it returns 0, or -1 if the text is not what is expected. */
#define OPTION_READ(name_, letter_, argument_, to_, read_, expected_, help_)                                    \
	{                                                                                                       \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_IS_READ, .to.any = to_, \
		.read = read_, .expected = expected_, .help = help_                                             \
	}
/* Commands that read traces have this one: multiplies the limits of budget.h. */
#define OPTION_LIMIT                                                                                           \
	OPTION_READ("limit", 0, "TIMES", NULL, options_read_limit, "a number of times up to 1e12, such as 10", \
	            "multiply the limits of memory and steps for reading a trace by TIMES; see spoor(1)")
#define OPTION_ARCHIVE(to_) \
	OPTION_TEXT("archive", 0, "DIR", to_, "the archive; default: that of SPOOR_ARCHIVE, or of the policy")
#define OPTION_POLICY(to_)                    \
	OPTION_TEXT("policy", 0, "FILE", to_, \
	            "this policy; default: that of SPOOR_POLICY, or of Slurm's plugin stack, or the installed one")
#define OPTION_END           \
	{                    \
		.name = NULL \
	}

#define OPTIONS_MOST 64

struct options {
	const char *command;             /* "spoor show" */
	const char *operands;            /* what follows the options, as --help shows it; "": nothing */
	const char *about;               /* what the command does */
	const char *notes;               /* below the options; NULL: nothing */
	const struct option_line *lines; /* ends with OPTION_END; at most OPTIONS_MOST */
	int least, most;                 /* operands; most negative: any number */
	bool leading;                    /* the first operand ends the options */
};

/* Reads the options, wherever they are. Returns true, and argv[optind] is the first operand: argv is put in order. Else
 * the command ends with *status: --help was asked for (0), or something is wrong (2), which has been said on stderr
 * unless opterr is 0. */
bool options_read(const struct options *options, int argc, char **argv, int *status);

/* Something is wrong with the arguments: says what, in the form of printf, and where to look. Returns the exit status.
 * */
int options_wrong(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For OPTION_READ: a time as a number and s (or nothing), ms, us or ns; *(double *)to gets ns. */
int options_read_time(void *to, const char *text);
#define OPTIONS_TIME "a time such as 12.5s, 300ms or 30m"
int options_read_limit(void *unused, const char *text);
/* A user's name or number; *(int64_t *)to gets the number. */
int options_read_user(void *to, const char *text);
#define OPTIONS_USER "a user's name or number"

#endif
