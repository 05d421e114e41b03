/* SPDX-License-Identifier: BSD-3-Clause
 * run - `spoor run`: what the plugin does, for one command and without Slurm
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/base/options.h"
#include "cmd/base/sink.h"
#include "cmd/base/stage.h"
#include "cmd/run_reason.h"
#include "deliver/salvage.h"
#include "policy/mode.h"
#include "policy/setting.h"
#include "process/process.h"
#include "spank/config.h"
#include "spank/handoff.h"
#include "spank/papi_trial.h"
#include "spank/preload.h"
#include "spank/topology.h"
#include "deliver/seal.h"
#include "deliver/step_files.h"
#include "trace/base/path.h"
#include "trace/base/publish.h"

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
#define FORWARDED (sizeof forwarded / sizeof forwarded[0])

struct run {
	struct mode mode;
	struct settings set;
	const char *output;
	bool force;
	char folder[PATH_MAX]; /* the private spool */
	char papi[HANDOFF_PAPI_SIZE];
	char **command;
	int status; /* as wait() gives it */
	time_t start;
	struct sigaction old[FORWARDED]; /* what signals do outside of us */
	sigset_t before;
};

/* --- the command --- */

static volatile sig_atomic_t child;

/* What the terminal sends, the command gets from it as well: passed on is only what was sent to us alone. */
static void forward_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill((pid_t)child, number);
}

static const char *tracer(void)
{
	const char *own = getenv("SPOOR_PRELOAD"); /* of a build that is not installed */
	return own && *own ? own : SPOOR_PKGLIBDIR SPOOR_GATE_FOLDER "/libspoor-gate.so";
}

static int set_environment(const struct run *run)
{
	struct handoff h;
	char text[2 * PATH_MAX], *preload;

	handoff_default(&h);
	h.mode = run->mode.kind == MODE_LOSSY ? HANDOFF_LOSSY : HANDOFF_LOSSLESS;
	h.threshold = run->mode.threshold;
	h.set = run->set;
	topology_read("/sys/devices/system", h.topology, sizeof h.topology);
	memcpy(h.papi, run->papi, sizeof h.papi);
	if ((size_t)snprintf(h.spool, sizeof h.spool, "%s", run->folder) >= sizeof h.spool ||
	    handoff_encode(&h, text, sizeof text) < 0 || !(preload = preload_add(getenv("LD_PRELOAD"), tracer())))
		return -1;
	int rv = setenv(HANDOFF_VARIABLE, text, 1) || setenv("LD_PRELOAD", preload, 1) ? -1 : 0;
	free(preload);
	return rv;
}

/* In the child. */
static void prepare_command(void *context)
{
	const struct run *run = context;

	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &run->old[i], NULL);
	if (cmd_child_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &run->before, NULL);
	if (run->mode.kind != MODE_OFF && set_environment(run))
		say_to(stderr, "spoor run: no memory for the environment; not traced\n");
}

