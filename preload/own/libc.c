/* SPDX-License-Identifier: BSD-3-Clause
 * libc - what the tracer takes from the process' libc
 *
 * libc is found by the loader's list of files, which the program's dynamic section leads to, and that by what the
 * kernel left behind the environment. None of it is asked for by a name.
 */
#include "preload/own/libc.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gate/module.h"

/* MUST(name, type, parameters): without it there is no tracing; MAY: it can be done without. */
#define LIBC_NAMES(MUST, MAY)                                                                                          \
	/* the thread's errno, which the MPI library sets in what the tracer asks of it */                             \
	MUST(__errno_location, int *, (void))                                                                          \
	/* the clock without a system call */                                                                          \
	MUST(clock_gettime, int, (clockid_t, struct timespec *))                                                       \
	/* the MPI library's own functions, in the order in which the loader searches; only at load and in MPI_Init */ \
	MUST(dlsym, void *, (void *, const char *))                                                                    \
	MUST(dlopen, void *, (const char *, int))                                                                      \
	MUST(dladdr, int, (const void *, Dl_info *))                                                                   \
	MUST(dl_iterate_phdr, int, (int (*)(struct dl_phdr_info *, size_t, void *), void *))                           \
	/* PAPI, in a namespace of its own */                                                                          \
	MUST(dlmopen, void *, (Lmid_t, const char *, int))                                                             \
	/* so that a child of fork does not record */                                                                  \
	MAY(__register_atfork, int, (void (*)(void), void (*)(void), void (*)(void), void *))                          \
	/* the MPI library may wait in what the tracer asks of it, where a thread may be cancelled */                  \
	MAY(pthread_setcancelstate, int, (int, int *))                                                                 \
	/* which thread it is, as PAPI wants it */                                                                     \
	MAY(pthread_self, pthread_t, (void))                                                                           \
	/* that a thread has ended */                                                                                  \
	MAY(pthread_once, int, (pthread_once_t *, void (*)(void)))                                                     \
	MAY(pthread_key_create, int, (pthread_key_t *, void (*)(void *)))                                              \
	MAY(pthread_setspecific, int, (pthread_key_t, const void *))

#define POINTER(name, type, parameters) type(*name) parameters;
static struct {
	LIBC_NAMES(POINTER, POINTER)
} libc;

static bool begun;
extern void *__libc_stack_end;
void *__libc_stack_end;                          /* where the kernel put the number of arguments */
static char **first_environment, ***environment; /* that the process was started with; libc's variable */
static const ElfW(auxv_t) * auxiliary;

bool libc_begun(void)
{
	return begun;
}

unsigned long getauxval(unsigned long type)
{
	for (const ElfW(auxv_t) *a = auxiliary; a && a->a_type != AT_NULL; a++)
		if (a->a_type == type)
			return a->a_un.a_val;
	return 0;
}

char *getenv(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environment ? *environment : first_environment; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* ---- finding it ---- */

/* The loader's list of files; NULL if it is not there. */
static const struct link_map *loader_list(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR), *dynamic = NULL; /* NOLINT: the kernel's */
	uintptr_t base = 0;

	for (unsigned long i = 0; p && i < getauxval(AT_PHNUM); i++) {
		if (p[i].p_type == PT_PHDR)
			base = (uintptr_t)p - p[i].p_vaddr;
		else if (p[i].p_type == PT_DYNAMIC)
			dynamic = &p[i];
	}
	if (!dynamic)
		return NULL;
	for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(base + dynamic->p_vaddr); d->d_tag != DT_NULL; d++) /* NOLINT */
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			return ((const struct r_debug *)d->d_un.d_ptr)->r_map; /* NOLINT */
	return NULL;
}

/* glibc's files: that of before version 2.34 were several. */
static bool is_libc(const struct module *m)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux"};

	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++)
		for (size_t i = 0; d->d_tag == DT_SONAME && i < sizeof names / sizeof *names; i++)
			if (!strncmp(m->strings + d->d_un.d_val, names[i], strlen(names[i])))
				return true;
	return false;
}

