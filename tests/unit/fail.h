/* SPDX-License-Identifier: BSD-3-Clause
 * fail - the k-th allocation fails: what was under way says so, and gives back all that it took
 *
 * The program is linked with WRAP_MALLOC, so that each allocation of spoor's own code comes through here.
 */
#ifndef SPOOR_TEST_FAIL_H
#define SPOOR_TEST_FAIL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

static long fail_left;  /* allocations until one fails, that one included; 0: none does */
static bool fail_lasts; /* all behind it fail as well */
static bool fail_happened;
static long fail_alive; /* pieces of memory that are allocated */

static bool fail_now(void)
{
	bool now = (fail_happened && fail_lasts) || (fail_left > 0 && --fail_left == 0);
	fail_happened |= now;
	return now;
}

static void *fail_counted(void *p)
{
	fail_alive += p != NULL;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fail_now() ? NULL : fail_counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fail_now() ? NULL : fail_counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	if (fail_now())
		return NULL;
	return p ? __real_realloc(p, n) : fail_counted(__real_malloc(n));
}

void __wrap_free(void *p)
{
	fail_alive -= p != NULL;
	__real_free(p);
}

char *__wrap_strdup(const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = __wrap_malloc(n);
	return copy ? memcpy(copy, text, n) : NULL;
}

char *__wrap_strndup(const char *text, size_t n)
{
	size_t length = strnlen(text, n);
	char *copy = __wrap_malloc(length + 1);
	if (copy)
		memcpy(copy, text, length);
	if (copy)
		copy[length] = '\0';
	return copy;
}

/* Does `work` survive that its k-th allocation fails, and that this one and all behind it fail, for every k? It returns
 * 0 if all is as it should be, else -1, and leaves nothing allocated in any case. Without a failure it returns 0. */
static bool __attribute__((unused)) fails_well(int (*work)(void *context), void *context)
{
	for (int lasts = 0; lasts < 2; lasts++) {
		for (long k = 1;; k += 1 + k / 64) { /* of many, most are the same again */
			long before = fail_alive;
			fail_left = k;
			fail_lasts = lasts;
			fail_happened = false;
			int rv = work(context);
			bool happened = fail_happened;
			fail_left = 0;
			fail_happened = false;
			if (fail_alive != before) {
				printf("# allocation %ld fails: %ld pieces leak\n", k, fail_alive - before);
				return false;
			}
			if (!happened && (rv != 0 || k == 1))
				printf("# %ld allocations, none fails: %s\n", k - 1,
				       rv ? "an error" : "nothing to see");
			if (!happened && (rv != 0 || k == 1))
				return false;
			if (!happened)
				break;
		}
	}
	return true;
}

/* Into a new folder, which is removed in the end if it is empty then. */
static char scratch[200];

static void scratch_remove(void)
{
	if (chdir("/") == 0)
		rmdir(scratch);
}

static void __attribute__((unused)) scratch_enter(void)
{
	snprintf(scratch, sizeof scratch, "%s/unit.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(scratch) || chdir(scratch) != 0 || atexit(scratch_remove) != 0)
		abort();
}

/* The same for tests that give up root and leave files: they are run in a child, and whoever removes the folder is what
 * it was. Returns the program's status. */
static int __attribute__((unused)) scratch_run(int (*tests)(void))
{
	char command[300];
	int status = -1;
	scratch_enter();
	pid_t child = fork();
	if (child == 0)
		exit(tests());
	snprintf(command, sizeof command, "rm -rf '%s'/*", scratch);
	waitpid(child, &status, 0);
	return system(command) || status ? 1 : 0;
}

/* Calls `look` with the bytes cut short at every length, and then with each bit of them flipped. It returns whether
 * they were refused. Returns how many were not; what matters is that nothing crashes. */
static size_t __attribute__((unused)) damage_each(bool (*look)(void *context, const void *bytes, size_t n),
                                                  void *context, const void *bytes, size_t n, size_t *cut)
{
	size_t taken = 0;
	*cut = 0;
	for (size_t k = 0; k < n; k++) { /* in a piece of its own, so that a checker sees who reads past the end */
		void *copy = malloc(k ? k : 1);
		*cut += !look(context, memcpy(copy, bytes, k), k);
		free(copy);
	}
	unsigned char *copy = malloc(n + 1);
	memcpy(copy, bytes, n);
	for (size_t bit = 0; bit < 8 * n; bit++) {
		copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
		taken += !look(context, copy, n);
		copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	free(copy);
	return taken;
}

#endif
