/* SPDX-License-Identifier: BSD-3-Clause
 * loaded - which file the loader has mapped at an address
 */
#include "preload/loaded.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#include "gate/module.h"

/* What _dl_find_object fills in: <dlfcn.h> of glibc 2.35 and later, on processors where it has no further fields. */
struct found {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *frame_table;
	unsigned long long reserved[7];
};
static int (*find_object)(void *, struct found *);

static const struct r_debug *loader; /* what it says of itself to debuggers; NULL: nothing */

/* In the executable's dynamic section. A program may have a copy of _r_debug, which nobody keeps. */
static const struct r_debug *find_loader(void)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const ElfW(Dyn) *d = NULL;
	uintptr_t bias = 0;
	for (size_t i = 0; p && i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_PHDR)
			bias = (uintptr_t)p - p[i].p_vaddr;
	for (size_t i = 0; p && i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(bias + p[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			return (const struct r_debug *)d->d_un.d_ptr;
	return NULL;
}

/* By its name as a file: a program may have functions of all names. */
static bool is_libc_itself(const struct module *m)
{
	for (const ElfW(Dyn) *d = m->dynamic; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME)
			return module_same(m->strings + d->d_un.d_val, "libc.so.6");
	return false;
}

/* It is taken from libc's own symbols: a program may have a function of that name. */
void loaded_begin(void)
{
	struct module m;
	if (loader)
		return;
	loader = find_loader();
	for (const struct link_map *l = loader ? loader->r_map : NULL; l; l = l->l_next) {
		const ElfW(Sym) *s = module_read_dynamic(&m, l->l_addr, l->l_name, l->l_ld) && is_libc_itself(&m)
		                             ? module_find(&m, "_dl_find_object")
		                             : NULL;
		if (s && !find_object)
			*(void **)&find_object = module_at(&m, s);
	}
	loaded_look();
}

const ElfW(Phdr) * loaded_segments(const struct loaded *l, size_t *count)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)l->start;
	uintptr_t own = getauxval(AT_PHDR);
	*count = l->segment_count;
	if (l->segments)
		return l->segments;
	if (own - l->start < l->end - l->start) { /* the executable: what it begins with may be anything */
		*count = getauxval(AT_PHNUM);
		return (const ElfW(Phdr) *)own;
	}
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof(ElfW(Phdr)) ||
	    head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return NULL;
	*count = head->e_phnum;
	return (const ElfW(Phdr) *)(l->start + head->e_phoff);
}

bool loaded_symbol(const struct loaded *l, uintptr_t address, const char **name, uintptr_t *start)
{
	size_t count, best = 0;
	const ElfW(Phdr) *segments = loaded_segments(l, &count);
	const struct dl_phdr_info info = {
		.dlpi_addr = l->bias, .dlpi_phdr = segments, .dlpi_phnum = (ElfW(Half))count, .dlpi_name = l->name};
	struct module m;
	if (!segments || !module_read(&m, &info))
		return false;
	size_t symbols = module_symbol_count(&m);
	for (size_t i = 1; i < symbols; i++) {
		const ElfW(Sym) *s = &m.symbols[i];
		uintptr_t at = l->bias + s->st_value;
		if (s->st_shndx != SHN_UNDEF && s->st_value && ELF64_ST_TYPE(s->st_info) != STT_TLS && address >= at &&
		    (s->st_size == 0 || address - at < s->st_size) && (!best || s->st_value > m.symbols[best].st_value))
			best = i;
	}
	*name = m.strings + m.symbols[best].st_name;
	*start = l->bias + m.symbols[best].st_value;
	return best != 0;
}

/* ---- without _dl_find_object ---- */

/* Two snapshots: one is read while the other is made. Files beyond so many are not known. */
#define FILES 2048
static struct snapshot {
	size_t count;
	struct loaded file[FILES];
} snapshots[2];
static unsigned long long made;    /* atomic: how often one was made; the last one is [made % 2] */
static unsigned long long seen[2]; /* the loader's counters then */
static bool making;                /* atomic */

static int add_file(struct dl_phdr_info *info, size_t size, void *snapshot)
{
	struct snapshot *s = snapshot;
	struct loaded l = {.start = UINTPTR_MAX,
	                   .bias = info->dlpi_addr,
	                   .handle = info->dlpi_phdr,
	                   .name = info->dlpi_name ? info->dlpi_name : "",
	                   .segments = info->dlpi_phdr,
	                   .segment_count = info->dlpi_phnum};
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = l.bias + p->p_vaddr;
		if (p->p_type == PT_GNU_EH_FRAME)
			l.frame_table = (const uint8_t *)at;
		if (p->p_type != PT_LOAD)
			continue;
		l.start = at < l.start ? at : l.start;
		l.end = at + p->p_memsz > l.end ? at + p->p_memsz : l.end;
	}
	if (s->count < FILES && l.end)
		s->file[s->count++] = l;
	return s->count == FILES;
}

static int on_counters(struct dl_phdr_info *info, size_t size, void *now)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		memcpy(now, (unsigned long long[]){info->dlpi_adds, info->dlpi_subs}, sizeof seen);
	return 1;
}

static void make_snapshot(void)
{
	unsigned long long now[2] = {0, 0};
	dl_iterate_phdr(on_counters, now);
	if (made > 0 && memcmp(now, seen, sizeof now) == 0)
		return;
	struct snapshot *next = &snapshots[(made + 1) % 2];
	next->count = 0;
	dl_iterate_phdr(add_file, next);
	memcpy(seen, now, sizeof seen);
	__atomic_store_n(&made, made + 1, __ATOMIC_RELEASE);
}

void loaded_look(void)
{
	/* a handler may have interrupted the loader, which says so */
	if (find_object || (loader && __atomic_load_n(&loader->r_state, __ATOMIC_RELAXED) != RT_CONSISTENT) ||
	    __atomic_exchange_n(&making, true, __ATOMIC_ACQUIRE))
		return;
	int saved = errno;
	make_snapshot();
	errno = saved;
	__atomic_store_n(&making, false, __ATOMIC_RELEASE);
}

static bool find_in_snapshot(uintptr_t address, struct loaded *l)
{
	unsigned long long before;
	bool found;
	do {
		before = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
		const struct snapshot *s = &snapshots[before % 2];
		found = false;
		for (size_t i = 0; i < s->count && !found; i++) {
			found = address - s->file[i].start < s->file[i].end - s->file[i].start;
			if (found)
				*l = s->file[i];
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&made, __ATOMIC_RELAXED) - before > 0);
	return found;
}

void loaded_forget_finder(void)
{
	find_object = NULL;
	loaded_look();
}

bool loaded_find(uintptr_t address, struct loaded *l)
{
	struct found f;
	if (!find_object)
		return find_in_snapshot(address, l);
	if (find_object((void *)address, &f) != 0) /* NOLINT: an address of code */
		return false;
	*l = (struct loaded){.start = (uintptr_t)f.start,
	                     .end = (uintptr_t)f.end,
	                     .bias = f.map->l_addr,
	                     .handle = f.map,
	                     .name = f.map->l_name ? f.map->l_name : "",
	                     .frame_table = f.frame_table};
	return true;
}
