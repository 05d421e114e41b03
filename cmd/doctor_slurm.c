/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_slurm - of `spoor doctor`: what is installed, and what Slurm loads
 */
#include "cmd/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

/* --- what is installed --- */

/* Runs a command, its output in out (with a NUL). Returns its status as wait() gives it, or -1. */
static int run_captured(char *const argv[], const char *preload, char *out, size_t size)
{
	int ends[2];
	size_t n = 0;
	int status = -1;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	for (ssize_t got; pid > 0 && n + 1 < size && (got = read(ends[0], out + n, size - 1 - n)) > 0;)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

/* Without one of the tracers, programs of its MPI libraries run untraced. The gate itself asks for no more. */
static void check_tracers(void)
{
	static const struct {
		const char *path, *libraries;
	} tracers[] = {{SPOOR_PKGLIBDIR "/libspoor-openmpi.so", "Open MPI"},
	               {SPOOR_PKGLIBDIR "/libspoor-mpich.so", "the MPICH family"},
	               {SPOOR_PKGLIBDIR "/libspoor-abi.so", "the standard ABI of MPI 5"}};
	char *const argv[] = {"true", NULL};
	char out[512];

	for (size_t i = 0; i < sizeof tracers / sizeof *tracers; i++) {
		const char *path = tracers[i].path;

		if (access(path, F_OK))
			doctor_say(DOUBT, "%s: is not there: programs of %s run untraced", path, tracers[i].libraries);
		else if (run_captured(argv, path, out, sizeof out) != 0 || out[0])
			doctor_say(
				WRONG,
				"%s: cannot be loaded into a process: programs of %s run untraced; install spoor again",
				path, tracers[i].libraries);
		else
			doctor_say(GOOD, "%s: the tracer for %s can be loaded", path, tracers[i].libraries);
	}
}

void doctor_tracer(void)
{
	static const char path[] = SPOOR_PKGLIBDIR "/libspoor-gate.so",
			  preload[] = SPOOR_PKGLIBDIR SPOOR_GATE_FOLDER "/libspoor-gate.so";
	char *const argv[] = {"true", NULL};
	char out[512];
	struct stat st;

	if (stat(path, &st)) {
		doctor_say(WRONG, "%s: the gate is not there: %s; run `make install`", path, strerror(errno));
		return;
	}
	if (!(st.st_mode & S_IROTH))
		doctor_say(WRONG, "%s: users cannot read the gate (mode %04o); chmod 755 it", path,
		           (unsigned)st.st_mode & 07777);
	int status = run_captured(argv, preload, out, sizeof out);
	out[strcspn(out, "\n")] = '\0';
	if (status != 0 || out[0])
		doctor_say(WRONG, "%s: cannot be loaded into a process: %s", path, out);
	else
		doctor_say(GOOD, "%s: the gate can be loaded", path);
	check_tracers();
}

void doctor_helper(void)
{
	static const char path[] = SPOOR_LIBEXECDIR "/spoor-helper";
	struct stat st;

	if (stat(path, &st))
		doctor_say(WRONG, "%s: the helper is not there: %s; run `make install`", path, strerror(errno));
	else if (!(st.st_mode & S_IXOTH))
		doctor_say(WRONG, "%s: users cannot execute the helper (mode %04o); chmod 755 it", path,
		           (unsigned)st.st_mode & 07777);
	else
		doctor_say(GOOD, "%s: the helper is there", path);
}

/* The plugin fits one release of Slurm, and an optional one that does not fit is left out without a word. */
static void check_plugin_version(const char *path)
{
	char *const argv[] = {"sinfo", "--version", NULL};
	char out[256];

	void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	const unsigned *version = plugin ? dlsym(plugin, "plugin_version") : NULL;
	if (!version) {
		doctor_say(WRONG, "%s: is not a plugin: %s", path, dlerror());
		return;
	}
	unsigned major = *version >> 16 & 0xff, minor = *version >> 8 & 0xff, installed_major, installed_minor;
	int status = run_captured(argv, NULL, out, sizeof out);
	const char *number = strpbrk(out, "0123456789");
	if (status != 0 || !number || sscanf(number, "%u.%u", &installed_major, &installed_minor) != 2)
		doctor_say(DOUBT, "%s: made for Slurm %u.%02u; `sinfo --version` does not say which is installed", path,
		           major, minor);
	else if (major != installed_major || minor != installed_minor)
		doctor_say(WRONG,
		           "%s: made for Slurm %u.%02u, installed is %u.%02u: Slurm leaves it out; build spoor again",
		           path, major, minor, installed_major, installed_minor);
	else
		doctor_say(GOOD, "%s: the plugin is made for the Slurm that is installed (%u.%02u)", path, major,
		           minor);
	dlclose(plugin);
}

/* --- Slurm's plugin stack --- */

static void stack_read(const char *path, int depth, struct plugin_stack *stack);

/* `include GLOB`, relative to the file that has it. */
static void stack_include(const char *from, const char *pattern, int depth, struct plugin_stack *stack)
{
	char full[DOCTOR_PATH];
	const char *slash = strrchr(from, '/');
	glob_t found;

	snprintf(full, sizeof full, "%.*s%s", pattern[0] == '/' || !slash ? 0 : (int)(slash - from + 1), from, pattern);
	if (depth < 8 && glob(full, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			stack_read(found.gl_pathv[i], depth + 1, stack);
		globfree(&found);
	}
}

static void stack_read_line(const char *path, char *line, int depth, struct plugin_stack *stack)
{
	char *rest = line, *word = strtok_r(rest, " \t\n", &rest), *file = strtok_r(NULL, " \t\n", &rest);

	if (!word || word[0] == '#' || !file)
		return;
	if (!strcmp(word, "include")) {
		stack_include(path, file, depth, stack);
		return;
	}
	const char *slash = strrchr(file, '/');
	if (strcmp(slash ? slash + 1 : file, "spoor.so"))
		return;
	snprintf(stack->plugin, sizeof stack->plugin, "%s%s", slash ? "" : SPOOR_PLUGINDIR "/", file);
	stack->required = !strcmp(word, "required");
	for (char *argument; (argument = strtok_r(NULL, " \t\n", &rest));) {
		if (!strncmp(argument, "policy=", 7))
			snprintf(stack->policy, sizeof stack->policy, "%s", argument + 7);
	}
}

static void stack_read(const char *path, int depth, struct plugin_stack *stack)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (getline(&line, &size, file) >= 0)
		stack_read_line(path, line, depth, stack);
	free(line);
	fclose(file);
}

static const char *slurm_conf(void)
{
	const char *path = getenv("SLURM_CONF");
	return path && *path ? path : "/etc/slurm/slurm.conf";
}

/* What slurm.conf says; value stays as it is if it does not. Returns -1 if there is no slurm.conf. */
static int slurm_setting(const char *key, char value[DOCTOR_PATH])
{
	char *line = NULL;
	size_t size = 0, n = strlen(key);
	FILE *file = fopen(slurm_conf(), "re");

	if (!file)
		return -1;
	while (getline(&line, &size, file) >= 0) {
		const char *text = line + strspn(line, " \t");
		if (!strncasecmp(text, key, n) && text[n] == '=')
			snprintf(value, DOCTOR_PATH, "%.*s", (int)strcspn(text + n + 1, " \t\n#"), text + n + 1);
	}
	free(line);
	fclose(file);
	return 0;
}

/* The plugin stack's file: as slurm.conf says, or beside it. Returns 0, or -1 if there is no slurm.conf. */
static int stack_find(char out[DOCTOR_PATH])
{
	const char *path = slurm_conf(), *slash = strrchr(path, '/');

	snprintf(out, DOCTOR_PATH, "%.*splugstack.conf", slash ? (int)(slash - path + 1) : 0, path);
	if (slurm_setting("PlugStackConfig", out) == 0)
		return 0;
	doctor_say(DOUBT, "%s: Slurm's configuration cannot be read: %s; set SLURM_CONF", path, strerror(errno));
	return -1;
}

void doctor_slurm(struct plugin_stack *stack)
{
	char path[DOCTOR_PATH];

	if (stack_find(path))
		return;
	stack_read(path, 0, stack);
	if (!stack->plugin[0]) {
		doctor_say(WRONG, "%s: Slurm does not load spoor; add the line: optional %s/spoor.so", path,
		           SPOOR_PLUGINDIR);
		return;
	}
	if (stack->required)
		doctor_say(
			DOUBT,
			"%s: spoor is \"required\": after an upgrade of Slurm no job would start; make it \"optional\"",
			path);
	else
		doctor_say(GOOD, "%s: Slurm loads spoor", path);
	check_plugin_version(stack->plugin);
}

void doctor_read_stack(struct plugin_stack *stack)
{
	char path[DOCTOR_PATH];
	if (stack_find(path) == 0)
		stack_read(path, 0, stack);
}

/* What fills the one fills the other: then jobs cannot start. */
void doctor_spool_disk(const char *spool)
{
	char slurm[DOCTOR_PATH] = "/var/spool/slurmd";
	struct stat a, b;

	slurm_setting("SlurmdSpoolDir", slurm);
	slurm[strcspn(slurm, "%")] = '\0'; /* it has the node's name in it: look at the folder above */
	char *slash = strrchr(slurm, '/');
	if (stat(slurm, &b) && slash && slash > slurm)
		*slash = '\0';
	if (stat(spool, &a) || stat(slurm, &b))
		return;
	if (a.st_dev == b.st_dev)
		doctor_say(DOUBT,
		           "%s: is on the same file system as Slurm's SlurmdSpoolDir (%s): jobs that fill the one fill "
		           "the "
		           "other; give the spool a file system of its own",
		           spool, slurm);
	else
		doctor_say(GOOD, "%s: is on another file system than Slurm's SlurmdSpoolDir", spool);
}
