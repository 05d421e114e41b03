/* SPDX-License-Identifier: BSD-3-Clause
 * asks - looks MPI's names up as R, Julia and plugin systems do: in the global scope, in the libraries behind, in the
 * program itself, by versions
 *
 * Built without and with MPI linked to it. Says which name is where, and what dlerror says of the others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef WITH_MPI
#include <mpi.h>
static void *volatile used = (void *)MPI_Init;
#endif

static const char *const names[] = {
	"MPI_Comm_size",
	"PMPI_Comm_size",
	"mpi_comm_size",
	"mpi_comm_size_",
	"mpi_comm_size__",
	"MPI_COMM_SIZE",
	"pmpi_comm_size_",
	"mpi_comm_size_f08_",
	"MPI_Send_c",
	"MPI_Sendrecv_c",
	"mpi_init",
	"mpi_send",
	"mpi_initialize",
	"MPI_Session_init",
	"MPI_Abi_get_version",
	"MPI_Comm_c2f",
	"MPI_Wtime",
	"mpi_wtime_",
	"MPI_Type_create_f90_real",
	"dlsym",
	"dlclose",
	"chroot",
	"puts",
	"no_such_function",
};

static void ask(const char *where, void *scope, const char *name)
{
	const char *error;
	void *found;

	dlerror();
	found = dlsym(scope, name);
	error = dlerror();
	if (!found)
		printf("%s %s: %s\n", where, name,
		       error ? strstr(error, "undefined symbol") ? strstr(error, "undefined symbol") : error
		             : "no error");
	else
		printf("%s %s: there\n", where, name);
}

int main(void)
{
	void *own = dlopen(NULL, RTLD_LAZY), *c = dlopen("libc.so.6", RTLD_LAZY);

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		int ours = !strncmp(names[i], "dl", 2) ||
		           !strcmp(names[i], "chroot"); /* the tracer's own: they are there before and after */

		if (!ours) {
			ask("default", RTLD_DEFAULT, names[i]);
			ask("next", RTLD_NEXT, names[i]);
			ask("program", own, names[i]);
		}
		ask("libc", c, names[i]);
	}
	return 0;
}
