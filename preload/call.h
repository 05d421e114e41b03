/* SPDX-License-Identifier: BSD-3-Clause
 * call - one MPI call becomes an event of this rank's arena
 *
 * A wrapper records a call in five steps, always in this order:
 *
 *     struct call c;
 *     if (!call_begin(&c, FN_MPI_Send))              // nothing is recorded: pass through
 *         return real.MPI_Send(buf, count, ...);
 *     int rc = real.MPI_Send(buf, count, ...);
 *     bool ok = call_end(&c, rc);                    // takes the end time; false: the call failed
 *     call_first(&c, 0);
 *     call_put(&c, count);                           // one put per schema parameter, in schema order
 *     ...
 *     call_commit(&c);
 *     return rc;
 *
 * A call that does not come back has only the first step: left.h says what becomes of it.
 *
 * What is put is written straight into the columns of the call's site; there is no intermediate event. Nothing here
 * allocates in steady state, makes system calls, prints, or changes errno.
 *
 * The way of one event
 *
 * Most programs repeat themselves. Each step compares the call with what came last time. As long as all is the same,
 * an event writes its times, its successor and its number, and nothing else. Any difference takes the slow function of
 * that step, which is always right by itself.
 *
 * 1. call_begin_at finds the site. recording.ready says that the thread may record: call_begin clears it, call_commit
 *    sets it. arena.mind says whether something is to be asked first: for room, or whose turn it is (thread.h). The
 *    memo (callpath.h) keeps for each entry the entry that followed it last time. If function, return address, frame
 *    address and all return addresses on the stack are what they were, that entry's site is the call's.
 *    Invalid: when a file is unloaded (memo_clear), and never by mistake: the stack itself is compared.
 * 2. call_end takes the time. call.unusual says with one compare that no case needs more than that. Where one does, no
 *    time of the call is plain (CALL_SLOWLY), so that call_commit need not ask again.
 * 3. The puts. A column's cell keeps three things that make one unnecessary:
 *      expect  the value that makes the column's run longer. A put of that value writes nothing: how long the run is
 *              follows from the site's visits. Changed by each put of another value.
 *      raw     the argument that `expect` was encoded from: an integer, the bits of a handle; for "-" CALL_ABSENT; for
 *              a vector the address of its values in the arena. If the argument is the same, it needs not be encoded.
 *              Invalid (VALUE_NONE): after a put of another value, in a failed call, and when a handle was freed since
 *              the last visit, because its bits may mean another one now: each free changes call_generation, and
 *              call_trusts compares it with the site's.
 *      period  in a loop, the runs that come next (column.h). The vector that is expected is compared in place, before
 *              anything is gathered or looked up (call_expected).
 *    MPI_Waitall uses all three for its arrays (completion.c).
 * 4. call_commit: the site is the expected successor of the last one, the edge between them is the last one's newest,
 *    and both times fit into the words of their histograms that were used last (record_time_plain).
 *
 * Measured with bench/run --only instructions: what an event takes more, in per cent of what recording adds, if one is
 * left out:
 *
 *     memo compares in a loop (not unrolled)      self-8  +8   MPI_Comm_rank +14
 *     raw of arguments                            self-8 +32   26-peers  +6
 *     call_trusts (raw of handles)                self-8 +29   26-peers +10
 *     period for MPI_Waitall's arrays             self-8   0   26-peers +11
 *     period for single values (column_step)      self-8   0   26-peers  +7
 *     MPI_Waitall looks before it gathers         self-8 +25   26-peers +11
 *     its requests that share a handle            self-8  -3   26-at-once +24
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
	struct cell *next;   /* that of the column that the next put writes */
	uint64_t start, end; /* clock ticks; start | CALL_SLOWLY */
	union {
		struct {
			uint32_t self; /* of the site that it began at */
			union {
				struct {
					bool failed : 1; /* an error variant */
					bool slow : 1;   /* inside of another call, or MPI is not initialised yet */
					bool detail : 1; /* recorded with details (detail.h) */
					bool asks : 1;   /* the time is to be asked for: the CPU has no counter */
					bool late : 1;   /* a long computation may follow, or just came (absence.h) */
				};
				uint32_t unusual; /* 0: none of these */
			};
		};
		uint64_t self_unusual; /* as of the site: both at once */
	};
	uint32_t outer; /* ref: what was in flight then (slow) */
	short level;    /* recorded calls that the thread was in then (slow) */
	void *outer_frame;
	/* With details: when the recorder was entered; what was counted between the last call and this one, and in it.
	 * */
	uint64_t entry;
	bool counted, follows; /* does `counts`, does `before` hold something? */
	int64_t before[TRACE_COUNTERS], counts[TRACE_COUNTERS];
};

/* From call_end to call_commit, in `start`: the call is an unusual one, or there was no memory for something and the
 * event will be taken back. */
#define CALL_SLOWLY (UINT64_C(1) << 63)

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
/* Any call; c->rec as call_begin_at left it: NULL if the thread was not `ready`. */
bool call_begin_slowly(struct call *c, enum mpi_number f, void *return_address, void *cfa);

/* The PMPI function came back with rc. True: put all parameters. False (rc is not MPI_SUCCESS, i.e. 0): outputs are
 * not valid; put the inputs, and call_put_absent() for each output. The error class is recorded by
 * call_put_error(), which must be the last put of such a call. */
