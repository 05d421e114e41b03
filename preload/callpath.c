/* SPDX-License-Identifier: BSD-3-Clause
 * callpath - which call path led to this call
 */
#include "preload/callpath.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "preload/stack.h"

/* Entries are of different lengths, one behind the other in a pool of this size; about 20,000 call paths of 8 frames.
 * */
#define POOL_SIZE (UINT64_C(4) << 20)

/* No call is this one: no return address is 0. */
static memo_way no_way;
static struct memo_entry nothing = {.followed = &nothing, .other = &nothing, .way = no_way};

static bool no_way(void *call, uint32_t key, void *return_address, void *cfa, void *context, struct memo_entry *e)
{
	(void)call, (void)key, (void)return_address, (void)cfa, (void)context, (void)e;
	return false;
}

#define HEADS 4096

static size_t hash_of(uint32_t key, uintptr_t address, uintptr_t cfa)
{
	uint64_t h = (address ^ cfa << 17 ^ (uint64_t)key << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> 52);
}

int memo_init(struct memo *m)
{
	*m = (struct memo){.heads = calloc(HEADS, sizeof *m->heads)};
	m->pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!m->heads || m->pool == MAP_FAILED) {
		m->pool = m->pool == MAP_FAILED ? NULL : m->pool;
		memo_free(m);
		return -1;
	}
	memo_clear(m);
	return 0;
}

void memo_free(struct memo *m)
{
	if (m->pool)
		munmap(m->pool, POOL_SIZE);
	free(m->heads);
	*m = (struct memo){.at = &nothing};
}

/* What is expected: nothing, or that there is no use in looking. */
static void set_rarely(struct memo *m, bool rarely)
{
	struct memo_entry *first = (struct memo_entry *)(void *)m->pool; /* stands for "before the first" */
	*first = nothing;
	m->rare = (struct memo_entry){.followed = &m->rare, .other = &nothing, .way = memo_ways[MEMO_RARE]};
	m->rarely = rarely;
	m->at = rarely ? &m->rare : first;
}

void memo_clear(struct memo *m)
{
	if (m->used > sizeof *m->at)
		memset(m->heads, 0, HEADS * sizeof *m->heads);
	m->used = sizeof *m->at;
	set_rarely(m, m->rarely);
}

void memo_rest(struct memo *m)
{
	madvise(m->pool, POOL_SIZE, MADV_DONTNEED);
	memo_clear(m);
}

/* Do the slots that may be read hold what they held? From the innermost one on: what is further out is there, if at
 * all, only if those are right. */
static bool holds_carefully(const struct memo_entry *e)
{
	struct stack_view v;
	uintptr_t held;
	if (e->steady)
		return memo_holds(e, e->pairs);
	stack_look(&v, (const void *)e->cfa); /* NOLINT: that of the call */
	for (uint32_t i = 0; i < 2 * e->pairs; i++)
		if (!stack_read(&v, (uintptr_t)e->pair[i / 2].slot[i % 2], &held) ||
		    held != e->pair[i / 2].value[i % 2])
			return false;
	return true;
}

static void *count_found(struct memo *m, struct memo_entry *e)
{
	m->found_at = e;
	if (e->steady && !e->apart && !m->rarely) {
		m->at->other = m->at->followed;
		m->at->followed = e;
		m->at = e;
	}
	return e->value;
}

/* With a bound on how many entries are looked at: what is found comes to the front. */
#define BOUND         8
#define WINDOW        1024
#define WINDOW_RARELY 256 /* where few look-ups are made */

void memo_bound(struct memo *m)
{
	if (!m->most)
		m->most = BOUND;
}

static void *find_bounded(struct memo *m, uint32_t key, uintptr_t address, uintptr_t frame)
{
	struct memo_entry **head = &m->heads[hash_of(key, address, frame)], **at = head;
	uint32_t window = m->rarely ? WINDOW_RARELY : WINDOW;
	if (m->found + m->missed >= window) {
		bool rarely = m->found < window / 16;
		if (rarely != m->rarely)
			set_rarely(m, rarely);
		m->found = m->missed = 0;
	}
	for (uint32_t n = m->most; *at && n > 0; at = &(*at)->next, n--) {
		struct memo_entry *e = *at;
		if (memo_is(e, key, address, frame) && holds_carefully(e)) {
			*at = e->next;
			e->next = *head;
			*head = e;
			m->found++;
			return count_found(m, e);
		}
	}
	m->missed++;
	return NULL;
}

