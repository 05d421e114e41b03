/* SPDX-License-Identifier: BSD-3-Clause
 * column - everything that varies from one visit of a site to the next: the recording side
 */
#include "trace/record/column.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record/dictionary.h"
#include "trace/record/edited.h"
#include "trace/record/lossy.h"
#include "trace/record/raw.h"
#include "trace/model/pattern.h"
#include "trace/model/trace.h"

/* Longest period that is followed without touching the grammar, in runs: 32 KiB of the arena for a column that needs
 * it. */
#define MAX_PERIOD 2048
/* How large a column is is looked at once in so many turns: it takes a look at each symbol. */
#define CAP_LOOK 4096
/* Once memory was short, a column is taken for random that has a RANDOM_CAP-th of what a column may have, and
 * RANDOM_VISITS visits took a byte: it gives up its order before it has cost the time to get as large as that. Nothing
 * that repeats is anywhere near. */
#define RANDOM_CAP     16
#define RANDOM_VISITS  2
#define RANDOM_LOOK    256
#define RANDOM_SYMBOLS 32
/* As long as it was not, a pattern is looked at once in so many turns. RAW_NEW turns may be a loop of MAX_PERIOD runs
 * that it learns: its values are new in the first turn of it. Where the next ones bring a symbol in RAW_FAST turns,
 * too, values are kept as bits from there on. One in RAW_SLOW turns, a byte for each, is too much after RAW_LONG turns.
 */
#define RAW_LOOK MAX_PERIOD
#define RAW_NEW  (2 * RAW_LOOK)
#define RAW_LONG (8 * RAW_LOOK)
#define RAW_FAST 8
#define RAW_SLOW 32
/* The same of a column that was like that before: loops of it are known when it comes back (raw.h). */
#define RAW_LOOK_AGAIN 512
/* Of the arena: as much may values take that are new each time, for they may come again. */
#define RAW_SHARE 16

int columns_init(struct columns *x, struct arena *a)
{
	*x = (struct columns){.arena = a, .grammars = {.arena = a}, .threshold = UINT64_MAX};
	x->scratch = malloc(MAX_PERIOD * sizeof *x->scratch);
	return x->scratch ? 0 : -1;
}

void columns_rest(struct columns *x)
{
	grammar_index_free(&x->grammars);
	free(x->slots);
	x->slots = NULL;
	x->mask = x->count = 0;
}

void columns_free(struct columns *x)
{
	columns_rest(x);
	free(x->scratch);
	*x = (struct columns){0};
}

/* Are the values numbers of things, of which stretches mean nothing? */
static bool references(const struct column *c)
{
	return (c->role & ROLE_KINDS) != ROLE_VALUE;
}

/* After a new value: what must come next to be new without a look into the dictionary. That is the next value of the
 * last stretch, if the stretch moves away from all others. */
static void expect_new(struct columns *x, struct column *c)
{
	const struct dict_run *runs = dictionary_runs(x, c), *last = &runs[c->dict_count - 1];
	c->expect = c->next = VALUE_NONE;
	if (x->threshold != UINT64_MAX && references(c))
		return; /* each new one is one token more */
	if (last->count < 2 || c->dict_count > DICTIONARY_LINEAR)
		return;
	int64_t limit, next; /* far enough from overflow for any run that a process can make */
	if (__builtin_mul_overflow(last->stride, INT64_C(1) << 40, &limit) ||
	    __builtin_add_overflow(limit, last->start, &limit))
		return;
	next = last->start + last->stride * (int64_t)last->count;
	for (const struct dict_run *r = runs; r < last; r++) {
		int64_t end = r->start + r->stride * (int64_t)(r->count - 1);
		if (last->stride > 0 ? (r->start >= last->start || end >= last->start)
		                     : (r->start <= last->start || end <= last->start))
			return;
	}
	if (last->start <= VALUE_NONE || next <= VALUE_NONE || limit <= VALUE_NONE)
		return;
	c->next = next;
}

/* Arrays, or more different values than a loop or a counter has: it will go on like that. */
static bool irregular(const struct column *c)
{
	return (c->role & ROLE_KINDS) == ROLE_VECTOR || c->dict_count > 2;
}

/* The pattern. */

static bool append(struct columns *x, struct column *c, uint32_t token, uint64_t count)
{
	uint32_t before = x->grammars.nodes;
	bool done = grammar_append(&x->grammars, c->grammar, token, count) == 0;
	c->grown += (int32_t)(x->grammars.nodes - before);
	return done;
}

