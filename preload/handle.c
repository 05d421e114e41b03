/* SPDX-License-Identifier: BSD-3-Clause
 * handle - symbols for MPI's handles: c0, t2, ...
 *
 * With several threads, whoever changes the table (handle_table.h) has a lock; whoever reads looks without it first.
 */
#include "preload/handle.h"

#include <stdlib.h>

#include "preload/handle_table.h"
#include "preload/lock.h"
#include "preload/numbering.h"
#include "preload/session.h"

static struct numbering numbers[HANDLE_KINDS]; /* communicators never give theirs back: it is the row in OBJECT_COMM */
bool handle_locking;
/* The rows of @comm (call_object): communicators from first on, up to the next run's, have these. */
static struct rows {
	struct run {
		int32_t first, rank, size; /* rank relative to that in MPI_COMM_WORLD */
	} * runs;
	size_t run_count, capacity;
	int32_t count; /* communicators that have a row */
} comm_rows;
static struct lock table_lock;

/* What the calling thread is freeing: a call may free more in its callbacks. A frame further in than the next one's was
 * left by longjmp. */
enum { FREEING = 4 };
static __thread struct freeing {
	uint64_t key;
	const void *frame;
	struct handle_entry entry; /* as it was */
	bool stays;                /* it was returned more often: only one reference is given up */
} freeing[FREEING];
static __thread int freeing_count;

__thread struct handle_last handle_last __attribute__((tls_model("initial-exec")));

/* A number of the calling thread's own. */
static uint32_t thread_self(void)
{
	static uint32_t threads;
	static __thread uint32_t mine;

	if (!mine)
		mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return mine;
}

/* What the calling thread is freeing, NULL if it is not that. */
static struct freeing *find_freeing(uint64_t key)
{
	for (int i = freeing_count; i-- > 0;)
		if (freeing[i].key == key)
			return &freeing[i];
	return NULL;
}

/* False: another thread has it. What the handle means is not known then. */
static inline bool lock_table(void)
{
	return __builtin_expect(!handle_locking, 1) || lock_take(&table_lock);
}

static inline void unlock_table(void)
{
	if (__builtin_expect(handle_locking, 0))
		lock_give(&table_lock);
}

static void set_type_size(struct handle_entry *e, int64_t size)
{
	handle_table_write_begin();
	e->type_size = size;
	handle_table_write_end();
}

static void add_references(struct handle_entry *e, int n)
{
	handle_table_write_begin();
	e->references += (uint32_t)n;
	handle_table_write_end();
}

static bool has_references(enum handle_kind kind, const struct handle_entry *e)
{
	return kind != HANDLE_COMM && e->references > 1;
}

/* The entry of an object, but not of one that another thread is freeing: whoever has its bits now has a new object.
 * Under the lock. */
static struct handle_entry *find_living(uint64_t key)
{
	struct handle_entry *e = handle_table_find(key);

	if (e && __builtin_expect(e->freer, 0) && e->freer != thread_self()) {
		handle_table_remove(e); /* its number stays taken until the call that frees it is back */
		return NULL;
	}
	return e;
}

static struct handle_entry *find_or_number(enum handle_kind kind, uint64_t bits, bool may_be_new)
{
	uint64_t key = handle_table_key(kind, bits);
	struct handle_entry *e = find_living(key);

	if (__builtin_expect(e != NULL, 1))
		return e;
	if (!may_be_new || (!bits && kind != HANDLE_KEYVAL))
		return NULL;
	int32_t number = numbering_take(&numbers[kind]);
	if (number < 0 || (kind == HANDLE_BUFFER && number >= HANDLE_BUFFERS)) {
		if (number >= 0)
			numbering_give(&numbers[kind], number);
		return NULL;
	}
	e = handle_table_insert(key, number);
	if (!e) {
		numbering_give(&numbers[kind], number);
		return NULL;
	}
	if (kind == HANDLE_TYPE)
		set_type_size(e, -1);
	return e;
}

static void insert_keyval(int value, int constant)
{
	handle_table_insert(handle_table_key(HANDLE_KEYVAL, HANDLE_BITS((intptr_t)value)), ~(int32_t)constant);
}

