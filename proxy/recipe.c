/* SPDX-License-Identifier: BSD-3-Clause
 * recipe - which arguments a generated program gives to an MPI function
 */
#include "proxy/recipe.h"

#include <stdio.h>
#include <string.h>

#include "proxy/recipes.h"

const struct recipe *recipe_of(const struct schema *s)
{
	enum mpi_number f = s->mpi->function;
	return f < FN_COUNT && recipes[f].text ? &recipes[f] : NULL;
}

const char *recipe_missing(const struct schema *s)
{
	enum mpi_number f = s->mpi->function;
	return f < FN_COUNT && recipes[f].reason ? recipes[f].reason : "this version does not know it";
}

bool recipe_polls(const struct recipe *r)
{
	return strncmp(r->text, "poll_", 5) == 0;
}

unsigned recipe_uses(const struct recipe *r, const struct schema_column *column)
{
	unsigned uses = 0;
	for (const char *at = r->text; (at = strchr(at, '{')) != NULL;) {
		at += 1 + (at[1] == '&' || at[1] == '#');
		if (strncmp(at, column->name, column->length) == 0 &&
		    (at[column->length] == '}' || at[column->length] == '?'))
			uses++;
	}
	return uses;
}

bool recipe_asks(const struct recipe *r, char form, const struct schema_column *column)
{
	for (const char *at = r->text; (at = strchr(at, '{')) != NULL; at++)
		if (at[1] == form && strncmp(at + 2, column->name, column->length) == 0 &&
		    at[2 + column->length] == '}')
			return true;
	return false;
}

static const char *handle_type(char kind)
{
	static const char *const names[] = {"cMPI_Comm", "tMPI_Datatype", "gMPI_Group",   "oMPI_Op",
	                                    "wMPI_Win",  "fMPI_File",     "nMPI_Info",    "eMPI_Errhandler",
	                                    "kint",      "qMPI_Session",  "mMPI_Message", "rMPI_Request"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i][0] == kind)
			return names[i] + 1;
	return NULL;
}

const char *recipe_type(const struct recipe *r, const struct schema_column *column, size_t *n)
{
	const char *handle = handle_type(column->kind), *type = handle ? handle : "int";
	for (const char *at = r->types; *at && !handle; at += strcspn(at, " "), at += *at == ' ')
		if (strncmp(at, column->name, column->length) == 0 && at[column->length] == ':')
			type = at + column->length + 1;
	*n = strcspn(type, " ");
	return type;
}
