/* SPDX-License-Identifier: BSD-3-Clause
 * placement - where the ranks of a trace sat
 */
#include "trace/model/placement.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/number.h"

int placement_set(struct trace *t, uint32_t rank, const char *cpus, size_t cpus_size, const char *topology,
                  size_t topology_size)
{
	struct cpu_set set;
	char relative[CPU_LIST_TEXT];
	if (cpu_list_parse(cpus, cpus_size, &set) == 0) {
		uint32_t first = cpu_set_next(&set, 0);
		cpu_set_lower(&set, first);
		int n = cpu_list_format(&set, relative, sizeof relative);
		uint32_t string = n < 0 ? 0 : pool_intern(&t->strings, relative, (size_t)n);
		if (string == UINT32_MAX || (string && (rankmap_single(&t->cpus, rank, string, true) != 0 ||
		                                        rankmap_single(&t->first_cpu, rank, first, false) != 0)))
			return -1;
	}
	if (topology_size == 0)
		return 0;
	uint32_t string = pool_intern(&t->strings, topology, topology_size);
	return string == UINT32_MAX ? -1 : rankmap_single(&t->topology, rank, string, true);
}

bool placement_cpus(const struct trace *t, uint32_t rank, struct cpu_set *cpus)
{
	int64_t string, first;
	struct cpu_set relative;
	if (!rankmap_get(&t->cpus, rank, &string) || !rankmap_get(&t->first_cpu, rank, &first) || first < 0 ||
	    first >= CPU_LIST_MAX)
		return false;
	const struct pool_item *item = &t->strings.items[string];
	if (cpu_list_parse((const char *)item->bytes, item->size, &relative) != 0)
		return false;
	*cpus = (struct cpu_set){{0}};
	for (uint32_t i = cpu_set_next(&relative, 0); i < CPU_LIST_MAX; i = cpu_set_next(&relative, i + 1))
		cpu_set_add(cpus, i + (uint32_t)first);
	return true;
}

/* LIST or LIST+S*N: n bytes of text become further units. Returns 0 or -1. */
static int parse_units(const char *text, size_t n, uint16_t *unit, uint32_t *count)
{
	struct cpu_set set;
	uint64_t stride = 0, units = 1;
	const char *plus = memchr(text, '+', n);
	if (cpu_list_parse(text, plus ? (size_t)(plus - text) : n, &set) != 0)
		return -1;
	if (plus) {
		plus++;
		if (number_read(&plus, CPU_LIST_MAX, &stride) != 0 || *plus++ != '*' ||
		    number_read(&plus, CPU_LIST_MAX, &units) != 0 || plus != text + n)
			return -1;
	}
	if (*count + units > CPU_LIST_MAX)
		return -1;
	for (uint64_t i = 0; i < units; i++, ++*count)
		for (uint32_t cpu = cpu_set_next(&set, 0); cpu + i * stride < CPU_LIST_MAX;
		     cpu = cpu_set_next(&set, cpu + 1))
			unit[cpu + i * stride] = (uint16_t)*count;
	return 0;
}

void placement_parse(const char *text, struct placement_node *node)
{
	memset(node->unit, 0xff, sizeof node->unit);
	memset(node->count, 0, sizeof node->count);
	for (unsigned level = 0; level < PLACEMENT_LEVELS; level++) {
		size_t all = strcspn(text, "|");
		for (size_t at = 0; at < all;) {
			size_t n = strcspn(text + at, "/|");
			if (parse_units(text + at, n, node->unit[level], &node->count[level]) != 0) {
				memset(node->unit[level], 0xff, sizeof node->unit[level]);
				node->count[level] = 0;
				break;
			}
			at += n + (text[at + n] == '/');
		}
		text += all + (text[all] == '|');
	}
}

/* Is b what a is with all CPUs higher by n? */
static bool is_shifted(const struct cpu_set *a, const struct cpu_set *b, uint32_t n)
{
	struct cpu_set lowered = *b;
	if (cpu_set_next(b, 0) < n)
		return false;
	cpu_set_lower(&lowered, n);
	return memcmp(&lowered, a, sizeof lowered) == 0;
}

int placement_format(const struct cpu_set *units, size_t n, char *out, size_t size)
{
	size_t used = strlen(out);
	for (size_t i = 0, run; i < n; i += run) {
		uint32_t first = cpu_set_next(&units[i], 0),
			 stride = i + 1 < n && cpu_set_next(&units[i + 1], 0) > first
		                          ? cpu_set_next(&units[i + 1], 0) - first
		                          : 0;
		run = 1;
		while (stride && i + run < n && is_shifted(&units[i + run - 1], &units[i + run], stride))
			run++;
		int length = snprintf(out + used, size - used, "%s", i ? "/" : "");
		used += length > 0 ? (size_t)length : 0;
		length = used < size ? cpu_list_format(&units[i], out + used, size - used) : -1;
		if (length <= 0)
			return -1;
		used += (size_t)length;
		if (run > 1) {
			length = snprintf(out + used, size - used, "+%u*%zu", stride, run);
			if (length < 0 || (size_t)length >= size - used)
				return -1;
			used += (size_t)length;
		}
	}
	return 0;
}
