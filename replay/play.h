/* SPDX-License-Identifier: BSD-3-Clause
 * play - from the recorded values of an event to the arguments of a call: numbers of handles, arrays, buffers
 *
 * The generated functions of calls.c are what uses most of this. Numbers drive the tables: what the recorded call gave
 * back as c3 is kept as communicator 3, and is passed wherever c3 was passed. What is returned is valid until
 * play_next.
 */
#ifndef SPOOR_PLAY_H
#define SPOOR_PLAY_H

#include <setjmp.h>
#include <stdint.h>

#include "replay/follow.h"
#include "replay/outcome.h"
#include "trace/model/value.h"
#include "trace/read/walk.h"

enum play_kind {
	PLAY_NOTHING,
	PLAY_COMM,
	PLAY_TYPE,
	PLAY_GROUP,
	PLAY_OP,
	PLAY_WIN,
	PLAY_FILE,
	PLAY_INFO,
	PLAY_ERRHANDLER,
	PLAY_MESSAGE,
	PLAY_KEYVAL,
	PLAY_SESSION,
	PLAY_REQUEST,
	PLAY_KINDS,
	PLAY_INTEGER = PLAY_KINDS, /* of constants only */
	PLAY_ERROR
};

/* A handle, and what the replay has to know of what it stands for. */
struct object {
	void *handle; /* the handle's bits; NULL: not there */
	bool asked;   /* the library was asked for what follows */
	union {
		struct {
			int size, peers, indegree, outdegree;
		} comm;
		struct {
			MPI_Aint extent, true_lb, true_extent;
			MPI_Count size;
		} type;
		struct {
			void *memory; /* the application's, of MPI_Win_create */
		} win;
	};
};

struct play_table {
	void **items; /* by number: struct object, of requests struct entry; NULL: never seen */
	size_t count;
};

/* A named constant of the trace, by string number. */
struct play_constant {
	uint8_t kind; /* enum play_kind; PLAY_NOTHING: not known here */
	bool absent;  /* "-" */
	int64_t value;
	struct object object;
};

/* A buffer is in one of two pools: those that are sent from, and those that are received into. Where the trace says
 * which one it was, it is always at the same address: the one of this number among the call's buffers. */
enum play_pool { BUFFER_OUT, BUFFER_IN };
#define PLAY_BUFFER(pool, place) ((int)(pool) | ((place) + 1) << 1)
#define PLAY_PLACES              4

#define PLAY_ARRAYS 8
#define PLAY_DRAWN  (INT64_C(1) << 48)

