/* SPDX-License-Identifier: BSD-3-Clause
 * edited - unit test of trace/record/edited.c and trace/model/edits.c: arrays that nothing compresses come back, in few
 * bytes, and wherever the process is killed
 */
#include "trace/record/edited.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "trace/model/edits.h"
#include "trace/record/cell.h"
#include "trace/record/image.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"

#define WIDTH 40
#define MOST  60000
static struct array {
	size_t n; /* SIZE_MAX: values[0] is a constant */
	int64_t values[WIDTH];
} arrays[MOST];

static struct arena arena;
static struct columns columns;
static struct cell *cell;

static void begin(const char *path, uint64_t bytes)
{
	if (arena_create(&arena, path, bytes, NULL) != 0 || !arena_room(&arena, 1 << 19) ||
	    columns_init(&columns, &arena) != 0)
		abort();
	columns.record = record_create(&arena);
	cell = arena_at(&arena, struct cell, arena_alloc(&arena, sizeof *cell));
	arena_commit(&arena);
	cell_init(cell);
	cell->role = ROLE_VECTOR;
}

static void end(void)
{
	columns_free(&columns);
	arena_close(&arena);
}

static void make_array(struct array *to, const struct array *before, int kind, size_t i)
{
	*to = *before;
	if (kind == 0) { /* requests, of which some are complete */
		to->n = WIDTH;
		for (uint64_t k = i ? random_below(3) : WIDTH; k > 0; k--)
			to->values[i ? random_below(WIDTH) : k - 1] =
				random_below(2) ? VALUE_CONSTANT + 3 : (int64_t)random_below(256);
	} else if (kind == 1) { /* fields that are drawn */
		to->n = random_below(5);
		for (size_t k = 0; k < to->n; k++)
			to->values[k] = (int64_t)random_below(1000) - 500;
	} else if (kind == 2) { /* of all kinds, and constants in their place */
		to->n = random_below(4) ? random_below(WIDTH + 1) : SIZE_MAX;
		to->values[0] =
			to->n == SIZE_MAX ? VALUE_CONSTANT + (int64_t)random_below(3) : (int64_t)random_next() / 4;
	} else if (random_below(2)) { /* the same ones again */
		to->n = 1 + i / 7 % 3;
	}
}

/* As preload/call_put.c does it. */
static void put(size_t visit)
{
	const struct array *a = &arrays[visit];
	if (a->n == SIZE_MAX) {
		cell_put(&columns, cell, visit, a->values[0]);
		return;
	}
	if (cell_put_edits(&columns, cell, visit, a->values, a->n, false) ||
	    cell_put_edits(&columns, cell, visit, a->values, a->n, true))
		return;
	uint32_t number = record_add_vector(&arena, columns.record, a->values, a->n);
	if (number == UINT32_MAX)
		abort();
	cell_put(&columns, cell, visit, number);
}

static void put_all(size_t from, size_t to, int kind)
{
	static const struct array none;
	for (size_t i = from; i < to; i++) {
		make_array(&arrays[i], i ? &arrays[i - 1] : &none, kind, i);
		put(i);
	}
}

static bool equal(const struct array *a, bool is_constant, int64_t constant, const int64_t *values, size_t n)
{
	if (a->n == SIZE_MAX || is_constant)
		return a->n == SIZE_MAX && is_constant && constant == a->values[0];
	return n == a->n && (n == 0 || memcmp(values, a->values, n * sizeof *values) == 0);
}

/* Are the first n arrays what a column is taken out with? */
static bool comes_back(struct column *c, size_t n)
{
	struct column_image image;
	struct edits e = {0};
	size_t done = 0;
	bool good = column_extract(&columns, c, n, true, &image) == 0 && image.edits;
	for (size_t i = 0; good && i < image.edit_count; i++) {
		int rv = edits_take(&e, image.edits[i]);
		good = rv >= 0 && done < n;
		if (good && rv > 0)
			good = equal(&arrays[done++], e.is_constant, e.constant, e.values, e.count);
	}
	edits_free(&e);
	column_image_free(&image);
	return good && done == n;
}

static bool make(size_t n)
{
	bool made = cell_column(&columns, cell) && edited_make(&columns, cell_column(&columns, cell), n);
	cell_refresh(&columns, cell);
	return made;
}

static void test_bad(void)
{
	static const int64_t bad[][4] = {{1}, {-3, 1, 2, 13}, {-3, 1, 2, 9}, {-2 - (int64_t)EDITS_ELEMENTS}};
	static const int64_t more[] = {-2, 7, 1 + EDIT_MORE, 8, 0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct edits e = {0};
		int rv = 0;
		for (size_t k = 0; k < 4 && rv >= 0; k++)
			rv = edits_take(&e, bad[i][k]);
		ok(rv < 0, "damaged edits are refused");
		edits_free(&e);
	}
	struct edits e = {0};
	int rv = 0;
	for (size_t i = 0; i < 5; i++)
		rv = edits_take(&e, more[i]);
	ok(rv < 0, "there must be another edit where there is said to be one");
	edits_free(&e);
	begin(NULL, UINT64_C(8) << 20);
	put_all(0, 300, 0);
	struct edited *of = make(300) ? arena_at(&arena, struct edited,
	                                         arena_at(&arena, struct raw, cell_column(&columns, cell)->raw)->edited)
	                              : NULL;
	ok(of && !make(300), "it is made once");
	of->visits--;
	put_all(300, 301, 0);
	ok(cell_is_lossy(&columns, cell), "what an event that was taken back wrote is not read");
	end();
}

