/* SPDX-License-Identifier: BSD-3-Clause
 * recipe - which arguments a generated program gives to an MPI function (proxy/generate.py says how they are written)
 */
#ifndef SPOOR_PROXY_RECIPE_H
#define SPOOR_PROXY_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/model/schema.h"

struct recipe {
	const char *text;   /* statements, the last one without its `;` */
	const char *types;  /* NAME:TYPE of arrays of integers that are no int */
	const char *reason; /* why there is no text */
};

/* NULL: the function cannot be generated. */
const struct recipe *recipe_of(const struct schema *s);
/* Why a function cannot be generated. */
const char *recipe_missing(const struct schema *s);
/* Is it a poll, to be made again until it is 0? */
bool recipe_polls(const struct recipe *r);
/* How often the recipe asks for the values of this column. */
unsigned recipe_uses(const struct recipe *r, const struct schema_column *column);
/* Does it ask for the values of this column as {&...}, or {#...}? */
bool recipe_asks(const struct recipe *r, char form, const struct schema_column *column);
/* The C type of the elements of an array, *n letters. */
const char *recipe_type(const struct recipe *r, const struct schema_column *column, size_t *n);

#endif
