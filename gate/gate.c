/* SPDX-License-Identifier: BSD-3-Clause
 * gate - what is preloaded into every process of a job: lets the tracer in where there is an MPI library, and is
 * nothing elsewhere
 *
 * A process has nothing to do with MPI until an MPI library is mapped into it. Mostly the loader did that before the
 * first instruction of the program: gate_begin sees it. Else the program opens a module that needs MPI, and then asks
 * for something in that: with dlsym, which is therefore defined here. The tracer for that MPI library is then opened,
 * and has all calls of the program that go into the MPI library come to it (preload/bind.c). The gate defines no name
 * of MPI: whoever asks whether there is one, by a weak reference or dlsym, gets the answer that it gets without spoor,
 * and libraries with functions of the same names are never met.
 *
 * It must not hurt a process of which it knows nothing. So it
 *
 * - needs no library and no version of a symbol: it is loaded by every glibc, also one that the program brings along,
 *   and by musl; what it uses of libc is libc's own (gate/behind.h), and where it is not there nothing is done;
 * - does nothing without a handoff in the environment, allocates nothing, and makes no system call;
 * - passes calls of dlsym on by a jump: the loader takes the return address for who asks.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gate/behind.h"
#include "gate/kernel.h"
#include "gate/library.h"

#define HANDOFF "SLURM_SPOOR_HANDOFF="
#define PRELOAD "LD_PRELOAD="
#define GATE    "libspoor-gate.so"
#define EXPORT  __attribute__((visibility("default")))

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where this file is mapped */

/* The tracers, by enum library_abi. */
static const char tracers[LIBRARY_ABIS][22] = {"libspoor-openmpi.so", "libspoor-mpich.so", "libspoor-abi.so"};

static struct gate {
	bool open;                    /* there is a handoff, and we are in a process that can be traced */
	bool busy;                    /* atomic: somebody is looking */
	bool tried[LIBRARY_ABIS + 1]; /* to let its tracer in; the last one: some tracer, for a library of no ABI */
	void (*look[LIBRARY_ABIS])(void **);                  /* of the tracers that were let in */
	int (*dladdr[LIBRARY_ABIS])(const void *, Dl_info *); /* the same */
	void *owner;                /* of the process: of them the one whose library was called first */
	unsigned long long changes; /* files that the loader had mapped and unmapped in all when we last looked */
	const char *path;           /* of this file */
	int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *); /* libc's dl_iterate_phdr */
	int *(*error)(void);                                                    /* where errno is */
} gate;

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

/* ---- MPI ---- */

static bool read_at(long fd, void *to, size_t size, uint64_t offset)
{
	return kernel_call(SYS_pread64, fd, (long)to, (long)size, (long)offset) == (long)size;
}

/* Is all of the file there? The loader would not ask, and reading what is not there would end the process. */
static bool is_whole(const char *path)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) p;
	char last;
	bool whole;
	long fd = kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	whole = read_at(fd, &head, sizeof head, 0);
	for (size_t i = 0; whole && i < head.e_phnum; i++)
		whole = read_at(fd, &p, sizeof p, head.e_phoff + i * sizeof p) &&
		        (!p.p_filesz || read_at(fd, &last, 1, p.p_offset + p.p_filesz - 1));
	kernel_call(SYS_close, fd, 0, 0, 0);
	return whole;
}

/* Opens a tracer, which is beside the gate. False: that cannot be. */
static bool open_tracer(size_t tracer)
{
	void *(*open)(const char *, int), *(*symbol)(void *, const char *), *library;
	char *(*error)(void), path[4096 + sizeof *tracers], *name = path;

	*(void **)&open = behind_libc("dlopen");
	*(void **)&symbol = behind_libc("dlsym");
	*(void **)&error = behind_libc("dlerror");
	/* the tracer is made for glibc, and would be taken into other processes with what it needs */
	if (gate.look[tracer] || !open || !symbol || !error || !behind_is_glibc())
		return gate.look[tracer] != NULL;
	for (size_t i = 0; i < 4096 && (path[i] = gate.path[i]); i++)
		if (path[i] == '/')
			name = &path[i + 1];
	for (size_t i = 0; (name[i] = tracers[tracer][i]); i++)
		;
	library = is_whole(path) ? open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library) {
		*(void **)&gate.dladdr[tracer] = symbol(library, "spoor_dladdr_1");
		*(void **)&gate.look[tracer] = symbol(library, "spoor_look_2");
	}
	error(); /* not for the program's eyes */
	return gate.look[tracer] != NULL;
}

