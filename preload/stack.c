/* SPDX-License-Identifier: BSD-3-Clause
 * stack - what of the stack that a thread is on may be read
 */
#include "preload/stack.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/readable.h"

#define PAGE ((uintptr_t)4096)

enum { OF_PROCESS, OF_THREAD, ASKED };

extern void *__libc_stack_end __attribute__((weak));
static uintptr_t process_low; /* atomic; 0: not seen yet */

static __thread struct own {
	bool looked;
	uintptr_t low, high;                 /* low == high: nothing is known */
	uintptr_t foreign_low, foreign_high; /* what was seen to be another stack last */
} own;

/* Below the stack that the kernel made nothing is mapped for so far at least (mmap_base leaves a gap), and it has no
 * holes. */
#define STACK_GAP (UINT64_C(64) << 20)

bool stack_is_first_thread(void)
{
	int saved = errno;
	bool first = syscall(SYS_gettid) == syscall(SYS_getpid);
	errno = saved;
	return first;
}

static void look_at_process(struct stack_view *v, uintptr_t cfa)
{
	uintptr_t end = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0,
		  low = __atomic_load_n(&process_low, __ATOMIC_RELAXED);
	if (cfa < end && end - cfa < STACK_GAP && (low == 0 || cfa < low)) {
		low = cfa;
		__atomic_store_n(&process_low, low, __ATOMIC_RELAXED);
	}
	v->low[OF_PROCESS] = low;
	v->high[OF_PROCESS] = low ? end : 0;
}

/* Is all of it mapped, from cfa on up to what is known? */
static bool reaches_own(uintptr_t cfa)
{
	uintptr_t page = cfa & -PAGE;
	if (cfa >= own.low || own.low - cfa > STACK_GAP || (cfa >= own.foreign_low && cfa < own.foreign_high))
		return false;
	while (page < own.low && readable((const void *)page, 1, 1, false)) /* NOLINT: an address */
		page += PAGE;
	if (page >= own.low)
		return true;
	own.foreign_low = cfa & -PAGE;
	own.foreign_high = page;
	return false;
}

static void look_at_thread(uintptr_t cfa)
{
	if (!own.looked) {
		own.looked = true;
		own.high = stack_is_first_thread() ? 0 : (uintptr_t)__builtin_thread_pointer();
		own.low = own.high & -PAGE;
	}
	if (own.high && reaches_own(cfa))
		own.low = cfa & -PAGE;
}

void stack_look(struct stack_view *v, const void *cfa)
{
	uintptr_t at = (uintptr_t)cfa;
	look_at_process(v, at);
	if (at < v->low[OF_PROCESS] || at >= v->high[OF_PROCESS])
		look_at_thread(at);
	v->low[OF_THREAD] = own.low;
	v->high[OF_THREAD] = own.high;
	v->low[ASKED] = v->high[ASKED] = 0;
}

static bool holds(const struct stack_view *v, int i, uintptr_t at)
{
	return at >= v->low[i] && at < v->high[i] && v->high[i] - at >= sizeof(uintptr_t);
}

/* One page more, or the first. */
static bool ask(struct stack_view *v, uintptr_t page)
{
	if (page >= v->low[ASKED] && page < v->high[ASKED])
		return true;
	if (!readable((const void *)page, 1, 1, false)) /* NOLINT: an address */
		return false;
	if (page != v->high[ASKED])
		v->low[ASKED] = page;
	v->high[ASKED] = page + PAGE;
	return true;
}

bool stack_read(struct stack_view *v, uintptr_t at, uintptr_t *value)
{
	if (!holds(v, OF_PROCESS, at) && !holds(v, OF_THREAD, at) && !holds(v, ASKED, at) &&
	    (at > UINTPTR_MAX - PAGE || !ask(v, at & -PAGE) || !ask(v, (at + sizeof at - 1) & -PAGE)))
		return false;
	memcpy(value, (const void *)at, sizeof *value); /* NOLINT: an address */
	return true;
}

bool stack_has_both(const struct stack_view *v, uintptr_t a, uintptr_t b)
{
	return (holds(v, OF_PROCESS, a) && holds(v, OF_PROCESS, b)) ||
	       (holds(v, OF_THREAD, a) && holds(v, OF_THREAD, b));
}
