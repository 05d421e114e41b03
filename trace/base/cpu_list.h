/* SPDX-License-Identifier: BSD-3-Clause
 * cpu_list - sets of CPUs, and the kernel's text for them: 0-3,8
 */
#ifndef SPOOR_CPU_LIST_H
#define SPOOR_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_LIST_MAX  8192 /* CPUs of a node */
#define CPU_LIST_TEXT 512  /* a list that is longer, with its NUL, is not taken */

struct cpu_set {
	uint64_t bits[CPU_LIST_MAX / 64];
};

/* The set of a text of n bytes. Returns 0; or -1: it is no list, or it is empty. */
int cpu_list_parse(const char *text, size_t n, struct cpu_set *set);
/* The text of a set. Returns its length, or -1 if it does not fit. */
int cpu_list_format(const struct cpu_set *set, char *out, size_t size);
void cpu_set_add(struct cpu_set *set, uint32_t cpu);
bool cpu_set_has(const struct cpu_set *set, uint32_t cpu);
uint32_t cpu_set_count(const struct cpu_set *set);
/* The lowest CPU from this one on; CPU_LIST_MAX if there is none. */
uint32_t cpu_set_next(const struct cpu_set *set, uint32_t cpu);
/* Is each CPU of a in b? */
bool cpu_set_within(const struct cpu_set *a, const struct cpu_set *b);
/* All CPUs are numbered lower by n, which is at most the lowest. */
void cpu_set_lower(struct cpu_set *set, uint32_t n);

#endif
