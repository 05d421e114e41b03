/* SPDX-License-Identifier: BSD-3-Clause
 * what_if_text - what a change would save, in one sentence
 */
#ifndef SPOOR_WHAT_IF_TEXT_H
#define SPOOR_WHAT_IF_TEXT_H

#include "insight/what_if.h"

#define WHAT_IF_TEXT 1200

struct site_names;
/* "Packing the 8 B messages of MPI_Send in exchange at x.c:12 saves 22 % (4 min of 18 min)." Returns out. */
const char *what_if_text(char out[WHAT_IF_TEXT], const struct what_ifs *w, const struct what_if *one,
                         const struct trace *t, const struct site_names *names);
/* The place that it is about; "" if there is none. Returns out. */
const char *what_if_place(char out[WHAT_IF_TEXT], const struct what_if *one, const struct trace *t,
                          const struct site_names *names);
/* How near the simulation comes to what was recorded. Returns out. */
const char *what_if_base_text(char out[WHAT_IF_TEXT], const struct what_ifs *w, const char *platform);

#endif
