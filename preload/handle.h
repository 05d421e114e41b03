/* SPDX-License-Identifier: BSD-3-Clause
 * handle - symbols for MPI's handles: c0, t2, ...
 *
 * A handle is some bits that mean something only in this process and only now. Here it gets the lowest number that is
 * free in its kind (doc/events.md, "Values"), which is the same in every run; predefined handles and null handles are
 * named constants. All kinds but requests (request.h) are in one hash table, keyed by kind and bits.
 *
 * Numbers are what the functions of this header deal in:
 *     n >= 0            the object cN, tN, ...
 *     HANDLE_ABSENT     not a handle that could be recorded
 *     other n < 0       the named constant ~n
 *
 * Thread safety: when MPI provides MPI_THREAD_MULTIPLE, there is a lock around changes of the table, and look-ups take
 * none; else nothing.
 */
#ifndef SPOOR_HANDLE_H
#define SPOOR_HANDLE_H

#include "preload/call.h"
#include "preload/real.h"
#include "trace/model/mpi.h"

#define HANDLE_ABSENT INT32_MIN
/* Buffers are never forgotten, and so many have a number: 8 MiB of table. A program that uses more has no buffers worth
 * telling apart. */
#define HANDLE_BUFFERS (1 << 17)

/* A communicator as a call needs it. All zero but the number for one that has no ranks (null, or unknown in a failed
 * call). */
struct comm_info {
	int32_t number;
	int32_t rank;  /* the caller's */
	int32_t size;  /* of the local group */
	int32_t peers; /* processes that a collective call talks to: the remote group's size, or size */
	bool inter;
};

/* Enters the predefined handles; called once, when the MPI library has been found. */
void handle_begin(void);
/* Forgets everything and frees the memory; for tests. */
void handle_end(void);
/* MPI_Init succeeded: MPI_COMM_WORLD and MPI_COMM_SELF may be asked. multiple: calls may come from several threads at
 * once. */
void handle_initialized(bool multiple);
extern bool handle_locking;
/* A session is open, and perhaps nothing else. */
void handle_session(bool multiple);

/* The number of a handle. One that was never seen gets the next number of its kind if may_be_new, else is HANDLE_ABSENT
 * (a call that failed may have been passed anything). Bits 0 are HANDLE_ABSENT except for keyvals. */
int32_t handle_number(enum handle_kind kind, uint64_t bits, bool may_be_new);
/* The number of a handle that a call returned, for the caller to free. MPI may return the same one several times
 * (MPI_Comm_group): it is forgotten when it was freed as often. */
int32_t handle_returned(enum handle_kind kind, uint64_t bits);
/* A call that frees the object begins, in a wrapper whose frame this is. With several threads, MPI may give the same
 * bits to another thread's new object before the call has come back to us: from now on they mean the old object to the
 * calling thread only (callbacks may use it), and a new one to others. */
static inline void handle_free(enum handle_kind kind, uint64_t bits, const void *frame);
/* That call has come back. done: the object is freed, and if that was the last time, the same bits will be a new
 * object; else it is as it was. Predefined handles stay. */
void handle_freed(enum handle_kind kind, uint64_t bits, bool done);

/* A communicator that a call was given or gave back. When it gets its number here, its row is added to OBJECT_COMM.
 * `like` is NULL, or the communicator that it is a duplicate of (MPI_Comm_idup: it cannot be asked yet). ok: the call
 * succeeded, so that the handle is valid and may be asked for its group. */
static inline struct comm_info handle_comm(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like);

/* The size of a datatype in bytes; -1 if unknown. type must be valid. */
int64_t handle_type_size(MPI_Datatype type);

/* The encoded value of a number. */
static inline int64_t handle_value(struct call *c, int32_t number)
{
	if (__builtin_expect(number >= 0, 1))
		return number;
	return call_constant(c, number == HANDLE_ABSENT ? CONST_ABSENT : (enum mpi_constant) ~number);
}

/* An MPI handle's bits: MPI's handle types are pointers or integers. */
#define HANDLE_BITS(h) ((uint64_t)(uintptr_t)(h))

/* ---- implementation ---- */

void handle_free_slowly(enum handle_kind kind, uint64_t bits, const void *frame);

static inline void handle_free(enum handle_kind kind, uint64_t bits, const void *frame)
{
	if (__builtin_expect(handle_locking, 0))
		handle_free_slowly(kind, bits, frame);
}

/* The communicator that this thread asked for last; it is that one as long as no handle was freed. */
struct handle_last {
	uint64_t bits, generation; /* bits 0: none */
	struct comm_info info;
};
extern __thread struct handle_last handle_last __attribute__((tls_model("initial-exec"), visibility("hidden")));
struct comm_info handle_comm_slowly(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like);

static inline struct comm_info handle_comm(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	if (__builtin_expect(handle_last.bits == HANDLE_BITS(comm) && handle_last.generation == call_generation && comm,
	                     1))
		return handle_last.info;
	return handle_comm_slowly(c, comm, ok, like);
}

#endif
