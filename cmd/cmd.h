/* SPDX-License-Identifier: BSD-3-Clause
 * cmd - the subcommands of `spoor`
 *
 * Each gets its own arguments, its name first, and returns the exit status: 0 good, 1 it failed (and said why on
 * stderr), 2 it was called wrongly. Messages start with "spoor: " or the name of the subcommand.
 */
#ifndef SPOOR_CMD_H
#define SPOOR_CMD_H

#include <stdbool.h>

#include "cmd/base/status.h"

/* Was SIGCHLD ignored when spoor was started? main() undoes it, for the ends of children are waited for; `spoor run`
 * gives it to its program. */
extern bool cmd_child_ignored;

int cmd_aggregate(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_extrapolate(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_place(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_prune(int argc, char **argv);
int cmd_proxy(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_scale(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_trend(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_what_if(int argc, char **argv);
int cmd_where(int argc, char **argv);
int cmd_why(int argc, char **argv);

#endif