struct play {
	const struct trace *trace;
	uint32_t rank, stream;
	struct team *team; /* the rank's other threads; NULL: there are none */
	const struct event *event;
	bool failed; /* the event returned an error */
	struct play_constant *constants;
	struct play_table tables[PLAY_KINDS];
	struct object absent[PLAY_KINDS], nothing;
	struct {
		char *at;
		size_t size;
	} pools[2];
	bool placed;                 /* the trace says which buffer it was: */
	int64_t places[PLAY_PLACES]; /* of this event */
	struct play_region {
		char *at;
		size_t size, used, filled;
		int64_t *offsets; /* by number of the buffer; 0: not seen yet */
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
	struct pool_item drawn[PLAY_ARRAYS]; /* arrays that are not in the trace: value PLAY_DRAWN + i */
	int request_count;                   /* of an array of requests that are not known */
	struct follow *follow;               /* who is told of communicators; NULL: nobody */
	jmp_buf out;                         /* where to go with an event that cannot be replayed */
	struct error *error;
};

struct play_call {
	const char *name, *schema, *places; /* places: names of the buffers, in order */
	int (*call)(struct play *p, const int64_t *values);
};
extern const struct play_call play_calls[];
extern const size_t play_call_count;

struct play_name {
	const char *name;
	int kind;
	void *handle;
	int64_t value;
};
extern const struct play_name play_names[];
extern const size_t play_name_count;

/* Prepares what is needed for one stream of a trace, that is, for a thread of a rank. Returns 0, or -1 with error set.
 * */
int play_begin(struct play *p, const struct trace *t, uint32_t stream, struct error *error);
void play_end(struct play *p);
/* Before each event. */
void play_next(struct play *p, const struct event *e, bool failed);
/* The event cannot be replayed: leaves the call, with the text in p->error. */
__attribute__((noreturn, format(printf, 2, 3))) void play_fail(struct play *p, const char *format, ...);

/* The elements of an array value. */
static inline const struct pool_item *play_vector(const struct play *p, int64_t v)
{
	return v >= PLAY_DRAWN ? &p->drawn[v - PLAY_DRAWN] : event_vector(p->trace, p->event, v);
}

/* Scalars. What is absent is 0. */
int64_t play_int(struct play *p, int64_t v);
int64_t play_rank(struct play *p, int64_t v);       /* kind p */
const char *play_string(struct play *p, int64_t v); /* NULL if absent */
static inline bool play_is_place(const struct play *p, int64_t v)
{
	return v == p->in_place;
}
static inline bool play_is_absent(int64_t v)
{
	return value_is_constant(v);
}

/* Objects. Never NULL; the bits of one that is absent are those of the null handle. */
struct object *play_object(struct play *p, enum play_kind kind, int64_t v);
void play_bind(struct play *p, enum play_kind kind, int64_t v, void *handle);
void play_bind_all(struct play *p, enum play_kind kind, int64_t v, void **handles);
void play_unbind(struct play *p, enum play_kind kind, int64_t v);
void **play_handles(struct play *p, enum play_kind kind, int64_t v);
/* Of a communicator. */
int play_peers(struct object *comm);
int play_indegree(struct object *comm);
int play_outdegree(struct object *comm);
/* Of a datatype: bytes of its data. */
MPI_Count play_type_size(struct object *type);

/* Requests. */
MPI_Request play_request(struct play *p, int64_t v);
MPI_Request *play_requests(struct play *p, int64_t v);
struct entry *play_entry(struct play *p, int64_t v); /* of a request that is made now; NULL: MPI_REQUEST_NULL */

/* Arrays. NULL if absent; weights may be MPI_UNWEIGHTED, ... ranks: elements are of kind p. */
int *play_ints(struct play *p, int64_t v, int ranks);
int *play_weightss(struct play *p, int64_t v, int ranks);
MPI_Aint *play_aints(struct play *p, int64_t v, int ranks);
MPI_Count *play_counts(struct play *p, int64_t v, int ranks);
int play_length(struct play *p, int64_t v);
int64_t play_sum(struct play *p, int64_t v);
/* Room for an output array as long as the recorded one, and some more. */
void *play_room(struct play *p, int64_t v, size_t element);
char *play_text(struct play *p, int64_t length); /* for an output string */
void *play_scratch(struct play *p, size_t bytes);

/* Statuses. */
MPI_Status *play_statuses(struct play *p, int n);
void play_status(struct play *p, MPI_Status *s, const int64_t *v, struct object *type, int64_t cancelled);

/* Buffers: filled ones to send from, others to receive into. They never move while the replay runs. pool: PLAY_BUFFER.
 * */
void *play_bytes(struct play *p, int pool, int64_t bytes);
void *play_buffer(struct play *p, int pool, int64_t count, struct object *type);
void *play_buffer_v(struct play *p, int pool, int64_t counts, int64_t displs, struct object *type);
void *play_buffer_w(struct play *p, int pool, int64_t counts, int64_t displs, int64_t types);
/* The position before a call of MPI_Pack or MPI_Unpack, of which the one behind it is recorded. */
int64_t play_position(struct play *p, int64_t v, int64_t count, struct object *type, bool external);

/* Memory that the application gave to MPI. */
void *play_memory(struct play *p, int pool, struct object *win,
                  int64_t size); /* freed with the window, if there is one */
struct object *play_window(struct play *p, int64_t v);
void play_allocated(struct play *p, void *base);
void *play_freed(struct play *p, int pool);
void *play_attribute(void);

/* Functions of the application. */
void play_op(void *in, void *inout, int *n, MPI_Datatype *type);
void play_comm_error(MPI_Comm *comm, int *code, ...);
void play_win_error(MPI_Win *win, int *code, ...);
void play_file_error(MPI_File *file, int *code, ...);
int play_query(void *state, MPI_Status *status);
int play_free(void *state);
int play_cancel(void *state, int complete);
int play_extent(MPI_Datatype type, MPI_Aint *extent, void *state);

#endif
