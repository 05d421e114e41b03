/* SPDX-License-Identifier: BSD-3-Clause
 * arena - damaged files, operations that were not finished, blocks that are used again
 */
#include "trace/base/arena.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static const char path[] = "arena.tmp";
static bool named_when_locked; /* was there a file of that name before it was locked? */

int flock(int fd, int operation)
{
	(void)fd;
	named_when_locked |= operation & LOCK_EX && access(path, F_OK) == 0;
	return 0;
}

/* Puts bytes at an offset of the file, opens it, and puts back what was there. Returns what arena_open said. */
static int open_with(uint64_t offset, const void *bytes, size_t n)
{
	struct arena a;
	struct error error = {""};
	char saved[16];
	int fd = open(path, O_RDWR);
	if (pread(fd, saved, n, (off_t)offset) != (ssize_t)n || pwrite(fd, bytes, n, (off_t)offset) != (ssize_t)n)
		abort();
	int rv = arena_open(&a, path, &error);
	if (pwrite(fd, saved, n, (off_t)offset) != (ssize_t)n || close(fd) != 0 ||
	    (rv != 0 && rv != 1) != (error.text[0] != '\0'))
		abort();
	if (rv == 0)
		arena_close(&a);
	return rv;
}

#define OPEN_WITH(field, value) \
	open_with(offsetof(struct arena_header, field), &(uint64_t){value}, sizeof((struct arena_header *)0)->field)

static int make_and_open(void *context)
{
	struct arena a, b;
	struct error error = {""};
	(void)context;
	unlink(path);
	int rv = arena_create(&a, path, ARENA_MIN_SIZE, &error);
	if (rv == 0) {
		rv = arena_open(&b, path, &error);
		if (rv == 0)
			arena_close(&b);
		arena_close(&a);
	}
	if ((rv != 0) != (error.text[0] != '\0'))
		abort();
	return rv;
}

static void test_damage(void)
{
	struct arena a, b;
	struct error error = {""};
	ok(arena_open(&a, "nothing.tmp", &error) == -1 && error.text[0], "no such file");
	if (arena_create(&a, path, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	ok(!named_when_locked, "it is locked before anybody can find it");
	ok(arena_create(&b, path, ARENA_MIN_SIZE, NULL) == -1 && access("arena.tmp.new", F_OK) != 0,
	   "a file that is there is not taken");
	arena_close(&a);
	ok(OPEN_WITH(magic, 0) == 1, "a process that died before it was initialised");
	ok(open_with(0, "spoora", 6) == 0 && open_with(0, "Spoora", 6) == -1, "another magic number");
	ok(OPEN_WITH(layout, arena_layout() + 1) == ARENA_OTHER_BUILD,
	   "another build, whose structures are other ones");
	ok(OPEN_WITH(used, UINT64_C(1) << 40) == -1 && OPEN_WITH(used, 8) == -1, "a bump pointer outside");
	ok(OPEN_WITH(journal_count, ARENA_JOURNAL + 1) == -1, "a journal that is too long");
	ok(OPEN_WITH(journal_count, 1) == 0, "one word of the journal, which is in the header");
	int fd = open(path, O_RDWR);
	if (ftruncate(fd, sizeof(struct arena_header) - 1) != 0)
		abort();
	ok(arena_open(&a, path, NULL) == -1, "shorter than a header");
	if (ftruncate(fd, 0) != 0 || close(fd) != 0)
		abort();
	ok(arena_open(&a, path, NULL) == 1, "empty");
	unlink(path);
}

/* Changes of one's own arena stay private, and are taken back. */
static void test_own(void)
{
	struct arena a, b;
	if (arena_create(&a, path, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	ref r = arena_alloc(&a, 64);
	*arena_at(&a, uint64_t, r) = 42;
	ok(arena_open_own(&b, path, NULL) == 0 && *arena_at(&b, uint64_t, r) == 42, "one's own arena is read");
	ref more = arena_alloc(&b, 1 << 20);
	*arena_at(&b, uint64_t, r) = *arena_at(&b, uint64_t, more) = 43;
	ok(*arena_at(&a, uint64_t, r) == 42 && *arena_at(&b, uint64_t, r) == 43, "a change stays private");
	ok(arena_renew(&b) == 0 && *arena_at(&b, uint64_t, r) == 42 && arena_alloc(&b, 1 << 20) == more &&
	           *arena_at(&b, uint64_t, more) == 0,
	   "and is taken back, with what was added");
	a.header->used = UINT64_C(1) << 40;
	ok(arena_renew(&b) == -1, "it is checked again");
	arena_close(&b);
	arena_close(&a);
	unlink(path);
}

/* After each of its stores, an operation that stops there is taken back. */
static void test_undo(void)
{
	struct arena a, b;
	if (arena_create(&a, path, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	ref r = arena_alloc(&a, 64);
	uint64_t *words = arena_at(&a, uint64_t, r), used = a.header->used;
	arena_commit(&a);
	bool same = true;
	for (unsigned i = 0; i < 8; i++) {
		arena_set(&a, words[i], i + 1);
		ref more = arena_alloc(&a, 100);
		same &= more != 0 && arena_open(&b, path, NULL) == 0 && b.header->used == used;
		for (unsigned k = 0; same && k < 8; k++)
			same &= arena_at(&b, uint64_t, r)[k] == 0;
		arena_close(&b);
	}
	ok(same, "an operation that was not finished is taken back");
	arena_commit(&a);
	ok(arena_open(&b, path, NULL) == 0 && arena_at(&b, uint64_t, r)[7] == 8 && b.header->used == a.header->used,
	   "one that was finished is not");
	ok(!arena_valid(&b, r + 4, 8) && !arena_valid(&b, 8, 8) && !arena_valid(&b, r, b.header->used) &&
	           !arena_valid(&b, r, UINT64_MAX) && arena_valid(&b, r, 64),
	   "references outside of what is used, or not aligned");
	arena_close(&b);
	arena_close(&a);
	unlink(path);
}

/* Random blocks, none of which may touch another one. */
static void test_blocks(void)
{
	enum { BLOCKS = 64 };
	struct arena a;
	ref at[BLOCKS] = {0};
	uint64_t size[BLOCKS] = {0};
	size_t wrong = 0;
	random_seed(5);
	if (arena_create(&a, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
	for (unsigned i = 0; i < 20000; i++) {
		unsigned k = (unsigned)random_below(BLOCKS);
		for (uint64_t b = 0; b < size[k]; b++)
			wrong += a.base[at[k] + b] != k;
		if (size[k])
			arena_free_block(&a, at[k], size[k]);
		size[k] = 0;
		at[k] = arena_alloc_block(&a, 1 + random_below(900), &size[k]);
		if (!at[k])
			size[k] = 0;
		memset(a.base + at[k], (int)k, at[k] ? size[k] : 0);
		arena_commit(&a);
		if (i % 1000 == 999)
			arena_compact(&a);
		arena_commit(&a);
	}
	ok(wrong == 0 && a.header->used <= a.header->size, "20000 blocks, given back and used again, never overlap");
	ok(!arena_alloc(&a, ARENA_MAX_SIZE) && !arena_room(&a, ARENA_MAX_SIZE), "no room is no crash");
	arena_close(&a);
}

int main(void)
{
	scratch_enter();
	test_damage();
	test_own();
	test_undo();
	test_blocks();
	ok(fails_well(make_and_open, NULL), "without memory there is no arena");
	unlink(path);
	return tap_end();
}