static int start_command(struct run *run)
{
	struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t all;

	sigfillset(&all); /* until `child` is set, a signal waits */
	sigprocmask(SIG_BLOCK, &all, &run->before);
	for (size_t i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &run->old[i]);
		if (run->old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
	pid_t pid = process_own("spoor run", run->command, prepare_command, run);
	child = pid;
	sigprocmask(SIG_SETMASK, &run->before, NULL);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &run->status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return 0;
}

/* --- the traces --- */

static void run_facts(const struct run *run, struct facts *facts)
{
	const struct passwd *pw = getpwuid(getuid());
	char mode[MODE_TEXT_SIZE], host[256] = "";

	gethostname(host, sizeof host - 1);
	facts_set(facts, "user", pw ? pw->pw_name : NULL);
	facts_format(facts, "uid", "%lu", (unsigned long)getuid());
	facts_set(facts, "node", host);
	facts_set(facts, "mode", mode_format(&run->mode, mode));
	facts_set(facts, "rule", "spoor run");
	facts_format(facts, "exit_code", "%d", WIFEXITED(run->status) ? WEXITSTATUS(run->status) : 0);
	facts_format(facts, "signal", "%d", WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0);
	facts_format(facts, "step_start", "%lld", (long long)run->start);
	facts_format(facts, "step_end", "%lld", (long long)time(NULL));
}

/* The trace of the i-th MPI program of the command. */
static int write_trace(const struct run *run, const struct facts *facts, const char *raw, size_t i)
{
	char path[PATH_MAX + 32];
	struct error error = {""};
	struct sealed sealed;
	int rv = -1;

	if (i)
		snprintf(path, sizeof path, "%s.%zu", run->output, i);
	else
		snprintf(path, sizeof path, "%s", run->output);
	if (seal_trace(raw, facts, &sealed, &error)) {
		say_to(stderr, "spoor run: %s\n", error.text);
	} else {
		mode_t mask = umask(0);
		umask(mask);
		rv = (run->force ? publish_over : publish_file)(path, 0666 & ~mask, sealed.bytes, sealed.size);
		if (rv)
			say_to(stderr, "spoor run: %s: %s; the raw trace is %s\n", path, strerror(errno), raw);
		else
			unlink(raw);
	}
	free(sealed.bytes);
	return rv;
}

/* A launcher that was killed, or was told to go into the background, returns before its ranks end. */
#define ENDING_MS 5000
#define LOOK_MS   50

static void wait_for_ranks(const struct run *run)
{
	for (int ms = 0; ms < ENDING_MS && salvage_running(run->folder); ms += LOOK_MS)
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
}

static int write_traces(const struct run *run)
{
	struct step_files spool = {0};
	struct error error = {""};
	struct facts facts = {0};
	int rv = 0;

	struct timespec now;
	wait_for_ranks(run);
	clock_gettime(CLOCK_REALTIME, &now);
	struct salvage salvage = {.ended_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec};
	if (salvage_folder(&salvage, run->folder, &error) < 0)
		say_to(stderr, "spoor run: %s\n", error.text);
	error.text[0] = '\0';
	if (step_files_read(&spool, run->folder, &error)) {
		say_to(stderr, "spoor run: %s\n", error.text);
		return -1;
	}
	run_facts(run, &facts);
	char reason[PATH_MAX + 400];
	run_reason(&spool, run->command, WIFEXITED(run->status) ? WEXITSTATUS(run->status) : 0, reason, sizeof reason);
	if (spool.world_count || spool.arena_count)
		step_files_tell_notes(&spool);
	for (size_t i = 0; i < spool.world_count; i++)
		rv |= write_trace(run, &facts, spool.worlds[i].path, i);
	if (salvage.running)
		say_to(stderr,
		       "spoor run: %zu ranks are still running. When they have ended: spoor merge -o FILE "
		       "%s/*.arena\n",
		       salvage.running, run->folder);
	else if (spool.arena_count)
		say_to(stderr, "spoor run: what %zu ranks recorded could not be read, and is kept in %s\n",
		       spool.arena_count, run->folder);
	else if (spool.world_count == 0)
		say_to(stderr, "spoor run: no trace: %s\n", reason);
	for (size_t i = 0; i < spool.rest_count; i++)
		unlink(spool.rest[i].path);
	for (size_t i = 0; i < spool.note_count; i++)
		unlink(spool.notes[i].path);
	step_files_free(&spool);
	facts_clear(&facts);
	return rv;
}

/* --- before and after --- */

static int prepare_run(struct run *run)
{
	const char *temporary = getenv("TMPDIR");

	static char name[PATH_MAX];
	struct error error = {""};

	if (!run->output) {
		snprintf(name, sizeof name, "%s.spoor", path_name(run->command[0]));
		run->output = name;
	}
	if (run->mode.kind == MODE_OFF)
		return 0;
	if (stage_allowed(run->output, &error) != 0) {
		say_to(stderr, "spoor run: %s\n", error.text);
		return -1;
	}
	if (!run->force && access(run->output, F_OK) == 0) {
		say_to(stderr, "spoor run: %s exists; -f overwrites it, -o FILE names another\n", run->output);
		return -1;
	}
	char path[PATH_MAX];

	config_plain_path(tracer(), path, sizeof path);
	if (access(path, R_OK)) {
		say_to(stderr, "spoor run: %s: the tracer is not there: %s\n", path, strerror(errno));
		return -1;
	}
	if (strpbrk(tracer(), " :")) {
		say_to(stderr, "spoor run: %s: the dynamic loader takes no path with blanks or colons\n", tracer());
		return -1;
	}
	if (!temporary || temporary[0] != '/')
		temporary = "/tmp";
	if ((size_t)snprintf(run->folder, sizeof run->folder, "%s/spoor-run.XXXXXX", temporary) >= sizeof run->folder ||
	    !mkdtemp(run->folder)) {
		say_to(stderr, "spoor run: %s: no folder for the trace: %s\n", temporary, strerror(errno));
		return -1;
	}
	papi_trial(run->set.counters, run->papi, sizeof run->papi);
	return 0;
}

/* Ends as the command did. */
static int end_as_command(const struct run *run, bool traced)
{
	if (WIFSIGNALED(run->status)) {
		struct rlimit none = {0, 0};
		setrlimit(RLIMIT_CORE, &none); /* one core file is enough */
		signal(WTERMSIG(run->status), SIG_DFL);
		raise(WTERMSIG(run->status));
		return 128 + WTERMSIG(run->status);
	}
	int status = WEXITSTATUS(run->status);
	return status == 0 && !traced ? CMD_FAILED : status;
}

static int option_mode(void *mode, const char *text)
{
	return mode_parse(mode, text);
}

/* Where an option of the table of settings goes. */
struct setting_target {
	const struct setting *setting;
	struct settings *all;
};

/* "" is what --NAME alone says. */
static int option_setting(void *to, const char *text)
{
	const struct setting_target *target = to;
	return setting_parse(target->setting, target->all, *text ? text : "on");
}

/* Adds a line for each setting that the tracer gets. texts are for what they say; n lines are there. */
static void add_settings(struct option_line *lines, size_t n, struct setting_target *targets, char (*texts)[600],
                         struct settings *all)
{
	char value[SETTING_TEXT_SIZE], expected[SETTING_EXPECTED_SIZE];

	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		bool is_switch = s->kind == SETTING_CHOICE && !strcmp(s->words, "off|on");
		if (!s->tracer)
			continue;
		snprintf(texts[i], sizeof texts[i], "%s; %s (default: %s)", s->help, setting_expected(s, expected),
		         *setting_format(s, all, value) ? value : "none");
		targets[i] = (struct setting_target){s, all};
		lines[n++] = (struct option_line)OPTION_READ(s->name, 0, is_switch ? "[=on|off]" : "VALUE", &targets[i],
		                                             option_setting, NULL, texts[i]);
	}
	lines[n] = (struct option_line)OPTION_END;
}

