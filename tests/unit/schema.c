/* SPDX-License-Identifier: BSD-3-Clause
 * schema - what is no schema; what is known of functions that the table has, and of others
 */
#include "trace/model/schema.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct schema s;

static bool parses(const char *text)
{
	return schema_parse(&s, text, strlen(text)) == 0;
}

static void test_bad(void)
{
	static const char *const bad[] = {"",       " a:i",   "F a",   "F :i",  "F a:",    "F a:ii",  "F a:I",
	                                  "F a:i ", "F  a:i", "F a:x", "F a:[", "F a:[[i", "F a:i b", "F a:1"};
	char long_text[SCHEMA_MAX * 4 + 10] = "F";
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!parses(bad[i]), "\"%s\" is no schema", bad[i]);
	ok(schema_parse(&s, "F\0a:i", 5) == -1, "nor is one with a NUL");
	for (size_t i = 0; i < SCHEMA_MAX; i++)
		memcpy(long_text + 1 + 4 * i, " a:i", 4);
	ok(parses(long_text) && s.count == SCHEMA_MAX, "%d columns", SCHEMA_MAX);
	memcpy(long_text + 1 + 4 * (size_t)SCHEMA_MAX, " a:i", 5);
	ok(!parses(long_text), "one more is refused");
}

int main(void)
{
	size_t wrong = 0, columns = 0;
	test_bad();
	ok(parses("MPI_Nothing a:i b:[i c:s") && s.mpi == &mpi_unknown && s.count == 3 && !s.object &&
	           s.at[PARAMETER_COUNT] == -1,
	   "a function that the table does not know");
	ok(schema_column(&s, "b") == 1 && schema_column(&s, "bb") == -1 && schema_column(&s, "") == -1, "its columns");
	ok(schema_reference(&s, 0) == REFERENCE_NONE && schema_reference(&s, 1) == REFERENCE_VECTOR &&
	           schema_reference(&s, 2) == REFERENCE_STRING && schema_reference(&s, 3) == REFERENCE_SITE,
	   "what they refer to; behind the last one is the successor");
	ok(parses("@comm size:i") && s.object && schema_exact(&s, 0), "an object table keeps its order");
	ok(parses("MPI_Send buf:b count:i datatype:t dest:p tag:i comm:c error:e") && s.mpi->function == FN_MPI_Send &&
	           s.at[PARAMETER_COUNT] == 1 && s.at[PARAMETER_DEST] == 3 && s.at[PARAMETER_ERROR] == 6,
	   "parameters are found behind a column that the table does not have");
	ok(!schema_exact(&s, 1) && schema_exact(&s, 2) && schema_exact(&s, s.count), "what gives up its order");
	for (unsigned f = 0; f < FN_COUNT; f++) {
		const struct mpi_function *m = &mpi_functions[f];
		if (!parses(m->schema) || s.mpi != m || strlen(m->directions) != s.count) {
			wrong++;
			continue;
		}
		for (unsigned p = 0; p < MPI_PARAMETERS; p++)
			wrong += p != PARAMETER_ERROR && s.at[p] != m->at[p];
		for (size_t i = 0; i < s.count; i++)
			wrong += s.column[i].direction != m->directions[i];
		columns += s.count;
	}
	ok(wrong == 0, "all %d functions of the table, with %zu columns", FN_COUNT, columns);
	return tap_end();
}
