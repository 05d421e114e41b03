/* SPDX-License-Identifier: BSD-3-Clause
 * switchers - MPI calls from stacks of every kind, put together at random: switchers FIRST COUNT [witnessed]
 *
 * Scenario n is a chain of one to four links, made from n alone. Each goes on to another stack, or makes the one that
 * it is on hard to follow, and calls the next link there; the innermost one calls MPI. Stacks are unmapped behind each
 * scenario, so that later ones are where earlier ones were. What is printed does not depend on any of it. A witness
 * (witness.c) is told of each MPI_Comm_rank.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
enum { PAGE = 4096, LINKS = 4, LOOK = 0x5003 };
#ifdef __SANITIZE_ADDRESS__
enum { LEAST = 16 }; /* pages of a stack */
#else
enum { LEAST = 5 };
#endif

static uint64_t state;

static unsigned draw(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

static int chain[LINKS], count;
static volatile int at; /* the next link */
static volatile int scenario;
static unsigned long sum;
static int witnessed;

static APART void call_mpi(void)
{
	int rank = -1, flag = 0, one = 1, all = 0, n = 1 + chain[0] % 3;

	for (volatile int i = 0; i < n; i++) {
		if (witnessed)
			__asm__ volatile("int3" : : "a"(LOOK) : "memory");
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Initialized(&flag);
		sum = sum * 31 + (unsigned)(rank + 2 * flag);
	}
	if (count == 1 && chain[0] != 3) { /* there is room enough */
		MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		sum += (unsigned)all;
	}
}

static APART void next(void);

/* ---- stacks ---- */

struct stack {
	char *all, *low;
	size_t size, mapped;
};

/* guards: pages that nobody may touch below it and above it; else it ends where its mapping ends. */
static struct stack make_stack(int guards)
{
	struct stack s = {.size = (LEAST + draw(4)) * (size_t)PAGE};

	s.mapped = s.size + 2 * (size_t)PAGE;
	s.all = mmap(NULL, s.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s.low = s.all + PAGE;
	if (s.all == MAP_FAILED || mprotect(s.low, s.size, PROT_READ | PROT_WRITE))
		abort();
	if (!guards) {
		munmap(s.low + s.size, PAGE);
		munmap(s.all, PAGE);
		s.all = s.low;
		s.mapped = s.size;
	}
	return s;
}

static void drop_stack(struct stack s)
{
	munmap(s.all, s.mapped);
}

/* ---- links ---- */

static void on_context(void)
{
	ucontext_t here, there;
	struct stack s = make_stack(draw(2));

	getcontext(&there);
	there.uc_stack = (stack_t){.ss_sp = s.low, .ss_size = s.size};
	there.uc_link = &here;
	makecontext(&there, next, 0);
	swapcontext(&here, &there);
	drop_stack(s);
}

/* On the stack that ends at `end`; what unwinders are told of it is wrong there, or nothing. */
void switch_told(void *end, void (*f)(void));
void switch_untold(void *end, void (*f)(void));
void switch_garbled(void *end, void (*f)(void));
#define SWITCH(name, told, end, garble)                                                                               \
	__asm__(".text\n.type " name ", @function\n" name ":\n" told "push %rbx\npush %rbp\n" garble                  \
	        "mov %rsp, %rbx\n"                                                                                    \
	        "mov %rdi, %rsp\ncall *%rsi\nmov %rbx, %rsp\npop %rbp\npop %rbx\nret\n" end ".size " name ", .-" name \
	        "\n")
SWITCH("switch_told", ".cfi_startproc\n", ".cfi_endproc\n", "");
SWITCH("switch_untold", "", "", "");
SWITCH("switch_garbled", ".cfi_startproc\n.cfi_def_cfa %rbp, 16\n", ".cfi_endproc\n", "mov $0x123456789abc, %rbp\n");

static void on_switch(void)
{
	static void (*const ways[])(void *, void (*)(void)) = {switch_told, switch_untold, switch_garbled};
	unsigned way = draw(3);
	struct stack s = make_stack(draw(2));

	ways[way](s.low + s.size, next);
	drop_stack(s);
}

static void on_signal(int number)
{
	(void)number;
	next();
}

static void on_signal_stack(void)
{
	struct stack s = make_stack(draw(2));
	stack_t before, stack = {.ss_sp = s.low, .ss_size = s.size};
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};

	sigaction(SIGUSR1, &a, NULL);
	if (sigaltstack(&stack, &before)) { /* it is in use: on the same one */
		raise(SIGUSR1);
	} else {
		raise(SIGUSR1);
		sigaltstack(&before, NULL);
	}
	drop_stack(s);
}

/* A coroutine that begins in a handler which returned long ago. */
static jmp_buf begin, back;
static volatile int begun;

static void on_begin(int number)
{
	(void)number;
	if (!_setjmp(begin)) {
		begun = 1;
		return;
	}
	next();
	_longjmp(back, 1);
}

static APART void enter(void)
{
	if (!_setjmp(back))
		_longjmp(begin, 1);
}

static void on_left_handler(void)
{
	struct stack s = make_stack(draw(2));
	stack_t before, stack = {.ss_sp = s.low, .ss_size = s.size};
	struct sigaction a = {.sa_handler = on_begin, .sa_flags = SA_ONSTACK};
	static int inside;

	if (inside || sigaltstack(&stack, &before)) {
		next();
	} else {
		inside = 1;
		sigaction(SIGUSR2, &a, NULL);
		raise(SIGUSR2);
		sigaltstack(&before, NULL);
		if (begun)
			enter();
		inside = begun = 0;
	}
	drop_stack(s);
}

static int clone_main(void *unused)
{
	(void)unused;
	next();
	return 0;
}

static void on_clone(void)
{
	struct stack s = make_stack(0);
	int status = 0,
	    pid = clone(clone_main, s.low + s.size, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND, NULL);

	if (pid < 0)
		next();
	else
		while (waitpid(pid, &status, __WALL) < 0)
			;
	if (status)
		printf("scenario %d: a clone ended with status %#x\n", scenario, (unsigned)status);
	drop_stack(s);
}

static void *thread_main(void *unused)
{
	next();
	return unused;
}

static void on_thread(void)
{
	pthread_attr_t a;
	pthread_t t;
	struct stack s = make_stack(1);
	unsigned own = draw(2);

	pthread_attr_init(&a);
	if (own)
		pthread_attr_setstack(&a, s.low, s.size);
	else
		pthread_attr_setstacksize(&a, 65536);
	if (s.size < 16384 || pthread_create(&t, &a, thread_main, NULL))
		next();
	else
		pthread_join(t, NULL);
	pthread_attr_destroy(&a);
	drop_stack(s);
}

static APART void recurse(int n)
{
	volatile char room[32];

	room[0] = (char)n;
	if (n > 0)
		recurse(n - 1);
	else
		next();
	room[1] = room[0];
}

static void deep(void)
{
	recurse((int)draw(20));
}

/* Code that was made at run time, without a word to unwinders, which ends where its page ends. */
static void made_code(void)
{
	/* push %rbx; call *%rdi; pop %rbx; ret; and with a frame pointer */
	static const unsigned char code[2][8] = {{0x53, 0xff, 0xd7, 0x5b, 0xc3},
	                                         {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3}};
	unsigned which = draw(2);
	size_t n = which ? 8 : 5;
	char *p = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*f)(void (*)(void));

	memcpy(p + PAGE - n, code[which], n);
	mprotect(p, PAGE, PROT_READ | PROT_EXEC);
	munmap(p + PAGE, PAGE);
	*(void **)&f = p + PAGE - n;
	f(next);
	munmap(p, PAGE);
}