void *memo_find(struct memo *m, uint32_t key, void *return_address, void *cfa)
{
	uintptr_t address = (uintptr_t)return_address, frame = (uintptr_t)cfa;
	if (m->most)
		return find_bounded(m, key, address, frame);
	for (struct memo_entry *e = m->heads[hash_of(key, address, frame)]; e; e = e->next)
		if (memo_is(e, key, address, frame) && holds_carefully(e))
			return count_found(m, e);
	return NULL;
}

/* How many of the outermost slots are the same for ever, and need no comparison: those of what never returns. That is
 * _start, and what it calls to call main; and, if the library has a function of its own for that last step, that one.
 * (The slot that _start's callee uses for its own calls is the same for the initialisers of the program: only who was
 * called there tells, which is in the slot before.) */
static uint32_t slots_for_ever(const struct callpath *path)
{
	enum { NEAR = 1024 };
	static uintptr_t entry;
	const struct callpath_frame *last = path->frame + path->count - 1;
	if (!entry)
		entry = getauxval(AT_ENTRY);
	if (path->count < 2 || last->address - entry >= NEAR / 8)
		return 0;
	return path->count >= 4 && last[-2].address - last[-1].address + NEAR < (uintptr_t)2 * NEAR ? 2 : 1;
}

void memo_change(struct memo *m, void *value)
{
	m->found_at->value = value;
	m->found_at->apart = false;
	count_found(m, m->found_at);
}

/* Are all slots on one stack that the thread has as long as it lives? */
static bool is_steady(const struct callpath *path, const void *cfa)
{
	struct stack_view v;
	bool steady = true;
	stack_look(&v, cfa);
	for (size_t i = 1; i < path->count && steady; i++)
		steady = path->frame[i].slot > path->frame[i - 1].slot &&
		         stack_has_both(&v, (uintptr_t)cfa, (uintptr_t)path->frame[i].slot);
	return steady && (path->count > 1 || stack_has_both(&v, (uintptr_t)cfa, (uintptr_t)cfa));
}

static bool has_slots(const struct callpath *path)
{
	size_t i = 1; /* the innermost return address is part of the key */
	while (i < path->count && path->frame[i].slot)
		i++;
	return i >= path->count;
}

static void add_entry(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa, bool apart)
{
	if (!has_slots(path))
		return;
	const struct callpath_frame *f = path->frame + 1;
	uint32_t all = (uint32_t)path->count - 1;
	bool steady = is_steady(path, cfa);
	uint32_t slots = steady ? all - slots_for_ever(path) : all, pairs = (slots + 1) / 2;
	size_t size = sizeof(struct memo_entry) + pairs * sizeof(struct memo_pair);
	if (m->used + size > POOL_SIZE)
		memo_clear(m);
	struct memo_entry *e = (struct memo_entry *)(void *)(m->pool + m->used);
	m->used += size;
	*e = (struct memo_entry){
		.key = key,
		.pairs = (uint16_t)pairs,
		.address = path->frame[0].address,
		.cfa = (uintptr_t)cfa,
		.value = value,
		.followed = &nothing,
		.other = &nothing,
		.way = memo_ways[pairs <= MEMO_UNROLLED ? pairs : MEMO_UNROLLED + 1],
		.steady = steady,
		.apart = apart,
	};
	for (uint32_t i = 0; i < 2 * pairs; i++) {
		const struct callpath_frame *from = &f[i < slots ? i : slots - 1];
		e->pair[i / 2].slot[i % 2] = from->slot;
		e->pair[i / 2].value[i % 2] = from->address;
	}
	struct memo_entry **head = &m->heads[hash_of(key, e->address, e->cfa)];
	e->next = *head;
	*head = e;
	count_found(m, e);
}

void memo_add(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa)
{
	add_entry(m, key, path, value, cfa, false);
}

void memo_add_apart(struct memo *m, uint32_t key, const struct callpath *path, void *value, void *cfa)
{
	add_entry(m, key, path, value, cfa, true);
}
