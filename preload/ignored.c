/* SPDX-License-Identifier: BSD-3-Clause
 * ignored - frames that count as one where they follow each other
 */
#include "preload/ignored.h"
#include "trace/base/path.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 16   /* policy/setting.h says no more */
#define KNOWN 1024 /* addresses of which it is known; a power of two */

struct ignored {
	char names[256], parts[256]; /* as given; the same with NULs for commas */
	struct {
		const char *name;
		bool module;
	} name[NAMES];
	unsigned count;
	struct {
		uintptr_t address;
		uint64_t entry; /* 0: it is not ignored */
	} known[KNOWN];
};

struct ignored *ignored_create(const char *names)
{
	struct ignored *g = *names ? calloc(1, sizeof *g) : NULL;
	if (!g)
		return NULL;
	snprintf(g->names, sizeof g->names, "%s", names);
	snprintf(g->parts, sizeof g->parts, "%s", names);
	char *rest = g->parts, *name;
	while (g->count < NAMES && (name = strsep(&rest, ","))) {
		g->name[g->count].name = name;
		g->name[g->count++].module = strstr(name, ".so") != NULL;
	}
	return g;
}

const char *ignored_names(const struct ignored *g)
{
	return g ? g->names : "";
}

/* libpetsc.so is libpetsc.so.3.18, too. */
static bool is_module(const char *pattern, const char *path)
{
	const char *name = path_name(path);
	char versioned[300];
	snprintf(versioned, sizeof versioned, "%s.*", pattern);
	return fnmatch(pattern, name, 0) == 0 || fnmatch(versioned, name, 0) == 0;
}

/* Where the function begins in which an address is, if it is ignored; else 0. */
static uint64_t find_entry(const struct ignored *g, const struct module *m, uintptr_t address)
{
	const char *name;
	uintptr_t start;
	bool found = false;
	/* a call may be the last instruction of its function */
	bool named = loaded_symbol(&m->at, address - 1, &name, &start);
	for (unsigned i = 0; i < g->count && !found; i++)
		found = g->name[i].module ? is_module(g->name[i].name, module_name(m))
		                          : named && fnmatch(g->name[i].name, name, 0) == 0;
	if (!found)
		return 0;
	return named ? start - m->at.bias + 1 : 1;
}

bool ignored_frame(struct ignored *g, const struct module *m, uintptr_t address, uint64_t *entry)
{
	size_t at = (address >> 2 ^ address >> 12) % KNOWN;
	if (g->known[at].address != address) {
		g->known[at].entry = find_entry(g, m, address);
		g->known[at].address = address;
	}
	*entry = g->known[at].entry;
	return *entry != 0;
}

void ignored_forget(struct ignored *g)
{
	if (g)
		memset(g->known, 0, sizeof g->known);
}