static void test_all(void)
{
	for (int kind = 0; kind < 4; kind++) {
		int wrong = 0;
		for (int i = 0; i < 100; i++) {
			size_t n = 2 + random_below(i % 2 ? 3000 : 100), more = random_below(500),
			       taken = i % 3 ? n + more : 1 + random_below((uint32_t)(n + more));
			begin(NULL, UINT64_C(64) << 20);
			put_all(0, n, kind);
			const bool varies = cell_column(&columns, cell);
			wrong += varies && !make(n);
			put_all(n, n + more, kind);
			wrong += varies && !comes_back(cell_column(&columns, cell), taken);
			end();
		}
		ok(wrong == 0, "arrays of kind %d, and their beginnings, come back: wrong %d", kind, wrong);
	}
}

/* A column is seen to be like that, and then takes few bytes. */
static void test_seen(void)
{
	begin(NULL, UINT64_C(8) << 20);
	put_all(0, MOST, 0);
	struct column *c = cell_column(&columns, cell);
	uint64_t size = column_size(&columns, c);
	ok(!c->lossy && edited_is(&columns, c) && size < MOST * 5, "%d arrays of %d requests: %llu bytes", MOST, WIDTH,
	   (unsigned long long)size);
	ok(comes_back(c, MOST), "all of them come back");
	end();
}

/* Its order is given up: all is counted, and what was marked stays. */
static void test_lossy(void)
{
	int wrong = 0;
	for (int i = 0; i < 100; i++) {
		size_t n = 2 + random_below(2000), more = random_below(500), all = n + more,
		       marked = 1 + random_below((uint32_t)all);
		begin(NULL, UINT64_C(64) << 20);
		put_all(0, n, i % 3);
		bool good = make(n);
		put_all(n, all, i % 3);
		struct column *c = cell_column(&columns, cell);
		columns.mark = marked + 1;
		c->marked = marked;
		cell_force(&columns, cell, all);
		struct column *p = lossy_prefix(&columns, c);
		good = good && p && p->start >= marked && p->start <= all && comes_back(p, p->start);
		struct lossy_image image = {0};
		good = good && lossy_extract(&columns, c, all, &image) == 0 && image.prefix == p &&
		       tally_count(&image.values) == all;
		lossy_image_free(&image);
		uint64_t left = arena_left(&arena);
		if (good)
			lossy_drop_prefix(&columns, c);
		wrong += !(good && arena_left(&arena) > left);
		end();
	}
	ok(wrong == 0, "what was marked comes back in order, and all is counted: wrong %d", wrong);
}

static void test_damaged(void)
{
	int read = 0;
	for (int i = 0; i < 2000; i++) {
		begin(NULL, UINT64_C(8) << 20);
		put_all(0, 300, i % 3);
		if (!make(300))
			abort();
		put_all(300, 400, i % 3);
		struct column *c = cell_column(&columns, cell);
		struct raw *r = arena_at(&arena, struct raw, c->raw);
		struct column_image image = {0};
		uint32_t *word = i % 2 ? (uint32_t *)r + random_below(sizeof *r / 4 - 1)
		                       : arena_at(&arena, uint32_t, r->first) + random_below(60);
		*word = random_below(3) ? (uint32_t)random_next() : *word + 8;
		read += column_extract(&columns, c, 1 + random_below(500), true, &image) == 0;
		column_image_free(&image);
		end();
	}
	ok(read > 0 && read < 2000, "damage is refused, or read as something: %d of 2000 times", read);
}

/* Records without end in an arena of a file; *visits says how many count. Does not return. */
static void record(const char *path, uint64_t seed, int out)
{
	begin(path, UINT64_C(16) << 20);
	ref places[2] = {arena_ref(&arena, cell), arena_alloc(&arena, sizeof(uint64_t))};
	arena_commit(&arena);
	volatile uint64_t *visits = arena_at(&arena, volatile uint64_t, places[1]);
	random_seed(seed);
	if (write(out, places, sizeof places) != sizeof places)
		abort();
	for (uint64_t i = 0; i < MOST; i++) {
		if (i == 100 && !make(i))
			abort();
		put_all(i, i + 1, (int)(seed % 3));
		arena_barrier();
		*visits = i + 1;
	}
	for (;;)
		pause();
}

/* A process is killed at any instant. */
static void test_killed(void)
{
	int wrong = 0, rounds = 150;
	char path[256];
	const char *folder = getenv("TMPDIR");
	snprintf(path, sizeof path, "%s/edited-%d", folder ? folder : "/tmp", (int)getpid());
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
		for (volatile uint64_t wait = random_below(4000000); wait > 0; wait--)
			;
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		close(ends[0]);
		bool good = ready && arena_open(&arena, path, NULL) == 0 && columns_init(&columns, &arena) == 0;
		uint64_t visits = good ? *arena_at(&arena, uint64_t, places[1]) : 0;
		static const struct array none;
		random_seed((uint64_t)i + 1);
		for (uint64_t k = 0; k < visits; k++)
			make_array(&arrays[k], k ? &arrays[k - 1] : &none, (i + 1) % 3, k);
		cell = good ? arena_at(&arena, struct cell, places[0]) : NULL;
		struct column *c = good ? cell_column(&columns, cell) : NULL;
		good = good && (visits < 101 || (c && comes_back(c, visits)));
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
	test_bad();
	test_all();
	test_seen();
	test_lossy();
	test_damaged();
	test_killed();
	return tap_end();
}
