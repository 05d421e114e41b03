/* SPDX-License-Identifier: BSD-3-Clause
 * readable - unit test of preload/readable.c: memory that ends, memory that is not there, numbers that wrap around
 */
#include "preload/readable.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define SIZE (4u << 20)

int main(void)
{
	char *memory = mmap(NULL, 2 * (size_t)SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	     *end = memory + SIZE;
	int one = 1;

	if (memory == MAP_FAILED || mprotect(end, SIZE, PROT_NONE) != 0)
		return 1;
	memset(memory, 'x', SIZE);
	errno = ENOTTY;
	ok(!readable(NULL, 0, 1, true), "a null pointer");
	ok(!readable(NULL, 5, 1, true), "a null pointer to something");
	ok(!readable(memory, -1, 1, true), "less than nothing");
	ok(readable(&one, 1, sizeof(one), false), "a variable");
	ok(readable((void *)16, 0, 8, false), "nothing, anywhere");
	ok(!readable((void *)16, 1, 8, true), "no memory");
	ok(readable(memory, SIZE, 1, false), "all that there is");
	ok(!readable(memory, (ptrdiff_t)SIZE + 1, 1, true), "a byte more");
	ok(readable(end - 8, 1, 8, false), "the last eight bytes");
	ok(!readable(end - 7, 1, 8, true), "across the end");
	ok(!readable(memory, INT64_C(1) << 60, 8, true), "more than addresses reach");
	ok(!readable(memory, PTRDIFF_MAX, SIZE, true), "a size that wraps around");
	ok(readable_array(true, memory, 10, 1) && !readable_array(true, NULL, 10, 1),
	   "a small array of a call that succeeded");
	ok(!readable_array(true, end - 4, 1 << 28, 4), "a large one that is not there");
	ok(!readable_array(false, end - 4, 2, 4), "a small one of a call that failed");
	ok(readable_length(false, "text") == 4 && readable_length(true, "text") == 4, "a text");
	ok(readable_length(false, end - 5) == -1, "a text without an end");
	end[-1] = '\0';
	ok(readable_length(false, end - 5) == 4, "a text that ends where the memory does");
	ok(readable_length(false, end - 5000) == 4999, "a text over two pages");
	ok(readable_length(false, memory) == -1, "a text that is too long");
	ok(readable_length(false, (char *)16) == -1, "a text that is not there");
	ok(errno == ENOTTY, "errno is as it was");
	return tap_end();
}
