/* SPDX-License-Identifier: BSD-3-Clause
 * datatype - unit test of trace/read/datatype.c: which calls make a datatype, and how many bytes it has
 */
#include "trace/read/datatype.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

#define UNKNOWN UINT64_MAX
/* A datatype of which nothing is known. */
#define LOST 77

static struct trace t;
static struct pool own;

/* Datatype n has n bytes, but for one. */
static bool bytes_of(void *context, int64_t datatype, uint64_t *size)
{
	*size = (uint64_t)datatype;
	++*(int *)context;
	return datatype != LOST;
}

/* The number of an array; functions of the rank stand behind those of the trace. */
static int64_t array_number(bool ranks, size_t n, const int64_t *values)
{
	uint32_t number = pool_intern(ranks ? &own : &t.vector_pool, values, n * sizeof *values);
	if (number == UINT32_MAX)
		abort();
	return ranks ? (int64_t)t.vector_pool.count + number : number;
}

#define ARRAY(...)   array_number(false, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
#define OF_RANK(...) array_number(true, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

/* Does a call with these values make datatype 5 with so many bytes? */
static bool makes(const char *text, const int64_t *values, uint64_t bytes)
{
	struct schema s;
	int asked = 0;
	uint32_t number = 0;
	uint64_t size = 1;
	if (schema_parse(&s, text, strlen(text)) != 0)
		abort();
	struct event e = {.schema = &s, .own = &own};
	memcpy(e.values, values, s.count * sizeof *values);
	return datatype_makes(&s) && datatype_made(&t, &e, bytes_of, &asked, &number, &size) && number == 5 &&
	       size == bytes;
}

static void test_sizes(void)
{
	int64_t type = VALUE_CONSTANT + 3, abc = ARRAY(2, 0, 3), far = OF_RANK(4, 5), none = ARRAY(2, LOST, 3);
	const struct {
		enum mpi_number f;
		int64_t values[10];
		uint64_t bytes;
	} rows[] = {
		{FN_MPI_Type_contiguous, {6, 8, 5}, 48},
		{FN_MPI_Type_contiguous, {0, 8, 5}, 0},
		{FN_MPI_Type_contiguous, {6, LOST, 5}, UNKNOWN},
		{FN_MPI_Type_contiguous, {VALUE_LOSSY, 8, 5}, UNKNOWN},
		{FN_MPI_Type_contiguous, {6, VALUE_LOSSY, 5}, UNKNOWN},
		{FN_MPI_Type_contiguous_c, {INT64_C(1) << 40, 8, 5}, UINT64_C(1) << 43},
		{FN_MPI_Type_vector, {6, 3, 100, 8, 5}, 144},
		{FN_MPI_Type_vector, {6, 0, 100, 8, 5}, 0},
		{FN_MPI_Type_vector, {6, 3, VALUE_LOSSY, 8, 5}, UNKNOWN},
		{FN_MPI_Type_create_hvector, {2, 3, -100, 4, 5}, 24},
		{FN_MPI_Type_indexed, {3, abc, abc, 8, 5}, 40},
		{FN_MPI_Type_indexed, {2, far, abc, 8, 5}, 72},
		{FN_MPI_Type_indexed, {3, VALUE_LOSSY, abc, 8, 5}, UNKNOWN},
		{FN_MPI_Type_create_hindexed, {3, abc, far, 2, 5}, 10},
		{FN_MPI_Type_create_indexed_block, {3, 2, abc, 8, 5}, 48},
		{FN_MPI_Type_create_struct, {3, abc, abc, ARRAY(8, LOST + 1, 4), 5}, 28},
		{FN_MPI_Type_create_struct, {3, abc, abc, none, 5}, UNKNOWN},
		{FN_MPI_Type_create_struct, {3, abc, abc, far, 5}, UNKNOWN},
		{FN_MPI_Type_create_struct, {2, far, abc, OF_RANK(10, 1), 5}, 45},
		{FN_MPI_Type_create_struct, {3, abc, abc, type, 5}, UNKNOWN},
		{FN_MPI_Type_create_struct, {3, type, abc, abc, 5}, UNKNOWN},
		{FN_MPI_Type_create_struct, {3, abc, abc, VALUE_LOSSY, 5}, UNKNOWN},
		{FN_MPI_Type_create_subarray, {3, abc, ARRAY(2, 3, 4), abc, 0, 8, 5}, 192},
		{FN_MPI_Type_create_subarray, {3, abc, abc, abc, 0, 8, 5}, 0},
		{FN_MPI_Type_create_darray, {4, 0, 1, abc, abc, abc, abc, 0, 8, 5}, UNKNOWN},
		{FN_MPI_Type_create_resized, {8, 0, 64, 5}, 8},
		{FN_MPI_Type_dup, {24, 5}, 24},
		{FN_MPI_Type_dup, {LOST, 5}, UNKNOWN},
		{FN_MPI_Type_create_f90_real, {6, 37, 5}, UNKNOWN},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *text = mpi_functions[rows[i].f].schema;
		ok(makes(text, rows[i].values, rows[i].bytes), "%.*s: %lld", (int)strcspn(text, " "), text,
		   rows[i].bytes == UNKNOWN ? -1LL : (long long)rows[i].bytes);
	}
}

/* Calls that make no datatype leave everything alone. */
static void test_none(void)
{
	static const struct {
		const char *text;
		bool could; /* with another value it would make one */
		int64_t values[4];
	} rows[] = {
		{"MPI_Send count:i datatype:t dest:p", false, {1, 5, 0}},
		{"MPI_Type_commit datatype:t", false, {5}},
		{"MPI_Type_free datatype:t", false, {5}},
		{"MPI_Type_contiguous count:i oldtype:t", false, {1, 8}},
		{"MPI_Comm_dup comm:c newcomm:c", false, {1, 5}},
		{"Unknown count:i oldtype:t newtype:t", false, {1, 8, 5}},
		{"MPI_Type_contiguous count:i oldtype:t newtype:i", false, {1, 8, 5}},
		{"MPI_Type_contiguous count:i oldtype:t newtype:t", true, {1, 8, -1}},
		{"MPI_Type_contiguous count:i oldtype:t newtype:t", true, {1, 8, VALUE_CONSTANT}},
		{"MPI_Type_contiguous count:i oldtype:t newtype:t", true, {1, 8, VALUE_LOSSY}},
		{"MPI_Type_contiguous count:i oldtype:t newtype:t", true, {1, 8, INT64_C(1) + INT32_MAX}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct schema s;
		int asked = 0;
		uint32_t number = 3;
		uint64_t size = 4;
		if (schema_parse(&s, rows[i].text, strlen(rows[i].text)) != 0)
			abort();
		struct event e = {.schema = &s, .own = &own};
		memcpy(e.values, rows[i].values, sizeof rows[i].values);
		ok(datatype_makes(&s) == rows[i].could && !datatype_made(&t, &e, bytes_of, &asked, &number, &size) &&
		           number == 3 && size == 4 && asked == 0,
		   "none: %s", rows[i].text);
	}
}

int main(void)
{
	if (trace_init(&t) != 0)
		abort();
	/* all arrays are in their pools before one stands behind the other */
	ARRAY(2, 0, 3), ARRAY(2, LOST, 3), ARRAY(8, LOST + 1, 4), ARRAY(2, 3, 4);
	test_none();
	test_sizes();
	ok(makes("MPI_Type_create_struct array_of_types:[t newtype:t", (int64_t[]){0, 5}, UNKNOWN), "types alone");
	pool_free(&own);
	trace_free(&t);
	return tap_end();
}
