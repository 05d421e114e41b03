/* SPDX-License-Identifier: BSD-3-Clause
 * grammar - what is appended comes back, whatever the sequence; damaged arenas; memory runs out in the middle
 */
#include "trace/record/grammar.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"
#include "trace/model/pattern.h"
#include "trace/record/grammar_order.h"

enum { TOKENS = 3000 };

static struct arena arena;
static uint32_t tokens[TOKENS];

static void begin(struct grammar_index *g)
{
	*g = (struct grammar_index){.arena = &arena};
	if (arena_create(&arena, NULL, ARENA_MIN_SIZE, NULL) != 0)
		abort();
}

/* A sequence of one of some kinds: chance, a loop nest, runs. */
static size_t random_tokens(unsigned kind)
{
	size_t n = 1 + random_below(TOKENS), inner = 1 + random_below(9), outer = 1 + random_below(5);
	for (size_t i = 0; i < n; i++)
		tokens[i] = kind == 0   ? (uint32_t)random_below(1 + random_below(5))
		            : kind == 1 ? (uint32_t)(i / inner % outer * (i % inner))
		            : kind == 2 ? (uint32_t)(i / 50 % 3)
		            : kind == 3 ? (uint32_t)(random_below(40) ? i % inner : 100)
		                        : (uint32_t)__builtin_popcountll(i);
	return n;
}

/* Does the written grammar give these tokens? */
static bool writes(const struct grammar_index *g, ref start, size_t n)
{
	struct writer w = {0};
	struct pattern p = {0};
	struct pattern_cursor c = {0};
	uint32_t token;
	uint64_t count;
	size_t at = 0;
	bool right = grammar_write(g, start, &w) == 0 && pattern_parse(&p, w.data, w.size) == 0 &&
	             pattern_begin(&c, &p) == 0;
	while (right && pattern_next(&c, &token, &count) == 0)
		for (; right && count > 0; count--)
			right = at < n && tokens[at++] == token;
	pattern_end(&c);
	pattern_free(&p);
	writer_free(&w);
	return right && at == n;
}

static bool holds(unsigned kind)
{
	struct grammar_index g, again = {.arena = &arena};
	begin(&g);
	ref start = grammar_create(&g);
	size_t n = random_tokens(kind), done = 0;
	while (done < n) {
		size_t run = 1;
		while (done + run < n && tokens[done + run] == tokens[done])
			run++;
		if (grammar_append(&g, start, tokens[done], run) != 0)
			abort();
		done += run;
	}
	bool right = writes(&g, start, n) && arena.header->journal_count == 0;
	uint32_t size = grammar_size(&g, start, UINT32_MAX);
	right &= size <= n && grammar_length(&g, start, UINT32_MAX) <= size && grammar_length(&g, start, 1) == 1;
	/* an index that is made again says the same of further tokens */
	right &= grammar_index_add(&again, start) == 0 && again.count == g.count;
	grammar_destroy(&g, start);
	right &= g.count == 0;
	grammar_index_free(&again);
	grammar_index_free(&g);
	arena_close(&arena);
	return right;
}

/* The loops of HACKING's glossary: a constant size whatever the trip counts are. */
static void test_loop(void)
{
	struct grammar_index g;
	struct grammar_run runs[4];
	begin(&g);
	ref start = grammar_create(&g);
	for (int i = 0; i < 1000; i++) {
		grammar_append(&g, start, 7, 1);
		grammar_append(&g, start, 8, 3);
	}
	ref rule = grammar_loop(&g, start);
	ok(grammar_size(&g, start, 100) <= 4 && rule, "1000 turns of a loop are %u symbols",
	   grammar_size(&g, start, 100));
	ok(grammar_expand(&g, rule, 99, runs, 4) == 2 && runs[0].token == 7 && runs[1].token == 8 &&
	           runs[1].length == 3,
	   "the rule of the loop, as runs");
	ok(grammar_expand(&g, rule, 99, runs, 1) == 0 && grammar_expand(&g, rule, 8, runs, 4) == 0,
	   "but not if there are too many, or one is refused");
	grammar_index_free(&g);
	arena_close(&arena);
}