static bool close_run(struct columns *x, struct column *c, uint64_t run)
{
	if (!c->grammar) {
		if (c->token == 0 && c->lead == 0) {
			c->lead = run;
			return true;
		}
		ref grammar = grammar_create(&x->grammars);
		if (!grammar || grammar_append(&x->grammars, grammar, 0, c->lead) != 0)
			return false;
		arena_barrier();
		c->grammar = grammar;
	}
	return append(x, c, c->token, run);
}

static inline uint32_t loop_cursor(uint64_t loop)
{
	return (uint32_t)loop;
}

/* Puts the loop under way into the grammar. */
static bool leave_loop(struct columns *x, struct column *c)
{
	struct arena *a = x->arena;
	const struct period_run *runs = arena_at(a, struct period_run, c->period);
	uint32_t cursor = loop_cursor(c->loop);
	uint64_t loops = c->loop >> 32;
	if (loops > 0) {
		arena_set(a, c->loop, cursor); /* with the append: one operation */
		if (grammar_append_rule(&x->grammars, c->grammar, c->rule, loops) != 0) {
			c->loop = loops << 32 | cursor;
			return false;
		}
	}
	while (c->flushed < cursor) {
		uint32_t i = c->flushed;
		arena_set(a, c->flushed, i + 1);
		if (!append(x, c, runs[i].token, runs[i].length)) {
			c->flushed = i;
			return false;
		}
	}
	c->token = runs[cursor].token;
	arena_barrier();
	c->period_length = 0;
	return true;
}

/* The grammar ends with a loop: follows it, if value is how its next turn begins. */
static bool enter_loop(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	struct arena *a = x->arena;
	assert(c->grammar && !c->period_length);
	ref rule = grammar_loop(&x->grammars, c->grammar);
	if (!rule)
		return false;
	size_t n = grammar_expand(&x->grammars, rule, 0, x->scratch, MAX_PERIOD);
	if (n < 2 || dictionary_value(x, c, x->scratch[0].token - 1) != value)
		return false;
	uint64_t bytes = n * sizeof(struct period_run);
	if (bytes > c->period_capacity) {
		uint64_t capacity;
		ref period = arena_alloc_block(a, bytes, &capacity);
		if (period) {
			arena_free_block(a, c->period, c->period_capacity);
			arena_set(a, c->period, period);
			arena_set(a, c->period_capacity, (uint32_t)capacity);
		}
		arena_commit(a);
		if (!period)
			return false;
	}
	struct period_run *runs = arena_at(a, struct period_run, c->period);
	for (size_t i = 0; i < n; i++)
		runs[i] = (struct period_run){dictionary_value(x, c, x->scratch[i].token - 1), x->scratch[i].token,
		                              x->scratch[i].length};
	assert(n <= MAX_PERIOD && bytes <= c->period_capacity);
	c->rule = rule;
	c->loop = 0;
	c->flushed = 0;
	arena_barrier();
	c->period_length = (uint32_t)n;
	arena_barrier();
	c->start = visits;
	c->expect = value;
	return true;
}

/* Does the column have more tokens than it may: symbols of its pattern, or stretches of its dictionary? A grammar that
 * goes on growing is looked through once in a while. */
static bool too_long(struct columns *x, struct column *c, uint64_t run, int64_t value)
{
	uint64_t threshold = x->threshold;
	if ((c->role & ROLE_EXACT && !x->structure) || c->dict_count == 0)
		return false;
	if (!c->grammar && c->lead == 0 && run == 1 && value == c->first.start)
		return false; /* constant until now */
	const struct dict_run *last = &dictionary_runs(x, c)[c->dict_count - 1];
	if ((references(c) ? last->first + last->count : c->dict_count) > threshold)
		return true;
	if (!c->grammar)
		return 1u + (c->lead > 0) > threshold;
	if (++c->appends <= threshold / 2 && c->appends < UINT16_MAX)
		return false;
	c->appends = 0;
	return threshold < UINT32_MAX && grammar_size(&x->grammars, c->grammar, (uint32_t)threshold) > threshold;
}

static bool is_exact(const struct columns *x, const struct column *c)
{
	return x->threshold == UINT64_MAX || (c->role & ROLE_EXACT && !x->structure);
}

/* Memory was short before, and the column is one of those that it will be short of again. */
static bool too_large(struct columns *x, struct column *c, uint64_t visits)
{
	if (!is_exact(x, c) || ++c->appends % RANDOM_LOOK)
		return false;
	if (c->appends % CAP_LOOK && c->dict_capacity <= x->cap / RANDOM_CAP &&
	    (!c->grammar || grammar_length(&x->grammars, c->grammar, RANDOM_SYMBOLS) < RANDOM_SYMBOLS))
		return false;
	uint64_t size = column_size(x, c);
	return size > x->cap || (size > x->cap / RANDOM_CAP && size > visits / RANDOM_VISITS);
}

