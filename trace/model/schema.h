/* SPDX-License-Identifier: BSD-3-Clause
 * schema - what a function's columns are: "MPI_Send count:i datatype:t dest:p tag:i comm:c" (doc/events.md, "Kinds")
 *
 * A trace carries the schemas of the functions in it: what its columns are does not depend on the reader's table of
 * MPI. What a function means does (mpi.h); schema_parse finds it once.
 */
#ifndef SPOOR_TRACE_SCHEMA_H
#define SPOOR_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/model/mpi.h"

/* Columns of a function at most; more is refused as damage. */
#define SCHEMA_MAX 64
/* The kind of the column behind the last one: the next site. */
#define KIND_SUCCESSOR 'x'

struct schema_column {
	const char *name; /* not terminated; inside the text */
	uint16_t length;
	char kind;
	char direction; /* as in struct mpi_function; '\0': the table does not know it */
	bool vector;
};

struct schema {
	const char *function; /* not terminated */
	size_t function_length;
	size_t count;
	struct schema_column column[SCHEMA_MAX];
	bool object;                    /* an object table: its name begins with '@' */
	const struct mpi_function *mpi; /* what it means; never NULL */
	int8_t at[MPI_PARAMETERS];      /* columns of its parameters, or -1 */
};

/* text must outlive the schema. Returns 0, or -1 if it has not this form. */
int schema_parse(struct schema *s, const char *text, size_t n);

/* The column with this name, or -1. For parameters that struct mpi_function has no place for; not for every event. */
int schema_column(const struct schema *s, const char *name);

/* What the values of a column refer to. */
enum reference {
	REFERENCE_NONE,
	REFERENCE_STRING,
	REFERENCE_VECTOR,
	REFERENCE_SITE,
	REFERENCE_CLASS /* of computations (trace/model/classes.h): the column of an edge */
};
static inline enum reference schema_reference(const struct schema *s, size_t column)
{
	if (column >= s->count)
		return REFERENCE_SITE;
	if (s->column[column].vector)
		return REFERENCE_VECTOR;
	return s->column[column].kind == 's' ? REFERENCE_STRING : REFERENCE_NONE;
}

/* Does a column keep its order in lossy modes? Handles other than requests do, and whatever describes how objects are
 * made - communicators, datatypes, groups, windows: without them nothing else means anything; and the successor column,
 * which is the structure. */
bool schema_exact(const struct schema *s, size_t column);

#endif
