/* SPDX-License-Identifier: BSD-3-Clause
 * handle - unit test of preload/handle.c and handle_table.c, with an MPI library of its own that is a few functions
 */
#include <stdio.h>
#include <stdlib.h>

static int fail_after = -1; /* the k-th allocation from now on fails; -1: none */

static void *test_calloc(size_t n, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : calloc(n, size);
}
#define calloc test_calloc
#include "preload/handle.c"
#include "preload/handle_table.c"
#undef calloc

static int count, failed;

static void ok(bool condition, const char *title)
{
	printf("%s %d - %s\n", condition ? "ok" : "not ok", ++count, title);
	failed += !condition;
}

/* ---- what handle.c needs of others ---- */

struct mpi_calls real, next;
void *real_predefined[REAL_PREDEFINED_COUNT];
enum real_state real_state;

int session_rank = 3;

/* A recorder that knows no constant yet. */
static struct recorder_head head;
static struct call call = {.rec = (struct recorder *)(void *)&head};

int64_t call_constant_new(struct call *c, enum mpi_constant k)
{
	(void)c;
	return 1000000 + k;
}

uint64_t call_generation;

void call_forget(void)
{
	call_generation++;
}

static int64_t rows[100][2];
static int row_count, asked;

static uint64_t rows_put_count;

uint64_t call_objects(const struct call *c, enum object table_)
{
	(void)c, (void)table_;
	return rows_put_count;
}

void call_object(struct call *c, enum object table_, const int64_t *values, size_t n)
{
	rows_put_count++;
	(void)c;
	if (table_ == OBJECT_COMM && n == 2 && row_count < 100)
		memcpy(rows[row_count++], values, sizeof(rows[0]));
}

/* A communicator of the test's library: bits are 0x100 * rank + size; odd multiples of 0x10000 are intercommunicators.
 */
static int comm_rank(MPI_Comm comm, int *rank)
{
	asked++;
	*rank = (int)(HANDLE_BITS(comm) >> 8 & 0xff);
	return MPI_SUCCESS;
}

static int comm_size(MPI_Comm comm, int *size)
{
	*size = (int)(HANDLE_BITS(comm) & 0xff);
	return MPI_SUCCESS;
}

static int comm_test_inter(MPI_Comm comm, int *flag)
{
	*flag = HANDLE_BITS(comm) >> 16 & 1;
	return MPI_SUCCESS;
}

static int comm_remote_size(MPI_Comm comm, int *size)
{
	(void)comm;
	*size = 77;
	return MPI_SUCCESS;
}

