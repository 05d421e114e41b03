/* SPDX-License-Identifier: BSD-3-Clause
 * calibrate - measures the blocks on this machine, with the compiler that is here
 */
#ifndef SPOOR_CALIBRATE_H
#define SPOOR_CALIBRATE_H

#include "proxy/calibration.h"

/* counter(i) is the name of counter number i, NULL behind the last one; those that PAPI has here are measured, none
 * without PAPI. compiler: "cc"; it is run in a new folder in TMPDIR. Returns 0 or -1. */
int calibrate_blocks(struct calibration *c, const char *compiler, const char *(*counter)(size_t i),
                     struct error *error);

#endif
