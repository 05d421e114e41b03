/* SPDX-License-Identifier: BSD-3-Clause
 * step_files - what is in a step's folder of the spool: raw traces, arenas, notes of the tracer
 */
#ifndef SPOOR_STEP_FILES_H
#define SPOOR_STEP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

/* The raw traces of a step's folder, oldest first, and what else is there. Zero-initialised is empty. */
struct step_files {
	struct step_file {
		char *path;
		int64_t time; /* of the last change, ns */
	} * worlds, *arenas, *notes, *rest;
	size_t world_count, arena_count, note_count, rest_count;
};

/* More names than a step's folder is looked at for: what is there beyond is not the tracer's, and is removed, traces
 * last. */
#define STEP_FILES_MAX 20000
void step_files_trim(const char *folder);

/* Lists a step's folder; one that is not there is empty. Returns 0, or -1 with error set. The caller frees it. */
int step_files_read(struct step_files *files, const char *folder, struct error *error);
void step_files_free(struct step_files *files);

/* The first thing that the tracer had to say, on one line: why a process is not traced, or else why one that is traced
 * has not used MPI (`spoor run` only). False: it had nothing. */
bool step_files_note(const struct step_files *files, char *text, size_t size);
/* Prints what the tracer had to say, each text once, and removes it. */
void step_files_tell_notes(const struct step_files *files);

#endif
