/* SPDX-License-Identifier: BSD-3-Clause
 * handoff - what whoever switches tracing on tells the tracer, as one environment variable
 *
 * Written by the SPANK plugin and by `spoor run`, read by the tracer in the user's process: the only value that crosses
 * from deciding to observing. Its name starts with SLURM_ because only such names survive `srun --export=NONE`. It is
 * untrusted input: whatever it says, the tracer only ever acts with the rights of the user who runs it. libc only.
 *
 * Form: `1;mode=lossless;spool=/var/spool/spoor/123.0.n1;memory=8388608;deadline=10;...`, each value with `%`, `;`, and
 * bytes outside 0x21..0x7e written as %HH. The key `alt` may come several times, each an alternative. Unknown keys are
 * ignored; a missing key has its default, and so has a setting (or the threshold) whose value cannot be read: h->notes
 * says so then.
 */
#ifndef SPOOR_HANDOFF_H
#define SPOOR_HANDOFF_H

#include <stddef.h>
#include <stdint.h>

#include "policy/setting.h"
#include "trace/base/error.h"

#define HANDOFF_VARIABLE "SLURM_SPOOR_HANDOFF"

#define HANDOFF_ALTERNATIVES_SIZE 16000
#define HANDOFF_TOPOLOGY_SIZE     2048
#define HANDOFF_PAPI_SIZE         1024
/* The longest text that handoff_encode writes, with its NUL. */
#define HANDOFF_SIZE (32 * 1024)

enum handoff_mode { HANDOFF_OFF, HANDOFF_LOSSLESS, HANDOFF_LOSSY };

struct handoff {
	enum handoff_mode mode;
	uint64_t threshold; /* of HANDOFF_LOSSY: tokens of a pattern; 0: all lossy */
	char spool[1024];   /* absolute: this step's own folder, exists, owned by the user, mode 0700 */
	/* What the node has: its host name, a colon, and the text of trace/model/placement.h; "": not known. */
	char topology[HANDOFF_TOPOLOGY_SIZE];
	char papi[HANDOFF_PAPI_SIZE]; /* what is known of PAPI on this node, as spank/papi_trial.h says it */
	/* those of policy/setting.h that reach the tracer; the others have their standard values */
	struct settings set;
	/* What else may be, by what the program is; empty: the above holds for all. One a line, as policy/alternative.h
	 * describes them. */
	char alternatives[HANDOFF_ALTERNATIVES_SIZE];
	/* After handoff_choose: what the trace's metadata is to say of it, as lines NAME=VALUE with escaped values. */
	char facts[2048];
	/* What could not be read, and what is used instead; texts for people, each behind the last one's
	 * HANDOFF_SEPARATOR; empty: nothing. */
	char notes[1024];
};
#define HANDOFF_SEPARATOR '\x1f'

/* Fills with defaults (mode off, spool empty). */
void handoff_default(struct handoff *h);
/* Returns the text's length, or -1 if it does not fit. */
int handoff_encode(const struct handoff *h, char *out, size_t size);
/* Returns 0, or -1 with error set (and *h is then the default: off). */
int handoff_decode(struct handoff *h, const char *text, struct error *error);

/* Sets mode, settings and facts to those of the first alternative that is for this executable (its path) and number of
 * ranks. Returns its number, or -1 if there are no alternatives (and *h stays as it is), or none is for it (never, as
 * whoever wrote them ends them with one for all). */
int handoff_choose(struct handoff *h, const char *executable, uint64_t ranks);
/* The same for the alternative with that number. Returns 0, or -1: there is none. */
int handoff_take(struct handoff *h, int number);
/* The number of the first alternative that captures anything, or -1. */
int handoff_first_capture(const struct handoff *h);

#endif
