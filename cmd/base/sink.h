/* SPDX-License-Identifier: BSD-3-Clause
 * sink - the only way out for text: each value is escaped for the place that it goes to
 *
 * Names of jobs, programs, files and sites are whatever a user likes. So nothing below cmd/ prints with stdio
 * (tests/sinks.t): these functions take a format of ours, and values. What is in the format is written as it is; what a
 * value (`%s`, `%c`) holds is escaped. Numbers have nothing to escape. Formats are those of printf, without %n, %p and
 * %ls. A width counts bytes, as printf's. All of them return the number of bytes as printf does, or -1.
 *
 * On a terminal, and in pages, one line is one line: of control characters (C0, DEL, C1), line separators, marks that
 * turn the direction of what follows, and bytes that are no UTF-8, nothing remains.
 */
#ifndef SPOOR_SINK_H
#define SPOOR_SINK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define SINK_FORMAT(n) __attribute__((format(printf, n, n + 1)))

/* Text for people: a terminal, or a file that one may look at there. say: to stdout. Each byte that is not written is a
 * '?'. */
int say(const char *format, ...) SINK_FORMAT(1);
int say_to(FILE *out, const char *format, ...) SINK_FORMAT(2);
int say_to_v(FILE *out, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
/* After messages of which only the first were said (trace/base/repeated.h): how many more there were, if any. */
void say_more(const char *who, size_t count);
/* What say would write, for libraries that write files of their own (OTF2). The caller frees it; NULL: no memory. */
char *say_copy(const char *text);
/* A text of several lines: its line ends are kept. */
int say_lines(FILE *out, const char *text);

/* A page: &, <, >, and quotes of values are escaped, so they are good in attributes between quotes, too. What has no
 * place in a page is U+FFFD. NULL is "". */
int html_print(FILE *out, const char *format, ...) SINK_FORMAT(2);

/* A cell of CSV that holds a text. What begins with = + - @, spreadsheets take for a formula: it gets a quote before
 * it. */
int csv_print_text(FILE *out, const char *text);
/* A text of SQL with its quotes, as it is: the name of a file. */
int sql_print_text(FILE *out, const char *text);
/* A cell of a table whose columns are separated by '|'. */
int columns_print_text(FILE *out, const char *text);

/* The value of a label in OpenMetrics, without its quotes. */
int metrics_print_label(FILE *out, const char *text);

/* A comment of Slurm: ASCII without quotes and `$ \ |, which sacct, shells and tables would take for theirs; not more
 * than `most` bytes. */
int comment_print_text(FILE *out, const char *text, size_t most);

/* Bytes that are no text for people (a trace), or that the functions above have written before, to a memory stream of
 * the caller's. Returns 0 or -1. */
int sink_bytes(FILE *out, const void *bytes, size_t n);

#endif
