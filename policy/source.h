/* SPDX-License-Identifier: BSD-3-Clause
 * source - the files of a policy: itself, and what is in its folder of fragments; inside of policy/ only
 */
#ifndef SPOOR_SOURCE_H
#define SPOOR_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

struct source_file {
	char *path;
	int fd;
	size_t size;
};

/* The fragments in the order of their names, then the policy itself. */
struct source {
	struct source_file *files;
	size_t count, size;
	bool too_large;
};

/* Opens all, and adds what is wrong to the problems: a file that cannot be opened, or (trusted) is not root's alone to
 * write, or too much. Returns 0, or -1 (no memory). The caller closes it in either case. */
int source_open(struct source *s, const char *path, bool trusted, struct problems *problems);
void source_close(struct source *s);
/* The bytes of a file with a NUL behind them, malloc'ed; NULL with a problem. */
char *source_read(const struct source_file *f, size_t *size, struct problems *problems);

#endif
