/* SPDX-License-Identifier: BSD-3-Clause
 * callpath - unit test of preload/callpath.c: the memo knows a call path again, and never takes one for another
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "preload/unwind.h"
#include "tests/unit/tap.h"
#include "trace/record/record.h"

#define APART __attribute__((noinline, noclone, noipa))

static struct memo memo;
static struct unwinder *unwinder;
static void *seen_address, *seen_cfa;
static bool way(void *call, uint32_t key, void *return_address, void *cfa, void *context, struct memo_entry *e)
{
	(void)call, (void)context;
	return memo_is_next(e, key, return_address, cfa, e->pairs);
}

memo_way *const memo_ways[MEMO_RARE + 1] = {way, way, way, way, way, way, way, way, way, way, way, way, way, way, way};

static volatile int unwound, followed, others;
static struct callpath path;       /* of the last unwinding */
static size_t most = CALLPATH_MAX; /* frames of it */

/* As a wrapper does it. Returns a number that stands for the call path: equal paths, equal numbers. */
static APART intptr_t site(void)
{
	static struct {
		size_t count;
		uintptr_t address[CALLPATH_MAX];
	} known[512];
	static intptr_t count;
	void *address = seen_address = __builtin_return_address(0), *cfa = seen_cfa = __builtin_dwarf_cfa();
	struct memo_entry *next = memo_next(&memo);
	if (!next->way(NULL, 1, address, cfa, NULL, next)) {
		next = memo_other(&memo, 1, address, cfa);
		others += next != NULL;
	}
	void *value = next ? memo_follow(&memo, next) : memo_find(&memo, 1, address, cfa);
	followed += next != NULL;
	if (value)
		return (intptr_t)value;
	unwound++;
	unwind_path(unwinder, &path, address, cfa, most);
	intptr_t i = 0;
	for (; i < count; i++) {
		size_t k = 0;
		while (k < path.count && k < known[i].count && known[i].address[k] == path.frame[k].address)
			k++;
		if (k == path.count && k == known[i].count)
			break;
	}
	if (i == count) {
		known[i].count = path.count;
		for (size_t k = 0; k < path.count; k++)
			known[i].address[k] = path.frame[k].address;
		count++;
	}
	memo_add(&memo, 1, &path, (void *)(i + 1), cfa);
	return i + 1;
}

static APART intptr_t common(void)
{
	volatile intptr_t v = site();
	return v;
}

/* Two callers of the same code and size of frame: below them, return address and stack pointer are equal. */
static APART intptr_t first(int x)
{
	volatile intptr_t v = common();
	return v + 0 * x;
}

static APART intptr_t second(int x)
{
	volatile intptr_t v = common();
	return v + 0 * x;
}

static APART intptr_t deep(int n)
{
	volatile intptr_t v = n > 0 ? deep(n - 1) : site();
	return v;
}

/* The same path at another place of the stack. */
static APART intptr_t shifted(size_t n)
{
	volatile char *room = __builtin_alloca(n);
	room[0] = 1;
	volatile intptr_t v = common();
	return v;
}

/* n frames, each called from one of two places, as the bits of mask say: all with the same stack pointers. */
static APART intptr_t choose(int n, uint32_t mask)
{
	volatile intptr_t v;
	if (n == 0)
		v = site();
	else if (mask & 1)
		v = choose(n - 1, mask >> 1) * 1;
	else {
		v = choose(n - 1, mask >> 1);
		__asm__ volatile("nop"); /* or the compiler makes one call of them */
	}
	return v;
}

static APART intptr_t chosen(int n, uint32_t mask)
{
	volatile intptr_t v = choose(n, mask);
	return v;
}

