/* SPDX-License-Identifier: BSD-3-Clause
 * unwind - unit test of preload/unwind.c: the paths are those of the compiler's own unwinder, wherever that has one,
 * and on any stack they end where that ends
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "preload/unwind.h"
#include "tests/unit/tap.h"
#include "trace/record/record.h"

#define APART __attribute__((noinline, noclone, noipa))

memo_way *const memo_ways[MEMO_RARE + 1];

static struct unwinder *unwinder;
static struct callpath path;

/* The compiler's own unwinder, from a frame on. */
static struct judge {
	uintptr_t address[CALLPATH_MAX + 1], first, cfa;
	size_t count;
	bool begun, ended;
} judge;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *unused)
{
	uintptr_t address = _Unwind_GetIP(context);
	(void)unused;
	judge.begun |= _Unwind_GetCFA(context) == judge.cfa && address == judge.first;
	if (!judge.begun)
		return _URC_NO_REASON;
	judge.ended = address == 0;
	if (address == 0 || judge.count == CALLPATH_MAX)
		return _URC_END_OF_STACK;
	judge.address[judge.count++] = address;
	return _URC_NO_REASON;
}

static volatile int calls, wrong;
static bool judged = true;

/* As a wrapper does it. */
static APART void look(void)
{
	void *address = __builtin_return_address(0), *cfa = __builtin_dwarf_cfa();
	unwind_path(unwinder, &path, address, cfa, CALLPATH_MAX);
	calls++;
	if (!judged)
		return;
	judge = (struct judge){.first = (uintptr_t)address, .cfa = (uintptr_t)cfa};
	_Unwind_Backtrace(on_frame, NULL);
	bool same = path.count == judge.count && (path.gap == 0) == judge.ended;
	for (size_t i = 0; same && i < path.count; i++)
		same = path.frame[i].address == judge.address[i] &&
		       (!path.frame[i].slot || *path.frame[i].slot == path.frame[i].address);
	wrong += !same;
	for (size_t i = 0; !same && (i < path.count || i < judge.count); i++)
		printf("# %zu: %#lx, expected %#lx\n", i, i < path.count ? (long)path.frame[i].address : 0,
		       i < judge.count ? (long)judge.address[i] : 0);
}

static void told(const char *what)
{
	ok(calls > 0 && wrong == 0, "%s: as the compiler's own unwinder (%d of %d wrong)", what, wrong, calls);
	calls = wrong = 0;
}

static APART void deep(int n)
{
	volatile char room[40];
	room[0] = (char)n;
	if (n > 0)
		deep(n - 1);
	else
		look();
	room[1] = room[0];
}

/* A frame pointer, and a stack that is aligned. */
static APART void aligned(int n)
{
	volatile char room[64] __attribute__((aligned(64)));
	volatile char *more = __builtin_alloca((size_t)n * 100 + 1);
	more[0] = room[0] = 1;
	look();
	more[0] = room[1] = 2;
}

static int compare(const void *a, const void *b)
{
	aligned(2);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int number)
{
	(void)number;
	look();
}

static void raise_signal(int flags)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = flags};
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
}

static void *thread(void *n)
{
	deep(*(int *)n);
	aligned(1);
	raise_signal(0);
	return NULL;
}

static void test_paths(void)
{
	int numbers[] = {5, 3, 8, 1, 4};
	pthread_t t;
	for (volatile int i = 0; i < 60; i += 7)
		deep(i);
	told("recursion");
	aligned(1);
	aligned(50);
	told("an aligned frame, alloca");
	qsort(numbers, 5, sizeof *numbers, compare);
	told("through libc");
	raise_signal(0);
	told("a signal handler");
	if (pthread_create(&t, NULL, thread, &numbers[4]) != 0 || pthread_join(t, NULL) != 0)
		abort();
	told("another thread");
}