/* The frame pointer is anything, and so are other registers of the caller; unwinders are told that it is right. */
void call_garbled(void (*f)(void));
__asm__(".text\n.type call_garbled, @function\ncall_garbled:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset "
        "16\n.cfi_offset %rbp, -16\n"
        "push %rbx\npush %r12\n.cfi_def_cfa %rbp, 16\nmov $-1, %rbp\nxor %ebx, %ebx\nmov $8, %r12\n"
        "call *%rdi\npop %r12\npop %rbx\npop %rbp\nret\n.cfi_endproc\n.size call_garbled, .-call_garbled\n");

static void garbled(void)
{
	call_garbled(next);
}

static void (*const links[])(void) = {deep,     on_context, on_switch, on_signal_stack, on_left_handler,
                                      on_clone, on_thread,  made_code, garbled};

static APART void next(void)
{
	int mine = at++;

	if (mine < count)
		links[chain[mine]]();
	else
		call_mpi();
	at = mine;
}

int main(int argc, char **argv)
{
	int first = argc > 1 ? atoi(argv[1]) : 0, scenarios = argc > 2 ? atoi(argv[2]) : 100;

	witnessed = argc > 3;
	setvbuf(stdout, NULL, _IOLBF, 0);
	MPI_Init(&argc, &argv);
	for (scenario = first; scenario < first + scenarios; scenario++) {
		state = (uint64_t)scenario * UINT64_C(0x9e3779b97f4a7c15) + 1;
		draw(2);
		count = 1 + (int)draw(LINKS);
		for (int i = 0; i < count; i++)
			chain[i] = (int)draw(sizeof links / sizeof *links);
		at = 0;
		next();
	}
	printf("%lu\n", sum);
	MPI_Finalize();
	return 0;
}
