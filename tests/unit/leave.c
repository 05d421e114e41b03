/* SPDX-License-Identifier: BSD-3-Clause
 * leave - what is left of a job when a step ends: the way out of its cgroups, and what its record says
 */
#include "process/cgroup.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "deliver/controller.h"
#include "process/process.h"
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

static unsigned slept;

unsigned sleep(unsigned seconds)
{
	slept += seconds;
	return 0;
}

/* Writes a script that stands for scontrol, and counts how often it was asked in a file of this name. */
static void make_scontrol(const char *counts, const char *script)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/scontrol", root);
	FILE *file = fopen(path, "w");
	if (!file ||
	    fprintf(file, "#!/bin/sh\ncounts=%s/%s\necho x >>$counts\nn=$(wc -l <$counts)\n%s", root, counts, script) <
	            0 ||
	    fchmod(fileno(file), 0700) || fclose(file))
		abort();
}

/* The second time it says `second`, and else that nobody answers. */
static void make_silent(const char *second)
{
	char script[512];
	snprintf(script, sizeof script,
	         "test $n = 2 && test '%s' && echo '%s' && exit 0\n"
	         "echo Unable to contact slurm controller >&2\nexit 1\n",
	         second, second);
	make_scontrol("asked", script);
}

/* The job is still ending when it is asked, so many times. */
static void make_slow_end(int times)
{
	char script[512];
	snprintf(script, sizeof script,
	         "test $n -le %d && echo 'JobId=5 JobState=COMPLETING Reason=None' && exit 0\n"
	         "rm $counts\necho 'JobId=5 JobState=CANCELLED Reason=None'\n",
	         times);
	make_scontrol("slow", script);
}

/* Nodes may need much time to end a job. That is waited for, but not for one job after another. */
static void test_slow_end(void)
{
	struct facts facts = {0};
	struct error error = {""};

	facts_set(&facts, "slurm_bin", root);
	facts_set(&facts, "job", "5");
	facts_format(&facts, "step_end", "%lld", (long long)time(NULL));
	make_slow_end(4);
	const char *reason = controller_ending(&facts, &error);
	ok(reason && !strcmp(reason, "cancelled") && !error.text[0], "the job ends slowly: %s",
	   reason ? reason : "nothing");
	make_slow_end(1000);
	facts_set(&facts, "job", "6");
	ok(!controller_ending(&facts, &error) && !error.text[0], "it does not end: %s", error.text);
	facts_set(&facts, "job", "4");
	slept = 0;
	reason = controller_ending(&facts, &error);
	ok(!reason && slept >= 10 && slept <= 12, "the next job waits for that once: %u s", slept);
	facts_clear(&facts);
}

/* A controller that is away for some seconds is asked again; one that stays away is not waited for by many steps. */
static void test_silence(void)
{
	struct facts facts = {0};
	struct error error = {""};

	facts_set(&facts, "slurm_bin", root);
	facts_set(&facts, "job", "7");
	facts_format(&facts, "step_end", "%lld", (long long)time(NULL));
	make_silent("JobId=7 JobState=TIMEOUT Reason=TimeLimit");
	const char *reason = controller_ending(&facts, &error);
	ok(reason && !strcmp(reason, "time-limit") && !error.text[0], "slurmctld answers the second time: %s",
	   error.text);
	make_silent("");
	facts_set(&facts, "job", "8");
	ok(!controller_ending(&facts, &error) && strstr(error.text, "job 8") && strstr(error.text, "Unable to contact"),
	   "it does not answer: %s", error.text);
	facts_set(&facts, "job", "9");
	slept = 0;
	ok(!controller_ending(&facts, &error) && slept == 0, "the next job does not wait for it: %u s", slept);
	facts_clear(&facts);
}

