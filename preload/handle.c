/* SPDX-License-Identifier: BSD-3-Clause
 * handle - symbols for MPI's handles: c0, t2, ...
 *
 * Open addressing with linear probing; a power of two of slots, at most half of them used; removal moves later entries
 * back, so that there are no tombstones. An entry is 32 bytes: a look-up touches one cache line, seldom two. Key 0 is
 * an empty slot.
 */
#include "preload/handle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/numbers.h"
#include "preload/session.h"

struct entry {
	uint64_t key; /* bits and kind, never 0 */
	int32_t number;
	union {
		struct {
			int32_t rank, size, peers; /* HANDLE_COMM */
			uint8_t inter;
		} comm;
		int64_t type_size; /* HANDLE_TYPE; -1: unknown yet */
	};
};

static struct entry *table;
static size_t mask; /* slots - 1 */
static unsigned shift;
static size_t used;
static struct numbers numbers[HANDLE_KINDS]; /* communicators never give theirs back: it is the row in OBJECT_COMM */
bool handle_locking;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

__thread struct handle_last handle_last __attribute__((tls_model("initial-exec")));

static inline void lock(void)
{
	if (__builtin_expect(handle_locking, 0))
		pthread_mutex_lock(&table_lock);
}

static inline void unlock(void)
{
	if (__builtin_expect(handle_locking, 0))
		pthread_mutex_unlock(&table_lock);
}

/* Addresses use at most 57 bits; keyvals are small integers, and 0 is one. */
static inline uint64_t make_key(enum handle_kind kind, uint64_t bits)
{
	return bits ^ (uint64_t)kind << 59;
}

static inline size_t home(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> shift;
}

static inline struct entry *find(uint64_t key)
{
	if (__builtin_expect(!table, 0))
		return NULL;
	for (size_t i = home(key);; i = (i + 1) & mask) {
		if (table[i].key == key)
			return &table[i];
		if (!table[i].key)
			return NULL;
	}
}

static bool grow(void)
{
	size_t slots = table ? 2 * (mask + 1) : 512; /* 512: all predefined handles of Open MPI fit without growing */
	struct entry *old = table, *bigger;
	size_t old_slots = table ? mask + 1 : 0;
	int saved = errno;

	bigger = calloc(slots, sizeof(*bigger));
	errno = saved;
	if (!bigger)
		return false;
	table = bigger;
	mask = slots - 1;
	shift = 64 - __builtin_ctzl(slots);
	for (size_t i = 0; i < old_slots; i++) {
		size_t j;

		if (!old[i].key)
			continue;
		for (j = home(old[i].key); table[j].key; j = (j + 1) & mask)
			;
		table[j] = old[i];
	}
	free(old);
	return true;
}

/* NULL: no memory. A key that is already there is returned as it is. */
static struct entry *insert(uint64_t key, int32_t number)
{
	struct entry *e = find(key);
	size_t i;

	if (e)
		return e;
	if (2 * (used + 1) > (table ? mask + 1 : 0) && !grow())
		return NULL;
	for (i = home(key); table[i].key; i = (i + 1) & mask)
		;
	used++;
	e = &table[i];
	memset(e, 0, sizeof(*e));
	e->key = key;
	e->number = number;
	return e;
}

static void remove_entry(struct entry *e)
{
	size_t hole = e - table;

	for (size_t i = (hole + 1) & mask; table[i].key; i = (i + 1) & mask) {
		/* Entry i may fill the hole unless its home lies between the hole and itself. */
		if (((i - home(table[i].key)) & mask) >= ((i - hole) & mask)) {
			table[hole] = table[i];
			hole = i;
		}
	}
	table[hole].key = 0;
	used--;
}

static struct entry *find_or_number(enum handle_kind kind, uint64_t bits, bool may_be_new)
{
	uint64_t key = make_key(kind, bits);
	struct entry *e = find(key);

	if (__builtin_expect(e != NULL, 1))
		return e;
	if (!may_be_new || (!bits && kind != HANDLE_KEYVAL))
		return NULL;
	int32_t number = numbers_take(&numbers[kind]);
	if (number < 0 || (kind == HANDLE_BUFFER && number >= HANDLE_BUFFERS)) {
		if (number >= 0)
			numbers_give(&numbers[kind], number);
		return NULL;
	}
	e = insert(key, number);
	if (!e) {
		numbers_give(&numbers[kind], number);
		return NULL;
	}
	if (kind == HANDLE_TYPE)
		e->type_size = -1;
	return e;
}

