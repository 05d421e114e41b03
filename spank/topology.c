/* SPDX-License-Identifier: BSD-3-Clause
 * topology - what this node has
 */
#include "spank/topology.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/model/placement.h"

struct units {
	struct cpu_set *sets;
	size_t count, capacity;
};

/* A file with a list of CPUs. Returns 0, or -1: there is none, or it is empty. */
static int read_list(const char *path, struct cpu_set *set)
{
	char text[CPU_LIST_TEXT];
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, sizeof text, f) : 0;
	if (f)
		fclose(f);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	return n < sizeof text ? cpu_list_parse(text, n, set) : -1;
}

/* Units are told of by each of their CPUs. Returns 0, or -1 on no memory. */
static int add_unit(struct units *u, const struct cpu_set *set)
{
	for (size_t i = u->count; i-- > 0;)
		if (memcmp(&u->sets[i], set, sizeof *set) == 0)
			return 0;
	if (u->count == u->capacity) {
		size_t capacity = 2 * u->capacity + 8;
		struct cpu_set *more = realloc(u->sets, capacity * sizeof *more);
		if (!more)
			return -1;
		u->sets = more;
		u->capacity = capacity;
	}
	u->sets[u->count++] = *set;
	return 0;
}

static int by_first(const void *a, const void *b)
{
	uint32_t x = cpu_set_next(a, 0), y = cpu_set_next(b, 0);
	return (x > y) - (x < y);
}

/* Units from the files DEVICES/FOLDER/STEM<number>/FILE. */
static void find_units(struct units *u, const char *devices, const char *folder, const char *stem, const char *file)
{
	char path[1024];
	struct cpu_set set;
	const struct dirent *e;
	snprintf(path, sizeof path, "%s/%s", devices, folder);
	DIR *dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		size_t n = strlen(stem);
		if (strncmp(e->d_name, stem, n) != 0 || !e->d_name[n] ||
		    e->d_name[n + strspn(e->d_name + n, "0123456789")])
			continue;
		snprintf(path, sizeof path, "%s/%s/%s/%s", devices, folder, e->d_name, file);
		if (read_list(path, &set) == 0 && add_unit(u, &set) != 0)
			break;
	}
	if (dir)
		closedir(dir);
	if (u->count)
		qsort(u->sets, u->count, sizeof *u->sets, by_first);
}

void topology_read(const char *devices, char *out, size_t size)
{
	static const struct {
		const char *folder, *stem, *file, *older;
	} levels[PLACEMENT_LEVELS] = {
		{"cpu", "cpu", "topology/package_cpus_list", "topology/core_siblings_list"},
		{"node", "node", "cpulist", NULL},
		{"cpu", "cpu", "topology/core_cpus_list", "topology/thread_siblings_list"},
	};
	char host[256] = "";
	bool any = false;
	out[0] = '\0';
	if (gethostname(host, sizeof host - 1) != 0 || !*host || strchr(host, ':') ||
	    (size_t)snprintf(out, size, "%s:", host) >= size)
		return;
	for (unsigned i = 0; i < PLACEMENT_LEVELS; i++) {
		struct units units = {NULL, 0, 0};
		size_t used = strlen(out);
		find_units(&units, devices, levels[i].folder, levels[i].stem, levels[i].file);
		if (!units.count && levels[i].older)
			find_units(&units, devices, levels[i].folder, levels[i].stem, levels[i].older);
		/* room for the signs between the levels that follow */
		if (placement_format(units.sets, units.count, out, size - PLACEMENT_LEVELS) != 0)
			out[used] = '\0';
		any |= out[used] != '\0';
		if (i + 1 < PLACEMENT_LEVELS)
			strcat(out, "|");
		free(units.sets);
	}
	if (!any)
		out[0] = '\0';
}
