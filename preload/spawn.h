/* SPDX-License-Identifier: BSD-3-Clause
 * spawn - MPI_Comm_spawn and MPI_Comm_spawn_multiple
 *
 * Their arrays of strings have no kind of their own: they are recorded as named constants whose name is what is to be
 * printed, ["-n","5"] or [["-n","5"],[]]. A list that does not fit into NAMES_SIZE is cut, with "..." as its last
 * element.
 */
#ifndef SPOOR_SPAWN_H
#define SPOOR_SPAWN_H

#include "preload/wrap.h"

/* Where the strings of an argument list are: C's are NULL-terminated arrays of strings; Fortran's are arrays of strings
 * of one length, which end with a blank one; row i of a two-dimensional one is every count-th, beginning with the i-th.
 */
struct arguments {
	char **c;
	const char *fortran;
	size_t length; /* of each Fortran string */
	size_t stride; /* Fortran strings from one argument to the next */
};

/* What both functions are given, in C's form. */
struct spawn {
	struct text command;       /* MPI_Comm_spawn */
	struct arguments commands; /* MPI_Comm_spawn_multiple: count of them */
	char ***argvs;             /* C */
	struct arguments argv;     /* MPI_Comm_spawn; MPI_Comm_spawn_multiple in Fortran: row 0 */
	bool no_argvs;
	int count;
	int maxprocs;
	const int *array_of_maxprocs;
	struct handles infos;
	MPI_Info info;
	int root;
	MPI_Comm comm;
	const MPI_Comm *intercomm;
	const int *errcodes; /* NULL: ignored */
};

void record_MPI_Comm_spawn(struct call *c, bool ok, int rc, const struct spawn *s);
void record_MPI_Comm_spawn_multiple(struct call *c, bool ok, int rc, const struct spawn *s);

#endif
