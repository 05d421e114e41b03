/* SPDX-License-Identifier: BSD-3-Clause
 * schema - what a function's columns are
 */
#include "trace/model/schema.h"

#include <string.h>

int schema_column(const struct schema *s, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == n && memcmp(s->column[i].name, name, n) == 0)
			return (int)i;
	return -1;
}

/* The columns are those of the table, but for buffers, where they are recorded, and the error of calls that failed. */
static void find_meaning(struct schema *s)
{
	size_t column = 0;
	s->mpi = mpi_function_find(s->function, s->function_length);
	memset(s->at, -1, sizeof s->at);
	const char *at = strchr(s->mpi->schema, ' ');
	for (int i = 0; at; i++) {
		const char *name = at + 1;
		size_t n = strcspn(name, ":"), k = column;
		while (k < s->count && (s->column[k].length != n || memcmp(s->column[k].name, name, n) != 0))
			k++;
		at = strchr(name + n, ' ');
		if (k == s->count)
			continue;
		column = k + 1;
		s->column[k].direction = s->mpi->directions[i];
		for (int p = 0; p < MPI_PARAMETERS; p++)
			if (s->mpi->at[p] == i)
				s->at[p] = (int8_t)k;
	}
	s->at[PARAMETER_ERROR] = (int8_t)schema_column(s, "error");
}

int schema_parse(struct schema *s, const char *text, size_t n)
{
	const char *end = text + n, *at = memchr(text, ' ', n);
	*s = (struct schema){.function = text, .function_length = (size_t)((at ? at : end) - text)};
	if (s->function_length == 0 || memchr(text, 0, n))
		return -1;
	s->object = text[0] == '@';
	while (at) {
		const char *begin = at + 1;
		at = memchr(begin, ' ', (size_t)(end - begin));
		const char *stop = at ? at : end, *colon = memchr(begin, ':', (size_t)(stop - begin));
		if (!colon || colon == begin || s->count == SCHEMA_MAX || colon - begin > UINT16_MAX)
			return -1;
		struct schema_column *c = &s->column[s->count++];
		c->name = begin;
		c->length = (uint16_t)(colon - begin);
		c->vector = colon + 1 < stop && colon[1] == '[';
		const char *kind = colon + 1 + c->vector;
		if (stop - kind != 1 || *kind < 'a' || *kind > 'z' || *kind == KIND_SUCCESSOR)
			return -1;
		c->kind = *kind;
	}
	find_meaning(s);
	return 0;
}

bool schema_exact(const struct schema *s, size_t column)
{
	if (s->object || column >= s->count || (s->column[column].kind && strchr("ctgowfnemk", s->column[column].kind)))
		return true;
	switch (s->mpi->class) {
	case MPI_CLASS_COMMUNICATOR:
	case MPI_CLASS_GROUP:
	case MPI_CLASS_TOPOLOGY:
	case MPI_CLASS_PROCESS:
	case MPI_CLASS_SESSION:
	case MPI_CLASS_DATATYPE:
	case MPI_CLASS_OPERATION:
	case MPI_CLASS_INFO:
	case MPI_CLASS_ATTRIBUTE:
	case MPI_CLASS_WINDOW:
		return true;
	case MPI_CLASS_FILE:
		return s->mpi->function == FN_MPI_File_open || s->mpi->function == FN_MPI_File_set_view;
	default:
		return mpi_initializes(s->mpi);
	}
}
