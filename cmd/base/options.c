/* SPDX-License-Identifier: BSD-3-Clause
 * options - the options of a command in one table
 */
#include "cmd/base/options.h"
#include "cmd/base/sink.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/base/status.h"
#include "policy/suggest.h"
#include "trace/base/budget.h"
#include "trace/base/number.h"

#define LINE        256 /* what getopt_long returns for the first line, */
#define LIST        1   /* and for --list-options */
#define WIDTH       80  /* of --help */
#define HELP_COLUMN 26

int options_wrong(const char *command, const char *format, ...)
{
	va_list ap;

	if (opterr) {
		say_to(stderr, "%s: ", command);
		va_start(ap, format);
		say_to_v(stderr, format, ap);
		va_end(ap);
		say_to(stderr, "; see `%s --help`\n", command);
	}
	return CMD_USAGE;
}

/* --- --help --- */

/* The words, from column indent on, on as many lines as it takes. at: the column that was reached. */
static void print_wrapped(const char *text, int at, int indent)
{
	int column = at;

	if (at && column > indent - 2) {
		say("\n");
		column = 0;
	}
	while (*text) {
		int n = (int)strcspn(text, " ");
		if (column > indent && column + 1 + n > WIDTH) {
			say("\n");
			column = 0;
		}
		column += say("%*s", column < indent ? indent - column : column > 0, "") + n;
		sink_bytes(stdout, text, (size_t)n); /* ours, with line ends */
		text += n + (text[n] == ' ');
	}
	say("\n");
}

static void print_line(const struct option_line *l)
{
	const char *argument = l->argument ? l->argument : "", *blank = l->argument && argument[1] != '=' ? " " : "";
	int n = l->letter ? say("  -%c, --%s%s%s", l->letter, l->name, blank, argument)
	                  : say("      --%s%s%s", l->name, blank, argument);
	print_wrapped(l->help, n, HELP_COLUMN);
}

static void print_help(const struct options *o)
{
	bool any = o->lines[0].name != NULL;

	say("Usage: %s%s%s%s\n", o->command, any ? " [OPTION...]" : "", *o->operands ? " " : "", o->operands);
	print_wrapped(o->about, 0, 0);
	if (any)
		say("\n");
	for (const struct option_line *l = o->lines; l->name; l++)
		if (l->help) /* else it is another spelling */
			print_line(l);
	if (o->notes) {
		say("\n");
		say_lines(stdout, o->notes);
		say("\n");
	}
}

/* For completion: a line for each option, "--NAME -LETTER ARGUMENT WORD..."; "-" is what it has not. */
static void print_option_table(const struct options *o)
{
	for (const struct option_line *l = o->lines; l->name; l++) {
		if (!l->help)
			continue;
		say("--%s -%.1s %s", l->name, &l->letter, l->argument ? l->argument : "-");
		for (size_t i = 0; l->words && l->words[i]; i++)
			say(" %s", l->words[i]);
		say("\n");
	}
	say("--help -h -\n");
}

/* --- values --- */

static int read_decimal(const struct option_line *l, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= l->least && value <= l->most))
		return -1;
	*l->to.decimal = value;
	return 0;
}

static int read_word(const struct option_line *l, const char *text)
{
	for (size_t i = 0; l->words[i]; i++) {
		if (!strcasecmp(text, l->words[i])) {
			*l->to.text = l->words[i];
			return 0;
		}
	}
	return -1;
}

int options_read_limit(void *unused, const char *text)
{
	char *end;
	double times = strtod(text, &end);
	(void)unused;

	if (end == text || *end || !(times > 0 && times <= 1e12))
		return -1;
	budget_raise(times);
	return 0;
}

int options_read_user(void *to, const char *text)
{
	uint64_t number;
	const struct passwd *pw = getpwnam(text);
	int rv = pw ? 0 : number_parse(text, UINT32_MAX - 1, &number);
	if (rv == 0)
		*(int64_t *)to = pw ? (int64_t)pw->pw_uid : (int64_t)number;
	return rv;
}

int options_read_time(void *to, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9}};
	char *end;
	double time = strtod(text, &end);

	if (end == text || !(time >= 0 && time < 1e12))
		return -1;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(end, units[i].name) == 0) {
			*(double *)to = time * units[i].ns;
			return 0;
		}
	}
	return -1;
}

static int read_value(const struct option_line *l, const char *text)
{
	uint64_t number = 0;
	int rv = 0;

	switch (l->kind) {
	case OPTION_IS_FLAG:
		*l->to.flag = true;
		break;
	case OPTION_IS_TEXT:
		*l->to.text = text;
		return *text || l->argument[0] == '[' ? 0 : -1;
	case OPTION_IS_NUMBER:
		rv = number_parse(text, l->until, &number) || number < l->from ? -1 : 0;
		if (rv == 0)
			*l->to.number = (int64_t)number;
		break;
	case OPTION_IS_BYTES:
		rv = number_parse_bytes(text, l->until, &number) || number < l->from ? -1 : 0;
		if (rv == 0)
			*l->to.bytes = number;
		break;
	case OPTION_IS_DECIMAL:
		return read_decimal(l, text);
	case OPTION_IS_WORD:
		return read_word(l, text);
	case OPTION_IS_READ:
		return l->read(l->to.any, text);
	}
	return rv;
}