static void turn_without_memory(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	lossy_force(x, c, visits);
	lossy_turn(x, c, visits, value);
}

/* Has the column grown too much in the turns since it was looked at? */
static bool grows(const struct columns *x, struct column *c, uint64_t visits)
{
	const bool again = c->raw != 0;
	const int32_t grown = c->grown, turns = c->appends;
	if (again && raw_learns(x, c, visits)) {
		c->grown = c->appends = 0;
		return false;
	}
	if (again ? turns == RAW_LOOK_AGAIN : turns <= RAW_NEW || turns == RAW_LONG)
		c->grown = 0;
	if (again ? turns == RAW_LOOK_AGAIN : turns == RAW_LONG)
		c->appends = 0;
	if (!again && turns <= RAW_NEW)
		return false;
	return grown > (again ? turns : turns - RAW_NEW) / (turns == RAW_LONG ? RAW_SLOW : RAW_FAST);
}

/* Does the column go on without a rule? Where values are new each time, its dictionary grows, not its pattern. */
static bool is_random(struct columns *x, struct column *c, uint64_t visits)
{
	const bool vectors = (c->role & ROLE_KINDS) == ROLE_VECTOR; /* better edits, as long as there are few */
	if (!is_exact(x, c) || ++c->appends % (c->raw ? RAW_LOOK_AGAIN : RAW_LOOK))
		return false;
	const bool many = !c->raw && c->appends % RAW_LOOK_AGAIN == 0 &&
	                  c->dict_count * sizeof(struct dict_run) >= x->arena->size / RAW_SHARE;
	return (((c->grammar || c->raw) && grows(x, c, visits)) || many) && (!vectors || visits >= 2 * RAW_LONG) &&
	       raw_saves(x, c, visits);
}

/* False: the values are not raw any more. */
static bool turn_raw(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	const bool edited = edited_is(x, c);
	if (!edited && raw_is_due(x, c, visits)) {
		raw_leave(x, c, visits);
		return false;
	}
	if (!(edited ? edited_turn : raw_put)(x, c, visits, value))
		turn_without_memory(x, c, visits, value);
	return true;
}

/* A column that is in no loop, or whose loop ends, or that is no counter. */
static __attribute__((noinline)) void turn_slowly(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	if (__builtin_expect(raw_is(c), 0) && turn_raw(x, c, visits, value))
		return;
	uint64_t run = visits - c->start;
	if (visits >= COLUMN_VISITS || irregular(c))
		column_count(x, c);
	if (c->period_length) {
		if (!leave_loop(x, c)) {
			turn_without_memory(x, c, visits, value);
			return;
		}
	} else if (c->token == 0 && run) {
		dictionary_sync(x, c, run);
	}
	if (__builtin_expect(x->threshold != UINT64_MAX, 0) && too_long(x, c, run, value) &&
	    lossy_make(x, c, visits, WHY_THRESHOLD)) {
		lossy_turn(x, c, visits, value);
		return;
	}
	if (__builtin_expect(x->cap != 0, 0) ? too_large(x, c, visits) : is_random(x, c, visits)) {
		if (x->cap || !raw_make(x, c, visits) || !raw_put(x, c, visits, value))
			turn_without_memory(x, c, visits, value);
		return;
	}
	int64_t index = run ? dictionary_find(x, c, value) : -1;
	if (index < 0 && !dictionary_add(x, c, value)) {
		turn_without_memory(x, c, visits, value);
		return;
	}
	uint32_t token = (uint32_t)(index + 1);
	if (token == 0 && c->token == 0 && run) {
		arena_barrier();
		c->synced = run + 1;
		expect_new(x, c);
		return;
	}
	if (run && !close_run(x, c, run)) {
		turn_without_memory(x, c, visits, value);
		return;
	}
	if (c->grammar && token && enter_loop(x, c, visits, value))
		return;
	c->synced = 1;
	arena_barrier();
	c->start = visits;
	arena_barrier();
	c->token = token;
	if (token == 0)
		expect_new(x, c);
	else
		c->expect = value;
}

