/* SPDX-License-Identifier: BSD-3-Clause
 * node_log - what was decided and done for each step on this node, so that `spoor doctor JOB` can say why there is no
 * trace
 *
 *     FOLDER/node.log, and FOLDER/node.log.1 when that has NODE_LOG_SIZE bytes
 *
 * A line is a time and facts: `2026-03-31T12:00:00Z job=12 step=0 node=n1 uid=1000 what=captured mode=lossless
 * rule=default ...`, values escaped (trace/base/escape.h), so that nothing that a user says can look like another line.
 * Written by slurmstepd as root; the folder is root's, for the admin group to read: it names jobs of all users. libc
 * only.
 */
#ifndef SPOOR_NODE_LOG_H
#define SPOOR_NODE_LOG_H

#include <stdint.h>

#include "trace/base/facts.h"

#define NODE_LOG_FOLDER SPOOR_LOCALSTATEDIR "/log/spoor"
#define NODE_LOG_SIZE   (4 << 20) /* some 20,000 steps, and as many in the older file */
#define NODE_LOG_LINE \
	4096 /* facts that do not fit are left out: one write() of so much is not mixed with those of others */

/* Appends a line. The folder is made if only it is missing; one that is not the caller's or root's, or that others can
 * write, is not used. What goes wrong is nobody's trouble: returns 0, or -1 with errno. */
int node_log_write(const char *folder, const struct facts *facts);

/* Calls line for each entry of a job (0: of all), oldest first: its time as text, and its facts. Returns the number of
 * entries; -1 with errno if there is a log and it cannot be read. */
int node_log_read(const char *folder, int64_t job,
                  void (*line)(void *context, const char *time, const struct facts *facts), void *context);

#endif
