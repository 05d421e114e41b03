/* SPDX-License-Identifier: BSD-3-Clause
 * parser - what the readers of a policy's parts share: where a value stands, and how to say what is wrong with it;
 * inside of policy/ only
 */
#ifndef SPOOR_PARSER_H
#define SPOOR_PARSER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/json_place.h"
#include "policy/policy.h"
#include "policy/rule.h"

#define PARSER_PATH_SIZE 256

struct parser {
	struct policy *policy;
	struct problems *problems;
	const char *file, *text;
	size_t seen, seen_line, seen_column; /* where the last place was: the next one is mostly behind it */
	void *names;                         /* the rules by their names, as tsearch() keeps them */
};

/* A value: where it stands, and its JSON path. value is NULL where the text is walked instead: in objects, and in the
 * list of rules. */
struct spot {
	json_t *value;
	size_t at, end;
	const char *path;
};

/* Line and column of an offset. */
void parser_line(struct parser *p, size_t at, size_t *line, size_t *column);
/* Adds a problem: the place, "PATH: " and the text. */
void parser_problem(struct parser *p, size_t at, const char *path, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "expected ..., found" what is there. */
void parser_found(struct parser *p, const struct spot *s, const char *expected);
void parser_no_memory(struct parser *p, const struct spot *s);
/* A key that is none of the n names. */
void parser_unknown_key(struct parser *p, const struct json_place *place, const char *path, const char *name,
                        const char **names, size_t n);

bool parser_has_control_characters(const char *text);

#endif
