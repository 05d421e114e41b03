/* SPDX-License-Identifier: BSD-3-Clause
 * loaded - which file the loader has mapped at an address: asked at any instant
 *
 * Also in a signal handler that interrupted dlopen or dlclose, and beside threads that are in them: there the loader's
 * list is half made, and its locks are taken. From version 2.35 on glibc answers this very question at any time,
 * without a lock (_dl_find_object); it is asked for each address. Elsewhere there is a snapshot of the loader's list.
 * It is made anew where the list has changed, but only while the loader says that nothing is under way; handlers read
 * it without locks.
 */
#ifndef SPOOR_LOADED_H
#define SPOOR_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded {
	uintptr_t start, end;       /* all of it */
	uintptr_t bias;             /* file address = address - bias */
	const void *handle;         /* another one for each file that is mapped at a time */
	const char *name;           /* as the loader has it; "" for the executable. Valid while it is mapped. */
	const uint8_t *frame_table; /* its .eh_frame_hdr; NULL: there is none */
	/* as dl_iterate_phdr says them; NULL: ask loaded_segments */
	const ElfW(Phdr) * segments;
	size_t segment_count;
};

/* To be called before any thread records, outside of the loader. */
void loaded_begin(void);
/* Has the list changed? To be called before addresses are asked for. Keeps errno. */
void loaded_look(void);
/* The file at an address. False: there is none. */
bool loaded_find(uintptr_t address, struct loaded *l);
/* The segments of a file that was found just now; NULL: they are not in memory. */
const ElfW(Phdr) * loaded_segments(const struct loaded *l, size_t *count);

/* The exported symbol that an address in it belongs to: its name, and where it begins. False: there is none. */
bool loaded_symbol(const struct loaded *l, uintptr_t address, const char **name, uintptr_t *start);

/* For tests: from now on as with a glibc before 2.35. */
void loaded_forget_finder(void);

#endif
