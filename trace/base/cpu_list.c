/* SPDX-License-Identifier: BSD-3-Clause
 * cpu_list - sets of CPUs, and the kernel's text for them
 */
#include "trace/base/cpu_list.h"

#include <stdio.h>

#include "trace/base/number.h"

void cpu_set_add(struct cpu_set *set, uint32_t cpu)
{
	if (cpu < CPU_LIST_MAX)
		set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

bool cpu_set_has(const struct cpu_set *set, uint32_t cpu)
{
	return cpu < CPU_LIST_MAX && (set->bits[cpu / 64] >> cpu % 64 & 1);
}

uint32_t cpu_set_count(const struct cpu_set *set)
{
	uint32_t n = 0;
	for (size_t i = 0; i < CPU_LIST_MAX / 64; i++)
		n += (uint32_t)__builtin_popcountll(set->bits[i]);
	return n;
}

uint32_t cpu_set_next(const struct cpu_set *set, uint32_t cpu)
{
	for (uint32_t i = cpu / 64; i < CPU_LIST_MAX / 64; i++) {
		uint64_t bits = set->bits[i] & (i == cpu / 64 ? UINT64_MAX << cpu % 64 : UINT64_MAX);
		if (bits)
			return 64 * i + (uint32_t)__builtin_ctzll(bits);
	}
	return CPU_LIST_MAX;
}

bool cpu_set_within(const struct cpu_set *a, const struct cpu_set *b)
{
	for (size_t i = 0; i < CPU_LIST_MAX / 64; i++)
		if (a->bits[i] & ~b->bits[i])
			return false;
	return true;
}

void cpu_set_lower(struct cpu_set *set, uint32_t n)
{
	struct cpu_set lower = {{0}};
	for (uint32_t cpu = cpu_set_next(set, n); cpu < CPU_LIST_MAX; cpu = cpu_set_next(set, cpu + 1))
		cpu_set_add(&lower, cpu - n);
	*set = lower;
}

int cpu_list_parse(const char *text, size_t n, struct cpu_set *set)
{
	char copy[CPU_LIST_TEXT];
	const char *at = copy;
	*set = (struct cpu_set){{0}};
	if (n == 0 || (size_t)snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : sizeof copy), text) != n)
		return -1;
	for (;;) {
		uint64_t first, last;
		if (number_read(&at, CPU_LIST_MAX - 1, &first) != 0)
			return -1;
		last = first;
		if (*at == '-' && (at++, number_read(&at, CPU_LIST_MAX - 1, &last) != 0 || last < first))
			return -1;
		for (; first <= last; first++)
			cpu_set_add(set, (uint32_t)first);
		if (!*at)
			return 0;
		if (*at++ != ',')
			return -1;
	}
}

int cpu_list_format(const struct cpu_set *set, char *out, size_t size)
{
	size_t used = 0;
	for (uint32_t cpu = cpu_set_next(set, 0), last; cpu < CPU_LIST_MAX; cpu = cpu_set_next(set, last + 1)) {
		last = cpu;
		while (cpu_set_has(set, last + 1))
			last++;
		int n = snprintf(out + used, size - used, last > cpu ? "%s%u-%u" : "%s%u", used ? "," : "", cpu, last);
		if (n < 0 || (size_t)n >= size - used)
			return -1;
		used += (size_t)n;
	}
	if (used == 0 && size > 0)
		out[0] = '\0';
	return (int)used;
}
