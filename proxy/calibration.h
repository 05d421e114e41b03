/* SPDX-License-Identifier: BSD-3-Clause
 * calibration - how long a turn of each block takes on this machine, and what the machine's counters say of it
 *
 * It is a file of lines, which `spoor proxy --calibrate` writes:
 *
 *     blocks 5e0c71d2
 *     PAPI_TOT_INS flops 12.0015
 *     ns flops 4.1
 *
 * The first one says of which blocks they are: those of another version of spoor count something else.
 */
#ifndef SPOOR_CALIBRATION_H
#define SPOOR_CALIBRATION_H

#include <stddef.h>

#include "proxy/blocks.h"
#include "trace/base/error.h"

#define CALIBRATION_COUNTERS 128
#define CALIBRATION_NAME     64

struct calibration {
	double ns[BLOCKS_MEASURED];
	size_t counter_count;
	struct calibration_counter {
		char name[CALIBRATION_NAME];
		double counts[BLOCKS_MEASURED]; /* of one turn */
	} counters[CALIBRATION_COUNTERS];
};

/* Where it is kept: XDG_CACHE_HOME/spoor/blocks or ~/.cache/spoor/blocks. Returns 0 or -1. */
int calibration_path(char *path, size_t size, struct error *error);
/* Returns 0; 1: there is none; -1: it cannot be read, is no calibration, or is one of other blocks. */
int calibration_read(struct calibration *c, const char *path, struct error *error);
/* Into a new file that takes the place of the old one, and makes its folder. Returns 0 or -1. */
int calibration_write(const struct calibration *c, const char *path, struct error *error);
/* NULL: it was not measured. */
const struct calibration_counter *calibration_find(const struct calibration *c, const char *name);

#endif
