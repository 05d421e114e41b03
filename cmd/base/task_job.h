/* SPDX-License-Identifier: BSD-3-Clause
 * task_job - the job that a task of a job array is
 */
#ifndef SPOOR_TASK_JOB_H
#define SPOOR_TASK_JOB_H

#include <stddef.h>

#include "trace/base/error.h"

/* Traces have the job's own number in their names; only the index knows of which array it was. Of "24_3" or "24_3.0"
 * the name becomes "26" or "26.0"; others stay as they are. archive NULL: the site's. A child asks the index, because
 * root becomes somebody else for that. Returns 0, or -1 with error set. */
int task_job(const char *name, const char *archive, char *out, size_t size, struct error *error);

#endif
