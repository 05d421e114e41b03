/* SPDX-License-Identifier: BSD-3-Clause
 * sweep_metrics - what a sweep of this node's spool found, for Prometheus
 */
#ifndef SPOOR_SWEEP_METRICS_H
#define SPOOR_SWEEP_METRICS_H

#include "deliver/sweep.h"

/* Writes a file for node_exporter's textfile collector, which is replaced at once. Returns 0, or -1 with error set. */
int sweep_metrics_write(const char *file, const struct sweep *s, struct error *error);

#endif