int cmd_run(int argc, char **argv)
{
	static struct run run = {.mode = {MODE_LOSSLESS, 0}};
	static struct setting_target targets[setting_count];
	static char texts[setting_count][600];
	const struct option_line own[] = {
		OPTION_READ("mode", 'm', "MODE", &run.mode, option_mode, "off, lossless, lossy or lossy:N",
	                    "lossless (the default), lossy, lossy:N, or off"),
		OPTION_TEXT("output", 'o', "FILE", &run.output,
	                    "the trace (default: COMMAND's name with .spoor, in the working directory)"),
		OPTION_FLAG("force", 'f', &run.force, "overwrite FILE")};
	struct option_line lines[sizeof own / sizeof *own + setting_count + 1];
	const struct options options = {"spoor run",
	                                "-- COMMAND [ARGUMENT...]",
	                                "Runs COMMAND (mpirun, mpiexec, or one MPI program) and writes its trace. The "
	                                "exit status is COMMAND's.",
	                                "A COMMAND that starts several MPI programs makes FILE, FILE.1, FILE.2, ...",
	                                lines,
	                                1,
	                                -1,
	                                true};
	int rv;

	settings_default(&run.set);
	memcpy(lines, own, sizeof own);
	add_settings(lines, sizeof own / sizeof *own, targets, texts, &run.set);
	if (!options_read(&options, argc, argv, &rv))
		return rv;
	run.command = argv + optind;
	if (prepare_run(&run))
		return CMD_FAILED;
	run.start = time(NULL);
	rv = start_command(&run);
	bool traced = true;
	if (!rv && run.folder[0])
		traced = write_traces(&run) == 0;
	if (run.folder[0])
		rmdir(run.folder); /* stays if something in it could not be written */
	return rv ? CMD_FAILED : end_as_command(&run, traced);
}
