/* SPDX-License-Identifier: BSD-3-Clause
 * bind - has the program's calls of the MPI library come to our wrappers
 *
 * The gate calls one thread at a time, mostly before the program's first instruction. Other threads may be binding
 * meanwhile: each word is stored at once, pages are made writable and never unreadable, so that they find either the
 * library's function or our wrapper.
 */
#include "preload/bind.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gate/library.h"
#include "preload/caller.h"
#include "preload/own/libc.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "preload/session.h"

/* What a module is to us. */
enum part {
	/* anything else, also a library with MPI's names that has no profiling interface: a sequential stub */
	PART_NONE,
	PART_LIBRARY, /* the MPI library, or one of its Fortran libraries: has MPI_x and PMPI_x */
	PART_TOOL     /* has MPI_x, and calls PMPI_x */
};

/* The modules that we have seen, in the loader's order, which is that in which it searches. */
static struct seen {
	struct module m;
	enum part part; /* as it was when it was bound */
	bool fresh;     /* not seen before this look */
	bool there;     /* still mapped */
} * seen;
static size_t seen_count, seen_room;
static unsigned long long unmapped;                                     /* files in all */
static struct module mpi;                                               /* the MPI library; no symbols: not found yet */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where the tracer itself is mapped */

/* ---- names ---- */

static bool is_mpi(const char *name)
{
	return (name[0] | 32) == 'm' && (name[1] | 32) == 'p' && (name[2] | 32) == 'i';
}

static const struct binding *find_exactly(const struct binding *bindings, size_t count, const char *name)
{
	while (count) {
		const struct binding *middle = &bindings[count / 2];
		int order = strcmp(name, middle->name);

		if (!order)
			return middle;
		if (order > 0) {
			bindings = middle + 1;
			count -= count / 2 + 1;
		} else {
			count /= 2;
		}
	}
	return NULL;
}

/* How a compiler spells a Fortran name: the name, or with _ or __ behind it, or in capitals. */
static const struct binding *find_fortran(const char *name)
{
	char plain[64];
	size_t n = strlen(name);
	bool capitals = name[0] == 'M';

	if (n >= sizeof plain)
		return NULL;
	for (size_t i = 0; i <= n; i++) {
		bool small = name[i] >= 'a' && name[i] <= 'z', large = name[i] >= 'A' && name[i] <= 'Z';

		if (capitals ? small : large)
			return NULL;
		plain[i] = (char)(large ? name[i] + 32 : name[i]);
	}
	for (int i = 0; i < 2 && !capitals && plain[n - 1] == '_'; i++)
		plain[--n] = '\0';
	return find_exactly(mpi_fortran_bindings, mpi_fortran_bindings_count, plain);
}

const struct binding *bind_find(const char *name)
{
	const struct binding *b;

	if (!is_mpi(name))
		return NULL;
	b = find_exactly(mpi_bindings, mpi_bindings_count, name);
	return b ? b : find_fortran(name);
}

/* ---- the symbols of a module ---- */

/* The modules whose symbols were changed: the library's, and those of Fortran. */
#define BOUND_MOST 16
static uintptr_t bound[BOUND_MOST];
static unsigned bound_count; /* atomic */

bool bind_has_bound(uintptr_t base)
{
	unsigned n = __atomic_load_n(&bound_count, __ATOMIC_ACQUIRE);

	while (n > 0 && bound[n - 1] != base)
		n--;
	return n > 0;
}

static bool is_function(const ElfW(Sym) * s)
{
	int bind = ELF64_ST_BIND(s->st_info), type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value && (bind == STB_GLOBAL || bind == STB_WEAK) && type == STT_FUNC;
}

/* Does the module have the profiling name of a function that it has? That is a p before the name; in MPICH's mpi_f08
 * pmpir for mpi. */
static bool has_twin(const struct module *m, const char *name)
{
	char twin[72];

	if (strlen(name) > 64)
		return false;
	twin[0] = name[0] == 'M' ? 'P' : 'p';
	strcpy(twin + 1, name);
	if (module_find(m, twin))
		return true;
	memcpy(twin, "pmpir", 5);
	strcpy(twin + 5, name + 3);
	return module_find(m, twin);
}

/* Does it need another MPI library than ours? */
static bool is_of_another(const struct module *m)
{
	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_NEEDED)
			continue;
		for (size_t i = 0; i < seen_count; i++) {
			const struct module *o = &seen[i].m;
			const char *name = strrchr(o->path, '/');

			if (o->base != mpi.base && name && !strcmp(name + 1, m->strings + d->d_un.d_val) &&
			    library_is_mpi(o))
				return true;
		}
	}
	return false;
}

static enum part part_of(const struct module *m)
{
	size_t n = module_symbol_count(m);
	bool has = false, calls = false;

