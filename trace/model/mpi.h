/* SPDX-License-Identifier: BSD-3-Clause
 * mpi - what each MPI function means: the one table that all readers ask
 *
 * Made by preload/generate.py --model from preload/mpi.table. A reader looks nothing up by name: schema_parse finds the
 * row of a function, and the columns of its parameters in the schema that a trace carries (schema.h):
 *
 *     s->mpi->class == MPI_CLASS_COLLECTIVE       s->mpi->base == FN_MPI_Barrier
 *     s->at[PARAMETER_COUNT]                      the column, or -1
 *     s->column[i].direction == '>'               an output
 *
 * A function that the table does not know (a newer trace) has the row mpi_unknown: class MPI_CLASS_OTHER, number and
 * base FN_COUNT, and no parameters.
 */
#ifndef SPOOR_MPI_H
#define SPOOR_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Generated: enum mpi_number (FN_MPI_Send, ..., FN_COUNT); enum mpi_constant (CONST_ABSENT: "-", CONST_MPI_COMM_WORLD,
 * ...); enum mpi_completes, which requests a call completes: none, all, the one of INDEX, some of INDICES; if it has
 * PARAMETER_FLAG, only where that is 1 (trace/read/completed.h); enum mpi_parameter, which is:
 *
 *     PARAMETER_COMM                       the communicator that the call is on (also comm_old, local_comm, intercomm)
 *     PARAMETER_COUNT, _TYPE               of what the call passes on; of a receive or MPI_Get, of what it gets
 *     PARAMETER_RECV_COUNT, _RECV_TYPE     recvcount, recvcounts, recvtype, recvtypes
 *     PARAMETER_DEST, _SOURCE, _ROOT       DEST: also target_rank
 *     PARAMETER_PEER_COMM, _REMOTE_LEADER  where the leaders of an intercommunicator meet; PORT: port_name
 *     PARAMETER_TAG, _RECV_TAG             TAG: also sendtag
 *     PARAMETER_REQUEST                    the request, or the array of them; input or output
 *     PARAMETER_MESSAGE, _WIN, _FILE, _GROUP     handles
 *     PARAMETER_FLAG, _INDEX, _INDICES, _OUTCOUNT, _STATUS_SOURCE, _STATUS_TAG, _STATUS_COUNT     results; the status
 *                                          or the array of them
 *     PARAMETER_PARTITIONS, _COLOR, _SPLIT_TYPE, _REMAIN_DIMS, _DIMS     as they are called
 *     PARAMETER_NAME                       comm_name, stringtag
 *     PARAMETER_CREATED                    the first handle, not a request, that the call returns
 *     PARAMETER_FREED                      the handle that it frees
 *     PARAMETER_ERROR                      a trace has it where calls failed
 */
#include "trace/model/mpi_table.h"

enum mpi_class {
	MPI_CLASS_OTHER,          /* not in the table */
	MPI_CLASS_ENVIRONMENT,    /* MPI_Init, MPI_Finalize, MPI_Abort, MPI_Pcontrol, buffers of MPI_Bsend */
	MPI_CLASS_POINT_TO_POINT, /* sends, receives, MPI_Start, MPI_Pready */
	MPI_CLASS_COMPLETION,     /* MPI_Wait, MPI_Test, probes, MPI_Request_free */
	MPI_CLASS_COLLECTIVE, /* collective operations on data, and MPI_Barrier; not all that is collective (scope) */
	MPI_CLASS_COMMUNICATOR,
	MPI_CLASS_GROUP,
	MPI_CLASS_TOPOLOGY,
	MPI_CLASS_PROCESS, /* MPI_Comm_spawn, MPI_Comm_accept, MPI_Open_port */
	MPI_CLASS_SESSION,
	MPI_CLASS_DATATYPE,
	MPI_CLASS_OPERATION, /* MPI_Op_create */
	MPI_CLASS_ERROR,     /* error handlers, codes and classes */
	MPI_CLASS_INFO,
	MPI_CLASS_ATTRIBUTE,
	MPI_CLASS_WINDOW,    /* making and describing windows */
	MPI_CLASS_ONE_SIDED, /* MPI_Put and the like, and synchronization of windows */
	MPI_CLASS_FILE,
	MPI_CLASS_LOCAL, /* computes: MPI_Pack, MPI_Reduce_local, MPI_Get_count, MPI_Dims_create */
	MPI_CLASSES
};

