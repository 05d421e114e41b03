/* SPDX-License-Identifier: BSD-3-Clause
 * odd - calls MPI from where nobody expects it
 *
 *     odd deep              10,000 calls deep
 *     odd nounwind          below a function without unwind information
 *     odd jit               from code that was made at run time, and below it
 *     odd dl A.so B.so      from a library, and from another one that was loaded where the first one was
 *     odd signal            from a signal handler, at any instant of other calls
 *     odd longjmp           functions, and MPI calls, that are left by longjmp
 *     odd alloca            from stack frames of many sizes
 *     odd places            one function that is called from many places
 *
 * Prints on rank 0 what a test may look at.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#define APART __attribute__((noinline, noclone, noipa))

static APART void call(void)
{
	int x = 1, y;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static APART int deep(int n)
{
	if (n % 1000 == 0)
		call();
	volatile int more = n > 1 ? deep(n - 1) : 0;
	return more + 1;
}

/* lost calls its argument, and nobody knows where its caller is: no unwind information, and an odd frame. CODE is made
 * at run time: it calls the function whose address is put at CODE_CALLS. */
#ifdef __aarch64__
#define LOST                                                     \
	"	stp x29, x30, [sp, -16]!\n	sub sp, sp, 144\n	blr x0\n" \
	"	add sp, sp, 144\n	ldp x29, x30, [sp], 16\n	ret\n"
/* stp x29, x30, [sp, -16]!; ldr x16, CODE_CALLS; blr x16; ldp x29, x30, [sp], 16; ret; nop */
static const uint32_t CODE[8] = {0xa9bf7bfd, 0x580000b0, 0xd63f0200, 0xa8c17bfd, 0xd65f03c0, 0xd503201f};
enum { CODE_CALLS = 24 };
#else
#define LOST "	push %rbx\n	sub $144, %rsp\n	call *%rdi\n	add $144, %rsp\n	pop %rbx\n	ret\n"
/* mov $CODE_CALLS, %rax; sub $8, %rsp; call *%rax; add $8, %rsp; ret */
static const uint8_t CODE[] = {0x48, 0xb8, 0,    0,    0,    0,    0,    0,    0,    0,   0x48,
                               0x83, 0xec, 0x08, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
enum { CODE_CALLS = 2 };
#endif
void lost(void (*f)(void));
__asm__(".text\n.globl lost\n.type lost, @function\nlost:\n" LOST ".size lost, . - lost\n");

static void nounwind(void)
{
	for (int i = 0; i < 5; i++)
		lost(call);
}

static void (*make(void *f, unsigned char *at))(void)
{
	memcpy(at, CODE, sizeof CODE);
	memcpy(at + CODE_CALLS, &f, sizeof f);
	__builtin___clear_cache((char *)at, (char *)at + sizeof CODE);
	void (*made)(void);
	memcpy(&made, &at, sizeof made);
	return made;
}

static APART void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void jit(void)
{
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *f;
	void (*function)(void) = barrier;
	memcpy(&f, &function, sizeof f);
	void (*below)(void) = make(f, page);
	for (int i = 0; i < 5; i++)
		below();
	/* other code in the same place */
	function = call;
	memcpy(&f, &function, sizeof f);
	make(f, page)();
	for (int i = 0; i < 5; i++)
		below();
	munmap(page, 4096);
}

/* Each time from the same frame, so that return addresses and stack are the same if the library is in the same place.
 * */
static APART void *visit(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *at;
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	void (*f)(void);
	at = dlsym(library, "visit");
	memcpy(&f, &at, sizeof f);
	for (volatile int i = 0; i < 3; i++) /* one call site: not unrolled */
		f();
	dlclose(library);
	return at;
}

static volatile long handled;
static volatile sig_atomic_t ready;

static void on_signal(int number)
{
	int flag;
	(void)number;
	if (ready && MPI_Initialized(&flag) == MPI_SUCCESS && flag)
		handled++;
}

static void with_signals(void)
{
	struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigaction(SIGVTALRM, &action, NULL);
	ready = 1;
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	for (int i = 0; handled < 100 && i < 20000000; i++) {
		int rank;
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	ready = 0;
}

static jmp_buf back;

static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	longjmp(back, 1);
}

static void jumps(int n);
static void (*volatile deeper)(int) = jumps; /* compilers warn of what calls itself and never returns */

static APART void jumps(int n)
{
	volatile char room[64];
	room[0] = (char)n;
	barrier();
	if (n > 0)
		deeper(n - 1);
	else
		longjmp(back, 1);
	room[1] = room[0];
}

static void with_longjmp(void)
{
	MPI_Errhandler handler;
	static volatile int i;
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (i = 0; i < 20; i++)
		if (setjmp(back) == 0)
			jumps(i % 5);
	for (i = 0; i < 20; i++)
		if (setjmp(back) == 0)
			MPI_Send(NULL, 1, MPI_INT, 1000000, 0, MPI_COMM_WORLD); /* the error handler does not return */
	barrier();
	for (i = 0; i < 20; i++)
		call();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&handler);
}

static APART void sized(size_t n)
{
	volatile char *room = alloca(n);
	room[0] = 1;
	call();
	room[n - 1] = 1;
}

#define PLACE(k)                               \
	static APART void place##k(void)       \
	{                                      \
		call();                        \
		__asm__ volatile("" ::"i"(k)); \
	}
#define PLACES(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
PLACES(PLACE)

static void places(void)
{
	for (int i = 0; i < 20; i++) {
#define VISIT(k) place##k();
		PLACES(VISIT)
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(what, "deep"))
		deep(10000);
	else if (!strcmp(what, "nounwind"))
		nounwind();
	else if (!strcmp(what, "jit"))
		jit();
	else if (!strcmp(what, "dl") && argc > 3) {
		void *at[4];
		for (volatile int i = 0; i < 4; i++)
			at[i] = visit(argv[2 + i % 2]);
		if (rank == 0)
			printf("%s\n", at[0] == at[1] && at[1] == at[2] ? "same place" : "other places");
	} else if (!strcmp(what, "signal")) {
		with_signals();
		if (rank == 0)
			printf("%ld\n", handled);
	} else if (!strcmp(what, "longjmp"))
		with_longjmp();
	else if (!strcmp(what, "alloca"))
		for (volatile int i = 0; i < 50; i++)
			sized(64 + (size_t)i * 112);
	else if (!strcmp(what, "places"))
		places();
	MPI_Finalize();
	return 0;
}