	/* the replay's layer is part of the library: what it calls is what the library does */
	if (m->base == mpi.base || module_find(m, "spoor_below"))
		return PART_LIBRARY;
	if (library_is_mpi(m) ||
	    module_find(m, "spoor_transparent")) /* another MPI; a tool that passes calls on to whoever is next: us */
		return PART_NONE;
	for (size_t i = 1; i < n; i++) {
		const ElfW(Sym) *s = &m->symbols[i];
		const char *name = m->strings + s->st_name;

		if (s->st_shndx == SHN_UNDEF) {
			calls |= name[0] == 'P' && !strncmp(name, "PMPI_", 5);
		} else if (is_function(s) && bind_find(name)) {
			if (has_twin(m, name))
				return is_of_another(m) ? PART_NONE : PART_LIBRARY;
			has = true;
		}
	}
	return has && calls ? PART_TOOL : PART_NONE;
}

/* Is this address where an MPI library has the function of this name? */
static bool is_in_library(const char *name, uintptr_t at)
{
	for (size_t i = 0; i < seen_count; i++) {
		const ElfW(Sym) *s = seen[i].part == PART_LIBRARY ? module_find(&seen[i].m, name) : NULL;

		if (s && (uintptr_t)module_at(&seen[i].m, s) == at)
			return true;
	}
	return false;
}

/* ---- words of a module ---- */

/* The page that is writable just now although it should not be. */
static struct page {
	uintptr_t at;
	int protection;
} page;

static void close_page(void)
{
	if (page.at)
		mprotect((void *)page.at, (size_t)sysconf(_SC_PAGESIZE), page.protection);
	page.at = 0;
}

/* How the loader left the memory at this address; -1: it is not the module's. */
static int protection_of(const struct module *m, uintptr_t at)
{
	int protection = -1;

	for (size_t i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];
		uintptr_t begin = m->base + p->p_vaddr, end = begin + p->p_memsz;

		if (p->p_type == PT_LOAD && at >= begin && at < end)
			protection = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
			             (p->p_flags & PF_X ? PROT_EXEC : 0);
		/* the loader protects whole pages of it: the last one may stay writable, and is left alone as far as it
		 * is */
		if (p->p_type == PT_GNU_RELRO && at >= begin && at < (end & -(uintptr_t)sysconf(_SC_PAGESIZE)))
			return PROT_READ;
	}
	return protection;
}

/* Stores a word of the module. False: that cannot be. */
static bool store_entry(const struct module *m, uintptr_t *word, uintptr_t value)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)word & -size;
	int protection = protection_of(m, (uintptr_t)word);

	if (protection < 0)
		return false;
	if (!(protection & PROT_WRITE) && page.at != at) {
		close_page();
		if (mprotect((void *)at, size, protection | PROT_WRITE))
			return false;
		page = (struct page){at, protection};
	}
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	return true;
}

/* ---- binding ---- */

/* The module's functions are where our wrappers are; what it had is next. A name that was bound in a module before this
 * one stays. */
static bool bind_symbols(const struct module *m)
{
	size_t n = module_symbol_count(m);

	if (!bind_has_bound(m->base) && bound_count < BOUND_MOST) {
		bound[bound_count] = m->base;
		__atomic_store_n(&bound_count, bound_count + 1, __ATOMIC_RELEASE);
	}
	for (size_t i = 1; i < n; i++) {
		ElfW(Sym) *s = &m->symbols[i];
		const struct binding *b = is_function(s) ? bind_find(m->strings + s->st_name) : NULL;
		void *own = module_at(m, s);

		if (!b || own == b->wrapper || (*b->next && *b->next != own))
			continue;
		__atomic_store_n(b->next, own, __ATOMIC_RELEASE);
		if (!store_entry(m, &s->st_value, (uintptr_t)b->wrapper - m->base))
			return false;
	}
	return true;
}

/* What the loader bound to one of these functions for this module goes to the wrapper. Told by name and by value:
 * MPI_Send and PMPI_Send are often one function. What is not bound yet will be, by the symbols. */
static const struct binding *find_reference(const char *name, uintptr_t bound)
{
	const struct binding *b = bind_find(name);

	return b && *b->next && bound == (uintptr_t)*b->next ? b : NULL;
}

/* What a tool calls by the profiling names does so, too. What is not bound yet leads to the tool's own code. */
static const struct binding *find_passed_on(const struct module *tool, const char *name, uintptr_t bound)
{
	const struct binding *b = (name[0] | 32) == 'p' ? bind_find(name + 1) : NULL;

	return b && *b->next && (is_in_library(name, bound) || protection_of(tool, bound) >= 0) ? b : NULL;
}

