/* SPDX-License-Identifier: BSD-3-Clause
 * json_place - where in a JSON text a value stands
 *
 * jansson says where a syntax error is, and nothing about where a value of a valid text was. This walks the members of
 * an object, or the elements of an array, in the text itself, next to jansson's tree. The text must be valid JSON
 * (jansson has read it); positions are byte offsets from its start.
 */
#ifndef SPOOR_JSON_PLACE_H
#define SPOOR_JSON_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct json_place {
	const char *text;
	size_t next;  /* where the walk goes on */
	size_t key;   /* the opening quote of the member's key; the value's position in an array */
	size_t value; /* first byte of the value */
};

/* The position of the text's outermost value. */
size_t json_place_root(const char *text);
/* Starts a walk over the object or array whose first byte is at `at`. */
struct json_place json_place_begin(const char *text, size_t at);
/* Goes to the next member or element. False: there is none. */
bool json_place_next(struct json_place *p);
/* The key of the current member, decoded; malloc'ed, or NULL if memory is short. */
char *json_place_key(const struct json_place *p);
/* Line and column of an offset, both from 1; columns count characters of UTF-8. */
void json_place_line_column(const char *text, size_t at, size_t *line, size_t *column);

#endif
