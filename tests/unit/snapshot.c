/* SPDX-License-Identifier: BSD-3-Clause
 * snapshot - copies of an arena that another process changes all the time are what was there at one instant
 */
#include "trace/base/snapshot.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/base/arena.h"

#define SIZE  (UINT64_C(1) << 20)
#define WORDS (SIZE / sizeof(uint64_t))

/* Words far apart, which are written one after the other. */
static const uint64_t places[] = {WORDS - 2, 9000, 70000, 40001, 9001};
enum { PLACES = sizeof places / sizeof places[0] };

static void snapshot_pause(unsigned ns)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

/* What a rank does that calls MPI_Test in a loop: some words change, again and again. */
static void change_for_ever(volatile uint64_t *words, unsigned ns)
{
	for (uint64_t i = 1;; i++) {
		for (int k = 0; k < PLACES; k++)
			words[places[k]] = i;
		snapshot_pause(ns);
	}
}

/* At each instant the places have the same number, or those that were written first have one more. */
static bool is_an_instant(const uint64_t *words)
{
	uint64_t first = words[places[0]];
	bool behind = false;
	for (int k = 1; k < PLACES; k++) {
		uint64_t v = words[places[k]];
		behind |= v + 1 == first;
		if (v != (behind ? first - 1 : first))
			return false;
	}
	return true;
}

static void test_changing(int fd, volatile uint64_t *words, unsigned ns)
{
	unsigned taken = 0, good = 0, different = 0;
	uint64_t last = 0;
	uint64_t *copy = malloc(SIZE);
	pid_t child = fork();
	if (child == 0)
		change_for_ever(words, ns);
	for (int i = 0; copy && i < 300; i++) {
		memset(copy, 0, SIZE);
		if (!snapshot_take((uint8_t *)copy, SIZE, fd))
			continue;
		taken++;
		good += is_an_instant(copy);
		different += copy[places[0]] != last;
		last = copy[places[0]];
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	free(copy);
	ok(taken >= 200, "something changes every %u ns: %u of 300 copies are made", ns, taken);
	ok(good == taken && different > 10, "each is what was there at one instant: %u; %u differ from the one before",
	   good, different);
}

static int take_again(void *context)
{
	static uint8_t copy[SIZE];
	return snapshot_take(copy, SIZE, *(const int *)context) ? 0 : -1;
}

int main(void)
{
	char path[] = "snapshot-XXXXXX";
	uint8_t *copy = calloc(1, SIZE);
	int fd = mkstemp(path);
	unlink(path);
	if (fd < 0 || !copy || ftruncate(fd, SIZE) != 0)
		abort();
	ok(!snapshot_take(copy, SIZE, -1), "no file");
	uint64_t *words = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct arena_header *h = (struct arena_header *)(void *)words;
	words[places[0]] = words[places[1]] = 5;
	h->used = sizeof *h;
	ok(snapshot_take(copy, SIZE, fd) && memcmp(copy, words, sizeof *h) == 0 &&
	           ((uint64_t *)(void *)copy)[places[0]] == 0,
	   "what is used is copied, and no more");
	h->used = SIZE + 8;
	ok(!snapshot_take(copy, SIZE, fd), "more is used than the file has");
	h->used = SIZE;
	ok(fails_well(take_again, &fd), "no memory");
	for (int k = 0; k < PLACES; k++)
		words[places[k]] = 0;
	test_changing(fd, words, 1000);
	test_changing(fd, words, 300);
	free(copy);
	return tap_end();
}
