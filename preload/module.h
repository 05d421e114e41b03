/* SPDX-License-Identifier: BSD-3-Clause
 * module - which loaded file an address belongs to: the executable and its shared libraries
 */
#ifndef SPOOR_MODULE_H
#define SPOOR_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/loaded.h"

#define MODULE_BUILD_ID 64

struct module {
	struct loaded at;
	uint32_t serial; /* another one for each file that was ever seen here */
	uint32_t number; /* for the owner; UINT32_MAX at first */
	/* the segment that its unwind information is in; low == high: it has none */
	uintptr_t frames_low, frames_high;
	uint64_t name_hash;
	const uint8_t *build_id_at;
	size_t build_id_size; /* 0: the file has none */
	uint8_t build_id[MODULE_BUILD_ID];
};

/* Modules of a list. When it is full it forgets all, and begins anew. */
#define MODULES_MAX 512

/* All zero: empty. Belongs to one thread at a time. */
struct module_list {
	uint32_t count, serial;
	const void *handle[MODULES_MAX]; /* module[i].at.handle */
	struct module module[MODULES_MAX];
};

/* The module that is mapped at address now, or NULL. Valid until the next call. A file is told by its build ID, without
 * one by its name: where another one was mapped, it gets a new serial. */
struct module *module_find(struct module_list *list, uintptr_t address);

/* Its path as the loader knows it. Valid while it is mapped. */
const char *module_name(const struct module *m);

/* To be called before any thread records, outside of the loader. */
void module_begin(void);
/* The executable: its path, or, where a filter may forbid asking for that (trace/base/limits.h), what it was started
 * by. "" if neither is to be had. */
const char *module_executable(void);
/* Its build ID. Returns the size; 0: it has none. */
size_t module_executable_id(uint8_t out[MODULE_BUILD_ID]);

#endif