/* Lets the tracer for an ABI in. Where there is none, some other: it says so in the node's log. One attempt: what fails
 * now fails again. */
static void admit(size_t abi)
{
	if (gate.tried[abi])
		return;
	gate.tried[abi] = true;
	if (abi < LIBRARY_ABIS && open_tracer(abi))
		return;
	for (size_t i = 0; i < LIBRARY_ABIS; i++)
		if (gate.look[i])
			return;
	for (size_t i = 0; i < LIBRARY_ABIS && !open_tracer(i); i++)
		;
}

/* What dl_iterate_phdr has counted, and the ABIs of the MPI libraries behind the gate. */
struct sight {
	unsigned long long changes;
	bool behind, there[LIBRARY_ABIS + 1];
};

static int count_changes(struct dl_phdr_info *info, size_t size, void *sight)
{
	(void)size;
	((struct sight *)sight)->changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static int see_library(struct dl_phdr_info *info, size_t size, void *sight)
{
	struct sight *s = sight;
	struct module m;

	(void)size;
	if (module_read(&m, info) && s->behind && library_is_mpi(&m))
		s->there[library_abi(&m)] = true;
	s->behind |= m.base == (uintptr_t)__ehdr_start;
	return 0;
}

/* Lets the tracers in for what is mapped now, and tells all that something has changed. errno is kept; no lock is held
 * while a tracer works. */
static void tell(void)
{
	const int saved = *gate.error();
	struct sight s = {0};
	bool any = false;

	gate.iterate(see_library, &s);
	for (size_t i = 0; i <= LIBRARY_ABIS; i++)
		if (s.there[i]) {
			any = true;
			admit(i);
		}
	for (size_t i = 0; i < LIBRARY_ABIS; i++)
		if (gate.look[i]) {
			any = false;
			gate.look[i](&gate.owner);
		}
	if (any) /* MPI without a tracer */
		gate.open = false;
	*gate.error() = saved;
}

/* Has the loader mapped or unmapped something? Others who come here meanwhile go on, as does who comes while the loader
 * is at work: a signal may have interrupted it, and what it has unmapped is still in its list. */
static void __attribute__((noinline)) look(void)
{
	struct sight s = {0};

	if (!behind_at_rest() || __atomic_exchange_n(&gate.busy, true, __ATOMIC_ACQUIRE))
		return;
	gate.iterate(count_changes, &s);
	if (s.changes != gate.changes) {
		tell();
		gate.iterate(count_changes, &s); /* the tracer itself is not news */
		gate.changes = s.changes;
	}
	__atomic_store_n(&gate.busy, false, __ATOMIC_RELEASE);
}

/* ---- where the gate is not ---- */

/* In the file system of a container the gate is not there, and the loader would tell the user so in every program that
 * is started. */
static const char launchers[][16] = {"apptainer", "singularity", "starter",      "starter-suid", "podman",
                                     "docker",    "nerdctl",     "charliecloud", "ch-run",       "enroot",
                                     "shifter",   "sarus",       "bwrap",        "unshare",      "nsenter",
                                     "chroot",    "crun",        "runc",         "udocker"};

static bool is_launcher(const char *name)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
		if (launchers[i][0] == name[0] && module_same(launchers[i], name))
			return true;
	return false;
}

/* Takes our entry out of a value of LD_PRELOAD. */
static void remove_gate(char *list)
{
	char *out = list;

	for (const char *p = list; *p;) {
		const char *name = p, *end = p;

		for (; *end && *end != ':' && *end != ' '; end++)
			if (*end == '/')
				name = end + 1;
		if (!(begins(name, GATE) && end == name + sizeof GATE - 1)) {
			if (out > list)
				*out++ = ':';
			while (p < end)
				*out++ = *p++;
		}
		p = *end ? end + 1 : end;
	}
	*out = '\0';
}

