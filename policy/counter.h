/* SPDX-License-Identifier: BSD-3-Clause
 * counter - the names of events that can be counted: PAPI's. libc only
 *
 * A preset event is PAPI_NAME, and PAPI has a closed list of them. A native one is COMPONENT::EVENT (perf::TASK-CLOCK),
 * and which there are only the node knows that the job runs on.
 */
#ifndef SPOOR_COUNTER_H
#define SPOOR_COUNTER_H

#include <stddef.h>

#define COUNTER_EXAMPLES "\"PAPI_TOT_INS\" (presets of PAPI) or \"perf::TASK-CLOCK\" (COMPONENT::EVENT), each once"

/* What is wrong with a name. */
enum counter_problem { COUNTER_GOOD, COUNTER_UNKNOWN /* PAPI_..., but no preset */, COUNTER_FORM, COUNTER_TWICE };

/* Looks at the names in a list that is separated by commas. The first that is not good, if that is asked for, is *name,
 * n bytes long. */
enum counter_problem counter_check(const char *list, const char **name, size_t *n);

/* Those that the kernel is asked for, without PAPI. */
enum counter_kernel {
	COUNTER_CPU_TIME, /* perf::TASK-CLOCK, ns */
	COUNTER_SWITCHES, /* perf::CONTEXT-SWITCHES */
	COUNTER_FAULTS,   /* perf::PAGE-FAULTS: the next two together */
	COUNTER_MINOR,    /* perf::MINOR-FAULTS */
	COUNTER_MAJOR,    /* perf::MAJOR-FAULTS */
	COUNTER_PAPI      /* all others */
};
/* Which of them a name of n bytes is. */
enum counter_kernel counter_kernel(const char *name, size_t n);

/* The i-th preset with its PAPI_, for suggestions; NULL: there are no more. Valid until the next call. */
const char *counter_preset(size_t i);

#endif
