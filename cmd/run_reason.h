/* SPDX-License-Identifier: BSD-3-Clause
 * run_reason - why `spoor run` has no trace
 */
#ifndef SPOOR_RUN_REASON_H
#define SPOOR_RUN_REASON_H

#include <stddef.h>

#include "deliver/step_files.h"

/* Says in `out` why this command left no trace, as one sentence that follows "no trace: ". What the tracer said comes
 * first; else, what kind of file the program is: the command, or what a launcher such as mpirun was told to start. The
 * exit status of the command tells whether it may not have been started. */
void run_reason(const struct step_files *files, char *const *command, int exit_status, char *out, size_t size);

#endif