void handle_begin(void)
{
	for (size_t i = 0; i < REAL_PREDEFINED_COUNT; i++) {
		const struct mpi_predefined *p = &mpi_predefined[i];
		struct entry *e;

		/* Requests have their own table. Two names of one object: the first one counts. */
		if (!real_predefined[i] || !p->kind)
			continue;
		e = insert(make_key(p->kind, HANDLE_BITS(real_predefined[i])), ~(int32_t)p->constant);
		if (!e)
			return;
		if (p->kind == HANDLE_TYPE)
			e->type_size = -1;
	}
	for (size_t i = 0; i < MPI_KEYVALS_COUNT; i++)
		insert(make_key(HANDLE_KEYVAL, HANDLE_BITS((intptr_t)mpi_keyvals[i].value)),
		       ~(int32_t)mpi_keyvals[i].constant);
}

void handle_end(void)
{
	handle_last.bits = 0;
	free(table);
	table = NULL;
	mask = used = 0;
	for (int i = 0; i < HANDLE_KINDS; i++)
		numbers_reset(&numbers[i]);
}

int32_t handle_number(enum handle_kind kind, uint64_t bits, bool may_be_new)
{
	struct entry *e;
	int32_t n;

	lock();
	e = find_or_number(kind, bits, may_be_new);
	n = e ? e->number : HANDLE_ABSENT;
	unlock();
	return n;
}

void handle_forget(enum handle_kind kind, uint64_t bits)
{
	struct entry *e;

	lock();
	e = find(make_key(kind, bits));
	if (e && e->number >= 0) {
		if (kind != HANDLE_COMM)
			numbers_give(&numbers[kind], e->number);
		remove_entry(e);
		if (kind != HANDLE_MESSAGE) /* what depends on those is looked up each time */
			call_forget();
	}
	unlock();
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
		struct entry *e = find(make_key(HANDLE_COMM, HANDLE_BITS(comms[i])));
		struct comm_info info;

		if (!e)
			continue;
		ask_comm(comms[i], &info);
		e->comm.rank = info.rank;
		e->comm.size = e->comm.peers = info.size;
	}
}

void handle_session(bool multiple)
{
	handle_locking |= multiple;
}

static struct comm_info first_sight(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	struct comm_info info = {HANDLE_ABSENT, 0, 0, 0, false};
	uint64_t key = make_key(HANDLE_COMM, HANDLE_BITS(comm));
	struct entry *e;
	bool is_new;

	if (!ok || !comm)
		return info;
	if (like) {
		info = *like;
		info.number = HANDLE_ABSENT;
	} else {
		ask_comm(comm, &info); /* not under the lock: MPI may call back */
	}
	lock();
	is_new = !find(key);
	e = find_or_number(HANDLE_COMM, HANDLE_BITS(comm), true);
	if (e) {
		info.number = e->number;
	}
	if (e && is_new) {
		e->comm.rank = info.rank;
		e->comm.size = info.size;
		e->comm.peers = info.peers;
		e->comm.inter = info.inter;
		int64_t row[2] = {info.rank - session_world_rank(), info.size};

		call_object(c, OBJECT_COMM, row, 2); /* under the lock: rows are in the order of numbers */
	}
	unlock();
	return info;
}

struct comm_info handle_comm_slowly(struct call *c, MPI_Comm comm, bool ok, const struct comm_info *like)
{
	struct comm_info info;
	struct entry *e;
	uint64_t generation = __atomic_load_n(&call_generation, __ATOMIC_RELAXED);

	lock();
	e = find(make_key(HANDLE_COMM, HANDLE_BITS(comm)));
	if (__builtin_expect(e != NULL, 1)) {
		info = (struct comm_info){e->number, e->comm.rank, e->comm.size, e->comm.peers, e->comm.inter};
		unlock();
		handle_last = (struct handle_last){HANDLE_BITS(comm), generation, info};
		return info;
	}
	unlock();
	return first_sight(c, comm, ok, like);
}

int64_t handle_type_size(MPI_Datatype type)
{
	struct entry *e;
	int64_t size;

	lock();
	e = find_or_number(HANDLE_TYPE, HANDLE_BITS(type), true);
	size = e ? e->type_size : -1;
	unlock();
	if (__builtin_expect(size < 0 && type != MPI_DATATYPE_NULL, 0)) {
		int n = -1;

		if (real.MPI_Type_size(type, &n) == MPI_SUCCESS && n >= 0)
			size = n;
		lock();
		e = find(make_key(HANDLE_TYPE, HANDLE_BITS(type)));
		if (e)
			e->type_size = size;
		unlock();
	}
	return size;
}
