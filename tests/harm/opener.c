/* SPDX-License-Identifier: BSD-3-Clause
 * opener - a program without MPI that opens a library in some way and calls its run()
 *
 *     opener local|global|lazy|deep|apart|twice|closed|registers LIBRARY
 *
 * With -DWITH_MPI it is an MPI program itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static const struct way {
	const char *name;
	int flags;
} ways[] = {
	{"local", RTLD_NOW | RTLD_LOCAL},
	{"global", RTLD_NOW | RTLD_GLOBAL},
	{"lazy", RTLD_LAZY | RTLD_LOCAL},
	{"deep", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND},
	{"apart", RTLD_NOW},  /* in a namespace of its own */
	{"twice", RTLD_NOW},  /* closed again before it is used */
	{"closed", RTLD_NOW}, /* closed after it */
	{"registers", RTLD_NOW},
};

extern int (*registered)(void);
int (*registered)(void); /* run() of a plugin that said so itself; nobody looks it up */

static int run_library(int argc, char **argv)
{
	for (unsigned i = 0; argc == 3 && i < sizeof ways / sizeof *ways; i++) {
		void *library;
		int (*run)(void), status = 2;

		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (!strcmp(argv[1], "twice")) {
			library = dlopen(argv[2], ways[i].flags);
			if (library)
				dlclose(library);
		}
		library = strcmp(argv[1], "apart") ? dlopen(argv[2], ways[i].flags)
		                                   : dlmopen(LM_ID_NEWLM, argv[2], ways[i].flags);
		if (!library) {
			puts(dlerror());
			return 1;
		}
		run = registered ? registered : (int (*)(void))dlsym(library, "run");
		if (run)
			status = run();
		if (!strcmp(argv[1], "closed"))
			printf("closed %d\n", dlclose(library));
		return status;
	}
	return 3;
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
	int one = 1, sum = 0, status;

	MPI_Init(&argc, &argv);
	status = run_library(argc, argv);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("sum %d\n", sum);
	MPI_Finalize();
	return status;
#else
	return run_library(argc, argv);
#endif
}
