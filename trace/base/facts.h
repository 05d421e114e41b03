/* SPDX-License-Identifier: BSD-3-Clause
 * facts - what is known of a job: names with text values, in the order in which they were set
 *
 * As text a fact is a line `name=value`, the value escaped (trace/base/escape.h); a name is made of a-z, 0-9 and _.
 * Facts of the plugin (job, user, exit code), of the tracer (ranks, command) and of the helper are all of this kind;
 * doc/metadata.md lists the names. libc only.
 */
#ifndef SPOOR_FACTS_H
#define SPOOR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

struct fact {
	char *name, *value;
};

/* Zero-initialised is empty. After a failed allocation `failed` is set. */
struct facts {
	struct fact *items;
	size_t count, capacity;
	bool failed;
};

/* The longest value that is kept; longer ones are cut where they are set, and refused where they are read. */
#define FACT_VALUE_MAX 16384
#define FACT_NAME_MAX  63
/* How many different names are read: each is looked for among those before it. */
#define FACT_COUNT_MAX 4096
/* What a NUL becomes that stands in a value that is read: it separates the arguments of a command. */
#define FACT_SEPARATOR '\x1f'

void facts_clear(struct facts *f);
/* Sets a fact, or changes it. The strings are copied. A value of NULL is not set. */
void facts_set(struct facts *f, const char *name, const char *value);
void facts_format(struct facts *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The value, or NULL. Valid until the fact is changed or the facts are cleared. */
const char *facts_get(const struct facts *f, const char *name);
/* The value as a number; otherwise if there is none or it is not a decimal number that fits. */
int64_t facts_number(const struct facts *f, const char *name, int64_t otherwise);

/* How bad an ending is, from 0 (good): the highest exit code counts, and a signal more than any, as Slurm does it for a
 * step. Values that no process ends with count as the nearest one. */
int64_t facts_severity(int64_t exit_code, int64_t signal);

/* The facts as a malloc'ed text of lines; NULL if memory is short. */
char *facts_encode(const struct facts *f);
/* Adds the facts of n bytes of text; a name that is there already gets the new value. what is used in messages. Returns
 * 0, or -1 with error set and f unchanged or partly added to. */
int facts_decode(struct facts *f, const char *text, size_t n, const char *what, struct error *error);

#endif
