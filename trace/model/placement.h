/* SPDX-License-Identifier: BSD-3-Clause
 * placement - where the ranks of a trace sat: the CPUs that the kernel allowed them, and what their nodes have
 *
 * Ranks that are bound one behind the other have the same list of CPUs relative to its first one (`cpus` in struct
 * trace), and that is a function of the rank (`first_cpu`). So all lists of a machine take a few bytes.
 *
 * What a node has is a text, made outside of the job's processes (spank/topology.h):
 *
 *     0-7,16-23/8-15,24-31|0-7,16-23/8-15,24-31|0,16+1*16
 *
 * the CPUs of its sockets, of its NUMA nodes, and of its cores. LIST+S*N is N lists, each with numbers higher by S than
 * those of the one before. A level that is not known is empty.
 */
#ifndef SPOOR_PLACEMENT_H
#define SPOOR_PLACEMENT_H

#include "trace/base/cpu_list.h"
#include "trace/model/trace.h"

enum placement_level { PLACEMENT_SOCKET, PLACEMENT_NUMA, PLACEMENT_CORE, PLACEMENT_LEVELS };

/* Sets those of a rank that has none yet; only in a trace of that rank alone. What is no list of CPUs, or too long, is
 * left out. Returns 0, or -1 on no memory. */
int placement_set(struct trace *t, uint32_t rank, const char *cpus, size_t cpus_size, const char *topology,
                  size_t topology_size);
/* The CPUs of a rank. False: they are not known. */
bool placement_cpus(const struct trace *t, uint32_t rank, struct cpu_set *cpus);

/* What a node has: the number of the unit that each CPU belongs to. */
#define PLACEMENT_NONE UINT16_MAX
struct placement_node {
	uint16_t unit[PLACEMENT_LEVELS][CPU_LIST_MAX]; /* PLACEMENT_NONE: not known */
	uint32_t count[PLACEMENT_LEVELS];              /* units; 0: not known */
};
/* Of a text as above. A level that cannot be read is not known. */
void placement_parse(const char *text, struct placement_node *node);
/* The text of one level, from a list of lists of n CPU sets, is written behind what is in out. Returns 0, or -1 if it
 * does not fit. */
int placement_format(const struct cpu_set *units, size_t n, char *out, size_t size);

#endif