static inline bool call_end(struct call *c, int rc);
void call_put_error(struct call *c, enum mpi_constant error_class);

/* The next put is that of parameter i of the schema. To be said after call_end, before the first put. */
static inline void call_first(struct call *c, int i);
/* Writes the next parameter. Values are encoded as doc/events.md section "Kinds" says. */
static inline void call_put(struct call *c, int64_t value);
void call_put_vector(struct call *c, const int64_t *values, size_t n); /* for kinds "[K" */
void call_put_string(struct call *c, const char *bytes, size_t n);     /* for kind "s" */
static inline void call_put_absents(struct call *c, int n);            /* n times the constant "-", any kind */
#define call_put_absent(c) call_put_absents((c), 1)

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
 * else raws of this site are to be forgotten by call_distrust(). call_forget() is to be called when a handle is freed.
 * */
static inline bool call_trusts(const struct call *c);
void call_distrust(struct call *c);
extern uint64_t call_generation __attribute__((visibility("hidden")));
void call_forget(void);

/* The n values that a column of vectors has next if it goes on as before; NULL: they are not known, or not n. If they
 * are right, they are put by call_put_expected, which leaves c->next where it is. */
static inline const int64_t *call_expected(const struct call *c, const struct cell *cell, size_t n);
static inline void call_put_expected(struct call *c, struct cell *cell);

/* The encoded value of a named constant, for use in puts and vectors. Cheap after the first use. */
static inline int64_t call_constant(struct call *c, enum mpi_constant k);
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

/* The address of a variable on the stack, computed each time it is asked for: kept from one use to the next, it would
 * take a register, all of which are the caller's and would have to be saved and put back. How: "=" where it has no
 * value yet, else "+". */
#ifdef __x86_64__
#define CALL_HERE(c, how)                                                    \
	({                                                                   \
		__typeof__(c) here_;                                         \
		__asm__ volatile("lea %1, %0" : "=r"(here_), how "m"(*(c))); \
		here_;                                                       \
	})
#else
#define CALL_HERE(c, how) (c)
#endif

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
void call_put_other(struct call *c, int64_t value, int64_t raw); /* a value or a raw that is not expected */
void call_put_absents_slowly(struct call *c, int n);
const int64_t *call_expected_slowly(const struct call *c, const struct cell *cell, size_t n);
void call_put_expected_slowly(struct call *c, struct cell *cell);

static inline bool call_end(struct call *c, int rc)
{
	if (__builtin_expect((uint32_t)rc | c->unusual, 0))
		return call_end_slowly(CALL_HERE(c, "+"), rc);
	c->end = clock_counter();
	recording.frame = NULL;
	return true;
}

static inline void call_first(struct call *c, int i)
{
	c->next = &c->site->column[i];
}

static inline void call_put(struct call *c, int64_t value)
{
	if (__builtin_expect(value == c->next->expect, 1))
		c->next++;
	else
		call_put_other(c, value, VALUE_NONE);
}

static inline bool call_expects(const struct call *c, int i, int64_t raw)
{
	return cell_expects(&c->next[i], raw);
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
		call_put_other(c, value, raw);
}

/* The raw of "-". */
#define CALL_ABSENT (VALUE_NONE + 1)

static inline void call_put_absents(struct call *c, int n)
{
	int same = 0;
	while (same < n && c->next[same].raw == CALL_ABSENT)
		same++;
	if (__builtin_expect(same == n, 1))
		c->next += n;
	else
		call_put_absents_slowly(c, n);
}

/* What a recorder begins with. */
struct recorder_head {
	struct record *record;                 /* recorder.record */
	int64_t constants[MPI_CONSTANT_COUNT]; /* 0: not known yet */
};

static inline struct record *call_record(const struct call *c)
{
	return ((const struct recorder_head *)(const void *)c->rec)->record;
}

static inline int64_t call_constant(struct call *c, enum mpi_constant k)
{
	int64_t value = ((const struct recorder_head *)(const void *)c->rec)->constants[k];
	return __builtin_expect(value != 0, 1) ? value : call_constant_new(c, k);
}

/* The same, or 0. */
static inline int64_t call_constant_known(const struct call *c, enum mpi_constant k)
{
	return ((const struct recorder_head *)(const void *)c->rec)->constants[k];
}

static inline bool call_trusts(const struct call *c)
{
	return c->site->generation == __atomic_load_n(&call_generation, __ATOMIC_RELAXED);
}

/* Is the column's raw the vector that comes next? It is where that is: vectors never move. VALUE_NONE and CALL_ABSENT
 * are negative. */
static inline bool call_has_vector(const struct cell *cell)
{
	return cell->raw >= 0 && !cell->looping;
}

static inline const int64_t *call_expected(const struct call *c, const struct cell *cell, size_t n)
{
	if (__builtin_expect(!call_has_vector(cell), 0))
		return call_expected_slowly(c, cell, n);
	const struct record_vector *v = (const struct record_vector *)(intptr_t)cell->raw;
	return v->count == n ? v->values : NULL;
}

static inline void call_put_expected(struct call *c, struct cell *cell)
{
	if (__builtin_expect(!call_has_vector(cell), 0))
		call_put_expected_slowly(c, cell);
}

#endif
