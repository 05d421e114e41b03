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
 *   and by musl; what it uses of libc is looked up where it is used, and where it is not there nothing is done;
 * - does nothing without a handoff in the environment, allocates nothing, and makes no system call;
 * - passes calls of dlsym on by a jump: the loader takes the return address for who asks.
 */
#include "gate/library.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define HANDOFF "SLURM_SPOOR_HANDOFF="
#define PRELOAD "LD_PRELOAD="
#define GATE    "libspoor-gate.so"
#define EXPORT  __attribute__((visibility("default")))

/* Weak: without one of them there is nothing to be done. */
#pragma weak dl_iterate_phdr
#pragma weak _r_debug
extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where this file is mapped */

/* The tracers, by enum library_abi. */
static const char tracers[LIBRARY_ABIS][22] = {"libspoor-openmpi.so", "libspoor-mpich.so", "libspoor-abi.so"};

static struct gate {
	bool begun;                   /* all constructors of libraries have run */
	bool open;                    /* there is a handoff, and we are in a process that can be traced */
	bool busy;                    /* atomic: somebody is looking */
	bool tried[LIBRARY_ABIS + 1]; /* to let its tracer in; the last one: some tracer, for a library of no ABI */
	void (*look[LIBRARY_ABIS])(void **); /* of the tracers that were let in */
	void *owner;                         /* of the process: of them the one whose library was called first */
	unsigned long long changes; /* files that the loader had mapped and unmapped in all when we last looked */
	char ***environ;
	const char *path; /* of this file */
} gate;

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

/* ---- what stands behind the gate ---- */

/* Names, all found in one pass through the modules. */
struct symbol_wanted {
	const char *name;
	/* the first definition in the process, which may be the program's copy of a variable; else the first one behind
	 * the gate */
	bool first;
	uint32_t hash;
	void *found;
};

struct pass {
	struct symbol_wanted *wanted;
	size_t count;
	bool behind;
};

static void find_in(struct pass *p, const struct module *m)
{
	const ElfW(Sym) * s;

	if (m->base == (uintptr_t)__ehdr_start) {
		gate.path = m->path;
		p->behind = true;
		return;
	}
	for (struct symbol_wanted *w = p->wanted; w < p->wanted + p->count; w++)
		if (!w->found && (p->behind || w->first) && (s = module_find_hashed(m, w->name, w->hash)))
			w->found = module_at(m, s);
}

static int find_next(struct dl_phdr_info *info, size_t size, void *pass)
{
	struct module m;

	(void)size;
	if (module_read(&m, info))
		find_in(pass, &m);
	return 0;
}

/* Before the end of the beginning no function can be trusted to be ready (sanitizers have a dl_iterate_phdr of their
 * own), but nobody unloads anything either: then it is the loader's list for debuggers that is looked through. */
static void find_all(struct symbol_wanted *wanted, size_t count)
{
	struct pass p = {wanted, count, false};
	struct module m;

	for (size_t i = 0; i < count; i++)
		wanted[i].hash = module_hash(wanted[i].name);
	if (gate.begun && dl_iterate_phdr)
		dl_iterate_phdr(find_next, &p);
	else
		for (const struct link_map *l = &_r_debug ? _r_debug.r_map : NULL; l; l = l->l_next)
			if (module_read_dynamic(&m, l->l_addr, l->l_name, l->l_ld))
				find_in(&p, &m);
}

static void *find(const char *name)
{
	struct symbol_wanted w = {.name = name};

	find_all(&w, 1);
	return w.found;
}

/* ---- MPI ---- */

