/* SPDX-License-Identifier: BSD-3-Clause
 * limits - what this process may: its resource limits, and whether a filter forbids it system calls
 *
 * They are the application's. Going beyond them is a signal (a file's size: SIGXFSZ), an error that the application
 * then meets instead (memory), or the end (a seccomp filter that kills); so they are asked for before anything is done.
 * What is asked for is in files below /proc, which takes open, read and close only: what every program does that starts
 * MPI, and so what a filter lets it do.
 */
#ifndef SPOOR_LIMITS_H
#define SPOOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct limits {
	uint64_t file; /* bytes that a file may have; UINT64_MAX: as many as there is room for */
	/* bytes that may still be mapped: the least of what is left of the limits of address space, of data, and, if
	 * memory is locked, of locked memory; UINT64_MAX: none of them is set */
	uint64_t memory;
	/* there is a seccomp filter, or it cannot be told: nothing is to be called that not every MPI program calls */
	bool filtered;
};

/* Takes 50 us. Keeps errno. */
void limits_read(struct limits *l);

#endif
