/* SPDX-License-Identifier: BSD-3-Clause
 * raw - unit test of trace/record/raw.c and raw_image.c: values that nothing compresses come back, in as many bits as
 * their range needs, whatever comes behind them, and wherever the process is killed
 */
#include "trace/record/raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/taken_out.h"
#include "tests/unit/tap.h"
#include "trace/model/pattern.h"
#include "trace/record/image.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"

#define MOST 400000
static int64_t values[MOST];

static struct arena arena;
static struct columns columns;

static struct column *begin_in(const char *path, uint64_t bytes, uint16_t role)
{
	if (arena_create(&arena, path, bytes, NULL) != 0 || !arena_room(&arena, 1 << 19) ||
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
	return begin_in(NULL, UINT64_C(4) << 20, role);
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

static int64_t value_of(int kind, uint64_t i)
{
	switch (kind) {
	case 0: /* a request of 256 */
		return (int64_t)random_below(256);
	case 1: /* anything */
		return (int64_t)random_next() % VALUE_CONSTANT;
	case 2: /* now and then a constant */
		return random_below(5) ? (int64_t)random_below(50) - 20 : VALUE_CONSTANT + (int64_t)random_below(7);
	case 3: /* a counter with noise */
		return (int64_t)(i * 3 + random_below(9)) - 100000;
	case 4: /* numbers that leave no room for constants */
		return random_below(2) ? INT64_MAX - (int64_t)random_below(9)
		                       : VALUE_CONSTANT + (int64_t)random_below(7);
	case 5: /* nothing in some blocks */
		return i / 300 % 2 ? 7 : (int64_t)random_below(3);
	case 6: /* one value */
		return -5;
	case 7: /* a displacement: mostly new */
		return (int64_t)random_below(1 << 20);
	default: /* a loop */
		return (int64_t)(i % 26);
	}
}
enum { KINDS = 9 };

/* The next value is no raw one. */
static void leave(struct column *c)
{
	arena_at(&arena, struct raw, c->raw)->retry = 0;
}

static void put(struct column *c, size_t from, size_t to, int kind)
{
	for (size_t i = from; i < to; i++) {
		values[i] = value_of(kind, i);
		column_put(&columns, c, i, values[i]);
	}
}

/* What is raw, and what follows it, and what follows that. */
static bool comes_back(int kind, int then, size_t n, size_t more, bool twice, size_t taken)
{
	struct column *c = begin(ROLE_VALUE);
	put(c, 0, n, kind);
	bool good = raw_make(&columns, c, n) && raw_is(c) && column_size(&columns, c) == raw_bytes(&columns, c->raw);
	put(c, n, n + more, kind);
	if (good && twice) {
		leave(c);
		put(c, n + more, n + 2 * more, then);
		good = !more || !raw_is(c);
		if (good && more && random_below(2)) {
			good = raw_make(&columns, c, n + 2 * more);
			put(c, n + 2 * more, n + 3 * more, kind);
		} else {
			put(c, n + 2 * more, n + 3 * more, then);
		}
	} else {
		put(c, n + more, n + 3 * more, kind);
	}
	good = good && taken_out(&columns, c, taken < n + 3 * more ? taken : n + 3 * more, random_below(2), values);
	end();
	return good;
}

static void test_all(void)
{
	for (int kind = 0; kind < KINDS; kind++) {
		int wrong = 0;
		for (int i = 0; i < 120; i++) {
			size_t n = 1 + random_below(i % 2 ? 3000 : 200), more = random_below(i % 3 ? 500 : 70);
			size_t taken = i % 5 ? n + 3 * more : 1 + random_below((uint32_t)(n + 3 * more));
			wrong += !comes_back(kind, (kind + i) % KINDS, n, more, i % 4 > 0, taken);
		}
		ok(wrong == 0, "values of kind %d, and their beginnings, come back: wrong %d", kind, wrong);
	}
}

/* A column is seen to be random, and then takes the bits of its values. */
static void test_seen(void)
{
	struct column *c = begin(ROLE_VALUE);
	put(c, 0, 150000, 0);
	uint64_t size = column_size(&columns, c);
	ok(raw_is(c) && size < 150000 * 5 / 4, "150,000 of 256 values: %llu bytes", (unsigned long long)size);
	ok(taken_out(&columns, c, 150000, false, values), "all of them come back");
	end();
	c = begin(ROLE_VALUE);
	put(c, 0, MOST, 7); /* the grammar is tried again on the way, and takes no memory worth mention */
	size = column_size(&columns, c);
	ok(raw_is(c) && size < MOST * 20 / 8 * 5 / 4 && arena.header->used < 3 * size,
	   "400,000 of a million values: %llu bytes, and at most %llu", (unsigned long long)size,
	   (unsigned long long)arena.header->used);
	ok(taken_out(&columns, c, MOST, false, values), "all of them come back, too");
	end();
	c = begin(ROLE_VALUE);
	for (size_t i = 0; i < 30000; i++) { /* the first two are one stretch of the dictionary */
		values[i] = i < 2 ? (i ? VALUE_CONSTANT + 3 : 12) : random_below(3) ? VALUE_CONSTANT + 3 : 12;
		column_put(&columns, c, i, values[i]);
	}
	ok(raw_is(c) && taken_out(&columns, c, 30000, false, values), "a value and a constant at random are seen, too");
	end();
	c = begin(ROLE_VALUE);
	put(c, 0, 150000, KINDS - 1);
	ok(!c->raw, "a loop is none");
	end();
	c = begin(ROLE_VALUE);
	for (size_t i = 0; i < 150000; i++) { /* a loop of 10,000 values in any order */
		values[i] = i < 10000 ? (int64_t)random_below(500) : values[i - 10000];
		column_put(&columns, c, i, values[i]);
	}
	ok(!raw_is(c) && column_size(&columns, c) < 400000, "nor is one of 10,000 values, when it has come again");
	ok(taken_out(&columns, c, 150000, false, values), "and all of them come back");
	end();
}

/* It comes back when it becomes regular. */
static void test_regular(void)
{
	struct column *c = begin(ROLE_VALUE);
	put(c, 0, 60000, 0);
	bool raw = raw_is(c);
	for (size_t i = 60000; i < MOST; i++) {
		values[i] = (int64_t)(i % 500) * (int64_t)(i % 3);
		column_put(&columns, c, i, values[i]);
	}
	ok(raw && c->raw && !raw_is(c) && c->period_length, "what becomes regular is a loop again");
	ok(taken_out(&columns, c, MOST, false, values), "and all of it comes back");
	end();
}

/* Its order is given up: all is counted, and what was marked stays. */
static void test_lossy(void)
{
	static const uint16_t roles[] = {ROLE_VALUE, ROLE_NEXT};
	int wrong = 0;
	for (int i = 0; i < 200; i++) {
		size_t n = 1 + random_below(3000), more = random_below(500), all = n + more * (size_t)(i % 2),
		       marked = 1 + random_below((uint32_t)all);
		struct column *c = begin(roles[i / 4 % 2]);
		put(c, 0, n, 0);
		bool good = raw_make(&columns, c, n);
		if (i % 2) {
			if (i % 4 == 1)
				leave(c);
			put(c, n, all, i % 8 < 4 ? 0 : KINDS - 1);
		}
		columns.mark = marked + 1;
		c->marked = marked;
		lossy_force(&columns, c, all);
		const struct lossy *l = arena_at(&arena, struct lossy, c->lossy);
		struct column *p = lossy_prefix(&columns, c);
		good = good && !c->raw && l->next_count <= 256 && p && p->start >= marked && p->start <= all &&
		       taken_out(&columns, p, p->start, false, values);
		for (size_t k = all; k < all + 300; k++)
			column_put(&columns, c, k, value_of(0, k));
		struct lossy_image image = {0};
		if (good && c->role == ROLE_VALUE)
			good = lossy_extract(&columns, c, all + 300, &image) == 0 && image.prefix == p &&
			       tally_count(&image.values) == all + 300;
		lossy_image_free(&image);
		uint64_t left = arena_left(&arena);
		if (good)
			lossy_drop_prefix(&columns, c);
		good = good && arena_left(&arena) > left;
		wrong += !good;
		end();
	}
	ok(wrong == 0, "what was marked comes back in order, and all is counted: wrong %d", wrong);
}

/* Without memory it is a tally. */
static void test_memory(void)
{
	struct column *c = begin_in(NULL, ARENA_MIN_SIZE, ROLE_VALUE);
	put(c, 0, MOST, 1);
	struct lossy_image image = {0};
	ok(c->lossy, "an arena that is full: the order is given up");
	ok(lossy_extract(&columns, c, MOST, &image) == 0 && tally_count(&image.values) + image.others[0] == MOST,
	   "all values are counted");
	lossy_image_free(&image);
	end();
}

static void test_damaged(void)
{
	int read = 0;
	for (int i = 0; i < 3000; i++) {
		struct column *c = begin(ROLE_VALUE);
		put(c, 0, 500, i % KINDS);
		if (!raw_make(&columns, c, 500))
			abort();
		put(c, 500, 700, i % KINDS);
		if (i % 2)
			leave(c);
		put(c, 700, 800, i % KINDS);
		struct raw *r = arena_at(&arena, struct raw, c->raw);
		struct column_image image;
		uint32_t *word = i % 3 == 0   ? (uint32_t *)r + random_below(sizeof *r / 4 - 1)
		                 : i % 3 == 1 ? arena_at(&arena, uint32_t, r->first) + random_below(60)
		                              : (uint32_t *)c + random_below(sizeof *c / 4 - 1);
		*word = random_below(3) ? (uint32_t)random_next() : *word + 8;
		if (c->lossy)
			image = (struct column_image){0};
		else
			read += column_extract(&columns, c, 1 + random_below(900), false, &image) == 0;
		column_image_free(&image);
		end();
	}
	ok(read > 0 && read < 3000, "damage is refused, or read as something: %d of 3000 times", read);
}

/* Records without end in an arena of a file; *visits says how many count. Does not return. */
static void record(const char *path, uint64_t seed, int out)
{
	struct column *c = begin_in(path, UINT64_C(16) << 20, ROLE_VALUE);
	ref places[2] = {arena_ref(&arena, c), arena_alloc(&arena, sizeof(uint64_t))};
	arena_commit(&arena);
	volatile uint64_t *visits = arena_at(&arena, volatile uint64_t, places[1]);
	random_seed(seed);
	if (write(out, places, sizeof places) != sizeof places)
		abort();
	for (uint64_t i = 0;; i++) {
		if (i % 1000 == 500 && !raw_is(c) && !raw_make(&columns, c, i))
			abort();
		if (i % 1000 == 999 && raw_is(c))
			leave(c);
		column_put(&columns, c, i, value_of((int)(seed % KINDS), i));
		arena_barrier();
		*visits = i + 1;
	}
}

/* A process is killed at any instant. */
static void test_killed(void)
{
	int wrong = 0, rounds = 150;
	char path[256];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof path, "%s/raw-%d", folder ? folder : "/tmp", (int)getpid());
	for (int i = 0; i < rounds; i++) {
		int ends[2], status;
		ref places[2] = {0};
		if (pipe(ends) != 0)
			abort();
		pid_t child = fork();
		if (child == 0)
			record(path, (uint64_t)i + 1, ends[1]);
		close(ends[1]);
		bool ready = child > 0 && read(ends[0], places, sizeof places) == sizeof places;
		for (volatile uint64_t wait = random_below(2000000); wait > 0; wait--)
			;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		close(ends[0]);
		bool good = ready && arena_open(&arena, path, NULL) == 0 && columns_init(&columns, &arena) == 0;
		uint64_t visits = good ? *arena_at(&arena, uint64_t, places[1]) : 0;
		random_seed((uint64_t)i + 1);
		for (uint64_t k = 0; k < visits && k < MOST; k++)
			values[k] = value_of((i + 1) % KINDS, k);
		struct column *c = arena_at(&arena, struct column, places[0]);
		good = good && (c->lossy || visits > MOST || taken_out(&columns, c, visits, false, values));
		wrong += !good;
		if (ready)
			end();
		unlink(path);
	}
	ok(wrong == 0, "killed %d times: wrong %d", rounds, wrong);
}

int main(void)
{
	random_seed(9);
	test_all();
	test_seen();
	test_regular();
	test_lossy();
	test_memory();
	test_damaged();
	test_killed();
	return tap_end();
}
