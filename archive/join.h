/* SPDX-License-Identifier: BSD-3-Clause
 * join - the parts of one MPI_COMM_WORLD that several nodes delivered become one trace
 *
 * A part is a trace of the archive whose metadata have `part`, the name of the spool folder that it comes from; what
 * was joined of some of them has `parts`, the list of these names. What is joined is published before its parts are
 * removed; so a trace whose parts are all in another one of the same world (or that is the same part twice, then the
 * one whose name sorts last) is left over from somebody who was killed in between, and is only removed. Nothing is
 * joined twice, and nothing is lost, whenever it is interrupted.
 */
#ifndef SPOOR_JOIN_H
#define SPOOR_JOIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"
#include "trace/model/trace.h"

/* A trace that is being put together, with its metadata. */
struct join {
	struct trace trace;
	json_t *base; /* of the lowest rank */
	uint32_t base_rank;
	json_t *parts; /* array of texts */
	int64_t unfinished, start_ns, end_ns;
	json_t *worst;      /* exit_code, signal, exit_task of the part that ended worst; may be NULL */
	const char *reason; /* points into a table */
	size_t count;       /* of what was added */
};

int join_init(struct join *j);
void join_free(struct join *j);
/* Adds a trace (used up in any case) with its metadata (stolen in any case). Returns 0, or -1 with error set: a rank is
 * there already, another world, no memory. */
int join_add_take(struct join *j, const char *name, struct trace *t, json_t *metadata, struct error *error);
/* Opens a sealed trace of this owner (REGULAR_ANYBODY: named by whoever runs the program) and adds it. */
int join_add_file(struct join *j, const char *path, int64_t owner, struct error *error);
/* The file of all that was added: canonical, refined if no rank is missing. *bytes is malloc'ed. *missing: how many
 * ranks are. */
int join_encode(struct join *j, uint8_t **bytes, size_t *size, uint64_t *missing, struct error *error);

/* How far back lists look for parts, in seconds: what is older was joined, or has nobody to be joined with. */
#define JOIN_AGE (7 * 86400)

/* What is to be joined. */
struct join_search {
	const char *archive; /* its root; every day from `since` (seconds since 1970) on is looked at. Or NULL, and: */
	int64_t since;
	const char *folder; /* that of one user in a day */
	int64_t job;        /* only of this job; -1: all */
	bool whole;         /* only if all ranks, or all nodes of the step, are there then */
	/* Is told what was done, one line (may be NULL). */
	void (*tell)(const char *text);
	void (*progress)(void *context, uint64_t done,
	                 uint64_t all); /* how many jobs with parts were gone through; may be NULL */
	void *context;
	size_t joined, removed; /* gets: traces made, left-overs removed */
};

/* Joins what belongs to the caller; for root, everybody's, each in a process that runs as the owner of the parts.
 * Somebody else who joins the same is not waited for. Returns 0, or -1 with error set (the first one): the archive
 * cannot be read, a part is damaged or cannot be replaced. */
int join_archive(struct join_search *s, struct error *error);

#endif