static int say_expected(const struct options *o, const struct option_line *l, const char *text)
{
	char expected[512] = "a text";
	size_t n = 0;

	switch (l->kind) {
	case OPTION_IS_NUMBER:
		snprintf(expected, sizeof expected, "a number from %" PRIu64 " to %" PRIu64, l->from, l->until);
		break;
	case OPTION_IS_BYTES:
		snprintf(expected, sizeof expected,
		         "a size from %" PRIu64 " to %" PRIu64 " bytes, such as 1000, 8MiB or 500G", l->from, l->until);
		break;
	case OPTION_IS_DECIMAL:
		snprintf(expected, sizeof expected, "a number from %g to %g", l->least, l->most);
		break;
	case OPTION_IS_WORD:
		for (size_t i = 0; l->words[i] && n < sizeof expected; i++)
			n += (size_t)snprintf(expected + n, sizeof expected - n, "%s%s",
			                      i == 0            ? ""
			                      : l->words[i + 1] ? ", "
			                                        : " or ",
			                      l->words[i]);
		break;
	default:
		snprintf(expected, sizeof expected, "%s", l->expected ? l->expected : "a text");
	}
	return options_wrong(o->command, "--%s: expected %s, found \"%s\"", l->name, expected, text);
}

/* --- the arguments --- */

static int say_unknown(const struct options *o, const char *word, int letter)
{
	const char *names[OPTIONS_MOST];
	size_t n = 0;

	if (letter)
		return options_wrong(o->command, "unknown option -%c", letter);
	for (const struct option_line *l = o->lines; l->name && n < OPTIONS_MOST; l++)
		names[n++] = l->name;
	const char *near = suggest(word + strspn(word, "-"), names, n);
	return options_wrong(o->command, "unknown option %s%s%s%s", word, near ? " (nearest: --" : "", near ? near : "",
	                     near ? ")" : "");
}

/* The line of what getopt_long returned; NULL: none. */
static const struct option_line *line_of(const struct options *o, int found)
{
	if (found >= LINE)
		return &o->lines[found - LINE];
	for (const struct option_line *l = o->lines; l->name; l++)
		if (l->letter && l->letter == found)
			return l;
	return NULL;
}

/* The tables of getopt_long. */
static void getopt_tables(const struct options *o, struct option *table, char *letters)
{
	*letters = '+';
	letters += o->leading;
	*letters++ = ':';
	for (const struct option_line *l = o->lines; l->name; l++) {
		bool bracket = l->argument && l->argument[0] == '[';
		*table++ = (struct option){l->name,
		                           !l->argument ? no_argument
		                           : bracket    ? optional_argument
		                                        : required_argument,
		                           NULL, LINE + (int)(l - o->lines)};
		if (l->letter) {
			*letters++ = l->letter;
			if (l->argument)
				*letters++ = ':';
		}
	}
	*table++ = (struct option){"help", no_argument, NULL, 'h'};
	*table++ = (struct option){"list-options", no_argument, NULL, LIST};
	*table = (struct option){NULL, 0, NULL, 0};
	strcpy(letters, "h");
}

/* Returns 0, or the exit status. */
static int read_one(const struct options *o, int found, char **argv)
{
	const struct option_line *l = line_of(o, found == '?' || found == ':' ? optopt : found);

	if (found == ':' && l)
		return options_wrong(o->command, "--%s: expected %s", l->name, l->argument);
	if (found == '?' && l)
		return options_wrong(o->command, "--%s: has no argument", l->name);
	if (!l)
		return say_unknown(o, argv[optind - 1], found == '?' && optopt < LINE ? optopt : 0);
	const char *text = optarg;
	if (!text && l->argument) /* in brackets */
		text = l->argument[1] != '=' && argv[optind] && argv[optind][0] != '-' ? argv[optind++] : "";
	return read_value(l, text) == 0 ? CMD_OK : say_expected(o, l, text);
}

bool options_read(const struct options *o, int argc, char **argv, int *status)
{
	struct option table[OPTIONS_MOST + 3];
	char letters[2 * OPTIONS_MOST + 4];

	getopt_tables(o, table, letters);
	*status = CMD_OK;
	optind = 0; /* from the beginning, also of a second command */
	for (int found; (found = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
		if (found == 'h' || found == LIST) {
			(found == 'h' ? print_help : print_option_table)(o);
			return false;
		}
		*status = read_one(o, found, argv);
		if (*status != CMD_OK)
			return false;
	}
	int operands = argc - optind;
	if (operands < o->least)
		*status = options_wrong(o->command, "expected %s", o->operands);
	else if (o->most >= 0 && operands > o->most)
		*status = options_wrong(o->command, "unexpected argument %s", argv[optind + o->most]);
	return *status == CMD_OK;
}
