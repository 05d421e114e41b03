/* SPDX-License-Identifier: BSD-3-Clause
 * host - a fake Slurm for the plugin: calls every callback in every context, with every failure of the functions that
 * plugins call
 *
 *     host PLUGIN [PRELOADED-LIBRARY]    (the library is loaded first, for all to see: json-c, whose names clash with
 *                                        jansson's)
 *
 * Each scenario runs in a child of its own, since the plugin keeps what it knows of its one step. Whatever fails,
 * callbacks return 0, the job's environment is either ready for the tracer or without any trace of it, what the user
 * had in LD_PRELOAD is still there, nothing goes to the user, and nothing is left in the spool.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake/slurm.h"
#include "tests/unit/tap.h"

#define USERS "/user/own.so:/user/second.so"

/* --- the plugin --- */

static const char *plugin_path, *first_library;
static char folder[PATH_MAX], policy_argument[PATH_MAX + 96], helper_argument[PATH_MAX + 32],
	preload_argument[PATH_MAX + 32];
static char *arguments[4];
static int argument_count;
static const char *const callbacks[] = {"slurm_spank_init",
                                        "slurm_spank_init_post_opt",
                                        "slurm_spank_local_user_init",
                                        "slurm_spank_user_init",
                                        "slurm_spank_task_init_privileged",
                                        "slurm_spank_task_init",
                                        "slurm_spank_task_post_fork",
                                        "slurm_spank_task_exit",
                                        "slurm_spank_exit",
                                        "slurm_spank_job_prolog",
                                        "slurm_spank_job_epilog",
                                        "slurm_spank_slurmd_exit"};

#define BOTH 2 /* job.option: --trace, and --spoor=off; Slurm hands them on in this order, whatever was said last */

/* Returns what the callback does; 0 if the plugin has none of that name. */
static int call(void *plugin, const char *name)
{
	struct spank_handle handle = {1};
	int (*callback)(spank_t, int, char **) = (int (*)(spank_t, int, char **))dlsym(plugin, name);
	int rc = callback ? callback(&handle, argument_count, arguments) : 0;

	if (!strcmp(name, "slurm_spank_init") && job.option == BOTH && option_count == 2) {
		options[0]->cb(options[0]->val, job.argument, true);
		options[1]->cb(options[1]->val, "off", true);
	} else if (!strcmp(name, "slurm_spank_init") && job.option >= 0 && option_count > job.option % 2) {
		int said = options[job.option % 2]->cb(options[job.option % 2]->val, job.argument,
		                                       job.context == S_CTX_REMOTE);
		if (said && job.context == S_CTX_REMOTE)
			return 77; /* slurmstepd would end the step */
	}
	return rc;
}

static bool is_empty(const char *name)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	DIR *dir = opendir(path);
	bool empty = true;
	for (struct dirent *e; dir && (e = readdir(dir));)
		empty = empty && e->d_name[0] == '.';
	if (dir)
		closedir(dir);
	return empty;
}

/* What is wrong with the job's environment once the tasks could start; NULL: nothing. */
static const char *environment_problem(bool *ready)
{
	const char *preload = value_of("LD_PRELOAD"), *handoff = value_of("SLURM_SPOOR_HANDOFF");
	bool loads = preload && strstr(preload, preload_argument + 8);

	*ready = loads && handoff;
	if (!preload || !strstr(preload, USERS))
		return "what the user preloads is gone";
	if (loads && !handoff)
		return "the tracer is loaded, and was told nothing";
	if (!loads && strcmp(preload, USERS))
		return "LD_PRELOAD is neither the user's nor the tracer's";
	return NULL;
}

/* Bits of a child's exit status. */
enum {
	BAD_RETURN = 1,
	BAD_ENVIRONMENT = 2,
	BAD_TOLD_USER = 4,
	BAD_LEFT = 8,
	READY = 16,
	END_OF_CALLS = 32,
	NO_PLUGIN = 64
};

