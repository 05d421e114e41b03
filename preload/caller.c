/* SPDX-License-Identifier: BSD-3-Clause
 * caller - who made a call of MPI
 */
#include "preload/caller.h"

#include <errno.h>
#include <string.h>

#include "preload/loaded.h"
#include "preload/real.h"
#include "trace/base/path.h"

static const void *file_of(const void *address)
{
	struct loaded l;

	return address && loaded_find((uintptr_t)address, &l) ? l.handle : NULL;
}

static bool is_library_name(const char *path)
{
	static const char *const prefixes[] = {ABI_FILES};
	const char *name = path_name(path);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool look_up_library(void *address)
{
	struct loaded l;

	if (!loaded_find((uintptr_t)address, &l))
		return false;
	return l.handle == file_of((void *)real.MPI_Init) || l.handle == file_of((void *)next.MPI_Init) ||
	       is_library_name(l.name);
}

/* Verdicts by return address: bit 0 of the word is the verdict, the others are the address (no return address is
 * odd-sensitive here: an address that differs only in bit 0 is an instruction of the same function). */
#define VERDICTS 256
static uintptr_t verdicts[VERDICTS];

bool caller_is_library(void *return_address)
{
	uintptr_t address = (uintptr_t)return_address & ~(uintptr_t)1;
	uintptr_t *slot = &verdicts[(address >> 1) * 0x9e3779b97f4a7c15u >> 56 & (VERDICTS - 1)];
	uintptr_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if ((known & ~(uintptr_t)1) != address) {
		int saved = errno;

		known = address | look_up_library(return_address);
		__atomic_store_n(slot, known, __ATOMIC_RELAXED);
		errno = saved;
	}
	return known & 1;
}

#define TOOLS 16
static uintptr_t tools[TOOLS];
static unsigned tool_count; /* atomic */

void caller_add_tool(uintptr_t base)
{
	for (unsigned i = 0; i < tool_count; i++)
		if (tools[i] == base)
			return;
	if (tool_count == TOOLS)
		return;
	tools[tool_count] = base;
	__atomic_store_n(&tool_count, tool_count + 1, __ATOMIC_RELEASE);
}

static bool is_tool(uintptr_t address)
{
	unsigned n = __atomic_load_n(&tool_count, __ATOMIC_ACQUIRE);
	struct loaded l;

	if (!n || !loaded_find(address, &l))
		return false;
	while (n > 0 && tools[n - 1] != l.bias)
		n--;
	return n > 0;
}

bool caller_passes_on(const struct callpath *path)
{
	size_t i = 0;

	while (i < path->count && is_tool(path->frame[i].address))
		i++;
	return i > 0 && i < path->count && caller_is_library((void *)path->frame[i].address); /* NOLINT: code */
}