void handle_begin(void)
{
	for (size_t i = 0; i < REAL_PREDEFINED_COUNT; i++) {
		const struct mpi_predefined *p = &mpi_predefined[i];
		struct handle_entry *e;

		/* Requests have their own table. Two names of one object: the first one counts. */
		if (!p->kind || (p->symbol && !real_predefined[i]))
			continue;
		e = handle_table_insert(handle_table_key(p->kind, HANDLE_BITS(real_predefined[i])),
		                        ~(int32_t)p->constant);
		if (!e)
			return;
		if (p->kind == HANDLE_TYPE)
			e->type_size = -1;
	}
	for (size_t i = 0; i < MPI_KEYVALS_COUNT; i++) {
		const int value = mpi_keyvals[i].value, fortran = abi_fortran_keyval(value);
		insert_keyval(value, mpi_keyvals[i].constant);
		if (fortran != value)
			insert_keyval(fortran, mpi_keyvals[i].constant);
	}
}

void handle_end(void)
{
	handle_last.bits = 0;
	handle_table_clear();
	free(comm_rows.runs);
	comm_rows = (struct rows){.count = 0};
	for (int i = 0; i < HANDLE_KINDS; i++)
		numbering_reset(&numbers[i]);
}

int32_t handle_number(enum handle_kind kind, uint64_t bits, bool may_be_new)
{
	const uint64_t key = handle_table_key(kind, bits);
	const struct freeing *f;
	struct handle_entry *e, copy;
	int32_t n;

	if (__builtin_expect(handle_locking, 0)) {
		if (__builtin_expect(freeing_count, 0) && (f = find_freeing(key)))
			return f->entry.number;
		if (handle_table_peek(key, &copy))
			return copy.number;
	}
	if (!lock_table())
		return HANDLE_ABSENT;
	e = find_or_number(kind, bits, may_be_new);
	n = e ? e->number : HANDLE_ABSENT;
	unlock_table();
	return n;
}

int32_t handle_returned(enum handle_kind kind, uint64_t bits)
{
	struct handle_entry *e;
	int32_t n;

	if (!lock_table())
		return HANDLE_ABSENT;
	e = find_or_number(kind, bits, true);
	n = e ? e->number : HANDLE_ABSENT;
	if (n >= 0)
		add_references(e, 1);
	unlock_table();
	return n;
}

/* An object is gone, or is not what it was. */
static void forget_handle(enum handle_kind kind, int32_t number)
{
	if (kind != HANDLE_COMM)
		numbering_give(&numbers[kind], number);
	if (kind != HANDLE_MESSAGE) /* what depends on those is looked up each time */
		call_forget();
}

/* A call that was to free it has not. */
static void keep_object(const struct freeing *f)
{
	struct handle_entry *e = handle_table_find(f->key);

	if (e && f->stays) {
		add_references(e, 1);
	} else if (e && e->freer == thread_self()) {
		handle_table_write_begin();
		e->freer = 0;
		handle_table_write_end();
	}
}

void handle_free_slowly(enum handle_kind kind, uint64_t bits, const void *frame)
{
	struct handle_entry *e;

	if (!lock_table())
		return;
	while (freeing_count && (uintptr_t)freeing[freeing_count - 1].frame <= (uintptr_t)frame)
		keep_object(&freeing[--freeing_count]);
	e = handle_table_find(handle_table_key(kind, bits));
	if (e && e->number >= 0 && freeing_count < FREEING) {
		bool stays = has_references(kind, e);

		freeing[freeing_count++] = (struct freeing){e->key, frame, *e, stays};
		if (stays) {
			add_references(e, -1);
			unlock_table();
			return;
		}
		handle_table_write_begin();
		e->freer = thread_self();
		handle_table_write_end();
		call_forget(); /* before MPI can give the bits to anybody: nobody remembers what they meant */
	}
	unlock_table();
}

