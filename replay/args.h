/* SPDX-License-Identifier: BSD-3-Clause
 * args - from the recorded values of an event to the arguments of a call: numbers, handles, arrays, statuses
 *
 * The generated functions of calls.c are what uses most of this. What is returned is valid until args_next_event. A
 * function that cannot return an argument does not return at all: it leaves the call by args_fail.
 */
#ifndef SPOOR_ARGS_H
#define SPOOR_ARGS_H

#include <setjmp.h>
#include <stdint.h>

#include "replay/live_handles.h"
#include "trace/model/value.h"
#include "trace/read/walk.h"

/* A named constant of the trace, by string number. */
struct args_constant {
	uint8_t kind; /* enum handle_kind; HANDLE_NONE: not known here */
	bool absent;  /* "-" */
	int64_t value;
	struct object object;
};

/* Buffers of a call at most of which the trace says where they were. */
#define ARGS_BUFFERS 4
/* Arrays of an event that are not in the trace: value ARGS_DRAWN + i. */
#define ARGS_DRAWN_ARRAYS 8
#define ARGS_DRAWN        (INT64_C(1) << 48)

struct args {
	const struct trace *trace;
	uint32_t rank, stream;
	const struct event *event;
	bool failed; /* the event returned an error */
	struct args_constant *constants;
	struct live_handles handles;
	struct object absent[HANDLE_KINDS], null_type, nothing;
	struct buffer_pool {
		char *at;
		size_t size, filled; /* bytes */
	} pools[2];
	bool known_buffers;            /* the trace says which buffer it was: */
	int64_t buffers[ARGS_BUFFERS]; /* of this event */
	struct buffer_region {
		char *at;
		size_t size, used;
		struct buffer_place {
			int64_t offset;     /* 0: not seen yet */
			MPI_Aint low, high; /* so much of it is filled, relative to the offset */
			uint64_t taken;     /* bytes that are counted (allowance.h) */
		} * places;                 /* by number of the buffer */
		size_t count;
		int64_t last;
	} region;
	int64_t in_place; /* the value of MPI_IN_PLACE */
	char *scratch;    /* a stack, empty at each event */
	size_t scratch_used, scratch_size;
	void *scratch_more; /* pieces that did not fit, a list */
	void *memory;       /* of MPI_Alloc_mem, a list */
	MPI_Status *statuses;
	size_t status_capacity;
	struct pool_item drawn[ARGS_DRAWN_ARRAYS];
	int request_count; /* of an array of requests that are not known */
	/* Told of each communicator that is made; NULL: nobody. */
	void (*made_comm)(void *context, int64_t number, MPI_Comm comm);
	void *context;
	jmp_buf out; /* where to go with an event that cannot be replayed */
	struct error *error;
};

/* Prepares what is needed for one stream of a trace, that is, for a thread of a rank. Returns 0, or -1 with error
 * set. */
int args_begin(struct args *a, const struct trace *t, uint32_t stream, struct error *error);
void args_end(struct args *a);
/* Before each event. */
void args_next_event(struct args *a, const struct event *e, bool failed);
/* The event cannot be replayed: leaves the call, with the text in a->error. */
__attribute__((noreturn, format(printf, 2, 3))) void args_fail(struct args *a, const char *format, ...);

/* The same without memory for `what`, which says what the limit is if that was reached. */
__attribute__((noreturn)) void args_fail_memory(struct args *a, const char *what);
/* So many bytes are going to be used because the trace says so (allowance.h): leaves the call if that is too much. */
void args_take(struct args *a, uint64_t bytes);

/* The elements of an array value, in the trace or drawn; NULL and *n = 0 if it is absent or not known. */
const struct pool_item *args_elements(const struct args *a, int64_t v, size_t *n);
static inline int64_t args_element(const struct pool_item *item, size_t i)
{
	int64_t v;

	__builtin_memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

/* Scalars. What is absent is 0. */
int64_t args_int(struct args *a, int64_t v);
int64_t args_rank(struct args *a, int64_t v);       /* kind p */
const char *args_string(struct args *a, int64_t v); /* NULL if absent */
/* A call that failed, and was given no handle, or no pointer to one. */
static inline bool args_is_nothing(const struct args *a, int64_t v)
{
	return a->failed && value_is_constant(v) && a->constants[(uint64_t)v - (uint64_t)VALUE_CONSTANT].absent;
}
static inline bool args_is_in_place(const struct args *a, int64_t v)
{
	return v == a->in_place;
}

/* Objects. Never NULL; the bits of one that is absent are those of the null handle, or none at all where the library
 * refused the call. size: of one handle in an array, int or pointer. */
struct object *args_object(struct args *a, enum handle_kind kind, int64_t v);
void args_bind(struct args *a, enum handle_kind kind, int64_t v, void *handle);
void args_bind_all(struct args *a, enum handle_kind kind, int64_t v, const void *handles, size_t size);
void args_unbind(struct args *a, enum handle_kind kind, int64_t v);
void *args_handles(struct args *a, enum handle_kind kind, int64_t v, size_t size);

/* Requests. */
MPI_Request args_request(struct args *a, int64_t v);
MPI_Request *args_requests(struct args *a, int64_t v);
struct request *args_new_request(struct args *a, int64_t v); /* that is made now; NULL: MPI_REQUEST_NULL */

/* Arrays. NULL if absent; weights may be MPI_UNWEIGHTED, ... ranks: elements are of kind p. */
int *args_ints(struct args *a, int64_t v, int ranks);
int *args_weights(struct args *a, int64_t v, int ranks);
MPI_Aint *args_aints(struct args *a, int64_t v, int ranks);
MPI_Count *args_counts(struct args *a, int64_t v, int ranks);
int args_length(struct args *a, int64_t v);
int64_t args_sum(struct args *a, int64_t v);
/* Room for an output array as long as the recorded one, and some more. */
void *args_room(struct args *a, int64_t v, size_t element);
char *args_text(struct args *a, int64_t length); /* for an output string */
void *args_scratch(struct args *a, size_t bytes);

/* Statuses. */
MPI_Status *args_statuses(struct args *a, int n);
/* What a status says that a file call moved, in bytes; type: NULL of bytes. Less than 0: it does not say. */
long long args_moved(int64_t v, struct object *type);
void args_status(struct args *a, MPI_Status *s, const int64_t *v, struct object *type, int64_t cancelled);

#endif
