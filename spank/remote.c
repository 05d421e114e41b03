/* SPDX-License-Identifier: BSD-3-Clause
 * remote - what the plugin does in slurmstepd
 */
#include "spank/remote.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/cgroup.h"
#include "deliver/spool.h"
#include "deliver/helper.h"
#include "deliver/node_log.h"
#include "policy/choice.h"
#include "policy/decision.h"
#include "spank/handoff.h"
#include "spank/option.h"
#include "spank/preload.h"
#include "spank/step.h"

/* How long the policy may take to be read; it is a small file, but it may be on a file system that hangs. */
#define DECIDE_SECONDS 5
#define PRELOAD_MAX    65536
/* Tasks whose exit is known. A node has hardly more. */
#define EXITS_MAX 256
#define SAID_MAX  8 /* lines of a helper that are worth one in the log each */

/* This slurmstepd runs one step. */
static struct {
	struct step step;
	struct decision decision;
	char spool[PATH_MAX]; /* the step's own folder */
	char topology[HANDOFF_TOPOLOGY_SIZE];
	char papi[HANDOFF_PAPI_SIZE];
	int spool_fd;          /* of the folder above it */
	int lock_fd;           /* of its own folder: nobody sweeps it away while the step runs */
	int64_t spool_changed; /* when it was made: another time at the end means that a tracer worked there */
	bool capturing;
	bool claims;        /* the decision rests on what the job's environment says */
	char why[512];      /* the helper's first message, if it failed */
	uint64_t oom_kills; /* of the step's cgroup when it began */
	bool oom;           /* a task was killed because memory was short */
	int exit_status;    /* of the task with the highest exit code, as wait() gives it; 0 if all ended well */
	uint32_t exit_task; /* which task that was */
	int first_status;   /* of the first task that did not end well: the others were often ended for it */
	uint32_t first_task;
	time_t start;
	struct {
		uint32_t task;
		int64_t ns; /* since 1970 */
	} exits[EXITS_MAX]; /* the first ones */
	unsigned exit_count;
} remote = {.spool_fd = -1, .lock_fd = -1};

/* Not slurm_error: of a slurmstepd that goes to the user's stderr as well. */
#define LOG(format, ...) slurm_info("spoor: %" PRIu32 ".%s: " format, remote.step.job, remote.step.id_text, __VA_ARGS__)

/* The helper's messages, one line each. They may quote what a user wrote. */
static void log_lines(char *text)
{
	char *rest = text;
	unsigned said = 0;

	for (char *line; (line = strsep(&rest, "\n")) && said < SAID_MAX;) {
		process_clean(line);
		if (*line && said++ < SAID_MAX)
			LOG("%s", line);
	}
}

/* Tells `spoor doctor`. What the decision says is there unless it could not be made. */
static void log_step(const char *what, const char *why)
{
	struct facts facts = {0};
	char mode[MODE_TEXT_SIZE];

	facts_format(&facts, "job", "%" PRIu32, remote.step.job);
	facts_set(&facts, "step", remote.step.id_text);
	facts_set(&facts, "node", remote.step.node);
	facts_format(&facts, "uid", "%lu", (unsigned long)remote.step.identity.uid);
	facts_set(&facts, "what", what);
	if (remote.decision.rule[0]) {
		facts_set(&facts, "mode", mode_format(&remote.decision.mode, mode));
		facts_set(&facts, "rule", remote.decision.rule);
		facts_set(&facts, "where", remote.decision.where[0] ? remote.decision.where : NULL);
		facts_set(&facts, "reason", remote.decision.reason);
	}
	facts_set(&facts, "why", why && why[0] ? why : NULL);
	node_log_write(NODE_LOG_FOLDER, &facts);
	facts_clear(&facts);
}

/* --- the tasks' environment --- */

/* Sets LD_PRELOAD to the tracer (if it is to be there) and what the user has in it. Returns 0 or -1. */
static int set_preload(spank_t spank, const char *preload, bool present)
{
	char *users = malloc(PRELOAD_MAX), *value = NULL;
	int rv = -1;

	if (!users)
		return -1;
	spank_err_t rc = spank_getenv(spank, "LD_PRELOAD", users, PRELOAD_MAX);
	if (rc != ESPANK_SUCCESS && rc != ESPANK_ENV_NOEXIST)
		goto done; /* too long, or not to be known: nothing that spoor could add to */
	if (rc != ESPANK_SUCCESS)
		users[0] = '\0';
	/* it is there already where a script has kept it for its steps */
	bool had = preload_remove(users, preload);
	if (present) {
		value = preload_add(users, preload);
		rc = value ? spank_setenv(spank, "LD_PRELOAD", value, 1) : ESPANK_NOSPACE;
	} else if (had) { /* else leave it as it is */
		rc = users[0] ? spank_setenv(spank, "LD_PRELOAD", users, 1) : spank_unsetenv(spank, "LD_PRELOAD");
	} else {
		rc = ESPANK_SUCCESS;
	}
	rv = rc == ESPANK_SUCCESS ? 0 : -1;
done:
	free(value);
	free(users);
	return rv;
}

