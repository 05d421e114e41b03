/* SPDX-License-Identifier: BSD-3-Clause
 * say - what a replay says: whoever starts it is not who made the trace
 *
 * Names of functions, and texts of errors that have them, are whatever that user liked. Nothing of them acts on a
 * terminal, and one line is one line.
 */
#ifndef SPOOR_REPLAY_SAY_H
#define SPOOR_REPLAY_SAY_H

#include <stddef.h>

/* A line on stderr: "spoor-replay: FILE: TEXT", or without FILE if that is NULL. */
void replay_say(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Of n bytes, what is not seen becomes '?'. */
void replay_make_visible(char *text, size_t n);

#endif
