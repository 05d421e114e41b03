/* SPDX-License-Identifier: BSD-3-Clause
 * module - a file that the dynamic loader has mapped into this process: its symbols, by name
 *
 * Reads what the loader itself reads: the dynamic section and the tables that it names (System V ABI, "Dynamic
 * Linking"; the GNU hash table is described in binutils' documentation of --hash-style). Everything is inline and needs
 * no library at all, not even libc, because the gate is loaded into processes whatever their libc is.
 */
#ifndef SPOOR_MODULE_H
#define SPOOR_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
	uintptr_t base;   /* what is added to the addresses in the file */
	const char *path; /* as the loader has it; "" for the program itself */
	const ElfW(Phdr) * segments;
	size_t segment_count;
	const ElfW(Dyn) * dynamic;
	ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *sysv_hash; /* one of them is there; the other may be NULL */
};

/* An address in the dynamic section: glibc adds the base where it may write the section, other loaders do not. */
static inline uintptr_t module_address(const struct module *m, uintptr_t address)
{
	return address < m->base ? m->base + address : address;
}

/* Fills in m from the dynamic section. False: it has no symbols that could be looked up. Valid while the file is
 * mapped. */
static inline bool module_read_dynamic(struct module *m, uintptr_t base, const char *path, const ElfW(Dyn) * dynamic)
{
	const ElfW(Dyn) *strings = NULL, *symbols = NULL, *gnu = NULL, *sysv = NULL;

	/* until all is there: most files have the rest behind these */
	for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL && !(strings && symbols && gnu); d++) {
		if (d->d_tag == DT_STRTAB)
			strings = d;
		else if (d->d_tag == DT_SYMTAB)
			symbols = d;
		else if (d->d_tag == DT_HASH)
			sysv = d;
		else if (d->d_tag == DT_GNU_HASH)
			gnu = d;
	}
	*m = (struct module){.base = base, .path = path, .dynamic = dynamic};
	if (!strings || !symbols || (!gnu && !sysv))
		return false;
	m->strings = (const char *)module_address(m, strings->d_un.d_ptr);
	m->symbols = (ElfW(Sym) *)module_address(m, symbols->d_un.d_ptr);
	m->gnu_hash = gnu ? (const uint32_t *)module_address(m, gnu->d_un.d_ptr) : NULL;
	m->sysv_hash = sysv ? (const uint32_t *)module_address(m, sysv->d_un.d_ptr) : NULL;
	return true;
}

/* The same from what dl_iterate_phdr says, with the segments. */
static inline bool module_read(struct module *m, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;
	bool good;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	good = module_read_dynamic(m, info->dlpi_addr, info->dlpi_name, dynamic);
	m->segments = info->dlpi_phdr;
	m->segment_count = info->dlpi_phnum;
	return good;
}

static inline bool module_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool module_is(const struct module *m, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &m->symbols[i];

	return s->st_shndx != SHN_UNDEF && s->st_value && module_same(m->strings + s->st_name, name);
}

/* That of the GNU table. */
static inline uint32_t module_hash(const char *name)
{
	uint32_t hash = 5381;

	for (const char *p = name; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	return hash;
}

/* Header of the GNU table: buckets, first symbol in it, words of the Bloom filter, its shift; then filter, buckets,
 * chains. */
static inline ElfW(Sym) * module_find_gnu(const struct module *m, const char *name, uint32_t hash)
{
	const uint32_t *h = m->gnu_hash;
	const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(h + 4);
	const uint32_t *buckets = (const uint32_t *)(const void *)(filter + h[2]), *chains = buckets + h[0];
	uint32_t i;
	ElfW(Addr) word;

	word = filter[hash / __ELF_NATIVE_CLASS & (h[2] - 1)];
	if (!(word >> hash % __ELF_NATIVE_CLASS & word >> (hash >> h[3]) % __ELF_NATIVE_CLASS & 1) || !h[0])
		return NULL;
	for (i = buckets[hash % h[0]]; i >= h[1]; i++) {
		uint32_t other = chains[i - h[1]];

		if ((other | 1) == (hash | 1) && module_is(m, i, name))
			return &m->symbols[i];
		if (other & 1)
			break;
	}
	return NULL;
}

static inline ElfW(Sym) * module_find_sysv(const struct module *m, const char *name)
{
	const uint32_t *h = m->sysv_hash;
	uint32_t hash = 0;

	for (const char *p = name; *p; p++) {
		uint32_t high;

		hash = (hash << 4) + (unsigned char)*p;
		high = hash & 0xf0000000;
		hash = (hash ^ high >> 24) & ~high;
	}
	for (uint32_t i = h[0] ? h[2 + hash % h[0]] : 0; i; i = h[2 + h[0] + i])
		if (module_is(m, i, name))
			return &m->symbols[i];
	return NULL;
}

/* The module's definition of a name, which has this module_hash; NULL if it has none. Versions are not looked at. */
static inline ElfW(Sym) * module_find_hashed(const struct module *m, const char *name, uint32_t hash)
{
	return m->gnu_hash ? module_find_gnu(m, name, hash) : module_find_sysv(m, name);
}

static inline ElfW(Sym) * module_find(const struct module *m, const char *name)
{
	return module_find_hashed(m, name, module_hash(name));
}

/* How many symbols there are: the GNU table ends with the longest chain. */
static inline size_t module_symbol_count(const struct module *m)
{
	const uint32_t *h = m->gnu_hash, *buckets, *chains;
	uint32_t last = 0;

	if (m->sysv_hash)
		return m->sysv_hash[1];
	buckets = (const uint32_t *)(const void *)((const ElfW(Addr) *)(const void *)(h + 4) + h[2]);
	chains = buckets + h[0];
	for (uint32_t i = 0; i < h[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < h[1])
		return h[1];
	while (!(chains[last - h[1]] & 1))
		last++;
	return last + 1;
}

static inline void *module_at(const struct module *m, const ElfW(Sym) * s)
{
	return (void *)(m->base + s->st_value);
}

#endif