/* 0x200: of 2 GiB and more */
static int type_size(MPI_Datatype type, MPI_Count *size)
{
	asked++;
	*size = (MPI_Count)(HANDLE_BITS(type) & 0xff) + (HANDLE_BITS(type) & 0x200 ? (MPI_Count)1 << 31 : 0);
	return HANDLE_BITS(type) & 0x100 ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static char objects[REAL_PREDEFINED_COUNT][64];

static void begin(void)
{
	real.MPI_Comm_rank = comm_rank;
	real.MPI_Comm_size = comm_size;
	real.MPI_Comm_test_inter = comm_test_inter;
	real.MPI_Comm_remote_size = comm_remote_size;
	real.MPI_Type_size_x = type_size;
	for (int i = 0; i < REAL_PREDEFINED_COUNT; i++)
		real_predefined[i] = objects[i];
	row_count = asked = 0;
	handle_end();
	handle_begin();
}

static MPI_Comm comm_of(uintptr_t bits)
{
	return (MPI_Comm)bits;
}

/* ---- tests ---- */

static void before_mpi(void)
{
	handle_end();
	ok(handle_number(HANDLE_TYPE, 0x1000, false) == HANDLE_ABSENT, "an empty table has nothing");
	handle_freed(HANDLE_TYPE, 0x1000, true);
	ok(handle_number(HANDLE_TYPE, 0, true) == HANDLE_ABSENT, "a handle of no bits is absent");
	ok(handle_number(HANDLE_KEYVAL, 0, true) == 0, "but keyval 0 is a keyval");
	ok(handle_value(&call, HANDLE_ABSENT) == 1000000 + CONST_ABSENT, "absent is the constant -");
	handle_end();
}

static void predefined(void)
{
	bool right = true;

	begin();
	for (size_t i = 0; i < REAL_PREDEFINED_COUNT; i++)
		if (mpi_predefined[i].kind)
			right &= handle_number(mpi_predefined[i].kind, HANDLE_BITS(objects[i]), false) ==
			         ~mpi_predefined[i].constant;
	ok(right, "predefined handles are named constants");
	ok(handle_number(HANDLE_GROUP, HANDLE_BITS(MPI_INT), false) == HANDLE_ABSENT, "of their kind only");
	handle_freed(HANDLE_TYPE, HANDLE_BITS(MPI_INT), true);
	ok(handle_number(HANDLE_TYPE, HANDLE_BITS(MPI_INT), false) == ~CONST_MPI_INT, "they are never forgotten");
	ok(handle_value(&call, ~CONST_MPI_INT) == 1000000 + CONST_MPI_INT, "and have their name as value");
	ok(handle_number(HANDLE_KEYVAL, HANDLE_BITS((intptr_t)MPI_KEYVAL_INVALID), false) ==
	                   ~CONST_MPI_KEYVAL_INVALID &&
	           handle_number(HANDLE_KEYVAL, HANDLE_BITS((intptr_t)MPI_TAG_UB), false) == ~CONST_MPI_TAG_UB,
	   "keyvals, too");
}

static void numbering(void)
{
	begin();
	ok(handle_number(HANDLE_TYPE, 0x1000, false) == HANDLE_ABSENT, "a failed call's unknown handle gets no number");
	ok(handle_number(HANDLE_TYPE, 0x1000, true) == 0 && handle_number(HANDLE_TYPE, 0x2000, true) == 1,
	   "numbers count up from 0");
	ok(handle_number(HANDLE_OP, 0x1000, true) == 0, "in each kind");
	ok(handle_number(HANDLE_TYPE, 0x1000, true) == 0 && handle_number(HANDLE_TYPE, 0x2000, false) == 1, "and stay");
	handle_freed(HANDLE_TYPE, 0x1000, true);
	ok(handle_number(HANDLE_TYPE, 0x3000, true) == 0 && handle_number(HANDLE_TYPE, 0x1000, true) == 2,
	   "a freed handle's number is the next one's, its bits are a new object");
	ok(handle_number(HANDLE_OP, 0x1000, true) == 0, "other kinds are not affected");
}

static void references(void)
{
	begin();
	ok(handle_returned(HANDLE_GROUP, 0x1000) == 0 && handle_returned(HANDLE_GROUP, 0x1000) == 0,
	   "what is returned twice has one number");
	handle_freed(HANDLE_GROUP, 0x1000, true);
	handle_freed(HANDLE_GROUP, 0x1000, false);
	ok(handle_number(HANDLE_GROUP, 0x1000, false) == 0 && handle_returned(HANDLE_GROUP, 0x2000) == 1,
	   "and keeps it when it was freed once");
	handle_freed(HANDLE_GROUP, 0x1000, true);
	ok(handle_number(HANDLE_GROUP, 0x1000, false) == HANDLE_ABSENT && handle_returned(HANDLE_GROUP, 0x3000) == 0,
	   "until it was freed twice");
	handle_end();
}

static void communicators(void)
{
	struct comm_info a, b;
	MPI_Comm parent = comm_of(0x40205), inter = comm_of(0x10203), dup = comm_of(0xffff0f0f0f00);

	begin();
	handle_initialized(false);
	a = handle_comm(&call, comm_of(0x999000), false, NULL);
	ok(a.number == HANDLE_ABSENT && !a.size && !row_count, "a failed call's unknown communicator is not asked");
	asked = 0;
	a = handle_comm(&call, parent, true, NULL);
	ok(a.number == 0 && a.rank == 2 && a.size == 5 && a.peers == 5 && !a.inter,
	   "a new one is asked for rank and size");
	ok(row_count == 1 && rows[0][0] == -1 && rows[0][1] == 5,
	   "and gets its row: rank relative to the world's, size");
	a = handle_comm(&call, parent, true, NULL);
	ok(asked == 1 && row_count == 1 && a.rank == 2, "once");
	a = handle_comm(&call, inter, true, NULL);
	ok(a.number == 1 && a.inter && a.size == 3 && a.peers == 77,
	   "an intercommunicator's peers are the remote group");
	a = handle_comm(&call, parent, true, NULL);
	asked = 0;
	b = handle_comm(&call, dup, true, &a);
	ok(b.number == 2 && b.rank == 2 && b.size == 5 && !asked && row_count == 3,
	   "a duplicate that is not ready is not asked");
	handle_freed(HANDLE_COMM, HANDLE_BITS(parent), true);
	a = handle_comm(&call, parent, true, NULL);
	ok(a.number == 3 && row_count == 4, "a freed communicator's bits are a new one with a row of its own");
	a = handle_comm(&call, MPI_COMM_NULL, true, NULL);
	ok(a.number == ~CONST_MPI_COMM_NULL && !a.rank && !a.size && row_count == 4,
	   "MPI_COMM_NULL has no rank and no row");
}

static void type_sizes(void)
{
	begin();
	ok(handle_type_size((MPI_Datatype)0x5018) == 0x18 && handle_type_size((MPI_Datatype)0x5018) == 0x18 &&
	           asked == 1,
	   "a datatype is asked for its size once");
	ok(handle_type_size((MPI_Datatype)0x5218) == 0x80000018, "it may be 2 GiB and more");
	ok(handle_type_size((MPI_Datatype)0x5118) == -1, "a size that MPI does not tell is unknown");
	ok(handle_type_size(MPI_DATATYPE_NULL) == -1, "MPI_DATATYPE_NULL has none");
}

static void many(void)
{
	enum { N = 20000 };
	bool right = true;

	begin();
	for (int i = 0; i < N; i++)
		right &= handle_number(HANDLE_TYPE, 0x100000 + 48 * (uint64_t)i, true) == i;
	for (int i = 0; i < N; i += 2)
		handle_freed(HANDLE_TYPE, 0x100000 + 48 * (uint64_t)i, true);
	for (int i = 0; i < N; i++)
		right &= handle_number(HANDLE_TYPE, 0x100000 + 48 * (uint64_t)i, false) == (i % 2 ? i : HANDLE_ABSENT);
	ok(right, "20000 handles, of which every other one is forgotten");
	right = true;
	for (int i = 0; i < N; i += 2)
		right &= handle_number(HANDLE_TYPE, 0x100000 + 48 * (uint64_t)i, true) == i;
	ok(right, "and comes back with the lowest free number");
}

static void no_memory(void)
{
	bool right = true;

	begin();
	fail_after = 0;
	for (int i = 0; i < 1000; i++) {
		int32_t n = handle_number(HANDLE_INFO, 0x8000 + 64 * (uint64_t)i, true);

		if (i == 500)
			fail_after = 0;
		right &= n >= 0 || n == HANDLE_ABSENT;
	}
	fail_after = -1;
	ok(right, "without memory a handle is absent");
	ok(handle_number(HANDLE_TYPE, HANDLE_BITS(MPI_INT), false) == ~CONST_MPI_INT, "and those that are known stay");
	handle_end();
	fail_after = 0;
	handle_begin();
	ok(handle_number(HANDLE_TYPE, HANDLE_BITS(MPI_INT), false) == HANDLE_ABSENT,
	   "not even room for the predefined ones");
	fail_after = -1;
}

int main(void)
{
	before_mpi();
	predefined();
	numbering();
	references();
	communicators();
	type_sizes();
	many();
	no_memory();
	handle_end();
	printf("1..%d\n", count);
	return failed != 0;
}
