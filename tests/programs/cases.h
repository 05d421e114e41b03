/* SPDX-License-Identifier: BSD-3-Clause
 * cases - a program that does one of several things: its first argument says which (tests/cases.t)
 *
 *     #define CASES(X) X(name, MPI_Xyz) ...     the functions, and what of MPI each needs
 *     #include "tests/programs/cases.h"
 *     #if HAS_MPI_Xyz
 *     void name(void) ...
 *
 * has.h is made by the test: HAS_MPI_Xyz for each function that the library's mpi.h declares. Without an argument the
 * program names all cases, and what the library lacks for them. Those that only find out when they run have status 77.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "has.h"

#define LACKING 77

static int rank, size, left, right, wrong;

static void __attribute__((unused)) check(bool good, const char *what)
{
	if (!good)
		printf("rank %d: %s is wrong\n", rank, what);
	wrong |= !good;
}

static void __attribute__((unused)) place(MPI_Comm comm)
{
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
}

static void __attribute__((unused)) begin(void)
{
	MPI_Init(NULL, NULL);
	place(MPI_COMM_WORLD);
}

static void __attribute__((unused)) end(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

#define CASE_DECLARED(name, needed) void name(void) __attribute__((weak));
#define CASE_LISTED(name, needed)   {#name, name, #needed},
CASES(CASE_DECLARED)

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void); /* NULL: it is not there */
		const char *needed;
	} cases[] = {CASES(CASE_LISTED)};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc < 2) {
			printf("%s%s%s\n", cases[i].name, cases[i].run ? "" : " lacks ",
			       cases[i].run ? "" : cases[i].needed);
		} else if (!strcmp(argv[1], cases[i].name)) {
			if (!cases[i].run)
				return LACKING;
			cases[i].run();
			if (rank == 0)
				printf("%s: done\n", argv[1]);
			return wrong;
		}
	}
	return argc > 1;
}
