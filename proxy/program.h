/* SPDX-License-Identifier: BSD-3-Clause
 * program - a trace as a program in C
 */
#ifndef SPOOR_PROXY_PROGRAM_H
#define SPOOR_PROXY_PROGRAM_H

#include <stdio.h>

#include "proxy/work.h"
#include "trace/model/trace.h"

struct program {
	const struct trace *trace;
	const char *title; /* for the comment at the top: what it is of */
	/* Writes the name of the function that a node of call paths is in, as source code has it; or anything else, if
	 * that is not known. */
	void (*function)(void *context, uint32_t node, char *out, size_t size);
	void *context;
	const struct work_options *work;
	double steps; /* so many times the turns of its main loop; 1: as many */
	bool partial; /* of a run that was ended: as far as all ranks came (cut.h) */
	FILE *notes;  /* gets how far it goes, and which loops are shortened, one a line */
};

/* Writes the program. With a scale below 1 it has fewer turns of its loops, and SCALE is what is missing to that in its
 * computation. Returns 0, or -1 with error set. */
int program_write(const struct program *p, FILE *out, struct error *error);

#endif