/* Is all of the file there? The loader would not ask, and reading what is not there would end the process. */
static bool is_whole(const char *path)
{
	int (*open)(const char *, int, ...), (*close)(int), fd;
	ssize_t (*read)(int, void *, size_t, off_t);
	ElfW(Ehdr) head;
	ElfW(Phdr) p;
	char last;
	bool whole;

	*(void **)&open = find("open");
	*(void **)&close = find("close");
	*(void **)&read = find("pread");
	if (!open || !close || !read || (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	whole = read(fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
	for (size_t i = 0; whole && i < head.e_phnum; i++)
		whole = read(fd, &p, sizeof p, (off_t)(head.e_phoff + i * sizeof p)) == (ssize_t)sizeof p &&
		        (!p.p_filesz || read(fd, &last, 1, (off_t)(p.p_offset + p.p_filesz - 1)) == 1);
	close(fd);
	return whole;
}

/* Opens a tracer, which is beside the gate. False: that cannot be. */
static bool open_tracer(size_t tracer)
{
	void *(*open)(const char *, int), *(*symbol)(void *, const char *), *library;
	char *(*error)(void), path[4096 + sizeof *tracers], *name = path;

	*(void **)&open = find("dlopen");
	*(void **)&symbol = find("dlsym");
	*(void **)&error = find("dlerror");
	/* the tracer is made for glibc, and would be taken into other processes with what it needs */
	if (gate.look[tracer] || !open || !symbol || !error || !find("gnu_get_libc_version"))
		return gate.look[tracer] != NULL;
	for (size_t i = 0; i < 4096 && (path[i] = gate.path[i]); i++)
		if (path[i] == '/')
			name = &path[i + 1];
	for (size_t i = 0; (name[i] = tracers[tracer][i]); i++)
		;
	library = is_whole(path) ? open(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library)
		*(void **)&gate.look[tracer] = symbol(library, "spoor_look_2");
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
	int *(*location)(void), saved;
	struct sight s = {0};
	bool any = false;

	if (!(*(void **)&location = find("__errno_location")))
		return;
	saved = *location();
	dl_iterate_phdr(see_library, &s);
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
	*location() = saved;
}

/* Has the loader mapped or unmapped something? Others who come here meanwhile go on. */
static void __attribute__((noinline)) look(void)
{
	struct sight s = {0};

	if (__atomic_exchange_n(&gate.busy, true, __ATOMIC_ACQUIRE))
		return;
	dl_iterate_phdr(count_changes, &s);
	if (s.changes != gate.changes) {
		tell();
		dl_iterate_phdr(count_changes, &s); /* the tracer itself is not news */
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
	char **out = *gate.environ;

	for (char **e = *gate.environ; (*out = *e); e++) {
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
		*(void **)&f = find("dlsym");
		__atomic_store_n(&next, f, __ATOMIC_RELAXED);
	}
	return f;
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
	symbol_finder *next = next_dlsym();

	if (gate.open)
		look();
	return next ? next(handle, name) : NULL; /* the call is a jump: see gate/Makemodule.am */
}

/* Whoever lives on in a part of the file system where the gate is not would hear of that from the loader, in each
 * program that it starts. */
EXPORT int chroot(const char *path)
{
	int (*next)(const char *), (*there)(const char *, int), *(*location)(void), saved;
	int rv;

	*(void **)&next = find("chroot");
	if (!next)
		return -1;
	rv = next(path);
	*(void **)&there = find("access");
	*(void **)&location = find("__errno_location");
	if (rv || !gate.open || !there || !location)
		return rv;
	saved = *location();
	if (there(gate.path, F_OK))
		leave();
	*location() = saved;
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

/* The last of the libraries' constructors. Its arguments are not there in every libc. Everything is asked in one pass:
 * most processes have nothing to do with MPI, and this is all that happens in them. */
__attribute__((visibility("hidden"))) void gate_begin(void)
{
	enum { ENVIRON, NAME, MPI, COUNT };
	struct symbol_wanted w[COUNT] = {[ENVIRON] = {.name = "environ", .first = true},
	                                 [NAME] = {.name = "__progname", .first = true},
	                                 [MPI] = {.name = "PMPI_Init"}};
	char **e, *name;

	find_all(w, COUNT);
	gate.begun = true;
	if (!w[ENVIRON].found || !w[NAME].found || !dl_iterate_phdr)
		return;
	gate.environ = w[ENVIRON].found;
	for (e = *gate.environ; e && *e && !begins(*e, HANDOFF); e++)
		;
	if (!e || !*e)
		return;
	gate.open = true;
	name = *(char **)w[NAME].found;
	if (name && is_launcher(name) && !is_everywhere(*e))
		leave();
	if (w[MPI].found)
		look();
}
