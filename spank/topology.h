/* SPDX-License-Identifier: BSD-3-Clause
 * topology - what this node has: sockets, NUMA nodes, cores, as the kernel tells it
 *
 * It is read where a step is prepared, never in the job's own processes, and goes to the tracer with the handoff.
 */
#ifndef SPOOR_TOPOLOGY_H
#define SPOOR_TOPOLOGY_H

#include <stddef.h>

/* The text of handoff.h's `topology`, from a folder such as "/sys/devices/system". A level that the kernel does not
 * tell, or that does not fit, is empty; with no level at all, or no host name, so is the text. */
void topology_read(const char *devices, char *out, size_t size);

#endif
