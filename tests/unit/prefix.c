/* SPDX-License-Identifier: BSD-3-Clause
 * prefix - unit test of trace/record/prefix.c: a column that gives up its order keeps what it was marked for, in order
 */
#include "trace/record/prefix.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/taken_out.h"
#include "tests/unit/tap.h"
#include "trace/model/pattern.h"
#include "trace/record/image.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"

enum { N = 4000, MORE = 500 };

static struct arena arena;
static struct columns columns;

static struct column *begin_in(const char *path, uint16_t role)
{
	if (arena_create(&arena, path, UINT64_C(16) << 20, NULL) != 0 || !arena_room(&arena, 1 << 20) ||
	    columns_init(&columns, &arena) != 0)
		abort();
	columns.record = record_create(&arena);
	ref at = arena_alloc(&arena, sizeof(struct column));
	arena_commit(&arena);
	struct column *c = arena_at(&arena, struct column, at);
	column_init(c);
	c->role = role;
	return c;
}

static struct column *begin(uint16_t role)
{
	return begin_in(NULL, role);
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

/* One value, a counter, loops, a loop that ends, anything, many different ones, the same again and again. */
static int64_t value_of(int kind, int i)
{
	switch (kind % 7) {
	case 0:
		return i < 3000 ? 7 : 8 + i % 3;
	case 1:
		return i * 3;
	case 2:
		return i % 26;
	case 3:
		return i < 2000 ? i % 5 : (int64_t)random_below(9);
	case 4:
		return (int64_t)random_below(13);
	case 5:
		return (int64_t)random_below(2000);
	default:
		return i % 50 < 40 ? 1 : (int64_t)random_below(4);
	}
}

/* A column that is marked, gives up its order later, and goes on. Returns false if something is wrong. */
static bool keeps(int kind, uint16_t role, size_t marked, size_t given_up)
{
	static int64_t values[N + MORE];
	struct column *c = begin(role);
	bool good = true;
	for (size_t i = 0; i < given_up; i++) {
		if (i == marked) {
			columns.mark = marked + 1;
			c->marked = marked;
		}
		values[i] = value_of(kind, (int)i);
		column_put(&columns, c, i, values[i]);
	}
	if (marked == given_up) {
		columns.mark = marked + 1;
		c->marked = marked;
	}
	lossy_force(&columns, c, given_up);
	struct column *p = lossy_prefix(&columns, c);
	good = p && p->start >= marked && p->start <= given_up && taken_out(&columns, p, p->start, false, values);
	for (size_t i = given_up; i < given_up + MORE; i++)
		column_put(&columns, c, i, value_of(kind, (int)i));
	good = good && taken_out(&columns, p, p->start, false, values);
	struct lossy_image image;
	if (good && role == ROLE_VALUE)
		good = lossy_extract(&columns, c, given_up + MORE, &image) == 0 && image.prefix == p &&
		       tally_count(&image.values) == given_up + MORE && image.since == marked;
	if (good && role == ROLE_VALUE)
		lossy_image_free(&image);
	uint64_t left = arena_left(&arena);
	lossy_drop_prefix(&columns, c);
	good = good && arena_left(&arena) > left && !lossy_prefix(&columns, c);
	end();
	return good;
}

static void test_all(void)
{
	static const uint16_t roles[] = {ROLE_VALUE, ROLE_NEXT};
	int wrong = 0;
	for (int i = 0; i < 420; i++) {
		size_t given_up = 2 + random_below(N - 2), marked = 1 + random_below((uint32_t)given_up);
		wrong += !keeps(i, roles[i / 7 % 2], marked, given_up);
	}
	ok(wrong == 0, "what was marked comes back in order, wrong: %d", wrong);
}

/* The memory of what comes behind the mark comes back. */
static void test_memory(void)
{
	static const int kinds[] = {4, 5};
	for (size_t k = 0; k < 2; k++) {
		struct column *c = begin(ROLE_VALUE);
		for (size_t i = 0; i < N; i++) {
			if (i == N / 4) {
				columns.mark = i + 1;
				c->marked = i;
			}
			column_put(&columns, c, i, value_of(kinds[k], (int)i));
		}
		uint64_t size = column_size(&columns, c);
		lossy_force(&columns, c, N);
		uint64_t kept = column_size(&columns, lossy_prefix(&columns, c));
		ok(kept < size * 6 / 10, "a quarter of %d values: %llu bytes of %llu", N, (unsigned long long)kept,
		   (unsigned long long)size);
		end();
	}
}

/* Of a loop, no more turns are kept than are needed. */
static void test_loop(void)
{
	struct column *c = begin(ROLE_VALUE);
	for (size_t i = 0; i < N; i++) {
		if (i == N / 4) {
			columns.mark = i + 1;
			c->marked = i;
		}
		column_put(&columns, c, i, value_of(2, (int)i));
	}
	lossy_force(&columns, c, N);
	const struct column *p = lossy_prefix(&columns, c);
	ok(p && p->start >= N / 4 && p->start < N / 4 + 26, "a loop of 26 values: %llu are in order, %d were marked",
	   (unsigned long long)(p ? p->start : 0), N / 4);
	end();
}

static void test_none(void)
{
	struct column *c = begin(ROLE_VALUE);
	for (uint64_t i = 0; i < 100; i++)
		column_put(&columns, c, i, value_of(4, (int)i));
	lossy_force(&columns, c, 100);
	ok(c->lossy && !lossy_prefix(&columns, c), "nothing is marked: there is none");
	prefix_cut(&columns, 0);
	prefix_free(&columns, 0);
	end();
	c = begin(ROLE_VALUE);
	columns.mark = 1;
	c->marked = 50;
	for (uint64_t i = 0; i < 100; i++)
		column_put(&columns, c, i, value_of(4, (int)i));
	lossy_make(&columns, c, 100, 1);
	ok(c->lossy && !lossy_prefix(&columns, c), "a column that is longer than the mode allows has none");
	end();
}

/* Gives up the order of a column in an arena of a file; writes where it is when it is about to. Does not return. */
static void give_up(const char *path, const int64_t *values, int out)
{
	struct column *c = begin_in(path, ROLE_VALUE);
	for (size_t i = 0; i < N; i++) {
		if (i == N / 2) {
			columns.mark = i + 1;
			c->marked = i;
		}
		column_put(&columns, c, i, values[i]);
	}
	ref at = arena_ref(&arena, c);
	if (write(out, &at, sizeof at) == sizeof at)
		lossy_force(&columns, c, N);
	for (;;)
		pause();
}

/* What the process left has all values, in order or counted, and those that were marked in order. */
static bool is_whole(const char *path, const int64_t *values, ref at, bool *lossy)
{
	struct lossy_image image = {0};
	if (arena_open(&arena, path, NULL) != 0 || columns_init(&columns, &arena) != 0)
		return false;
	struct column *c = arena_at(&arena, struct column, at);
	*lossy = c->lossy;
	bool good = c->lossy ? lossy_extract(&columns, c, N, &image) == 0 && tally_count(&image.values) == N &&
	                               image.prefix && image.prefix->start >= N / 2 &&
	                               taken_out(&columns, image.prefix, image.prefix->start, false, values)
	                     : taken_out(&columns, c, N, false, values);
	lossy_image_free(&image);
	end();
	return good;
}

/* A process is killed at any instant of it. */
static void test_killed(void)
{
	static int64_t values[N];
	int wrong = 0, lossy = 0, rounds = 150;
	char path[256];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof path, "%s/prefix-%d", folder ? folder : "/tmp", (int)getpid());
	for (int i = 0; i < rounds; i++) {
		int ends[2], status;
		bool is_lossy = false;
		ref at = 0;
		for (int k = 0; k < N; k++)
			values[k] = value_of(3 + i % 3, k);
		if (pipe(ends) != 0)
			abort();
		pid_t child = fork();
		if (child == 0)
			give_up(path, values, ends[1]);
		close(ends[1]);
		bool ready = child > 0 && read(ends[0], &at, sizeof at) == sizeof at;
		for (volatile uint64_t wait = random_below(600000); wait > 0; wait--)
			;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		close(ends[0]);
		wrong += !ready || !is_whole(path, values, at, &is_lossy);
		lossy += is_lossy;
		unlink(path);
	}
	ok(wrong == 0, "killed %d times, of which %d when the order was given up: wrong %d", rounds, lossy, wrong);
}

int main(void)
{
	random_seed(5);
	test_none();
	test_all();
	test_memory();
	test_loop();
	test_killed();
	return tap_end();
}