void handle_freed(enum handle_kind kind, uint64_t bits, bool done)
{
	const uint64_t key = handle_table_key(kind, bits);
	struct freeing *f = __builtin_expect(freeing_count, 0) ? find_freeing(key) : NULL;
	struct handle_entry *e;

	if ((!f && !done) || !lock_table())
		return;
	e = handle_table_find(key);
	if (f) {
		freeing_count = (int)(f - freeing);
		if (!done) {
			keep_object(f);
		} else if (!f->stays) {
			if (e && e->freer == thread_self())
				handle_table_remove(e);
			forget_handle(kind, f->entry.number);
		}
	} else if (e && has_references(kind, e)) {
		add_references(e, -1);
	} else if (e && e->number >= 0 && (!e->freer || e->freer == thread_self())) {
		int32_t number = e->number;

		handle_table_remove(e);
		forget_handle(kind, number);
	}
	unlock_table();
}

/* Asks MPI; comm is valid and not MPI_COMM_NULL. */
static void ask_comm(MPI_Comm comm, struct comm_info *info)
{
	int inter = 0, rank = 0, size = 0, peers;

	real.MPI_Comm_rank(comm, &rank);
	real.MPI_Comm_size(comm, &size);
	real.MPI_Comm_test_inter(comm, &inter);
	peers = size;
	if (inter)
		real.MPI_Comm_remote_size(comm, &peers);
	info->rank = rank;
	info->size = size;
	info->peers = peers;
	info->inter = inter;
}

void handle_initialized(bool multiple)
{
	const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};

	handle_locking |= multiple;
	for (int i = 0; i < 2; i++) {
		struct handle_entry *e = handle_table_find(handle_table_key(HANDLE_COMM, HANDLE_BITS(comms[i])));
		struct comm_info info;

		if (!e)
			continue;
		ask_comm(comms[i], &info);
		handle_table_write_begin();
		e->comm.rank = info.rank;
		e->comm.size = e->comm.peers = info.size;
		handle_table_write_end();
	}
}

void handle_session(bool multiple)
{
	handle_locking |= multiple;
}

/* The row of the communicator with the next number. Returns false without memory. */
static bool rows_add(int32_t rank, int32_t size)
{
	const struct run *last = comm_rows.run_count ? &comm_rows.runs[comm_rows.run_count - 1] : NULL;

	if (!last || last->rank != rank || last->size != size) {
		if (comm_rows.run_count == comm_rows.capacity) {
			size_t capacity = comm_rows.capacity ? 2 * comm_rows.capacity : 16;
			struct run *more = realloc(comm_rows.runs, capacity * sizeof(*more));

			if (!more)
				return false;
			comm_rows.runs = more;
			comm_rows.capacity = capacity;
		}
		comm_rows.runs[comm_rows.run_count++] = (struct run){comm_rows.count, rank, size};
	}
	comm_rows.count++;
	return true;
}

/* A thread's own table has the rows of all communicators up to the last one that it used (trace-format.md, "Streams").
 * */
static void rows_put(struct call *c, int32_t number)
{
	uint64_t n = call_objects(c, OBJECT_COMM), before = UINT64_MAX;
	size_t i = 0;

	while (i + 1 < comm_rows.run_count && (uint64_t)comm_rows.runs[i + 1].first <= n)
		i++;
	for (; n <= (uint64_t)number && n < (uint64_t)comm_rows.count && n != before;
	     n = call_objects(c, OBJECT_COMM)) {
		if (i + 1 < comm_rows.run_count && (uint64_t)comm_rows.runs[i + 1].first <= n)
			i++;
		int64_t row[2] = {comm_rows.runs[i].rank, comm_rows.runs[i].size};

		before = n;
		call_object(c, OBJECT_COMM, row, 2);
	}
}

static const struct comm_info nothing_known = {HANDLE_ABSENT, 0, 0, 0, false};

