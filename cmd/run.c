/* SPDX-License-Identifier: BSD-3-Clause
 * run - `spoor run`: what the plugin does, for one command and without Slurm
 */
#include <errno.h>
#include <getopt.h>
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
#include "merge/salvage.h"
#include "policy/mode.h"
#include "policy/setting.h"
#include "spank/config.h"
#include "spank/handoff.h"
#include "deliver/seal.h"
#include "trace/base/publish.h"

static const char usage[] =
	"Usage: spoor run [OPTION...] -- COMMAND [ARGUMENT...]\n"
	"Runs COMMAND (mpirun, mpiexec, or one MPI program) and writes its trace. The exit status is COMMAND's.\n\n"
	"  -m, --mode MODE     lossless (the default), lossy, lossy:N, or off\n"
	"  -o, --output FILE   default: COMMAND's name with .spoor, in the working directory\n"
	"  -f, --force         overwrite FILE\n";

static const char usage_end[] = "\n"
				"A COMMAND that starts several MPI programs makes FILE, FILE.1, FILE.2, ...\n";

struct run {
	struct mode mode;
	struct settings set;
	char output[PATH_MAX];
	bool force;
	char folder[PATH_MAX]; /* the private spool */
	char **command;
	int status; /* as wait() gives it */
	time_t start;
};

/* --- the command --- */

static volatile sig_atomic_t child;

/* What the terminal sends, the command gets from it as well: passed on is only what was sent to us alone. */
static void forward(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill((pid_t)child, number);
}

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};
#define FORWARDED (sizeof forwarded / sizeof forwarded[0])

static const char *tracer(void)
{
	const char *own = getenv("SPOOR_PRELOAD"); /* of a build that is not installed */
	return own && *own ? own : SPOOR_PKGLIBDIR SPOOR_GATE_FOLDER "/libspoor-gate.so";
}

static int set_environment(const struct run *run)
{
	struct handoff h;
	char text[2 * PATH_MAX], *preload = NULL;
	const char *users = getenv("LD_PRELOAD");

	handoff_default(&h);
	h.mode = run->mode.kind == MODE_LOSSY ? HANDOFF_LOSSY : HANDOFF_LOSSLESS;
	h.threshold = run->mode.threshold;
	h.set = run->set;
	if ((size_t)snprintf(h.spool, sizeof h.spool, "%s", run->folder) >= sizeof h.spool ||
	    handoff_encode(&h, text, sizeof text) < 0 ||
	    asprintf(&preload, "%s%s%s", tracer(), users && *users ? ":" : "", users ? users : "") < 0)
		return -1;
	int rv = setenv(HANDOFF_VARIABLE, text, 1) || setenv("LD_PRELOAD", preload, 1) ? -1 : 0;
	free(preload);
	return rv;
}

static int start(struct run *run)
{
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART}, old[FORWARDED];
	sigset_t all, before;

	sigfillset(&all); /* until `child` is set, a signal waits */
	sigprocmask(SIG_BLOCK, &all, &before);
	for (size_t i = 0; i < FORWARDED; i++) {
		sigaction(forwarded[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	}
	pid_t pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < FORWARDED; i++)
			sigaction(forwarded[i], &old[i], NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		if (run->mode.kind != MODE_OFF && set_environment(run)) {
			fputs("spoor run: no memory for the environment; not traced\n", stderr);
		}
		execvp(run->command[0], run->command);
		int failure = errno;
		fprintf(stderr, "spoor run: %s: %s\n", run->command[0], strerror(failure));
		_exit(failure == ENOENT ? 127 : 126);
	}
	child = pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0) {
		fprintf(stderr, "spoor run: %s: no process: %s\n", run->command[0], strerror(errno));
		return -1;
	}
	while (waitpid(pid, &run->status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	return 0;
}

/* --- the traces --- */

static void describe(const struct run *run, struct facts *facts)
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
		fprintf(stderr, "spoor run: %s\n", error.text);
	} else {
		mode_t mask = umask(0);
		umask(mask);
		rv = (run->force ? publish_over : publish_file)(path, 0666 & ~mask, sealed.bytes, sealed.size);
		if (rv)
			fprintf(stderr, "spoor run: %s: %s; the raw trace is %s\n", path, strerror(errno), raw);
		else
			unlink(raw);
	}
	free(sealed.bytes);
	return rv;
}

static int collect(const struct run *run)
{
	struct spool spool = {0};
	struct error error = {""};
	struct facts facts = {0};
	int rv = 0;

	struct salvage salvage = {.running = 0};
	if (salvage_folder(&salvage, run->folder, &error) < 0)
		fprintf(stderr, "spoor run: %s\n", error.text);
	error.text[0] = '\0';
	if (spool_read(&spool, run->folder, &error)) {
		fprintf(stderr, "spoor run: %s\n", error.text);
		return -1;
	}
	describe(run, &facts);
	spool_tell_notes(&spool);
	for (size_t i = 0; i < spool.world_count; i++)
		rv |= write_trace(run, &facts, spool.worlds[i].path, i);
	if (spool.arena_count)
		fprintf(stderr, "spoor run: what %zu ranks recorded could not be read, and is kept in %s\n",
		        spool.arena_count, run->folder);
	else if (spool.world_count == 0)
		fprintf(stderr, "spoor run: no trace: %s ran no MPI program (of Open MPI, dynamically linked)\n",
		        run->command[0]);
	for (size_t i = 0; i < spool.rest_count; i++)
		unlink(spool.rest[i].path);
	spool_free(&spool);
	facts_clear(&facts);
	return rv;
}