static int run_scenario(const char *const *order, size_t n)
{
	int result = 0;
	bool ready = false;

	if (first_library && !dlopen(first_library, RTLD_NOW | RTLD_GLOBAL))
		return NO_PLUGIN;
	void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin) {
		fprintf(stderr, "# %s\n", dlerror());
		return NO_PLUGIN;
	}
	for (size_t i = 0; i < n; i++) {
		if (call(plugin, order[i]))
			result |= BAD_RETURN;
		if (job.context == S_CTX_REMOTE && !strcmp(order[i], "slurm_spank_init_post_opt")) {
			const char *problem = environment_problem(&ready);
			if (problem) {
				fprintf(stderr, "# call %d fails with %d: %s: LD_PRELOAD=%s\n", failing, (int)failure,
				        problem, value_of("LD_PRELOAD"));
				result |= BAD_ENVIRONMENT;
			}
		}
	}
	if (told_user && job.context == S_CTX_REMOTE)
		result |= BAD_TOLD_USER;
	/* what ends the step's affairs is nobody's child */
	for (int i = 0; n > 1 && !strcmp(order[n - 1], "slurm_spank_exit") && !is_empty("spool"); i++) {
		if (i == 1000) {
			result |= BAD_LEFT;
			break;
		}
		usleep(10000);
	}
	return result | (ready ? READY : 0) | (failing >= 0 && calls <= failing ? END_OF_CALLS : 0);
}

