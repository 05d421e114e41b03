/* SPDX-License-Identifier: BSD-3-Clause
 * progress - a bar on the terminal for what takes long; nothing where stderr is no terminal
 */
#ifndef SPOOR_PROGRESS_H
#define SPOOR_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t total;
	int64_t begin_ms, shown_ms; /* shown: 0 until the first time */
	bool on;
};

/* Is shown from the second second on, so that quick work does not flicker, with the time that is left. what is kept,
 * not copied; the total may be set later. */
void progress_begin(struct progress *p, const char *what, uint64_t total, bool quiet);
void progress_step(struct progress *p, uint64_t done);
/* The same for those who call back: context is the struct progress. */
void progress_callback(void *context, uint64_t done, uint64_t all);
/* Wipes the bar. */
void progress_end(struct progress *p);

#endif