/* Stands for squeue: says the text, or that nobody answers; counts. */
static void make_squeue(const char *text)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/squeue", root);
	FILE *file = fopen(path, "w");
	if (!file || fprintf(file, "#!/bin/sh\necho x >>%s/identified\n", root) < 0 ||
	    fprintf(file, *text ? "cat <<'END'\n%s\nEND\n" : "%secho Unable to contact slurm controller >&2\nexit 1\n",
	            text) < 0 ||
	    fchmod(fileno(file), 0700) || fclose(file))
		abort();
}

static size_t times_asked(void)
{
	char path[PATH_MAX];
	struct stat st;
	snprintf(path, sizeof path, "%s/identified", root);
	return stat(path, &st) ? 0 : (size_t)st.st_size / 2;
}

static bool has(const struct facts *facts, const char *name, const char *value)
{
	const char *got = facts_get(facts, name);
	return value ? got && !strcmp(got, value) : !got;
}

static void claim(struct facts *facts, const char *job)
{
	facts_clear(facts);
	facts_set(facts, "slurm_bin", root);
	facts_set(facts, "job", job);
	facts_set(facts, "uid", "1000");
	facts_set(facts, "account", "open");
	facts_set(facts, "reservation", "mine");
}

/* What Slurm says of a job counts, and only what it says of this one. */
static void test_identity(void)
{
	struct facts facts = {0};
	struct error error = {""};

	make_squeue("12|1000|12+0|2026-11-27T16:00:00|1:00:00|other|all|normal|none\n"
	            "13|1000|12+1|2026-11-27T16:00:00|UNLIMITED|secret|long|(null)|(null)\nnonsense|13");
	claim(&facts, "13");
	ok(!controller_identify(&facts, &error) && has(&facts, "account", "secret") &&
	           has(&facts, "partition", "long") && has(&facts, "reservation", "") && has(&facts, "qos", NULL) &&
	           has(&facts, "het_job_id", "12") && has(&facts, "time_limit", "UNLIMITED") &&
	           facts_number(&facts, "job_start", 0) > 0,
	   "a component of a heterogeneous job: %s", error.text);
	claim(&facts, "13");
	ok(!controller_identify(&facts, &error) && has(&facts, "account", "secret") && times_asked() == 1,
	   "its next step does not ask again");
	make_squeue("14|1001|14|N/A|1:00|other|all|normal|none");
	claim(&facts, "14");
	ok(controller_identify(&facts, &error) && strstr(error.text, "user 1001") && has(&facts, "account", "open"),
	   "somebody else's job: %s", error.text);
	error.text[0] = '\0';
	make_squeue("");
	claim(&facts, "15");
	ok(controller_identify(&facts, &error) && strstr(error.text, "Unable to contact") &&
	           has(&facts, "account", "open") && has(&facts, "partition", NULL),
	   "nobody answers, the claims stay: %s", error.text);
	claim(&facts, "16");
	ok(controller_identify(&facts, &error) && has(&facts, "account", "open") && times_asked() == 3,
	   "and the next job is not asked for");
	facts_clear(&facts);
}

/* What takes too long is killed with what it has started. */
static void test_too_long(void)
{
	char number[32] = "";
	struct error error = {""};
	const char *argv[] = {"/bin/sh", "-c", "sleep 60 & echo $!; wait", NULL};
	struct process p = {.argv = argv, .input = "", .seconds = 1, .output = number, .output_size = sizeof number};
	bool killed = process_run(&p, &error) == -1 && atoi(number) > 0;
	for (int i = 0; killed && i < 100 && kill(atoi(number), 0) == 0; i++)
		usleep(20000);
	ok(killed && kill(atoi(number), 0) != 0, "%s: with its child %d", error.text, atoi(number));
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
	test_slow_end();
	test_silence();
	test_identity();
	test_too_long();
	memset(line, 'x', sizeof line);
	line[sizeof line - 1] = '\0';
	memcpy(line, "\033[31m\n\xff", 7);
	process_clean(line);
	ok(strlen(line) == PROCESS_LINE && !strncmp(line, "?[31m??x", 8),
	   "a line of a log is printable, and has an end");
	snprintf(command, sizeof command, "rm -rf '%s'", root);
	return system(command) ? 1 : tap_end();
}
