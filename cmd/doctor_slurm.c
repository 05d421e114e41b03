/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_slurm - of `spoor doctor`: what is installed, and what Slurm loads
 */
#include "cmd/doctor.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include "process/process.h"
#include "spank/config.h"

/* --- what is installed --- */

struct doctor_streams {
	int out;
	const char *preload;
};

static void prepare_run(void *context)
{
	const struct doctor_streams *s = context;
	dup2(s->out, 1);
	dup2(s->out, 2);
	if (s->preload)
		setenv("LD_PRELOAD", s->preload, 1);
}

int doctor_run(char *const argv[], const char *preload, char *out, size_t size)
{
	int ends[2];
	size_t n = 0;
	int status = -1;

	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	struct doctor_streams streams = {ends[1], preload};
	pid_t pid = process_own(NULL, argv, prepare_run, &streams);
	close(ends[1]);
	for (ssize_t got; pid > 0 && n + 1 < size && (got = read(ends[0], out + n, size - 1 - n)) > 0;)
		n += (size_t)got;
	out[n] = '\0';
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return status;
}

const char *const doctor_tracers[][2] = {{SPOOR_PKGLIBDIR "/libspoor-openmpi.so", "Open MPI"},
                                         {SPOOR_PKGLIBDIR "/libspoor-mpich.so", "the MPICH family"},
                                         {SPOOR_PKGLIBDIR "/libspoor-abi.so", "the standard ABI of MPI 5"},
                                         {NULL, NULL}};

/* Without one of the tracers, programs of its MPI libraries run untraced. The gate itself asks for no more. */
static void check_tracers(void)
{
	char *const argv[] = {"true", NULL};
	char out[512];

	for (size_t i = 0; doctor_tracers[i][0]; i++) {
		const char *path = doctor_tracers[i][0], *libraries = doctor_tracers[i][1];

		if (access(path, F_OK))
			doctor_say(DOUBT, "%s: is not there: programs of %s run untraced", path, libraries);
		else if (doctor_run(argv, path, out, sizeof out) != 0 || out[0])
			doctor_say(
				WRONG,
				"%s: cannot be loaded into a process: programs of %s run untraced; install spoor again",
				path, libraries);
		else
			doctor_say(GOOD, "%s: the tracer for %s can be loaded", path, libraries);
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
	int status = doctor_run(argv, preload, out, sizeof out);
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

/* The value of an unsigned variable of a library; 0: there is none. It is not loaded: where distributions link with
 * `-z now`, a plugin wants Slurm's functions at once. */
static unsigned library_variable(const char *path, const char *name)
{
	unsigned value = 0;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *file =
		fd >= 0 && !fstat(fd, &st) ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	uint64_t size = file == MAP_FAILED ? 0 : (uint64_t)st.st_size, n = strlen(name) + 1;
	const ElfW(Ehdr) *header = (const void *)file;
	bool is_library = size > sizeof *header && !memcmp(file, ELFMAG, SELFMAG) && header->e_shoff < size &&
	                  header->e_shnum <= (size - header->e_shoff) / sizeof(ElfW(Shdr));
	const ElfW(Shdr) *section = is_library ? (const void *)(file + header->e_shoff) : NULL;

	for (unsigned i = 0; is_library && i < header->e_shnum; i++) {
		if (section[i].sh_type != SHT_DYNSYM || section[i].sh_link >= header->e_shnum ||
		    section[i].sh_offset > size || section[i].sh_size > size - section[i].sh_offset)
			continue;
		const ElfW(Sym) *symbol = (const void *)(file + section[i].sh_offset);
		for (uint64_t k = 0; k < section[i].sh_size / sizeof *symbol; k++) {
			uint64_t text = section[section[i].sh_link].sh_offset + symbol[k].st_name;
			if (text > size || size - text < n || memcmp(file + text, name, n) ||
			    symbol[k].st_shndx >= header->e_shnum)
				continue;
			const ElfW(Shdr) *home = &section[symbol[k].st_shndx];
			uint64_t at = symbol[k].st_value - home->sh_addr + home->sh_offset;
			if (at < size && size - at >= sizeof value)
				memcpy(&value, file + at, sizeof value);
		}
	}
	if (file != MAP_FAILED)
		munmap((void *)(uintptr_t)file, (size_t)st.st_size);
	if (fd >= 0)
		close(fd);
	return value;
}

/* The plugin fits one release of Slurm. An optional one that does not fit is left out, which Slurm tells users. */
static void check_plugin_version(const char *path)
{
	char *const argv[] = {"sinfo", "--version", NULL};
	char out[256];

	const unsigned version = library_variable(path, "plugin_version");
	if (!version) {
		doctor_say(WRONG, "%s: is not a plugin%s%s", path, access(path, R_OK) ? ": " : "",
		           access(path, R_OK) ? strerror(errno) : "");
		return;
	}
	unsigned major = version >> 16 & 0xff, minor = version >> 8 & 0xff, installed_major, installed_minor;
	int status = doctor_run(argv, NULL, out, sizeof out);
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
}

/* --- Slurm's plugin stack --- */

/* What the plugin would say to a line of its own: only slurmd's log has that. */
static void check_arguments(const struct plugstack *stack)
{
	char copy[sizeof stack->arguments], *rest = copy, *argv[64];
	struct config config;
	struct error error = {""};
	int argc = 0;

	memcpy(copy, stack->arguments, sizeof copy);
	while (argc < 64 && (argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	if (config_read(&config, argc, argv, &error))
		doctor_say(WRONG, "%s: %s; the plugin leaves it out, and takes what is installed", stack->file,
		           error.text);
	char gate[PLUGSTACK_PATH];
	config_plain_path(config.preload, gate, sizeof gate);
	if (access(config.helper, X_OK))
		doctor_say(WRONG, "%s: helper=%s: %s", stack->file, config.helper, strerror(errno));
	if (access(gate, R_OK))
		doctor_say(WRONG, "%s: preload=%s: %s: %s", stack->file, config.preload, gate, strerror(errno));
}

void doctor_slurm(const struct plugstack *stack)
{
	char plugin[2 * PLUGSTACK_PATH];

	if (!stack->file[0] || access(plugstack_slurm_conf(), R_OK)) {
		doctor_say(DOUBT, "%s: Slurm's configuration cannot be read: %s; set SLURM_CONF",
		           plugstack_slurm_conf(), strerror(errno));
		return;
	}
	if (!stack->loaded) {
		doctor_say(WRONG, "%s: Slurm does not load spoor; add the line: optional %s/spoor.so", stack->file,
		           SPOOR_PLUGINDIR);
		return;
	}
	if (stack->loaded > 1)
		doctor_say(WRONG,
		           "%s: %u lines load spoor: each step is prepared as often, with other arguments; leave one",
		           stack->file, stack->loaded);
	else if (stack->required)
		doctor_say(
			DOUBT,
			"%s: spoor is \"required\": after an upgrade of Slurm no job would start; make it \"optional\"",
			stack->file);
	else
		doctor_say(GOOD, "%s: Slurm loads spoor", stack->file);
	check_arguments(stack);
	snprintf(plugin, sizeof plugin, "%s%s", strchr(stack->plugin, '/') ? "" : SPOOR_PLUGINDIR "/", stack->plugin);
	check_plugin_version(plugin);
}

/* What fills the one fills the other: then jobs cannot start. */
void doctor_spool_disk(const char *spool)
{
	char slurm[PLUGSTACK_PATH] = "/var/spool/slurmd";
	struct stat a, b;

	plugstack_setting("SlurmdSpoolDir", slurm, sizeof slurm);
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
