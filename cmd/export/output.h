/* SPDX-License-Identifier: BSD-3-Clause
 * output - a file or a folder that is there whole or not at all: made under a temporary name beside it, and renamed
 * when it is complete
 */
#ifndef SPOOR_EXPORT_OUTPUT_H
#define SPOOR_EXPORT_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "trace/base/error.h"

struct output {
	const char *name; /* as the user gave it */
	char temporary[PATH_MAX];
	bool folder;
	FILE *file; /* NULL of a folder; stdout if the name is "-" */
};

/* A file, which takes the place of what has its name; "-": standard output. Returns 0, or -1 with error set. */
int output_file(struct output *o, const char *name, struct error *error);
/* A folder, which must not exist yet, or be empty. */
int output_folder(struct output *o, const char *name, struct error *error);
/* Gives it its name. Returns 0, or -1 with error set; then nothing is left. */
int output_finish(struct output *o, struct error *error);
/* Removes what was written. Also after output_finish, and of a zeroed output: does nothing then. */
void output_discard(struct output *o);

#endif