/* In a child: the bits, or -1 if it crashed or hung. */
static int in_child(const char *const *order, size_t n)
{
	int status;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(30);
		_exit(run_scenario(order, n));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reset(spank_context_t context)
{
	static uint32_t next;
	char spool[PATH_MAX + 32], old[PATH_MAX + 64];

	/* somebody may still be at what is there */
	snprintf(spool, sizeof spool, "%s/spool", folder);
	snprintf(old, sizeof old, "%s/spool.%u", folder, next++);
	rename(spool, old);
	memset(environment, 0, sizeof environment);
	memset(&job, 0, sizeof job);
	job.context = context;
	job.job = 4711 + next;
	job.tasks = 2;
	job.option = -1;
	failing = -1;
	put("LD_PRELOAD", USERS);
	put("SLURM_JOB_NAME", "a name\nwith \"everything\" \xc3\xa9\xff;%=");
	put("SLURM_JOB_PARTITION", "all");
}

static const char *const in_order[] = {"slurm_spank_init",      "slurm_spank_init_post_opt",
                                       "slurm_spank_user_init", "slurm_spank_task_init_privileged",
                                       "slurm_spank_task_init", "slurm_spank_task_post_fork",
                                       "slurm_spank_task_exit", "slurm_spank_exit"};
#define BAD (BAD_RETURN | BAD_ENVIRONMENT | BAD_TOLD_USER | BAD_LEFT | NO_PLUGIN)

/* --- scenarios --- */

static void test_contexts(void)
{
	static const spank_context_t contexts[] = {S_CTX_ERROR,     S_CTX_LOCAL,  S_CTX_REMOTE,
	                                           S_CTX_ALLOCATOR, S_CTX_SLURMD, S_CTX_JOB_SCRIPT};
	static const char *const names[] = {"error", "local", "remote", "allocator", "slurmd", "job script"};

	for (size_t c = 0; c < COUNT(contexts); c++) {
		for (size_t i = 0; i < COUNT(callbacks); i++) {
			reset(contexts[c]);
			int alone = in_child(&callbacks[i], 1);
			ok(alone >= 0 && !(alone & BAD), "%s: %s alone: %d", names[c], callbacks[i], alone);
		}
		reset(contexts[c]);
		int all = in_child(callbacks, COUNT(callbacks));
		ok(all >= 0 && !(all & BAD), "%s: all callbacks: %d", names[c], all);
		const char *twice[2 * COUNT(in_order)], *reversed[COUNT(in_order)];
		for (size_t i = 0; i < COUNT(in_order); i++) {
			twice[2 * i] = twice[2 * i + 1] = in_order[i];
			reversed[i] = in_order[COUNT(in_order) - 1 - i];
		}
		reset(contexts[c]);
		int again = in_child(twice, COUNT(twice));
		ok(again >= 0 && !(again & (BAD & ~BAD_LEFT)), "%s: each callback twice: %d", names[c], again);
		reset(contexts[c]);
		int back = in_child(reversed, COUNT(reversed));
		ok(back >= 0 && !(back & (BAD & ~BAD_LEFT)), "%s: in the wrong order: %d", names[c], back);
	}
}

static void test_steps(void)
{
	static const struct {
		const char *name;
		uint32_t step;
		bool ready;
	} steps[] = {{"0", 0, true},
	             {"batch", SLURM_BATCH_SCRIPT, true},
	             {"interactive", SLURM_INTERACTIVE_STEP, true},
	             {"extern", SLURM_EXTERN_CONT, false}};
	static const struct {
		const char *value;
		bool ready;
	} choices[] = {{NULL, true},       {"(null)", true},  {"", true},
	               {"off", false},     {"lossy:3", true}, {"lossless,memory=2MiB", true},
	               {"sometimes", true}};

	for (size_t i = 0; i < COUNT(steps); i++) {
		reset(S_CTX_REMOTE);
		job.step = steps[i].step;
		int rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && !(rc & BAD) && !!(rc & READY) == steps[i].ready, "step %s: %s: %d", steps[i].name,
		   steps[i].ready ? "captured" : "left alone", rc);
	}
	for (size_t i = 0; i < COUNT(choices); i++) {
		for (int option = 0; option < 2; option++) {
			reset(S_CTX_REMOTE);
			job.option = option;
			job.argument = choices[i].value;
			int rc = in_child(in_order, COUNT(in_order));
			ok(rc >= 0 && !(rc & BAD) && !!(rc & READY) == choices[i].ready, "--%s=%s: %d",
			   option ? "spoor" : "trace", choices[i].value ? choices[i].value : "", rc);
		}
	}
	static const int endings[] = {0, 3 << 8, SIGKILL, SIGSEGV | 0x80};
	for (size_t i = 0; i < COUNT(endings); i++) {
		reset(S_CTX_REMOTE);
		job.exit_status = endings[i];
		int rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && !(rc & BAD) && rc & READY, "tasks end with wait status %#x: %d", (unsigned)endings[i],
		   rc);
	}
	reset(S_CTX_REMOTE);
	put("SLURM_CONTAINER", "/bundles/image");
	int rc = in_child(in_order, COUNT(in_order));
	ok(rc >= 0 && !(rc & BAD) && !(rc & READY), "a container is skipped: %d", rc);
	reset(S_CTX_REMOTE);
	put("SPOOR_TRACE", "off");
	rc = in_child(in_order, COUNT(in_order));
	ok(rc >= 0 && !(rc & BAD) && !(rc & READY), "SPOOR_TRACE=off: %d", rc);
	reset(S_CTX_REMOTE);
	put("SPOOR_TRACE", "");
	rc = in_child(in_order, COUNT(in_order));
	ok(rc >= 0 && !(rc & BAD) && rc & READY, "SPOOR_TRACE is empty: as if it were not set: %d", rc);
	for (int i = 0; i < 2; i++) {
		reset(S_CTX_REMOTE);
		job.option = BOTH;
		job.argument = "lossless";
		put("SLURM_SPOOR_OPTION", i ? "spoor" : "trace");
		rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && !(rc & BAD) && (rc & READY ? 0 : 1) == i,
		   "--trace=lossless and --spoor=off, %s comes last: %d", i ? "spoor" : "trace", rc);
	}
	for (int i = 0; i < 4; i++) { /* the policy has "user": "none" */
		static const bool told[] = {true, false, true, false};
		reset(S_CTX_REMOTE);
		put("SLURM_JOB_PARTITION", "forced");
		job.option = 0;
		job.argument = i == 3 ? "on" : "off";
		if (i > 0)
			put("SLURM_SPANK__SLURM_SPANK_OPTION_spoor_trace", "off");
		job.step = i == 1 ? 1 : 0;
		rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && rc & READY && (rc & BAD_TOLD_USER ? true : false) == told[i] &&
		           !(rc & BAD & ~BAD_TOLD_USER),
		   "--trace=%s is not allowed, %s: %d", job.argument,
		   told[i] ? "which the user is told" : "which the user knows", rc);
	}
	/* A traced batch script starts a step: its environment has the tracer already. */
	reset(S_CTX_REMOTE);
	char both[2 * PATH_MAX];
	snprintf(both, sizeof both, "%s:%s", preload_argument + 8, USERS);
	put("LD_PRELOAD", both);
	put("SLURM_SPOOR_HANDOFF", "1;mode=lossless;spool=/gone");
	put("SPOOR_TRACE", "off");
	rc = in_child(in_order, COUNT(in_order));
	ok(rc >= 0 && !(rc & BAD) && !(rc & READY), "off in a step of a traced script: the tracer is taken out: %d",
	   rc);
	/* More than fits anywhere. */
	reset(S_CTX_REMOTE);
	char *huge = malloc(200001);
	memset(huge, 'x', 200000);
	huge[200000] = '\0';
	put("SLURM_JOB_NAME", huge);
	put("SPOOR_TRACE", huge);
	rc = in_child(in_order, COUNT(in_order));
	ok(rc >= 0 && !(rc & BAD), "variables of 200,000 bytes: %d", rc);
}