static int set_handoff(spank_t spank, struct error *error)
{
	struct handoff h;
	static const enum handoff_mode modes[] = {
		[MODE_OFF] = HANDOFF_OFF, [MODE_LOSSLESS] = HANDOFF_LOSSLESS, [MODE_LOSSY] = HANDOFF_LOSSY};
	static char text[HANDOFF_SIZE];
	const char *alternatives = remote.decision.alternatives;

	handoff_default(&h);
	h.mode = modes[remote.decision.mode.kind];
	h.threshold = remote.decision.mode.threshold;
	h.set = remote.decision.set;
	snprintf(h.topology, sizeof h.topology, "%s", remote.topology);
	snprintf(h.papi, sizeof h.papi, "%s", remote.papi);
	if ((size_t)snprintf(h.spool, sizeof h.spool, "%s", remote.spool) >= sizeof h.spool ||
	    handoff_encode(&h, text, sizeof text) < 0)
		return error_set(error, "%s: the path is too long", remote.spool);
	size_t used = strlen(text);
	if (alternatives[0] &&
	    (size_t)snprintf(text + used, sizeof text - used, ";%s", alternatives) >= sizeof text - used)
		return error_set(error, "the rules that ask for the executable are too long");
	spank_err_t rc = spank_setenv(spank, HANDOFF_VARIABLE, text, 1);
	return rc == ESPANK_SUCCESS ? 0 : error_set(error, HANDOFF_VARIABLE " cannot be set: %s", spank_strerror(rc));
}

static void clear_step_environment(spank_t spank, const struct config *config)
{
	char one[8];
	if (spank_getenv(spank, HANDOFF_VARIABLE, one, sizeof one) != ESPANK_ENV_NOEXIST)
		spank_unsetenv(spank, HANDOFF_VARIABLE);
	set_preload(spank, config->preload, false);
}

/* --- before the tasks --- */

static void add_choice(spank_t spank, struct facts *facts, const char *option, const char *environment)
{
	char value[CHOICE_SIZE];

	facts_set(facts, option, option_value(spank));
	if ((spank_getenv(spank, OPTION_VARIABLE, value, sizeof value) == ESPANK_SUCCESS && *value) ||
	    (spank_getenv(spank, OPTION_VARIABLE_EXPORT, value, sizeof value) == ESPANK_SUCCESS && *value))
		facts_set(facts, environment, value);
}

/* The facts as the helper's stdin; NULL with error set. */
static char *encode(const struct facts *facts, struct error *error)
{
	char *text = facts_encode(facts);
	if (!text)
		error_set(error, "out of memory");
	return text;
}

/* Where the helper made the step's folder, if it did: it does what a file system that hangs would keep from coming
 * back. And what it found that the node has, and of PAPI. */
static int take_folder(const char *answer, struct error *error)
{
	struct facts facts = {0};
	int rv = facts_decode(&facts, answer, strlen(answer), "decision", error);
	const char *folder = facts_get(&facts, "folder"), *topology = facts_get(&facts, "topology"),
		   *papi = facts_get(&facts, "papi");

	if (!rv && folder && (size_t)snprintf(remote.spool, sizeof remote.spool, "%s", folder) >= sizeof remote.spool)
		rv = error_set(error, "%s: the path is too long", folder);
	snprintf(remote.topology, sizeof remote.topology, "%s", topology ? topology : "");
	snprintf(remote.papi, sizeof remote.papi, "%s", papi ? papi : "");
	remote.claims = facts_number(&facts, "claims", 0) > 0;
	facts_clear(&facts);
	return rv;
}

/* Asks the helper, which knows JSON. It also makes the step's folder, and looks whether the user can read the tracer,
 * because the dynamic loader would complain to the user about one that it cannot load. */
