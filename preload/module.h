/* SPDX-License-Identifier: BSD-3-Clause
 * module - which loaded file an address belongs to: the executable and its shared libraries
 */
#ifndef SPOOR_MODULE_H
#define SPOOR_MODULE_H

#include <stddef.h>
#include <stdint.h>

struct module {
	uintptr_t start, end; /* of one executable segment */
	uintptr_t bias;       /* file address = address - bias */
	char *name;           /* path as the loader knows it */
	uint8_t build_id[64];
	size_t build_id_size; /* 0: the file has none */
	uint32_t number;      /* for the owner; UINT32_MAX at first */
};

struct module_list {
	struct module *modules;
	size_t count, capacity;
	unsigned long long adds, subs; /* the loader's counters when the list was made */
};

/* The module whose code is at address, or NULL. Follows dlopen and dlclose: the list is made anew when the loader's
 * counters have moved. Valid until the next call. */
struct module *module_find(struct module_list *list, uintptr_t address);
void module_list_free(struct module_list *list);

/* The executable: its path, or, where a filter may forbid asking for that (trace/base/limits.h), what it was started
 * by. "" if neither is to be had. Returns out. */
#define MODULE_PATH_SIZE 4096
const char *module_executable(char out[MODULE_PATH_SIZE]);

#endif
