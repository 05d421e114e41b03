/* SPDX-License-Identifier: BSD-3-Clause
 * choice - what a user says with --trace or SPOOR_TRACE: MODE[,SETTING=VALUE]... - libc only
 *
 * "on" (also "", "1", "yes", "true") is the site's own mode, "off" (also "0", "no", "false") none; settings are those
 * that reach the tracer. A first word with a `=` is a setting, and the mode is then "on".
 */
#ifndef SPOOR_CHOICE_H
#define SPOOR_CHOICE_H

#include "policy/mode.h"
#include "policy/setting.h"
#include "trace/base/error.h"

/* What users may say, for messages. */
#define CHOICES     "off, on, lossless, lossy, lossy:N"
#define CHOICE_SIZE 1024 /* longer ones are wrong */

struct choice {
	bool on; /* the mode is the site's */
	struct mode mode;
	bool has[setting_count]; /* which of set were said */
	struct settings set;
};

/* Returns 0, or -1 with error set: which word was not expected, and what was. */
int choice_parse(struct choice *choice, const char *text, struct error *error);

#endif