/* What becomes of a call's communication. */
enum mpi_form {
	FORM_BLOCKING,    /* done when it returns; also what does not communicate */
	FORM_NONBLOCKING, /* started, with a request: MPI_Isend, MPI_Rput, MPI_File_iread */
	FORM_PERSISTENT,  /* a request is made that is yet to be started: MPI_Send_init, MPI_Barrier_init */
};

/* Can a call wait for other processes? Those that are not blocking, and MPI_Test, cannot. */
enum mpi_waits { WAITS_NOT, WAITS, WAITS_FOR_ALL /* returns only when all processes of its scope have called it */ };

/* Over which processes a call is collective. */
enum mpi_scope {
	SCOPE_SINGLE, /* it is not */
	SCOPE_COMM,   /* those of PARAMETER_COMM */
	SCOPE_GROUP,  /* of a group: MPI_Comm_create_group */
	SCOPE_WIN,
	SCOPE_FILE,
	SCOPE_WORLD, /* MPI_Init, MPI_Finalize */
};

/* What a handle stands for. */
enum handle_kind {
	HANDLE_NONE,
	HANDLE_COMM,
	HANDLE_TYPE,
	HANDLE_GROUP,
	HANDLE_OP,
	HANDLE_WIN,
	HANDLE_FILE,
	HANDLE_INFO,
	HANDLE_ERRHANDLER,
	HANDLE_MESSAGE,
	HANDLE_KEYVAL,
	HANDLE_SESSION,
	HANDLE_REQUEST,
	HANDLE_BUFFER, /* no handle of MPI: an address that got a number */
	HANDLE_KINDS
};

/* COUNT elements are passed on altogether (the sum of an array); or to each. */
enum mpi_each { EACH_NOT, EACH_PROCESS /* of the communicator */, EACH_NEIGHBOUR };

/* Can a buffer be MPI_IN_PLACE, and what is passed on then? */
enum mpi_in_place {
	IN_PLACE_NEVER,
	IN_PLACE_NOTHING, /* what COUNT says, or nothing */
	IN_PLACE_SAME,    /* what RECV_COUNT and RECV_TYPE say */
	IN_PLACE_OWN      /* the caller's own element of RECV_COUNT */
};

/* Between a file, or the memory of another process, and the caller's. MPI_Get_accumulate, which does both, writes. */
enum mpi_moves { MOVES_NOT, MOVES_READ, MOVES_WRITE };

struct mpi_function {
	enum mpi_number function : 16;
	enum mpi_number
		base : 16; /* the blocking form: of MPI_Ibarrier, MPI_Barrier_init, MPI_Bcast_c; or the function */
	enum mpi_class class : 8;
	enum mpi_form form : 8;
	enum mpi_waits waits : 8;
	enum mpi_scope scope : 8;
	enum mpi_completes completes : 8;
	enum mpi_each each : 8;
	enum mpi_in_place in_place : 8;
	enum mpi_moves moves : 8;
	bool neighbor;      /* MPI_Neighbor_...: with the neighbours in the communicator's topology */
	bool any_thread;    /* any thread may call it at any time, whatever the thread level */
	bool large;         /* the large-count form, ..._c */
	const char *schema; /* name and NAME:KIND of each parameter (doc/events.md, "Kinds"): "MPI_Send count:i ..." */
	const char
		*directions; /* of each parameter: ':' input, '>' output, '=' both, '*' handle as it was on entry, '!'
	                         * the same, and it is freed */
	int8_t at[MPI_PARAMETERS]; /* number of the parameter in schema, or -1 */
};

/* By enum mpi_number. */
extern const struct mpi_function mpi_functions[FN_COUNT];
extern const struct mpi_function mpi_unknown;
/* The row of a name of n bytes; &mpi_unknown if there is none. */
const struct mpi_function *mpi_function_find(const char *name, size_t n);

/* Is it collective: do all processes of its scope call it? */
static inline bool mpi_is_collective(const struct mpi_function *f)
{
	return f->scope != SCOPE_SINGLE;
}

/* MPI_Init, MPI_Init_thread: to start is not to communicate. */
static inline bool mpi_initializes(const struct mpi_function *f)
{
	return f->function == FN_MPI_Init || f->function == FN_MPI_Init_thread;
}

/* Names of constants, by enum mpi_constant; CONST_ABSENT is "-", CONST_LEFT "left", CONST_ZERO "0". */
extern const char *const mpi_constant_name[];
/* Bytes of a predefined datatype (C ABI of the machine that the tracer runs on, LP64). False: it is none. */
bool mpi_datatype_size(const char *name, uint64_t *size);

#endif
