/* SPDX-License-Identifier: BSD-3-Clause
 * arena_file - the file of an arena: made, locked, made longer
 */
#ifndef SPOOR_ARENA_FILE_H
#define SPOOR_ARENA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/error.h"
#include "trace/base/limits.h"

/* Makes a file (mode 0600) with n bytes, locked (flock) until it is neither open nor mapped: that says that somebody
 * records. It must not exist. It has its name only when all that is done, as a file without a lock is taken for one
 * that was left behind. Returns it, opened, or -1 with error set and no file. */
int arena_file_create(const char *path, uint64_t n, const struct limits *limits, struct error *error);
/* Makes the file, of `size` bytes, longer by n bytes if there is storage and the limit (of the process, for a file)
 * allows it; returns by how many whole pages. A mapped page without storage behind it would be SIGBUS when it is
 * touched, and storage that was only promised might not be there then: so they are written. That also does without
 * calls that not every file system, or filter of system calls, has. */
uint64_t arena_file_append(int fd, uint64_t size, uint64_t n, uint64_t limit);
/* Has the file system make the file that long, with storage that is this file's from now on. False: it cannot, or its
 * storage is memory, and the file is as it was. Makes a system call that filters may not know. */
bool arena_file_reserve(int fd, uint64_t size);

struct arena;
/* Storage for all that an arena of a process may hold (arena_file_reserve), so that it grows without a system call, and
 * meets no full disk. Nothing where that cannot be, under a filter of system calls, or with an allowance that others
 * share. */
void arena_reserve(struct arena *a);

#endif