static int decide(spank_t spank, const struct config *config, struct error *error)
{
	static char output[65536], messages[4096];
	const char *argv[] = {config->helper, "decide", config->policy, config->preload, NULL};
	struct facts facts = {0};

	step_facts(&remote.step, spank, &facts);
	add_choice(spank, &facts, "trace_option", "trace_environment");
	facts_format(&facts, "step_folder", "%" PRIu32 ".%s.%s", remote.step.job, remote.step.id_text,
	             remote.step.node);
	char *input = encode(&facts, error);
	facts_clear(&facts);
	if (!input)
		return -1;
	struct process p = {.argv = argv,
	                    .input = input,
	                    .seconds = DECIDE_SECONDS,
	                    .output = output,
	                    .output_size = sizeof output,
	                    .messages = messages,
	                    .message_size = sizeof messages};
	int rv = process_run(&p, error);
	free(input);
	if (rv && messages[0]) { /* it said why itself */
		snprintf(remote.why, sizeof remote.why, "%.*s", (int)strcspn(messages, "\n"), messages);
		process_clean(remote.why);
		error->text[0] = '\0';
	}
	log_lines(messages);
	if (rv || decision_decode(&remote.decision, output, strlen(output), error))
		return -1;
	return take_folder(output, error);
}

static void close_folders(void)
{
	if (remote.lock_fd >= 0)
		close(remote.lock_fd);
	if (remote.spool_fd >= 0)
		close(remote.spool_fd);
	remote.lock_fd = remote.spool_fd = -1;
}

static int prepare_step(spank_t spank, const struct config *config, struct error *error)
{
	if ((remote.spool_fd = spool_open(remote.decision.spool, error)) < 0)
		return -1;
	remote.lock_fd = spool_lock_step(remote.spool_fd, remote.spool);
	remote.spool_changed = spool_step_changed(remote.spool_fd, remote.spool);
	if (!set_handoff(spank, error)) {
		if (!set_preload(spank, config->preload, true))
			return 0;
		error_set(error, "LD_PRELOAD cannot be set");
	}
	spool_remove_step(remote.spool_fd, remote.spool);
	close_folders();
	return -1;
}

void remote_begin(spank_t spank, const struct config *config)
{
	struct error error = {""};
	char mode[MODE_TEXT_SIZE];

	if (remote.capturing) /* Slurm calls once; twice would leave a folder behind */
		return;
	remote.start = time(NULL);
	remote.oom_kills = cgroup_own_oom_kills();
	if (step_read(&remote.step, spank, &error)) {
		slurm_info("spoor: %s", error.text);
		return;
	}
	if (!step_has_tasks(&remote.step))
		return;
	if (decide(spank, config, &error)) {
		if (error.text[0])
			LOG("not captured: %s", error.text);
		log_step("failed", error.text[0] ? error.text : remote.why);
	} else if (remote.decision.mode.kind == MODE_OFF && !remote.decision.alternatives[0]) {
		slurm_verbose("spoor: %" PRIu32 ".%s: not captured: %s", remote.step.job, remote.step.id_text,
		              remote.decision.reason);
		log_step("off", NULL);
	} else if (prepare_step(spank, config, &error)) {
		LOG("not captured: %s", error.text);
		log_step("failed", error.text);
	} else {
		remote.capturing = true;
		LOG("captured, mode %s%s: %s", mode_format(&remote.decision.mode, mode),
		    remote.decision.alternatives[0] ? " unless the executable says otherwise" : "",
		    remote.decision.reason);
		log_step("captured", remote.decision.alternatives[0] ? "unless the executable says otherwise" : NULL);
	}
	if (!remote.capturing)
		clear_step_environment(spank, config);
}

/* What slurmstepd says of a batch script goes nowhere but into slurmd's log: the first step of srun is told. */
void remote_tell(spank_t spank)
{
	if (remote.decision.refused[0] && remote.step.node_index == 0 &&
	    (remote.step.id == 0 || !option_inherited(spank)))
		slurm_error("spoor: %s", remote.decision.refused);
}

/* --- the tasks --- */