/* What happens most calls nothing, so that it needs no registers saved. */
void column_turn(struct columns *x, struct column *c, uint64_t visits, int64_t value)
{
	if (column_step(x, c, visits, value))
		return;
	if (__builtin_expect(c->lossy, 0))
		lossy_turn(x, c, visits, value);
	else if (!c->period_length && c->token == 0 && value == c->next)
		c->next += dictionary_runs(x, c)[c->dict_count - 1].stride;
	else
		turn_slowly(x, c, visits, value);
}

/* For trace/record/lossy.c and trace/record/image.c. */

const struct dict_run *column_dict(const struct columns *x, struct column *c)
{
	return dictionary_runs(x, c);
}

int column_settle(struct columns *x, struct column *c, uint64_t run)
{
	if (c->period_length && !leave_loop(x, c))
		return -1;
	if (c->token == 0 && run)
		dictionary_sync(x, c, run);
	return 0;
}

int column_close(struct columns *x, struct column *c, uint64_t run)
{
	return close_run(x, c, run) ? 0 : -1;
}

int column_pattern(struct columns *x, struct column *c, uint64_t visits, struct pattern *out)
{
	struct writer w = {0};
	*out = (struct pattern){0};
	uint64_t run = visits - c->start;
	if (column_settle(x, c, run) != 0)
		return -1;
	if (c->grammar) {
		if (grammar_write(&x->grammars, c->grammar, &w) != 0)
			w.failed = true;
	} else {
		writer_uint(&w, 1);
		writer_uint(&w, 1);
		writer_uint(&w, (c->lead ? 0 : c->token) << 2 | 1);
		writer_uint(&w, c->lead ? c->lead : run);
		run = c->lead ? run : 0;
	}
	int rv = !w.failed && pattern_parse(out, w.data, w.size) == 0 ? 0 : -1;
	writer_free(&w);
	if (rv != 0 || run == 0)
		return rv;
	struct pattern_rule *last = &out->rules[out->rule_count - 1];
	struct pattern_symbol *symbols = realloc(out->symbols, (last->end + 1) * sizeof *symbols);
	if (!symbols)
		return -1;
	out->symbols = symbols;
	symbols[last->end++] = (struct pattern_symbol){run, c->token, 0};
	last->length += run;
	last->news += c->token == 0 ? run : 0;
	return 0;
}

/* Those of the dictionary that the hash table has. */
static void forget_values(struct columns *x, struct column *c)
{
	const struct dict_run *runs = dictionary_runs(x, c);
	for (uint32_t i = DICTIONARY_LINEAR; i < c->dict_count; i++)
		dictionary_slot_remove(x, c, runs[i].start);
}

/* What nobody looks at any more; kept: pattern and dictionary are somebody else's now. */
static void give_back(struct columns *x, struct column *c, bool kept)
{
	struct arena *a = x->arena;
	ref grammar = c->grammar;
	c->grammar = 0;
	arena_barrier();
	if (grammar && !kept)
		grammar_destroy(&x->grammars, grammar);
	arena_free_block(a, c->period, c->period_capacity);
	if (!kept)
		arena_free_block(a, c->dict, c->dict_capacity);
	arena_set(a, c->period, 0);
	arena_set(a, c->dict, 0);
	arena_set(a, c->dict_count, 0);
	arena_commit(a);
	c->period_capacity = c->dict_capacity = 0;
	c->appends = 0;
}

/* The order of stores: once `lossy` is set, nobody looks at the rest. */
void column_release(struct columns *x, struct column *c, ref lossy, uint64_t start, int64_t expect, bool kept)
{
	struct arena *a = x->arena;
	forget_values(x, c);
	arena_set(a, c->start, start);
	arena_set(a, c->expect, expect);
	arena_set(a, c->lead, 0); /* no queue */
	arena_set(a, c->lossy, lossy);
	arena_commit(a);
	ref raw = c->raw;
	c->raw = 0;
	give_back(x, c, kept);
	if (!kept)
		raw_free(x, raw);
}

void column_discard(struct columns *x, struct column *c, ref raw)
{
	struct arena *a = x->arena;
	forget_values(x, c);
	arena_set(a, c->raw, raw);
	arena_set(a, c->token, TOKEN_RAW);
	arena_set(a, c->expect, VALUE_NONE);
	arena_set(a, c->period_length, 0);
	arena_commit(a);
	c->lead = 0;
	c->next = VALUE_NONE;
	give_back(x, c, false);
}

uint64_t column_size(const struct columns *x, struct column *c)
{
	return (c->grammar ? (uint64_t)grammar_size(&x->grammars, c->grammar, UINT32_MAX) * sizeof(struct node) : 0) +
	       c->dict_capacity + c->period_capacity + raw_bytes(x, c->raw);
}