/* Each word of a grammar in the arena is set to something else: it is refused, or a sequence. */
static void test_damage(void)
{
	struct grammar_index g;
	size_t refused = 0, tried = 0;
	begin(&g);
	uint64_t from = arena.header->used;
	ref start = grammar_create(&g);
	for (uint32_t i = 0; i < 60; i++)
		grammar_append(&g, start, i % 4 + i % 7 / 6 * 9, 1 + i % 5 / 4);
	for (uint64_t at = from; at < arena.header->used; at += 4) {
		uint32_t *word = (uint32_t *)(void *)(arena.base + at), saved = *word;
		for (unsigned i = 0; i < 40; i++, tried++) {
			struct grammar_index again = {.arena = &arena};
			struct writer w = {0};
			struct pattern p = {0};
			*word = i < 32 ? saved ^ UINT32_C(1) << i
			               : (uint32_t)(from + random_below(arena.header->used - from)) & ~7U;
			bool bad = grammar_index_add(&again, start) != 0;
			if (!bad && (grammar_write(&again, start, &w) != 0 ||
			             (pattern_parse(&p, w.data, w.size) != 0 && w.size > 2 && p.rule_count)))
				bad = true;
			refused += bad;
			pattern_free(&p);
			writer_free(&w);
			grammar_index_free(&again);
		}
		*word = saved;
	}
	ok(refused > tried / 4, "%zu damaged words, of which %zu are refused", tried, refused);
	ok(grammar_index_add(&(struct grammar_index){.arena = &arena}, (ref)arena.header->used) == -1,
	   "a grammar behind the end");
	grammar_index_free(&g);
	arena_close(&arena);
}

/* Without private memory a token is left out, and the grammar stays as it was. */
static int append_all(void *context)
{
	struct grammar_index g;
	struct writer w = {0};
	size_t n = 0, last = 0, all = *(size_t *)context;
	static uint32_t wanted[TOKENS];
	begin(&g);
	ref start = grammar_create(&g);
	memcpy(wanted, tokens, sizeof wanted);
	for (size_t i = 0; start && i < all; i++)
		if (grammar_append(&g, start, wanted[i], 1) == 0)
			tokens[n++] = wanted[i], last = i;
	(void)last;
	bool failed = fail_happened, lasted = fail_lasts;
	long left = fail_left;
	fail_happened = false; /* what there is can be written when there is memory again */
	fail_left = 0;
	if (n > 0 && !writes(&g, start, n))
		abort();
	fail_happened = failed;
	fail_lasts = lasted;
	fail_left = left;
	memcpy(tokens, wanted, sizeof wanted);
	int rv = n == all && grammar_write(&g, start, &w) == 0 ? 0 : -1;
	writer_free(&w);
	grammar_index_free(&g);
	arena_close(&arena);
	return rv;
}

/* Where the arena is used up a token is left out as well. */
static bool fills(void)
{
	struct grammar_index g;
	begin(&g);
	ref start = grammar_create(&g);
	size_t n = 0;
	arena.header->size = arena.size = arena.header->used + GRAMMAR_ROOM + 4096;
	while (n < TOKENS && arena_room(&arena, GRAMMAR_ROOM) &&
	       grammar_append(&g, start, tokens[n] = (uint32_t)random_below(9), 1) == 0)
		n++;
	arena.size = ARENA_MIN_SIZE; /* what is mapped */
	bool right = n > 10 && n < TOKENS && writes(&g, start, n);
	grammar_index_free(&g);
	arena_close(&arena);
	return right;
}

int main(void)
{
	static const char *const kinds[] = {"chance", "a loop nest", "runs", "a loop that breaks", "no loop"};
	random_seed(6);
	for (unsigned kind = 0; kind < 5; kind++) {
		size_t wrong = 0;
		for (int i = 0; i < 40; i++)
			wrong += !holds(kind);
		ok(wrong == 0, "%s comes back", kinds[kind]);
	}
	test_loop();
	test_damage();
	ok(fills(), "an arena that is used up");
	for (size_t i = 0; i < TOKENS; i++)
		tokens[i] = (uint32_t)random_below(50);
	ok(fails_well(append_all, &(size_t){TOKENS}), "no private memory");
	return tap_end();
}
