/* SPDX-License-Identifier: BSD-3-Clause
 * schema - what a function's columns are
 */
#include "trace/model/schema.h"

#include <string.h>

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
	return 0;
}

bool schema_exact(const struct schema *s, size_t column)
{
	static const char *const makers[] = {"@",
	                                     "MPI_Type_",
	                                     "MPI_Comm_",
	                                     "MPI_Group_",
	                                     "MPI_Cart_",
	                                     "MPI_Graph_",
	                                     "MPI_Dist_graph_",
	                                     "MPI_Intercomm_",
	                                     "MPI_Op_",
	                                     "MPI_Win_create",
	                                     "MPI_Win_allocate",
	                                     "MPI_Info_",
	                                     "MPI_File_open",
	                                     "MPI_File_set_view",
	                                     "MPI_Init",
	                                     "MPI_Cartdim",
	                                     "MPI_Graphdim",
	                                     "MPI_Topo",
	                                     "MPI_Session"};
	if (column >= s->count || (s->column[column].kind && strchr("ctgowfnemk", s->column[column].kind)))
		return true;
	for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
		size_t n = strlen(makers[i]);
		if (s->function_length >= n && memcmp(s->function, makers[i], n) == 0)
			return true;
	}
	return false;
}
