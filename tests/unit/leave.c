/* SPDX-License-Identifier: BSD-3-Clause
 * leave - what is left of a job when a step ends: the way out of its cgroups, and what its record says
 */
#include "deliver/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deliver/controller.h"
#include "deliver/process.h"
#include "tests/unit/tap.h"

static char root[PATH_MAX / 2];

/* Has the group's file, of that name below root, been written to? It is empty again then. */
static bool entered(const char *group)
{
	char path[PATH_MAX], text[8] = "";
	snprintf(path, sizeof path, "%s/%s/cgroup.procs", root, group);
	FILE *file = fopen(path, "r");
	bool written = file && fgets(text, sizeof text, file) && !strcmp(text, "0");
	if (file)
		fclose(file);
	if (written && (file = fopen(path, "w")))
		fclose(file);
	return written;
}

static void make(const char *group)
{
	char command[2 * PATH_MAX];
	snprintf(command, sizeof command, "mkdir -p '%s/%s' && : >'%s/%s/cgroup.procs'", root, group, root, group);
	if (system(command))
		abort();
}

static void test_cgroups(void)
{
	make("freezer/slurm_n1");
	make("freezer/slurm_n1/uid_7/job_3/step_0");
	make("memory");
	make("system.slice/slurmstepd.scope/system");
	make("system.slice/slurmstepd.scope/job_3/step_0/slurm");
	cgroup_leave_at("6:freezer:/slurm_n1/uid_7/job_3/step_0\n4:memory:/job_3\n", root, "0");
	ok(entered("freezer/slurm_n1") && !entered("freezer/slurm_n1/uid_7/job_3/step_0"),
	   "version 1: above the user's");
	ok(entered("memory"), "version 1: the root");
	cgroup_leave_at("0::/system.slice/slurmstepd.scope/job_3/step_0/slurm\n", root, "0");
	ok(entered("system.slice/slurmstepd.scope/system"), "version 2: the leaf of Slurm's own");
	cgroup_leave_at("6:freezer:/slurm_n1\n0::/user.slice/job_scheduler\n\nnonsense\n:::\n", root, "0");
	ok(!entered("freezer/slurm_n1") && !entered("memory"), "in no job: stays");
}

static void test_endings(void)
{
	static const struct {
		const char *record, *reason;
		bool ending;
	} table[] = {
		{"JobId=7 JobName=JobState=CANCELLED UserId=a(1) JobState=RUNNING Reason=None", NULL, false},
		{"JobId=7 JobState=TIMEOUT Reason=TimeLimit", "time-limit", false},
		{"JobId=7 JobState=COMPLETING Reason=TimeLimit", "time-limit", true},
		{"JobId=7 JobState=COMPLETING Reason=None", NULL, true},
		{"JobId=7 JobState=CANCELLED", "cancelled", false},
		{"JobId=7 JobState=OUT_OF_MEMORY", "oom", false},
		{"", NULL, false},
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		bool ending = !table[i].ending;
		const char *reason = controller_read_ending(table[i].record, &ending);
		ok((reason == table[i].reason || (reason && table[i].reason && !strcmp(reason, table[i].reason))) &&
		           ending == table[i].ending,
		   "%s: %s", table[i].record, reason ? reason : "nothing");
	}
}

int main(void)
{
	const char *temporary = getenv("TMPDIR");
	char line[2000], command[PATH_MAX];

	snprintf(root, sizeof root, "%s/leave.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(root))
		return 1;
	test_cgroups();
	test_endings();
	memset(line, 'x', sizeof line);
	line[sizeof line - 1] = '\0';
	memcpy(line, "\033[31m\n\xff", 7);
	process_clean(line);
	ok(strlen(line) == PROCESS_LINE && !strncmp(line, "?[31m??x", 8),
	   "a line of a log is printable, and has an end");
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command) ? 1 : tap_end();
}
