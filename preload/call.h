/* SPDX-License-Identifier: BSD-3-Clause
 * call - one MPI call becomes an event of this rank's arena
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
#ifndef SPOOR_CALL_H
#define SPOOR_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/clock.h"
#include "preload/schema.h" /* generated: mpi_schema_buffers[], mpi_object_schema[] */
#include "trace/record/record.h"

struct recorder;

/* One MPI call while it is being recorded; lives on the wrapper's stack. */
struct call {
	struct recorder *rec;
	struct site *site;
	struct column *next; /* the column that the next put writes */
	uint64_t start, end; /* clock ticks */
	union {
		struct {
			bool failed; /* an error variant */
			bool slow;   /* not the plain case: inside of another call, or MPI is not initialised yet */
			bool lost;   /* there was no memory for something: the event will be taken back */
			bool detail; /* recorded with details (detail.h) */
			bool asks;   /* the time is to be asked for: the CPU has no counter */
			short level; /* recorded calls that the thread was in when this one began */
		};
		uint64_t plain; /* 0: none of these */
	};
	uint32_t outer; /* ref: what was in flight then (slow) */
	void *outer_frame;
	/* With details: when the recorder was entered; what was counted between the last call and this one, and in it.
	 * */
	uint64_t entry;
	bool counted; /* `before` and `counts` hold something */
	int64_t before[TRACE_COUNTERS], counts[TRACE_COUNTERS];
};

