/* SPDX-License-Identifier: BSD-3-Clause
 * origin - what dladdr says of the MPI library's functions
 */
#include "preload/origin.h"

#include <string.h>

#include "gate/module.h"
#include "preload/bind.h"
#include "preload/loaded.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where the tracer itself is mapped */

/* No wrapper is longer, in bytes. */
#define WRAPPER_MOST 8192

/* Of the wrappers in a table, the last one that begins at or before the address; NULL, or `best`: none is nearer. */
static const struct binding *nearest(const struct binding *b, size_t count, uintptr_t address,
                                     const struct binding *best)
{
	for (size_t i = 0; i < count; i++) {
		uintptr_t at = (uintptr_t)b[i].wrapper;

		if (*b[i].next && at <= address && address - at < WRAPPER_MOST &&
		    (!best || at > (uintptr_t)best->wrapper))
			best = &b[i];
	}
	return best;
}

/* The wrapper that an address of the tracer's is in; NULL: it is in none. */
static const struct binding *wrapper_at(uintptr_t address)
{
	const struct binding *best = nearest(mpi_bindings, mpi_bindings_count, address, NULL);

	return nearest(mpi_fortran_bindings, mpi_fortran_bindings_count, address, best);
}

static bool is_own(uintptr_t address)
{
	struct loaded l;

	return loaded_find(address, &l) && l.start == (uintptr_t)__ehdr_start;
}

/* Where the symbol was before it was bound. */
static uintptr_t place_before(const struct module *m, const ElfW(Sym) * s)
{
	uintptr_t at = (uintptr_t)module_at(m, s);
	const struct binding *b = NULL;

	if (s->st_shndx != SHN_UNDEF && is_own(at))
		b = bind_find(m->strings + s->st_name);
	return b && *b->next ? (uintptr_t)*b->next : at;
}

/* The name of the symbol that an address is in, and where that begins; NULL: it is in none. As libc's dladdr chooses:
 * of several the one that begins last, and of these the first one. */
static const char *find_symbol(const struct module *m, uintptr_t address, uintptr_t *place)
{
	const size_t count = module_symbol_count(m);
	const ElfW(Sym) *best = NULL;

	for (size_t i = m->gnu_hash ? m->gnu_hash[1] : 1; i < count; i++) {
		const ElfW(Sym) *s = &m->symbols[i];
		uintptr_t at = place_before(m, s);

		if ((s->st_shndx == SHN_UNDEF && !s->st_value) || s->st_shndx == SHN_ABS ||
		    ELF64_ST_TYPE(s->st_info) == STT_TLS || ELF64_ST_BIND(s->st_info) == STB_LOCAL || address < at ||
		    (address > at && (s->st_shndx == SHN_UNDEF || address - at >= s->st_size)) ||
		    (best && at <= *place))
			continue;
		best = s;
		*place = at;
	}
	return best ? m->strings + best->st_name : NULL;
}

int spoor_dladdr_1(const void *address, Dl_info *info)
{
	const uintptr_t asked = (uintptr_t)address;
	const bool own = is_own(asked);
	const struct binding *b = own ? wrapper_at(asked) : NULL;
	const uintptr_t begin = b ? (uintptr_t)*b->next : 0, at = b ? begin + (asked > (uintptr_t)b->wrapper) : asked;
	struct dl_phdr_info file = {0};
	struct loaded l;
	struct module m;
	size_t count;
	uintptr_t place = 0;
	const char *name;

	if ((own && !b) || !loaded_find(at, &l) || !bind_has_bound(l.bias))
		return 0;
	file = (struct dl_phdr_info){
		.dlpi_addr = l.bias, .dlpi_name = l.name, .dlpi_phdr = loaded_segments(&l, &count)};
	file.dlpi_phnum = (ElfW(Half))count;
	if (!file.dlpi_phdr || !module_read(&m, &file))
		return 0;
	name = find_symbol(&m, at, &place);
	*info = (Dl_info){.dli_fname = l.name,
	                  .dli_fbase = (void *)l.start, /* NOLINT: where it is mapped */
	                  .dli_sname = name,
	                  .dli_saddr = name ? (b && place == begin ? b->wrapper : (void *)place)
	                                    : NULL}; /* NOLINT: an address of code */
	return 1;
}
