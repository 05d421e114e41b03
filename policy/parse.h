/* SPDX-License-Identifier: BSD-3-Clause
 * parse - the texts of policy files into a struct policy; inside of policy/ only
 */
#ifndef SPOOR_PARSE_H
#define SPOOR_PARSE_H

#include "policy/policy.h"

/* Rules of all files together. */
#define RULES_MAX 20000

/* Adds a problem at a position: "FILE:LINE:COLUMN: " and the text. */
void problems_add(struct problems *p, const char *file, size_t line, size_t column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Reads the files of one policy into it, one after another. */
struct parser;
struct parser *parser_create(struct policy *policy, struct problems *problems);
void parser_destroy(struct parser *p);
/* Adds what size bytes of text say, which have a NUL behind their end, and what is wrong with them to the problems. A
 * fragment has rules only; main is the file that it belongs to, for messages (NULL: this is it). */
void parser_read(struct parser *p, const char *file, const char *main, const char *text, size_t size);

#endif