static struct comm_info first_sight(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	struct comm_info info = nothing_known;
	uint64_t key = handle_table_key(HANDLE_COMM, HANDLE_BITS(comm));
	struct handle_entry *e;
	bool is_new;

	if (!ok || !comm)
		return info;
	if (like) {
		info = *like;
		info.number = HANDLE_ABSENT;
	} else {
		ask_comm(comm, &info); /* not under the lock: MPI may call back */
	}
	if (!lock_table())
		return info;
	is_new = !find_living(key);
	e = find_or_number(HANDLE_COMM, HANDLE_BITS(comm), true);
	if (e) {
		info.number = e->number;
	}
	if (e && is_new) {
		handle_table_write_begin();
		e->comm.rank = info.rank;
		e->comm.size = info.size;
		e->comm.peers = info.peers;
		e->comm.inter = info.inter;
		handle_table_write_end();
		rows_add(info.rank - session_world_rank(), info.size);
	}
	if (e && e->number >= 0)
		rows_put(c, e->number); /* under the lock, as others may add rows */
	unlock_table();
	return info;
}

struct comm_info handle_comm_slowly(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	struct comm_info info;
	struct handle_entry *e, copy;
	uint64_t generation = __atomic_load_n(&call_generation, __ATOMIC_ACQUIRE);
	const struct freeing *f = __builtin_expect(freeing_count, 0)
	                                  ? find_freeing(handle_table_key(HANDLE_COMM, HANDLE_BITS(comm)))
	                                  : NULL;

	if (f) {
		info = (struct comm_info){f->entry.number, f->entry.comm.rank, f->entry.comm.size, f->entry.comm.peers,
		                          f->entry.comm.inter};
		if (lock_table()) {
			rows_put(c, info.number);
			unlock_table();
		}
		return info;
	}
	if (__builtin_expect(handle_locking, 0) &&
	    handle_table_peek(handle_table_key(HANDLE_COMM, HANDLE_BITS(comm)), &copy) &&
	    (copy.number < 0 || (uint64_t)copy.number < call_objects(c, OBJECT_COMM))) {
		info = (struct comm_info){copy.number, copy.comm.rank, copy.comm.size, copy.comm.peers,
		                          copy.comm.inter};
		handle_last = (struct handle_last){HANDLE_BITS(comm), generation, info};
		return info;
	}
	if (!lock_table())
		return nothing_known;
	e = find_living(handle_table_key(HANDLE_COMM, HANDLE_BITS(comm)));
	if (__builtin_expect(e != NULL, 1)) {
		info = (struct comm_info){e->number, e->comm.rank, e->comm.size, e->comm.peers, e->comm.inter};
		if (handle_locking && e->number >= 0)
			rows_put(c, e->number);
		unlock_table();
		handle_last = (struct handle_last){HANDLE_BITS(comm), generation, info};
		return info;
	}
	unlock_table();
	return first_sight(c, comm, ok, like);
}

int64_t handle_type_size(MPI_Datatype type)
{
	static struct {
		MPI_Datatype type;
		uint64_t generation;
		int64_t size; /* 0: none */
	} last;               /* of the last call; not with several threads */
	struct handle_entry *e, copy;
	int64_t size;

	if (!handle_locking && last.type == type && last.size > 0 && last.generation == call_generation)
		return last.size;
	if (__builtin_expect(handle_locking, 0) &&
	    handle_table_peek(handle_table_key(HANDLE_TYPE, HANDLE_BITS(type)), &copy) && copy.type_size >= 0)
		return copy.type_size;
	e = NULL;
	size = -1;
	if (lock_table()) {
		e = find_or_number(HANDLE_TYPE, HANDLE_BITS(type), true);
		size = e ? e->type_size : -1;
		unlock_table();
	}
	if (__builtin_expect(size < 0 && type != MPI_DATATYPE_NULL, 0)) {
		MPI_Count n = -1; /* MPI_Type_size says nothing of 2 GiB and more */

		if (real.MPI_Type_size_x(type, &n) == MPI_SUCCESS && n >= 0)
			size = n;
		if (lock_table()) {
			e = handle_table_find(handle_table_key(HANDLE_TYPE, HANDLE_BITS(type)));
			if (e)
				set_type_size(e, size);
			unlock_table();
		}
	}
	if (!handle_locking) {
		last.type = type;
		last.generation = call_generation;
		last.size = size;
	}
	return size;
}
