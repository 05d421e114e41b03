/* SPDX-License-Identifier: BSD-3-Clause
 * module - which loaded file an address belongs to
 */
#include "preload/module.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "trace/base/limits.h"

void module_list_free(struct module_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->modules[i].name);
	free(list->modules);
	*list = (struct module_list){0};
}

static size_t build_id_of(const struct dl_phdr_info *info, uint8_t *out, size_t size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_NOTE)
			continue;
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + ph->p_vaddr), *end = at + ph->p_memsz;
		while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = (note->n_namesz + 3) & ~(size_t)3, desc = (note->n_descsz + 3) & ~(size_t)3;
			at += sizeof *note;
			if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
			    note->n_descsz <= size) {
				memcpy(out, at + name, note->n_descsz);
				return note->n_descsz;
			}
			at += name + desc;
		}
	}
	return 0;
}

const char *module_executable(char out[MODULE_PATH_SIZE])
{
	struct limits limits;
	limits_read(&limits);
	ssize_t n = limits.filtered ? -1 : readlink("/proc/self/exe", out, MODULE_PATH_SIZE - 1);
	const char *started = n > 0 ? NULL : (const char *)getauxval(AT_EXECFN);
	out[n > 0 ? n : 0] = '\0';
	if (started)
		snprintf(out, MODULE_PATH_SIZE, "%s", started);
	return out;
}

static char *name_of(const struct dl_phdr_info *info, size_t position)
{
	char path[MODULE_PATH_SIZE];
	if (info->dlpi_name && info->dlpi_name[0])
		return strdup(info->dlpi_name);
	return strdup(position == 0 && *module_executable(path) ? path : "[vdso]");
}

struct module_listing {
	struct module_list *list;
	size_t position;
};

static int on_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct module_listing *making = argument;
	struct module_list *list = making->list;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
		list->adds = info->dlpi_adds;
		list->subs = info->dlpi_subs;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (list->count == list->capacity) {
			size_t capacity = list->capacity ? list->capacity * 2 : 64;
			struct module *more = realloc(list->modules, capacity * sizeof *more);
			if (!more)
				return 1;
			list->modules = more;
			list->capacity = capacity;
		}
		struct module *m = &list->modules[list->count];
		*m = (struct module){
			.start = info->dlpi_addr + ph->p_vaddr,
			.end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz,
			.bias = info->dlpi_addr,
			.number = UINT32_MAX,
		};
		m->build_id_size = build_id_of(info, m->build_id, sizeof m->build_id);
		m->name = name_of(info, making->position);
		if (!m->name)
			return 1;
		list->count++;
	}
	making->position++;
	return 0;
}

static int on_counters(struct dl_phdr_info *info, size_t size, void *argument)
{
	unsigned long long *now = argument;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
		now[0] = info->dlpi_adds;
		now[1] = info->dlpi_subs;
	}
	return 1;
}

struct module *module_find(struct module_list *list, uintptr_t address)
{
	unsigned long long now[2] = {0, 0};
	dl_iterate_phdr(on_counters, now);
	if (!list->modules || now[0] != list->adds || now[1] != list->subs) {
		module_list_free(list);
		dl_iterate_phdr(on_object, &(struct module_listing){list, 0});
	}
	for (size_t i = 0; i < list->count; i++)
		if (address >= list->modules[i].start && address < list->modules[i].end)
			return &list->modules[i];
	return NULL;
}