static int64_t severity_of(int status)
{
	return facts_severity(WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static int64_t realtime_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void remote_task_exit(spank_t spank)
{
	int status;
	uint32_t task = 0;

	if (!remote.capturing || spank_get_item(spank, S_TASK_EXIT_STATUS, &status) != ESPANK_SUCCESS)
		return;
	bool known = spank_get_item(spank, S_TASK_GLOBAL_ID, &task) == ESPANK_SUCCESS;
	if (known && remote.exit_count < EXITS_MAX) {
		remote.exits[remote.exit_count].task = task;
		remote.exits[remote.exit_count++].ns = realtime_ns();
	}
	/* while the step's cgroup is still there */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !remote.oom)
		remote.oom = cgroup_own_oom_kills() > remote.oom_kills;
	if (remote.first_status == 0 && status != 0) {
		remote.first_status = status;
		remote.first_task = known ? task : 0;
	}
	if (severity_of(status) <= severity_of(remote.exit_status))
		return;
	remote.exit_status = status;
	remote.exit_task = known ? task : 0;
}

/* --- after the tasks --- */

/* When the tasks ended, and which of them at least a second before that: a rank that was killed by itself is not to be
 * taken for one that went on. */
static void add_exits(struct facts *facts)
{
	char text[EXITS_MAX * 32] = "";
	size_t n = 0;
	int64_t end = realtime_ns();

	for (unsigned i = 0; i < remote.exit_count; i++)
		if (end - remote.exits[i].ns >= 1000000000)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu32 ":%" PRId64, n ? "," : "",
			                      remote.exits[i].task, remote.exits[i].ns);
	facts_format(facts, "step_end_ns", "%" PRId64, end);
	facts_set(facts, "task_exits", n ? text : NULL);
}

/* A signal, as a shell says it, or an exit code. */
static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void add_ending(struct facts *facts)
{
	char mode[MODE_TEXT_SIZE];
	int status = remote.exit_status;

	if (!remote.decision.alternatives[0]) { /* else the trace says it itself */
		facts_set(facts, "mode", mode_format(&remote.decision.mode, mode));
		facts_set(facts, "rule", remote.decision.rule);
		facts_set(facts, "rule_where", remote.decision.where[0] ? remote.decision.where : NULL);
		facts_set(facts, "rule_reason", remote.decision.reason);
		if (remote.decision.set.retention)
			facts_format(facts, "retention", "%" PRIu64, remote.decision.set.retention);
	}
	facts_format(facts, "exit_code", "%d", WIFEXITED(status) ? WEXITSTATUS(status) : 0);
	facts_format(facts, "signal", "%d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (status)
		facts_format(facts, "exit_task", "%" PRIu32, remote.exit_task);
	if (remote.first_status != status) {
		facts_format(facts, "first_task", "%" PRIu32, remote.first_task);
		facts_format(facts, "first_status", "%d", shell_status(remote.first_status));
	}
	facts_format(facts, "step_start", "%lld", (long long)remote.start);
	facts_format(facts, "step_end", "%lld", (long long)time(NULL));
	add_exits(facts);
	facts_set(facts, "spool", remote.spool);
}

/* What is for the helper alone. slurmctld is asked by the first node of a step, and only if a task of it failed: a job
 * on many nodes must not be heard of from all of them at once. By a signal or not: where ranks of other nodes were
 * ended a little earlier, MPI may have ended those of this one, and a launcher, as mpirun and its daemons, catches the
 * signal of a time limit, and exits. What the first node says counts for the parts of the others, when they are
 * joined. */
static void add_orders(struct facts *facts, const struct config *config)
{
	if (remote.oom)
		facts_set(facts, "ending", "oom");
	else if (remote.exit_status && remote.step.node_index == 0)
		facts_set(facts, HELPER_ASK, "1");
	facts_set(facts, HELPER_ARCHIVE_AT, remote.decision.archive);
	facts_set(facts, HELPER_HELPER, config->helper);
	facts_set(facts, HELPER_ADMIN_GROUP, remote.decision.admin_group);
	facts_format(facts, HELPER_MEMORY, "%" PRIu64, remote.decision.set.deliver_memory);
	facts_format(facts, HELPER_CPU, "%" PRIu64, remote.decision.set.deliver_cpu);
	facts_format(facts, HELPER_USER_LIMIT, "%" PRIu64, remote.decision.set.spool_user);
	facts_format(facts, HELPER_CHANGED, "%" PRId64, remote.spool_changed);
}

/* The step is over for Slurm when this returns: nothing here looks into a file system, or waits for anybody. */
void remote_end(spank_t spank, const struct config *config)
{
	struct error error = {""};
	struct facts facts = {0};
	const char *argv[] = {config->helper, "end", NULL};

	if (!remote.capturing)
		return;
	remote.capturing = false;
	step_facts(&remote.step, spank, &facts);
	add_ending(&facts);
	add_orders(&facts, config);
	if (remote.claims) {
		facts_set(&facts, HELPER_POLICY, config->policy);
		add_choice(spank, &facts, HELPER_OPTION, HELPER_ENVIRONMENT);
	}
	char *input = encode(&facts, &error);
	if (!input || process_leave(argv, input, remote.lock_fd, &error)) {
		LOG("%s is kept: %s", remote.spool, error.text);
		log_step("kept", error.text);
	}
	free(input);
	facts_clear(&facts);
	close_folders();
}
