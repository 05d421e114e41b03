/* SPDX-License-Identifier: BSD-3-Clause
 * run_reason - why `spoor run` has no trace
 */
#include "cmd/run_reason.h"
#include "trace/base/path.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file that a shell would start; false if there is none. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	struct stat st;
	const char *folders = getenv("PATH");

	if (strchr(name, '/'))
		return (size_t)snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && stat(path, &st) == 0 &&
		       S_ISREG(st.st_mode) && access(path, X_OK) == 0;
	for (size_t n; folders && *folders; folders += n + (folders[n] == ':')) {
		n = strcspn(folders, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", (int)n, folders, name) < PATH_MAX && stat(path, &st) == 0 &&
		    S_ISREG(st.st_mode) && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The MPI program that a command starts, as far as that can be seen from it. */
static bool find_mpi_program(char *const *command, char path[PATH_MAX])
{
	static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
	bool launched = false;

	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		launched |= strcmp(path_name(command[0]), launchers[i]) == 0;
	if (!launched)
		return find_program(command[0], path);
	for (char *const *word = command + 1; *word; word++)
		if ((*word)[0] != '-' && find_program(*word, path))
			return true;
	return false;
}

/* What can be seen of an executable file. */
struct executable {
	bool is_static; /* nothing is loaded with it */
	bool names_mpi; /* MPI_Init is one of its symbols */
};

static struct executable look_at(const char *path)
{
	static const char init[] = "\0MPI_Init";
	struct executable x = {false, false};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
	const char *at = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	if (at == MAP_FAILED)
		return x;
	Elf64_Ehdr head;
	memcpy(&head, at, size < sizeof head ? 0 : sizeof head);
	if (size >= sizeof head && memcmp(at, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
	    head.e_phentsize == sizeof(Elf64_Phdr) && head.e_phoff <= size &&
	    head.e_phnum <= (size - head.e_phoff) / sizeof(Elf64_Phdr)) {
		x.is_static = true;
		for (size_t i = 0; i < head.e_phnum; i++) {
			Elf64_Phdr p;
			memcpy(&p, at + head.e_phoff + i * sizeof p, sizeof p);
			x.is_static &= p.p_type != PT_INTERP;
		}
		x.names_mpi = memmem(at, size, init, sizeof init) != NULL;
	}
	munmap((void *)at, size);
	return x;
}

void run_reason(const struct step_files *files, char *const *command, int exit_status, char *out, size_t size)
{
	static const char aside[] = "not captured: ";
	char path[PATH_MAX], note[400];

	if (step_files_note(files, note, sizeof note)) {
		snprintf(out, size, "%s", note + (strncmp(note, aside, sizeof aside - 1) ? 0 : sizeof aside - 1));
		return;
	}
	struct executable x = {false, false};
	if (find_mpi_program(command, path))
		x = look_at(path);
	if (x.is_static)
		snprintf(out, size, "%s is linked statically: no library can be preloaded into it", path_name(path));
	else if (x.names_mpi && exit_status != 0)
		snprintf(out, size, "%s ended with status %d: %s was not started, or with another LD_PRELOAD",
		         command[0], exit_status, path_name(path));
	else if (x.names_mpi)
		snprintf(out, size,
		         "%s was started with another LD_PRELOAD, or its MPI is a replacement without PMPI functions",
		         path_name(path));
	else
		snprintf(out, size,
		         "%s ran no MPI program that the tracer can be in (of Open MPI, MPICH or the standard ABI, "
		         "linked dynamically, with this LD_PRELOAD)",
		         command[0]);
}
