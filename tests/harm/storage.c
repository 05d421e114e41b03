/* SPDX-License-Identifier: BSD-3-Clause
 * storage - a library with much thread-local storage that must be found before a thread begins (initial-exec), as
 * libgomp and jemalloc have some
 *
 * glibc keeps some 1,600 bytes for all such libraries that are opened later. The tracer is one of them
 * (preload/scratch.h): it takes 300 bytes.
 */
enum { SIZE = 1280 };

static __thread char storage[SIZE] __attribute__((tls_model("initial-exec")));

int run(void);
int run(void)
{
	for (int i = 1; i < SIZE; i++)
		storage[i] = (char)(storage[i - 1] + 3);
	return storage[SIZE - 1] & 15;
}
