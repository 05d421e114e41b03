/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_calibrate - `spoor proxy --calibrate`: measures the blocks that computations of proxies are made of
 */
#ifndef SPOOR_PROXY_CALIBRATE_H
#define SPOOR_PROXY_CALIBRATE_H

#include "proxy/calibration.h"
#include "trace/model/trace.h"

/* Measures, keeps and prints. CC in the environment: another compiler than cc. Returns the command's status. */
int proxy_calibrate(void);
/* What was measured, for a trace with counters; NULL if it has none, or nothing was measured: says on stderr what is
 * done about that. Valid until the program ends. *status becomes CMD_FAILED if the measurements cannot be read. */
const struct calibration *proxy_calibration(const struct trace *t, int *status);

#endif