/* What this process starts does not get the gate. */
static void leave(void)
{
	char ***environ = behind_environ(), **out = environ ? *environ : NULL;

	for (char **e = out; e && (*out = *e); e++) {
		if (begins(*e, PRELOAD)) {
			remove_gate(*e + sizeof PRELOAD - 1);
			if (!(*e)[sizeof PRELOAD - 1])
				continue;
		}
		out++;
	}
}

/* ---- functions in front of libc's ---- */

typedef void *symbol_finder(void *, const char *);

/* Also before gate_begin and in a child of fork; whoever else is here finds the same. */
static symbol_finder *next_dlsym(void)
{
	static symbol_finder *next;
	symbol_finder *f = __atomic_load_n(&next, __ATOMIC_RELAXED);

	if (!f) {
		*(void **)&f = behind_next("dlsym");
		__atomic_store_n(&next, f, __ATOMIC_RELAXED);
	}
	return f;
}

/* May somebody come by this to a function that calls MPI? Not by a name of libc, and not by the next one after his own,
 * if that is not MPI's. So ask tools that stand before malloc, and hold locks that whatever is done here could need. */
static bool leads_on(const void *handle, const char *name)
{
	if (!name || behind_libc(name))
		return false;
	name += *name == 'P' || *name == 'p';
	return handle != RTLD_NEXT || begins(name, "MPI") || begins(name, "mpi");
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
	symbol_finder *next = next_dlsym();

	if (gate.open && leads_on(handle, name))
		look();
	return next ? next(handle, name) : NULL; /* the call is a jump: see gate/Makemodule.am */
}

/* Of the MPI library's functions it says what it says without a tracer. */
EXPORT int dladdr(const void *address, Dl_info *info)
{
	int (*next)(const void *, Dl_info *);

	for (size_t i = 0; i < LIBRARY_ABIS; i++)
		if (gate.dladdr[i] && gate.dladdr[i](address, info))
			return 1;
	*(void **)&next = behind_next("dladdr");
	return next ? next(address, info) : 0;
}

/* Whoever lives on in a part of the file system where the gate is not would hear of that from the loader, in each
 * program that it starts. */
EXPORT int chroot(const char *path)
{
	int (*next)(const char *), rv;

	*(void **)&next = behind_next("chroot");
	if (!next)
		return -1;
	rv = next(path);
	if (!rv && gate.open && kernel_call(SYS_faccessat, AT_FDCWD, (long)gate.path, F_OK, 0))
		leave();
	return rv;
}

/* AddressSanitizer's run-time library wants to be the first of all libraries, and ends the program if a preloaded one
 * is before it. It asks this function for its options (a program's own function of that name is asked instead, and
 * ASAN_OPTIONS counts more than both). Nobody else does. */
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* ---- the beginning ---- */

/* Does the site say that its files are there in containers as well? */
static bool is_everywhere(const char *handoff)
{
	for (; *handoff; handoff++)
		if (begins(handoff, ";containers=trace"))
			return true;
	return false;
}

static const char *last_part(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* The last of the libraries' constructors. Other loaders than GNU's give it no arguments: nothing is done there. No
 * function is called where there is no MPI library, not even libc's: most processes have nothing to do with MPI. */
__attribute__((visibility("hidden"))) void gate_begin(int count, char **arguments, char **environment)
{
	char **e;

	if (!behind_is_glibc())
		return;
	for (e = environment; *e && !begins(*e, HANDOFF); e++)
		;
	if (!*e)
		return;
	gate.path = behind_own_path();
	*(void **)&gate.iterate = behind_libc("dl_iterate_phdr");
	*(void **)&gate.error = behind_libc("__errno_location");
	if (!gate.path || !gate.iterate || !gate.error)
		return;
	gate.open = true;
	if (count > 0 && is_launcher(last_part(arguments[0])) && !is_everywhere(*e))
		leave();
	if (behind_next("PMPI_Init"))
		look();
}