/* What this thread is doing. */
struct recording {
	struct recorder *
		/* its recorder; NULL inside of a recorded call, in the recorder itself, and before the first call */
		ready;
	void *frame; /* inside of a recorded call: the CFA of its wrapper; else NULL */
	int depth; /* how many recorded calls are around that one: in a callback of the application there may be some */
	bool busy; /* it is in the recorder, on the slow way */
	bool locked;            /* it has the lock of a shared recorder */
	bool refused;           /* there is no recorder for it */
	struct recorder *known; /* its recorder, whatever it is doing; before MPI is initialised it has none */
};
extern __thread struct recording recording __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Begins to record a call of function f. Must be expanded in the wrapper itself (it identifies the caller by the
 * wrapper's return address and frame). False: this process or thread does not record; call nothing else then. */
#define call_begin(c, f)                                                                \
	(call_begin_at((c), (f), __builtin_return_address(0), __builtin_dwarf_cfa()) || \
	 call_begin_slowly((c), (f), __builtin_return_address(0), __builtin_dwarf_cfa()))
/* The call that is expected next, or false, and nothing was done. */
bool call_begin_at(struct call *c, enum mpi_number f, void *return_address, void *cfa);
/* Any call. */
bool call_begin_slowly(struct call *c, enum mpi_number f, void *return_address, void *cfa);

/* The PMPI function came back with rc. True: put all parameters. False (rc is not MPI_SUCCESS, i.e. 0): outputs are
 * not valid; put the inputs, and call_put_absent() for each output. The error class is recorded by
 * call_put_error(), which must be the last put of such a call. */
static inline bool call_end(struct call *c, int rc);
/* The same, for a wrapper that knows which columns it looks at; before the first put it calls call_first(c, i): the
 * next put is that of parameter i. */
static inline bool call_over(struct call *c, int rc);
static inline void call_first(struct call *c, int i);
void call_put_error(struct call *c, enum mpi_constant error_class);

/* Writes the next parameter. Values are encoded as doc/events.md section "Kinds" says. */
static inline void call_put(struct call *c, int64_t value);
void call_put_vector(struct call *c, const int64_t *values, size_t n); /* for kinds "[K" */
void call_put_string(struct call *c, const char *bytes, size_t n);     /* for kind "s" */
static inline void call_put_absent(struct call *c);                    /* the constant "-", any kind */
static inline void call_put_absents(struct call *c, int n);            /* n times */

/* A value that is made of something `raw` (an argument as it was passed) can be left out when the raw is the one of the
 * last visit and that settles what the value is: then the column expects it, and a put changes nothing. call_expects(c,
 * i, raw) says so of the i-th next parameter; call_skip() leaves n parameters out; call_put_raw() puts a value so that
 * its raw is known the next time. */
static inline bool call_expects(const struct call *c, int i, int64_t raw);
static inline void call_skip(struct call *c, int n);
static inline void call_put_raw(struct call *c, int64_t value, int64_t raw);
/* The same for a value that follows from raw alone: it is only looked for where raw is not the one of the last visit.
 * */
#define CALL_PUT_FROM(c, raw, value) \
	(call_expects((c), 0, (raw)) ? call_skip((c), 1) : call_put_raw((c), (value), (raw)))
/* Raws that are bits of handles mean something as long as no handle is freed: true if that holds since the last visit;
 * else raws of this site are forgotten. call_forget() is to be called when a handle is freed. */
static inline bool call_trusts(const struct call *c);
void call_distrust(struct call *c);
extern uint64_t call_generation __attribute__((visibility("hidden")));
void call_forget(void);

/* The n values that the next parameter, a vector, is expected to have; NULL if it is not known, or not n. If they are
 * right, they are put by call_put_expected. */
static inline const int64_t *call_expected(struct call *c, size_t n);
static inline void call_put_expected(struct call *c, const int64_t *values);

/* Without putting anything: is parameter i expected to be this value? The n values that it, a vector, has if its column
 * goes on as before (column_predict); NULL: they are not known, or not n. Where these are right for all parameters,
 * call_put_predicted has the columns of those for which *turns was set go on, and nothing needs to be put for the
 * others. */
static inline bool call_is_at(const struct call *c, int i, int64_t value);
static inline const int64_t *call_vector_at(const struct call *c, int i, size_t n, bool *turns);
void call_put_predicted(struct call *c, int i);

/* The encoded value of a named constant, for use in puts and vectors. Cheap after the first use. */
static inline int64_t call_constant(struct call *c, enum mpi_constant k);
/* "-". */
static inline int64_t call_absent(struct call *c);
/* The same for a name made at run time (a mask: "MPI_MODE_CREATE|MPI_MODE_RDWR"). Not for hot calls. */
int64_t call_constant_named(struct call *c, const char *name);

/* Adds the next row to an object table: OBJECT_COMM (rank relative to the rank in MPI_COMM_WORLD, size).
 * To be called when a communicator gets its number, between call_end and call_commit. Schema: mpi_object_schema[]. */
enum object { OBJECT_COMM, OBJECT_COUNT };
void call_object(struct call *c, enum object table, const int64_t *values, size_t n);

/* How many rows this thread's table has. */
uint64_t call_objects(const struct call *c, enum object table);

/* The event is complete: it becomes the last event of this rank. */
void call_commit(struct call *c);

/* Between call_begin and call_end of the call that initialised MPI: whether several threads will call is known now. */
static inline void call_reconsider(struct call *c)
{
	if (!c->slow) {
		c->slow = true;
		c->outer = 0;
		c->outer_frame = NULL;
	}
}

/* Are buffers recorded, by the schemas of mpi_schema_buffers? session.c sets it before the first call that has one. */
extern bool call_buffers __attribute__((visibility("hidden")));

/* ---- implementation ---- */

bool call_end_slowly(struct call *c, int rc);
int64_t call_constant_new(struct call *c, enum mpi_constant k);
void call_turn(struct call *c, int64_t value);
void call_turn_raw(struct call *c, int64_t value, int64_t raw);
void call_put_absent_turn(struct call *c);
void call_put_absents_turn(struct call *c, int n);
const int64_t *call_predicted(const struct call *c, int i, size_t n);
const int64_t *call_expected_turn(struct call *c, size_t n);
void call_put_expected_turn(struct call *c, const int64_t *values);

static inline bool call_over(struct call *c, int rc)
{
	if (__builtin_expect(rc != 0 || c->plain, 0))
		return call_end_slowly(c, rc);
	c->end = clock_counter();
	recording.frame = NULL;
	return true;
}

static inline void call_first(struct call *c, int i)
{
	c->next = &c->site->column[i];
}

static inline bool call_end(struct call *c, int rc)
{
	bool ok = call_over(c, rc);
	call_first(c, 0);
	return ok;
}

static inline void call_put(struct call *c, int64_t value)
{
	if (__builtin_expect(value == c->next->expect, 1))
		c->next++;
	else
		call_turn(c, value);
}

static inline bool call_expects(const struct call *c, int i, int64_t raw)
{
	return column_expects(&c->next[i], raw);
}

static inline void call_skip(struct call *c, int n)
{
	c->next += n;
}

static inline void call_put_raw(struct call *c, int64_t value, int64_t raw)
{
	if (__builtin_expect(value == c->next->expect && raw == c->next->raw, 1))
		c->next++;
	else
		call_turn_raw(c, value, raw);
}

/* The raw of "-". */
#define CALL_ABSENT (VALUE_NONE + 1)

static inline void call_put_absent(struct call *c)
{
	if (__builtin_expect(c->next->raw == CALL_ABSENT, 1))
		c->next++;
	else
		call_put_absent_turn(c);
}

static inline void call_put_absents(struct call *c, int n)
{
	int same = 0;
	while (same < n && c->next[same].raw == CALL_ABSENT)
		same++;
	if (__builtin_expect(same == n, 1))
		c->next += n;
	else
		call_put_absents_turn(c, n);
}

/* What a recorder begins with. */
struct recorder_head {
	int64_t constants[MPI_CONSTANT_COUNT]; /* 0: not known yet */
};

static inline int64_t call_constant(struct call *c, enum mpi_constant k)
{
	int64_t value = ((const struct recorder_head *)(const void *)c->rec)->constants[k];
	return __builtin_expect(value != 0, 1) ? value : call_constant_new(c, k);
}

static inline int64_t call_absent(struct call *c)
{
	return call_constant(c, CONST_ABSENT);
}

static inline bool call_trusts(const struct call *c)
{
	return c->site->generation == __atomic_load_n(&call_generation, __ATOMIC_RELAXED);
}

static inline const int64_t *call_expected(struct call *c, size_t n)
{
	/* the raw of a vector is where it is: vectors never move; VALUE_NONE and CALL_ABSENT are negative */
	if (__builtin_expect(c->next->raw < 0, 0))
		return call_expected_turn(c, n);
	const struct record_vector *v = (const struct record_vector *)(intptr_t)c->next->raw;
	return v->count == n ? v->values : call_expected_turn(c, n);
}

static inline const int64_t *call_vector_at(const struct call *c, int i, size_t n, bool *turns)
{
	const struct column *column = &c->site->column[i];
	if (__builtin_expect(column->raw < 0 || column->period_length, 0)) {
		*turns = true;
		return call_predicted(c, i, n);
	}
	const struct record_vector *v = (const struct record_vector *)(intptr_t)column->raw;
	return v->count == n ? v->values : NULL;
}

static inline bool call_is_at(const struct call *c, int i, int64_t value)
{
	return c->site->column[i].expect == value;
}

static inline void call_put_expected(struct call *c, const int64_t *values)
{
	if (__builtin_expect(c->next->raw == (intptr_t)((const char *)values - offsetof(struct record_vector, values)),
	                     1))
		c->next++;
	else
		call_put_expected_turn(c, values);
}

#endif
