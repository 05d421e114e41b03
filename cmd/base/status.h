/* SPDX-License-Identifier: BSD-3-Clause
 * status - the exit status of a command: good, it failed (and said why), it was called wrongly
 */
#ifndef SPOOR_STATUS_H
#define SPOOR_STATUS_H

enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

#endif
