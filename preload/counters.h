/* SPDX-License-Identifier: BSD-3-Clause
 * counters - events that are counted in a thread: by the kernel, which is asked without a file descriptor, and by PAPI
 *
 * perf::TASK-CLOCK, perf::CONTEXT-SWITCHES, perf::PAGE-FAULTS, perf::MINOR-FAULTS and perf::MAJOR-FAULTS are what
 * clock_gettime and getrusage say of a thread; they are always there. For others libpapi is loaded, with dlmopen: a
 * PAPI of its own, with its own state, that the application cannot come across, and into which nothing of the
 * application is bound. Only one is loaded that came to its end where it was tried (spank/papi_trial.h). A program that
 * uses PAPI itself (libpapi is loaded, or it defines PAPI_library_init) is left alone, because counters of the hardware
 * are few; if it loads PAPI later, counting stops (counters_yield).
 *
 * Setup is once in a process; the rest is for one thread. Nothing here prints. errno is not kept.
 */
#ifndef SPOOR_COUNTERS_H
#define SPOOR_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/record/record.h"

/* What the handoff says of PAPI: the path of a library, or `!` and why none is asked; "": nothing. The text stays. */
void counters_papi(const char *said);
/* Finds out how each event of the list (names, separated by commas; at most TRACE_COUNTERS of them) can be counted.
 * Returns how many there are. */
unsigned counters_setup(const char *list);
/* The name of the i-th; and why it is not counted (or not any more): NULL if it is. */
const char *counters_name(unsigned i);
const char *counters_reason(unsigned i);

struct counting;

/* Begins to count in the calling thread. NULL: no memory. What cannot be begun is left out from then on
 * (counters_reason). */
struct counting *counting_begin(void);
/* In the thread that began. Events that are not counted read as 0. */
void counting_read(struct counting *c, int64_t values[TRACE_COUNTERS]);
/* Any thread. */
void counting_end(struct counting *c);

/* Has the program loaded PAPI by now? Then what PAPI counts stops, in the calling thread at once. Returns true if that
 * happened now. Cheap unless a file was loaded. */
bool counters_yield(struct counting *c);

#endif