#ifdef __x86_64__
static int compare_plainly(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* At each instruction of a function, in a handler; TF has the processor trap after each. */
static void on_trap(int number)
{
	(void)number;
	look();
}

static void test_instants(void)
{
	struct sigaction a = {.sa_handler = on_trap, .sa_flags = SA_ONSTACK};
	stack_t s = {.ss_sp = malloc(65536), .ss_size = 65536};
	sigaltstack(&s, NULL);
	sigaction(SIGTRAP, &a, NULL);
	void *volatile p;
	__asm__ volatile("pushfq\n\torl $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	p = malloc(1000);
	free(p);
	qsort((int[]){3, 1, 2}, 3, sizeof(int), compare_plainly);
	dlsym(RTLD_DEFAULT, "no such name");
	__asm__ volatile("pushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	ok(calls > 1000, "%d instants", calls);
	told("a handler at each instruction of malloc, free, qsort, dlsym");
	free(s.ss_sp);
}
#else
static void test_instants(void)
{
	skip("a handler at each instruction", "a process cannot single-step itself on this processor");
}
#endif

/* ---- other stacks ---- */

static ucontext_t here, there;

static void on_other_stack(void)
{
	deep(3);
}

static void test_context(void)
{
	void *stack = malloc(65536);
	getcontext(&there);
	there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 65536};
	there.uc_link = &here;
	makecontext(&there, on_other_stack, 0);
	swapcontext(&here, &there);
	told("makecontext");
	free(stack);
}

/* Calls f on a stack, whose end (the highest address) is given, and says nothing of that to unwinders: at its end is
 * nothing. code calls its argument, too; it returns to RETURNS bytes before its end. */
void call_on(void *end, void (*f)(void));
#if defined(__x86_64__)
#define CALL_ON                                                                                   \
	"push %rbx\n.cfi_def_cfa_offset 16\n\tmov %rsp, %rbx\n\tmov %rdi, %rsp\n\tcall *%rsi\n\t" \
	"mov %rbx, %rsp\n\tpop %rbx\n\tret\n"
static const uint8_t code[] = {0x53, 0xff, 0xd7, 0x5b, 0xc3}; /* push %rbx; call *%rdi; pop %rbx; ret */
enum { RETURNS = 2 };
#elif defined(__aarch64__)
#define CALL_ON                                                                                            \
	"stp x29, x30, [sp, -32]!\n.cfi_def_cfa_offset 32\n.cfi_offset 29, -32\n.cfi_offset 30, -24\n\t"   \
	"str x19, [sp, 16]\n.cfi_offset 19, -16\n\tmov x19, sp\n\tmov sp, x0\n\tblr x1\n\tmov sp, x19\n\t" \
	"ldr x19, [sp, 16]\n\tldp x29, x30, [sp], 32\n\tret\n"
/* stp x29, x30, [sp, -16]!; blr x0; ldp x29, x30, [sp], 16; ret */
static const uint32_t code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
enum { RETURNS = 8 };
#endif
__asm__(".text\n.type call_on, @function\ncall_on:\n.cfi_startproc\n\t" CALL_ON
        ".cfi_endproc\n.size call_on, .-call_on\n");

static void test_guarded(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 18 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(p + page, 16 * page, PROT_READ | PROT_WRITE);
	judged = false;
	call_on(p + 17 * page, on_other_stack);
	ok(path.count >= 4 && path.gap == GAP_STACK, "a stack between guards: the path ends where it does (%zu, %d)",
	   path.count, path.gap);
	munmap(p + 16 * page, 2 * page);
	call_on(p + 16 * page, on_other_stack);
	ok(path.gap == GAP_STACK, "where its mapping ends, too");
	judged = true;
	munmap(p, 16 * page);
	calls = 0;
}

/* Code that was made at run time, at the end of its page. */
static void test_made_code(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p + page - sizeof code, code, sizeof code);
	__builtin___clear_cache((char *)p, (char *)p + page);
	mprotect(p, page, PROT_READ | PROT_EXEC);
	munmap(p + page, page);
	void (*f)(void (*)(void));
	*(void **)&f = p + page - sizeof code;
	judged = false;
	f(on_other_stack);
	judged = true;
	ok(path.count >= 5 && path.gap == GAP_NO_UNWIND &&
	           path.frame[path.count - 1].address == (uintptr_t)p + page - RETURNS,
	   "code that was made at run time, at the end of a page: the path ends there (%zu, %d)", path.count, path.gap);
	munmap(p, page);
}

int main(void)
{
	unwinder = unwinder_create();
	test_paths();
	test_instants();
	test_context();
	test_guarded();
	test_made_code();
	loaded_forget_finder();
	test_paths();
	unwinder_free(unwinder);
	return tap_end();
}
