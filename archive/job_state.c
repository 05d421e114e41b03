/* SPDX-License-Identifier: BSD-3-Clause
 * job_state - the states of jobs that have ended, as squeue and sacct call them
 */
#include "archive/job_state.h"

#include <string.h>
#include <strings.h>

#define NAME(name, brief, key, value) name,
#define ROW(name, brief, key, value)  {name, brief, "t." #key " = '" value "'", REASON_##key(value)},
#define REASON_state(value)           NULL
#define REASON_reason(value)          value

const char *const job_states[] = {JOB_STATE_TABLE(NAME) NULL};

static const struct {
	const char *name, *brief, *condition, *reason; /* reason: NULL if another one does */
} states[] = {JOB_STATE_TABLE(ROW)};

/* What Slurm has no other word for. */
#define OTHER_state(value)
#define OTHER_reason(value)            ", '" value "'"
#define OTHER(name, brief, key, value) OTHER_##key(value)
static const char failed[] =
	"(t.state IN ('FAILED', 'KILLED') AND ifnull(t.reason, '') NOT IN ('-'" JOB_STATE_TABLE(OTHER) "))";

static int is_word(const char *word, const char *name, size_t n)
{
	return strlen(word) == n && !strncasecmp(word, name, n);
}

const char *job_state_condition(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (is_word(states[i].name, name, n) || is_word(states[i].brief, name, n))
			return strcmp(states[i].name, "FAILED") ? states[i].condition : failed;
	return NULL;
}

const char *job_state_word(const char *state, const char *reason)
{
	for (size_t i = 0; state && reason && strcmp(state, "COMPLETED") && i < sizeof states / sizeof *states; i++)
		if (states[i].reason && !strcmp(states[i].reason, reason))
			return states[i].name;
	return state && !strcmp(state, "KILLED") ? "FAILED" : state;
}

int job_state_check_list(const char *list)
{
	for (;; list++) {
		size_t n = strcspn(list, ",");
		if (!job_state_condition(list, n))
			return -1;
		list += n;
		if (!*list)
			return 0;
	}
}
