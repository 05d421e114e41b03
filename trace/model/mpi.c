/* SPDX-License-Identifier: BSD-3-Clause
 * mpi - what each MPI function means
 */
#include "trace/model/mpi.h"

#include <string.h>

/* Generated, in mpi_table.c: function numbers ascending by name; bytes + 1 of the constants that are datatypes. */
extern const uint16_t mpi_functions_by_name[FN_COUNT];
extern const uint8_t mpi_constant_size[];

const struct mpi_function mpi_unknown = {
	.function = FN_COUNT,
	.base = FN_COUNT,
	.schema = "",
	.directions = "",
	.at = {[0 ... MPI_PARAMETERS - 1] = -1},
};

/* The name in a schema ends at a blank or at its end. */
static int compare_name(const char *name, size_t n, const char *schema)
{
	int order = strncmp(name, schema, n);
	return order ? order : schema[n] == ' ' || schema[n] == '\0' ? 0 : -1;
}

const struct mpi_function *mpi_function_find(const char *name, size_t n)
{
	size_t low = 0, high = FN_COUNT;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mpi_function *f = &mpi_functions[mpi_functions_by_name[middle]];
		int order = compare_name(name, n, f->schema);
		if (order == 0)
			return f;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return &mpi_unknown;
}

bool mpi_datatype_size(const char *name, uint64_t *size)
{
	for (int i = 0; i < MPI_CONSTANT_COUNT; i++)
		if (mpi_constant_size[i] && strcmp(mpi_constant_name[i], name) == 0) {
			*size = mpi_constant_size[i] - 1U;
			return true;
		}
	return false;
}