/* Where libc finds its variable environ: in the program, if that has a copy of it. */
static char ***environment_of(const struct module *m)
{
	const ElfW(Rela) *r = NULL;
	size_t size = 0;

	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_RELA)
			r = (const ElfW(Rela) *)module_address(m, d->d_un.d_ptr); /* NOLINT */
		else if (d->d_tag == DT_RELASZ)
			size = d->d_un.d_val;
	}
	for (const ElfW(Rela) *end = r + size / sizeof *r; r && r < end; r++) {
		const ElfW(Sym) *s = &m->symbols[ELF64_R_SYM(r->r_info)];
		if (ELF64_R_SYM(r->r_info) && module_same(m->strings + s->st_name, "__environ"))
			return *(char ****)(m->base + r->r_offset); /* NOLINT */
	}
	return NULL;
}

/* Symbols whose function is chosen at run time are not looked for. */
static void libc_take(const struct module *m, const char *name, void *pointer)
{
	const ElfW(Sym) *s = *(void **)pointer ? NULL : module_find(m, name);

	if (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
		*(void **)pointer = module_at(m, s);
}

static void take_names(const struct module *m)
{
#define TAKE(name, type, parameters) libc_take(m, #name, &libc.name);
	LIBC_NAMES(TAKE, TAKE)
	if (!environment)
		environment = environment_of(m);
}

/* When the tracer is loaded. glibc tells each library's constructors what the process was started with. */
static __attribute__((constructor(101))) void libc_begin(int argc, char **argv, char **envp)
{
	struct module m;
	char **e = argv + argc + 1;

	first_environment = envp;
	__libc_stack_end = argv - 1;
	while (*e)
		e++;
	while (!*e) /* one more for each variable that a library's constructor has taken out */
		e++;
	auxiliary = (const ElfW(auxv_t) *)(void *)e;
	for (const struct link_map *l = loader_list(); l; l = l->l_next)
		if (module_read_dynamic(&m, l->l_addr, l->l_name, l->l_ld) && is_libc(&m))
			take_names(&m);
#define IS_THERE(name, type, parameters) &&libc.name
#define IS_ALL_THE_SAME(name, type, parameters)
	begun = environment LIBC_NAMES(IS_THERE, IS_ALL_THE_SAME);
}

/* ---- its functions ---- */

int *__errno_location(void)
{
	return libc.__errno_location();
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	return libc.clock_gettime(id, t);
}

void *dlsym(void *restrict handle, const char *restrict name)
{
	return libc.dlsym(handle, name);
}

void *dlopen(const char *name, int mode)
{
	return libc.dlopen(name, mode);
}

void *dlmopen(Lmid_t list, const char *name, int mode)
{
	return libc.dlmopen(list, name, mode);
}

int dladdr(const void *address, Dl_info *info)
{
	return libc.dladdr(address, info);
}

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *context)
{
	return libc.dl_iterate_phdr(each, context);
}

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	return libc.__register_atfork ? libc.__register_atfork(prepare, parent, child, NULL) : -1;
}

int pthread_setcancelstate(int state, int *old)
{
	return libc.pthread_setcancelstate ? libc.pthread_setcancelstate(state, old) : 0;
}

pthread_t pthread_self(void)
{
	return libc.pthread_self ? libc.pthread_self() : 0;
}

int pthread_once(pthread_once_t *once, void (*first)(void))
{
	return libc.pthread_once ? libc.pthread_once(once, first) : -1;
}

int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
	return libc.pthread_key_create ? libc.pthread_key_create(key, end) : -1;
}

/* The value is not looked at, and may be new. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
int pthread_setspecific(pthread_key_t key, const void *value)
{
	return libc.pthread_setspecific ? libc.pthread_setspecific(key, value) : -1;
}
