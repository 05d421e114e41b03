/* SPDX-License-Identifier: BSD-3-Clause
 * replay_options - what `spoor replay` passes on to spoor-replay: both have these lines in their tables of options
 */
#ifndef SPOOR_REPLAY_OPTIONS_H
#define SPOOR_REPLAY_OPTIONS_H

#include "cmd/base/options.h"
#include "cmd/base/scale.h"

struct replay_options {
	const char *compute; /* NULL: not said */
	const char *scale;   /* scale.h */
	int64_t seed;
	const char *scratch; /* NULL: one below TMPDIR */
	bool partial, verbose;
};
#define REPLAY_OPTIONS_DEFAULT                    \
	{                                         \
		.scale = SCALE_DEFAULT, .seed = 1 \
	}

/* In the order of enum compute_mode. */
#define REPLAY_COMPUTE_WORDS ((const char *const[]){"sleep", "spin", "none", NULL})

#define REPLAY_OPTION_LINES(o)                                                                                        \
	OPTION_WORD("compute", 0, "HOW", &(o)->compute, REPLAY_COMPUTE_WORDS,                                         \
	            "how to pass the time between calls: sleep, spin or none (default sleep; with --check none)"),    \
		OPTION_READ("scale", 0, "FACTOR", &(o)->scale, scale_read,                                            \
	                    "a number up to 1e9, or NAME=NUMBER, or several of them with commas",                     \
	                    "multiply computation by FACTOR (default 1), or with NAME=FACTOR that before calls from " \
	                    "this function or file"),                                                                 \
		OPTION_NUMBER("seed", 0, "N", &(o)->seed, 0, INT64_MAX, "draw times with this seed (default 1)"),     \
		OPTION_TEXT("scratch", 0, "DIR", &(o)->scratch,                                                       \
	                    "folder for the application's files (default: one below TMPDIR, removed at the end)"),    \
		OPTION_FLAG("partial", 0, &(o)->partial, "replay a partial trace, up to its end"),                    \
		OPTION_FLAG("verbose", 'v', &(o)->verbose, "say how long it took")

#endif
