/* SPDX-License-Identifier: BSD-3-Clause
 * module - which loaded file an address belongs to
 */
#include "preload/module.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "trace/base/index.h"
#include "trace/base/limits.h"

/* The build ID in a segment of notes; NULL: it is not there. */
static const uint8_t *id_in_notes(const uint8_t *at, size_t n, size_t *size)
{
	const uint8_t *end = at + n;
	while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		size_t name = (note->n_namesz + 3) & ~(size_t)3, desc = (note->n_descsz + 3) & ~(size_t)3;
		at += sizeof *note;
		if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(at, "GNU", 4) == 0 &&
		    note->n_descsz <= MODULE_BUILD_ID) {
			*size = note->n_descsz;
			return at + name;
		}
		at += name + desc;
	}
	return NULL;
}

static const uint8_t *find_id(const ElfW(Phdr) * segments, size_t count, uintptr_t bias, size_t *size)
{
	const uint8_t *id = NULL;
	for (size_t i = 0; segments && i < count && !id; i++)
		if (segments[i].p_type == PT_NOTE)
			id = id_in_notes((const uint8_t *)(bias + segments[i].p_vaddr), segments[i].p_memsz, size);
	return id;
}

static char executable[4096];

void module_begin(void)
{
	struct limits limits;
	if (*executable)
		return;
	loaded_begin();
	limits_read(&limits);
	ssize_t n = limits.filtered ? -1 : readlink("/proc/self/exe", executable, sizeof executable - 1);
	const char *started = n > 0 ? NULL : (const char *)getauxval(AT_EXECFN);
	executable[n > 0 ? n : 0] = '\0';
	if (started)
		snprintf(executable, sizeof executable, "%s", started);
}

const char *module_executable(void)
{
	return executable;
}

const char *module_name(const struct module *m)
{
	if (*m->at.name)
		return m->at.name;
	return getauxval(AT_PHDR) - m->at.start < m->at.end - m->at.start ? executable : "[vdso]";
}

size_t module_executable_id(uint8_t out[MODULE_BUILD_ID])
{
	const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t count = getauxval(AT_PHNUM), size = 0;
	uintptr_t bias = 0;
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_PHDR)
			bias = (uintptr_t)segments - segments[i].p_vaddr;
	const uint8_t *id = find_id(segments, count, bias, &size);
	if (id)
		memcpy(out, id, size);
	return id ? size : 0;
}

static uint64_t hash_of_name(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static struct module *add_module(struct module_list *list, uint32_t i, const struct loaded *l)
{
	size_t count;
	const ElfW(Phdr) *segments = loaded_segments(l, &count);
	struct module *m = &list->module[i];
	*m = (struct module){
		.at = *l, .serial = ++list->serial, .number = UINT32_MAX, .name_hash = hash_of_name(l->name)};
	m->build_id_at = find_id(segments, count, l->bias, &m->build_id_size);
	if (m->build_id_at)
		memcpy(m->build_id, m->build_id_at, m->build_id_size);
	for (size_t k = 0; segments && l->frame_table && k < count; k++) {
		uintptr_t low = l->bias + segments[k].p_vaddr;
		if (segments[k].p_type == PT_LOAD && (uintptr_t)l->frame_table - low < segments[k].p_filesz) {
			m->frames_low = low;
			m->frames_high = low + segments[k].p_filesz;
		}
	}
	list->handle[i] = l->handle;
	if (i == list->count)
		list->count++;
	return m;
}

/* Is it still the file that it was? */
static bool is_same_file(const struct module *m, const struct loaded *l)
{
	return m->at.start == l->start && m->at.end == l->end && m->at.bias == l->bias &&
	       m->at.frame_table == l->frame_table &&
	       (m->build_id_at ? memcmp(m->build_id_at, m->build_id, m->build_id_size) == 0
	                       : m->name_hash == hash_of_name(l->name));
}

struct module *module_find(struct module_list *list, uintptr_t address)
{
	struct loaded l;
	uint32_t i = 0;
	if (!loaded_find(address, &l))
		return NULL;
	while (i < list->count && list->handle[i] != l.handle)
		i++;
	if (i < list->count && is_same_file(&list->module[i], &l)) {
		list->module[i].at.name = l.name;
		return &list->module[i];
	}
	if (i == MODULES_MAX)
		i = list->count = 0;
	return add_module(list, i, &l);
}
