/* SPDX-License-Identifier: BSD-3-Clause
 * recorder - turns MPI calls into events of this rank's arena
 *
 * A wrapper records a call in five steps, always in this order:
 *
 *     struct call c;
 *     if (!call_begin(&c, FN_MPI_Send))              // nothing is recorded: pass through
 *         return real.MPI_Send(buf, count, ...);
 *     int rc = real.MPI_Send(buf, count, ...);
 *     if (call_end(&c, rc)) {                        // takes the end time; false: an error variant, see below
 *         call_put(&c, count);                       // one put per schema parameter, in schema order
 *         ...
 *     }
 *     call_commit(&c);
 *     return rc;
 *
 * What is put is written straight into the columns of the call's site; there is no intermediate event.
 * Nothing here allocates in steady state, makes system calls, prints, or changes errno.
 */
#ifndef SPOOR_RECORDER_H
#define SPOOR_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/schema.h" /* generated: enum mpi_function, enum mpi_constant, mpi_schema[], mpi_constant_name[] */

struct recorder;
struct site;
struct column;

/* One MPI call while it is being recorded; lives on the wrapper's stack. */
struct call {
	struct recorder *rec;
	struct site *site;
	struct column *next; /* the column that the next put writes */
	uint64_t start, end; /* clock ticks */
	uint32_t function;
	bool failed; /* an error variant */
};

/* Begins to record a call of function f. Must be expanded in the wrapper itself (it identifies the caller by the
 * wrapper's return address and frame). False: this process or thread does not record; call nothing else then. */
#define call_begin(c, f) \
	call_begin_at((c), (f), __builtin_return_address(0), __builtin_dwarf_cfa())
bool call_begin_at(struct call *c, enum mpi_function f, void *return_address, void *cfa);

/* The PMPI function came back with rc. True: put all parameters. False (rc is not MPI_SUCCESS, i.e. 0): outputs are
 * not valid; put the inputs, and call_put_absent() for each output. The error class is recorded by
 * call_put_error(), which must be the last put of such a call. */
bool call_end(struct call *c, int rc);
void call_put_error(struct call *c, enum mpi_constant error_class);

/* Writes the next parameter. Values are encoded as doc/events.md section "Kinds" says. */
void call_put(struct call *c, int64_t value);
void call_put_vector(struct call *c, const int64_t *values, size_t n); /* for kinds "[K" */
void call_put_string(struct call *c, const char *bytes, size_t n);     /* for kind "s" */
void call_put_absent(struct call *c);                                  /* the constant "-", any kind */

/* The encoded value of a named constant, for use in puts and vectors. Cheap after the first use. */
int64_t call_constant(struct call *c, enum mpi_constant k);
/* The same for a name made at run time (a mask: "MPI_MODE_CREATE|MPI_MODE_RDWR"). Not for hot calls. */
int64_t call_constant_named(struct call *c, const char *name);

/* Adds the next row to an object table: OBJECT_COMM (rank relative to the rank in MPI_COMM_WORLD, size).
 * To be called when a communicator gets its number, between call_end and call_commit. Schema: mpi_object_schema[]. */
enum object { OBJECT_COMM, OBJECT_COUNT };
void call_object(struct call *c, enum object table, const int64_t *values, size_t n);

/* The event is complete: it becomes the last event of this rank. */
void call_commit(struct call *c);

/* For session.c: the recorder of this process. */

/* Makes the recorder on a new arena at path. Returns 0, or -1 with error set. */
struct error;
int recorder_start(const char *path, uint64_t memory, struct error *error);
/* No further call is recorded; the arena stays mapped. recorder_stop in a forked child: its parent's arena is left alone. */
void recorder_stop(void);
/* MPI_Init is done: the identity of this rank. world: equal for the ranks of one MPI_COMM_WORLD, and only for them. threads: calls may
 * come from several threads at once. */
void recorder_identify(uint32_t rank, uint32_t size, uint64_t world, bool threads);
/* Another reading of both clocks, so that ticks can be turned into time. */
void recorder_calibrate(void);
/* Facts of the process, as key=value lines; once, and host's name. Returns 0 or -1. */
int recorder_describe(const char *facts, size_t n, const char *host);
void recorder_finalized(void);

#endif