/* --- before and after --- */

static int prepare(struct run *run)
{
	const char *temporary = getenv("TMPDIR"), *base = strrchr(run->command[0], '/');

	if (!run->output[0] && (size_t)snprintf(run->output, sizeof run->output, "%s.spoor",
	                                        base ? base + 1 : run->command[0]) >= sizeof run->output) {
		fputs("spoor run: the name of the command is too long for a file\n", stderr);
		return -1;
	}
	if (run->mode.kind == MODE_OFF)
		return 0;
	if (!run->force && access(run->output, F_OK) == 0) {
		fprintf(stderr, "spoor run: %s exists; -f overwrites it, -o FILE names another\n", run->output);
		return -1;
	}
	char path[PATH_MAX];

	config_plain_path(tracer(), path, sizeof path);
	if (access(path, R_OK)) {
		fprintf(stderr, "spoor run: %s: the tracer is not there: %s\n", path, strerror(errno));
		return -1;
	}
	if (strpbrk(tracer(), " :")) {
		fprintf(stderr, "spoor run: %s: the dynamic loader takes no path with blanks or colons\n", tracer());
		return -1;
	}
	if (!temporary || temporary[0] != '/')
		temporary = "/tmp";
	if ((size_t)snprintf(run->folder, sizeof run->folder, "%s/spoor-run.XXXXXX", temporary) >= sizeof run->folder ||
	    !mkdtemp(run->folder)) {
		fprintf(stderr, "spoor run: %s: no folder for the trace: %s\n", temporary, strerror(errno));
		return -1;
	}
	return 0;
}

/* Ends as the command did. */
static int finish(const struct run *run, bool traced)
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

#define OWN_OPTIONS 4

/* The options of the table of settings go from SETTING_OPTION on. */
enum { SETTING_OPTION = 256 };

static bool is_switch(const struct setting *s)
{
	return s->kind == SETTING_CHOICE && !strcmp(s->words, "off|on");
}

static void print_usage(FILE *out)
{
	char value[SETTING_TEXT_SIZE], expected[SETTING_EXPECTED_SIZE];
	struct settings standard;

	settings_default(&standard);
	fputs(usage, out);
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		if (s->tracer)
			fprintf(out, "      --%-13s %s,\n                      %s (default: %s)\n", s->name, s->help,
			        setting_expected(s, expected), *setting_format(s, &standard, value) ? value : "none");
	}
	fputs(usage_end, out);
}

static int read_setting(struct settings *set, const struct setting *s, const char *value)
{
	char expected[SETTING_EXPECTED_SIZE];

	if (!setting_parse(s, set, value))
		return 0;
	fprintf(stderr, "spoor run: --%s %s: expected %s\n", s->name, value, setting_expected(s, expected));
	return -1;
}

int cmd_run(int argc, char **argv)
{
	static struct option options[OWN_OPTIONS + setting_count + 1] = {{"mode", required_argument, NULL, 'm'},
	                                                                 {"output", required_argument, NULL, 'o'},
	                                                                 {"force", no_argument, NULL, 'f'},
	                                                                 {"help", no_argument, NULL, 'h'}};
	static struct run run = {.mode = {MODE_LOSSLESS, 0}};

	settings_default(&run.set);
	for (size_t i = 0, n = OWN_OPTIONS; i < setting_count; i++) {
		if (setting_table[i].tracer)
			options[n++] =
				(struct option){setting_table[i].name,
			                        is_switch(&setting_table[i]) ? optional_argument : required_argument,
			                        NULL, SETTING_OPTION + (int)i};
	}
	for (int option; (option = getopt_long(argc, argv, "+m:o:fh", options, NULL)) != -1;) {
		switch (option) {
		case 'm':
			if (mode_parse(&run.mode, optarg)) {
				fprintf(stderr, "spoor run: --mode %s: expected off, lossless, lossy or lossy:N\n",
				        optarg);
				return CMD_USAGE;
			}
			break;
		case 'o':
			if (!*optarg ||
			    (size_t)snprintf(run.output, sizeof run.output, "%s", optarg) >= sizeof run.output) {
				fputs("spoor run: --output: not a path\n", stderr);
				return CMD_USAGE;
			}
			break;
		case 'f':
			run.force = true;
			break;
		case 'h':
			print_usage(stdout);
			return CMD_OK;
		default:
			if (option >= SETTING_OPTION) {
				if (read_setting(&run.set, &setting_table[option - SETTING_OPTION],
				                 optarg ? optarg : "on"))
					return CMD_USAGE;
				break;
			}
			print_usage(stderr);
			return CMD_USAGE;
		}
	}
	if (optind >= argc) {
		fputs("spoor run: no command\n", stderr);
		print_usage(stderr);
		return CMD_USAGE;
	}
	run.command = argv + optind;
	if (prepare(&run))
		return CMD_FAILED;
	run.start = time(NULL);
	int rv = start(&run);
	bool traced = true;
	if (!rv && run.folder[0])
		traced = collect(&run) == 0;
	if (run.folder[0])
		rmdir(run.folder); /* stays if something in it could not be written */
	return rv ? CMD_FAILED : finish(&run, traced);
}