/* Each call of the plugin's fails once, in each way. */
static void test_failures(bool inherited)
{
	static const spank_err_t ways[] = {ESPANK_ERROR,   ESPANK_BAD_ARG,    ESPANK_ENV_NOEXIST,
	                                   ESPANK_NOSPACE, ESPANK_NOT_REMOTE, ESPANK_NOT_AVAIL};
	int done = 0;

	for (size_t w = 0; w < COUNT(ways); w++) {
		unsigned bad = 0, crashed = 0;
		int k = 0, rc = 0;
		for (; k < 300 && !(rc & END_OF_CALLS); k++) {
			reset(S_CTX_REMOTE);
			if (inherited)
				put("SLURM_SPOOR_HANDOFF", "1;mode=lossless;spool=/gone");
			failing = k;
			failure = ways[w];
			rc = in_child(in_order, COUNT(in_order));
			/* LD_PRELOAD "is not there" though it is: nobody can know. */
			if (ways[w] == ESPANK_ENV_NOEXIST && rc > 0)
				rc &= ~BAD_ENVIRONMENT;
			crashed += rc < 0;
			bad += rc > 0 && rc & BAD;
			rc = rc < 0 ? 0 : rc;
		}
		done += k - 1;
		ok(crashed == 0 && bad == 0 && k > 10 && k < 300,
		   "each of %d calls fails with error %d: %u crash, %u are not right", k - 1, (int)ways[w], crashed,
		   bad);
	}
	printf("# %d failures of calls\n", done);
}

static void test_arguments(void)
{
	static char *const sets[][2] = {{"policy=relative", NULL},        {"nonsense", NULL},
	                                {"helper=/nowhere/helper", NULL}, {"policy=/nowhere/policy.json", NULL},
	                                {"preload=/with blank.so", NULL}, {"helper=", "policy="}};
	for (size_t i = 0; i < COUNT(sets); i++) {
		reset(S_CTX_REMOTE);
		char *kept[4];
		memcpy(kept, arguments, sizeof kept);
		int count = argument_count;
		arguments[argument_count++] = sets[i][0];
		int rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && !(rc & BAD), "plugstack.conf: %s: %d", sets[i][0], rc);
		memcpy(arguments, kept, sizeof kept);
		argument_count = count;
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *build = getenv("SPOOR_BUILD"), *temporary = getenv("TMPDIR");
	char path[PATH_MAX + 64], text[3 * PATH_MAX], here[PATH_MAX];

	if (geteuid() != 0) {
		puts("1..0 # SKIP slurmstepd is root");
		return 0;
	}
	if (!build)
		build = getcwd(here, sizeof here);
	snprintf(text, sizeof text, "%s/.libs/spoor.so", build);
	plugin_path = argc > 1 ? argv[1] : strdup(text);
	snprintf(folder, sizeof folder - 64, "%s/fake.XXXXXX", temporary ? temporary : "/tmp");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return 1;
	snprintf(path, sizeof path, "%s/policy.json", folder);
	snprintf(text, sizeof text,
	         "{\"version\": 1, \"mode\": \"lossless\", \"archive\": \"%s/archive\", \"spool\": \"%s/spool\", "
	         "\"deadline\": 3, \"rules\": [{\"name\": \"all\", \"match\": {\"partition\": \"forced\"}, "
	         "\"mode\": \"lossless\", \"user\": \"none\"}]}",
	         folder, folder);
	write_file(path, text);
	snprintf(policy_argument, sizeof policy_argument, "policy=%s", path);
	snprintf(helper_argument, sizeof helper_argument, "helper=%s/spoor-helper", build);
	snprintf(preload_argument, sizeof preload_argument, "preload=%s/.libs/libspoor-gate.so", build);
	arguments[argument_count++] = policy_argument;
	arguments[argument_count++] = helper_argument;
	arguments[argument_count++] = preload_argument;

	test_contexts();
	test_steps();
	test_arguments();
	test_failures(false);
	test_failures(true);
	static const char *const json[] = {"libjson-c.so.5", "libjson-c.so.4", "libjson-c.so.3", "libjansson.so.4"};
	for (size_t i = 0; i < COUNT(json); i++) {
		void *there = dlopen(json[i], RTLD_LAZY);
		if (!there)
			continue;
		dlclose(there);
		first_library = json[i];
		reset(S_CTX_REMOTE);
		int rc = in_child(in_order, COUNT(in_order));
		ok(rc >= 0 && !(rc & BAD) && rc & READY, "with %s in the process: %d", json[i], rc);
	}
	snprintf(text, sizeof text, "rm -rf '%s'", folder);
	if (system(text))
		return 1;
	return tap_end();
}
