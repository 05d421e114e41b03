/* SPDX-License-Identifier: BSD-3-Clause
 * behind - what stands behind the gate: the files that the loader has mapped, and libc's own functions and variables
 */
#include "gate/behind.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "gate/kernel.h"
#include "gate/library.h"

/* Both weak: GNU's loader has the one, musl's the other. They are believed only if they lie in the loader. */
#pragma weak _r_debug
#pragma weak _dl_debug_addr
extern struct r_debug *_dl_debug_addr;
extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where this file is mapped */

enum { LOADER_MOST = 16 << 20 }; /* no loader is larger, in bytes */

/* libc, and up to version 2.33 of GNU's the library that has dlopen. Never unloaded. */
static struct of_libc {
	bool is; /* atomic: all the rest is filled in */
	bool glibc;
	struct module libc, libdl;
} known;

/* ---- the loader's list ---- */

/* The record lies in the loader itself, and says where that begins: no variable of a program does so. */
static bool is_loaders(const struct r_debug *r)
{
	uintptr_t base;

	if (!r || (uintptr_t)r % sizeof(void *))
		return false;
	base = r->r_ldbase;
	return base && base % 4096 == 0 && (uintptr_t)r > base && (uintptr_t)r - base < LOADER_MOST;
}

/* By the program's own dynamic section, where the loader leaves it for debuggers. */
static const struct r_debug *debug_of(const ElfW(Phdr) * segments, size_t count)
{
	uintptr_t base = 0;
	const ElfW(Dyn) *d = NULL;

	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_PHDR)
			base = (uintptr_t)segments - segments[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(base + segments[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (const struct r_debug *)d->d_un.d_ptr;
	return NULL;
}

static const struct r_debug *debug_by_kernel(void)
{
	ElfW(auxv_t) entry;
	const ElfW(Phdr) *segments = NULL;
	size_t count = 0;
	long fd = kernel_call(SYS_openat, AT_FDCWD, (long)"/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	while (kernel_call(SYS_read, fd, (long)&entry, sizeof entry, 0) == (long)sizeof entry &&
	       entry.a_type != AT_NULL)
		if (entry.a_type == AT_PHDR)
			segments = (const ElfW(Phdr) *)entry.a_un.a_val;
		else if (entry.a_type == AT_PHNUM)
			count = entry.a_un.a_val;
	kernel_call(SYS_close, fd, 0, 0, 0);
	return segments ? debug_of(segments, count) : NULL;
}

static const struct r_debug *debug(void)
{
	static const struct r_debug *found;
	const struct r_debug *r = __atomic_load_n(&found, __ATOMIC_RELAXED);

	if (r)
		return r;
	if (is_loaders(&_r_debug))
		r = &_r_debug;
	else if (&_dl_debug_addr && is_loaders(_dl_debug_addr))
		r = _dl_debug_addr;
	else
		r = debug_by_kernel();
	__atomic_store_n(&found, r, __ATOMIC_RELAXED);
	return r;
}

bool behind_at_rest(void)
{
	const struct r_debug *r = debug();

	return r && r->r_state == RT_CONSISTENT;
}

static const struct link_map *first_file(void)
{
	const struct r_debug *r = debug();

	return r ? r->r_map : NULL;
}

/* ---- libc ---- */

/* Called more than once at a time by threads that all find the same. */
static void learn_libc(void)
{
	struct module m;
	const struct r_debug *r = debug();
	bool found = false;

	if (__atomic_load_n(&known.is, __ATOMIC_ACQUIRE))
		return;
	for (const struct link_map *l = first_file(); l; l = l->l_next) {
		if (!module_read_dynamic(&m, l->l_addr, l->l_name, l->l_ld))
			continue;
		if (library_named(&m, "libc.so.6") && module_find(&m, "gnu_get_libc_version")) {
			known.libc = m;
			known.glibc = found = true;
		} else if (m.base == r->r_ldbase && module_find(&m, "__libc_start_main")) {
			known.libc = m;
			found = true;
		} else if (library_named(&m, "libdl.so.2")) {
			known.libdl = m;
		}
	}
	__atomic_store_n(&known.is, found, __ATOMIC_RELEASE);
}

void *behind_libc(const char *name)
{
	const ElfW(Sym) *s = NULL;

	learn_libc();
	if (known.libc.symbols && (s = module_find(&known.libc, name)))
		return module_at(&known.libc, s);
	if (known.libdl.symbols && (s = module_find(&known.libdl, name)))
		return module_at(&known.libdl, s);
	return NULL;
}

bool behind_is_glibc(void)
{
	learn_libc();
	return known.glibc;
}

/* By libc's own reference, which the loader has bound to the variable that counts: a program that uses it has it. */
char ***behind_environ(void)
{
	const struct module *m = &known.libc;
	const ElfW(Rela) *r = NULL;
	size_t size = 0;

	learn_libc();
	for (const ElfW(Dyn) *d = m->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_RELA)
			r = (const ElfW(Rela) *)module_address(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			size = d->d_un.d_val;
	for (size_t i = 0; r && i < size / sizeof *r; i++) {
		size_t symbol = ELF64_R_SYM(r[i].r_info);

		if (symbol && module_same(m->strings + m->symbols[symbol].st_name, "__environ"))
			return *(char ****)(m->base + r[i].r_offset);
	}
	return (char ***)behind_libc("__environ");
}

/* ---- in front of libc ---- */

void *behind_next(const char *name)
{
	const uint32_t hash = module_hash(name);
	struct module m;
	const ElfW(Sym) * s;
	bool behind = false;

	for (const struct link_map *l = first_file(); l; l = l->l_next) {
		if (l->l_addr == (uintptr_t)__ehdr_start)
			behind = true;
		else if (behind && module_read_dynamic(&m, l->l_addr, l->l_name, l->l_ld) &&
		         (s = module_find_hashed(&m, name, hash)))
			return module_at(&m, s);
	}
	return NULL;
}

const char *behind_own_path(void)
{
	for (const struct link_map *l = first_file(); l; l = l->l_next)
		if (l->l_addr == (uintptr_t)__ehdr_start)
			return l->l_name;
	return NULL;
}
