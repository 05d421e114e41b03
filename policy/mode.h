/* SPDX-License-Identifier: BSD-3-Clause
 * mode - how much of a job is captured: off, lossless, lossy:THRESHOLD
 */
#ifndef SPOOR_MODE_H
#define SPOOR_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mode_kind { MODE_OFF, MODE_LOSSLESS, MODE_LOSSY };

struct mode {
	enum mode_kind kind;
	uint32_t
		/* of MODE_LOSSY: tokens that a column's pattern may have before it becomes a histogram; 0: all are
		 * histograms */
		threshold;
};

/* The threshold of "lossy" without one. */
#define MODE_THRESHOLD 128

/* What a policy may say. */
#define MODE_POLICY_CHOICES "\"off\", \"lossless\", \"lossy\" or \"lossy:N\" (N: 0 to 4294967295)"

/* Reads off, lossless, lossy or lossy:N. Returns 0, or -1 and leaves *mode alone. */
int mode_parse(struct mode *mode, const char *text);
/* Writes the form that mode_parse reads. Returns out. */
#define MODE_TEXT_SIZE 20
char *mode_format(const struct mode *mode, char out[MODE_TEXT_SIZE]);

#endif
