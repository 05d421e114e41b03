/* SPDX-License-Identifier: BSD-3-Clause
 * stage - what root writes (-o) is root's, whoever the trace belongs to
 *
 * Root becomes a trace's owner before it reads the trace, and so cannot write any more. So a command of root's goes on
 * in a child, which writes into a folder that nobody else can reach; the parent keeps its rights, reads nothing of the
 * trace, and gives what the child wrote its name. What is not root's then is copied: nobody else has it open.
 *
 *     DIR/                   where the output is to be: root's, and nobody else can write it (or it is sticky)
 *     DIR/.spoor.XXXX/       0700, root's
 *     DIR/.spoor.XXXX/stage/ 0777: the child's, which came in by a descriptor
 *
 * Others than root are not bothered: nothing happens.
 */
#ifndef SPOOR_STAGE_H
#define SPOOR_STAGE_H

#include <stdbool.h>

#include "trace/base/error.h"

/* Before a trace is opened: `name`, a file or a folder, is to be written. replace: what has the name may be there. NULL
 * and "-" are no names. Returns 0 in the child, where stage_path tells where to write it; the parent does not return.
 * -1, after a message of `command`: root may not write there. */
int stage_begin(const char *command, const char *name, bool replace);
/* May root write there? For what runs nothing and reads nothing of others, and so needs no child. Of others than root:
 * always. Returns 0, or -1 with error set. */
int stage_allowed(const char *name, struct error *error);
/* Where to write what is to have this name: another path if it is the one that began. Valid until the next stage. */
const char *stage_path(const char *name);

#endif