/* Any single frame makes a difference, at each depth. */
static void test_each_slot(void)
{
	enum { DEEPEST = 19 };
	int wrong = 0, calls = 0;
	followed = others = 0;
	for (int n = 1; n <= DEEPEST; n++)
		for (volatile int bit = 0; bit < n; bit++) {
			intptr_t id[6];
			for (volatile int i = 0; i < 6;
			     i++, calls++) /* one frame apart, in turn, and then the same again and again */
				id[i] = chosen(n, i & 1 || i > 4 ? UINT32_C(1) << bit : 0);
			wrong += id[0] == id[1] || id[0] != id[2] || id[1] != id[3] || id[0] != id[4] || id[1] != id[5];
		}
	ok(wrong == 0, "every slot is compared: paths that differ in one frame are told apart (%d of %d wrong)", wrong,
	   calls);
	ok(followed - others > calls / 6, "and some are found by what came next before (%d of %d)", followed - others,
	   calls);
	for (volatile int i = 0; i < 12; i++) /* what is next is not always the same */
		chosen(3, i % 3 == 2);
	ok(others >= 4, "or by what came before that (%d)", others);
}

static volatile intptr_t seen[4];
static volatile int seen_followed;

static void calls(void)
{
	int before = followed;
	for (volatile int i = 0; i < 4; i++)
		seen[i] = common();
	seen_followed = followed - before;
}

/* On another stack slots may go away: they are looked at one by one. */
static void test_other_stack(void)
{
	static ucontext_t here, there;
	void *stack = malloc(256 * 1024);
	getcontext(&there);
	there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 256 * 1024};
	there.uc_link = &here;
	makecontext(&there, calls, 0);
	unwound = 0;
	swapcontext(&here, &there);
	ok(unwound == 1 && seen[0] == seen[1] && seen[0] == seen[3] && seen_followed == 0,
	   "a stack of one's own: known again, but not followed (%d unwound)", unwound);
	free(stack);
}

static void *thread(void *unused)
{
	memo_clear(&memo);
	calls();
	return unused;
}

static void test_thread(void)
{
	pthread_t t;
	unwound = 0;
	if (pthread_create(&t, NULL, thread, NULL) != 0 || pthread_join(t, NULL) != 0)
		abort();
	ok(unwound == 1 && seen[0] == seen[3] && seen_followed == 2, "a thread's stack is its own (%d, %d)", unwound,
	   seen_followed);
	memo_clear(&memo);
}

int main(void)
{
	if (memo_init(&memo) != 0 || !(unwinder = unwinder_create()))
		abort();
	intptr_t a[3], b[3];
	void *address[2] = {NULL, NULL}, *cfa[2] = {NULL, NULL};
	for (volatile int i = 0; i < 3; i++) {
		a[i] = first(i);
		address[0] = seen_address;
		cfa[0] = seen_cfa;
		b[i] = second(i);
		address[1] = seen_address;
		cfa[1] = seen_cfa;
	}
	ok(address[0] == address[1] && cfa[0] == cfa[1],
	   "two callers with equal return address and stack pointer of the innermost call");
	ok(a[0] != b[0], "are told apart");
	ok(a[0] == a[1] && a[1] == a[2] && b[0] == b[1] && b[1] == b[2] && unwound == 2,
	   "and known again (%d of 6 calls were unwound)", unwound);
	intptr_t x[4];
	for (volatile int i = 0; i < 4; i++) /* volatile: the loop is not unrolled into four call sites */
		x[i] = shifted(16 + (size_t)i * 4000);
	ok(x[1] == x[2] && x[2] == x[3], "one path at several places of the stack is one path");
	test_each_slot();
	test_other_stack();
	test_thread();
	deep(20);
	ok(path.count > 20 && path.gap == 0, "20 frames deep: the whole path (%zu frames)", path.count);
	deep(10000);
	ok(path.count == CALLPATH_MAX && path.gap == GAP_TOO_DEEP, "10000 frames deep: cut, and it says so");
	memo_clear(&memo);
	most = 3;
	deep(20);
	ok(path.count == 3 && path.gap == GAP_CUT, "3 frames are wanted: cut, and it says so");
	most = CALLPATH_MAX;
	unwound = 0;
	memo_clear(&memo);
	first(0);
	ok(unwound == 1, "a memo that has forgotten unwinds again");
	unwound = 0;
	memo_rest(&memo);
	for (volatile int i = 0; i < 2; i++)
		first(0);
	ok(unwound == 1, "so does one whose memory was given back, which then remembers");
	for (int i = 0; i < 400; i++) /* more than fits into the memo */
		deep(300 + i);
	ok(deep(300) == deep(300), "a full memo forgets, and goes on");
	memo_free(&memo);
	return tap_end();
}