static bool bind_references(const struct seen *in, const ElfW(Rela) * r, size_t size)
{
	const struct module *m = &in->m;

	for (const ElfW(Rela) *end = r + size / sizeof *r; r < end; r++) {
		const char *name = m->strings + m->symbols[ELF64_R_SYM(r->r_info)].st_name;
		uintptr_t *word = (uintptr_t *)(m->base + r->r_offset);
		const struct binding *b = NULL;

		if (!ELF64_R_SYM(r->r_info) || protection_of(m, (uintptr_t)word) < 0)
			continue;
		b = find_reference(name, *word);
		if (!b && in->part == PART_TOOL)
			b = find_passed_on(m, name, *word);
		if (b && !store_entry(m, word, (uintptr_t)b->wrapper))
			return false;
	}
	return true;
}

static bool bind_module(const struct seen *in)
{
	const struct module *m = &in->m;
	const ElfW(Rela) *rela = NULL, *jumps = NULL;
	size_t rela_size = 0, jumps_size = 0;

	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		uintptr_t at = module_address(m, d->d_un.d_ptr);

		if (d->d_tag == DT_RELA)
			rela = (const ElfW(Rela) *)at;
		else if (d->d_tag == DT_RELASZ)
			rela_size = d->d_un.d_val;
		else if (d->d_tag == DT_JMPREL)
			jumps = (const ElfW(Rela) *)at;
		else if (d->d_tag == DT_PLTRELSZ)
			jumps_size = d->d_un.d_val;
		else if (d->d_tag == DT_PLTREL && d->d_un.d_val != DT_RELA)
			return false;
	}
	return (!rela || bind_references(in, rela, rela_size)) && (!jumps || bind_references(in, jumps, jumps_size));
}

/* Binds what is fresh. False: the loader's memory cannot be written. Then some calls come to us and some do not. */
static bool bind_fresh(void)
{
	bool good = true, any = false;

	for (size_t i = 0; i < seen_count && good; i++) {
		if (!seen[i].fresh)
			continue;
		seen[i].part = part_of(&seen[i].m);
		any |= seen[i].part != PART_NONE;
		if (seen[i].part == PART_TOOL)
			caller_add_tool(seen[i].m.base);
		else if (seen[i].part == PART_LIBRARY && i > 0)
			good = bind_symbols(&seen[i].m);
	}
	for (size_t i = 0; i < seen_count && good && any; i++)
		if (seen[i].fresh)
			good = bind_module(&seen[i]);
	close_page();
	return good;
}

/* ---- looking ---- */

static int see_file(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct module m;

	(void)size;
	*(unsigned long long *)argument = info->dlpi_subs;
	if (!module_read(&m, info) || m.base == (uintptr_t)__ehdr_start)
		return 0;
	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i].m.base == m.base && seen[i].m.dynamic == m.dynamic) {
			seen[i].there = true;
			return 0;
		}
	}
	if (seen_count == seen_room) {
		size_t room = seen_room ? 2 * seen_room : 64;
		struct seen *more = realloc(seen, room * sizeof *seen);

		if (!more)
			return 1;
		seen = more;
		seen_room = room;
	}
	seen[seen_count++] = (struct seen){.m = m, .fresh = true, .there = true};
	return 0;
}

static void forget_gone(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < seen_count; i++)
		if (seen[i].there)
			seen[kept++] = seen[i];
	seen_count = kept;
}

/* The MPI library of our ABI, if it is there. */
static void begin_binding(void)
{
	const char *aside = NULL;
	const struct module *other = NULL;

	for (size_t i = 1; i < seen_count && !mpi.symbols; i++) {
		if (!library_is_mpi(&seen[i].m))
			continue;
		if (library_abi(&seen[i].m) == ABI_LIBRARY)
			mpi = seen[i].m;
		else if (seen[i].fresh && !other)
			other = &seen[i].m;
	}
	if (!mpi.symbols && other) {
		char why[256];

		snprintf(why, sizeof why,
		         library_abi(other) == LIBRARY_UNKNOWN
		                 ? "not captured: the program's MPI library, %.150s, is of a kind that no tracer is for"
		                 : "not captured: no tracer for the program's MPI library, %.150s, is installed, or it "
		                   "is damaged",
		         other->path);
		session_remark(why);
	}
	if (!mpi.symbols)
		return;
	if (library_is_mpi(&seen[0].m)) /* its calls of its own functions were bound when it was linked */
		aside = "not captured: the MPI library is linked into the program";
	else if (!bind_fresh())
		aside = "not captured: the process may not change the protection of its memory";
	real_begin(mpi.path, module_at(&mpi, module_find(&mpi, "PMPI_Init")), aside);
}

__attribute__((visibility("default"))) void spoor_look_2(void **owner)
{
	unsigned long long gone = 0;

	if (!libc_begun())
		return;
	for (size_t i = 0; i < seen_count; i++)
		seen[i].fresh = seen[i].there = false;
	dl_iterate_phdr(see_file, &gone);
	forget_gone();
	if (gone != unmapped)
		recorder_unloaded();
	unmapped = gone;
	real_owner = owner;
	if (!mpi.symbols) {
		begin_binding();
	} else if (real_state != REAL_PASSIVE) {
		bind_fresh();
		real_more();
	}
}
