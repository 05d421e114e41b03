/* SPDX-License-Identifier: BSD-3-Clause
 * storm - threads that open, look into and close libraries all the time, while the program begins, calls and ends MPI;
 * and forks
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int over;

static void *opens(void *name)
{
	long failed = 0;

	while (!over) {
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

		failed += !library || !dlsym(library, "deflate") == !dlsym(RTLD_DEFAULT, "no_such_function") ||
		          dlclose(library);
		dlerror();
	}
	return (void *)failed;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	long failed = 0;
	int provided, children = 0, sum = 0;

	for (int i = 0; argc > 1 && i < 3; i++)
		if (pthread_create(&threads[i], NULL, opens, argv[1]))
			return 1;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	for (int i = 0; i < 2000; i++) {
		int one = 1, out = 0, status = -1;
		pid_t pid;

		MPI_Allreduce(&one, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		sum += out;
		if (i % 200)
			continue;
		pid = fork();
		if (!pid)
			_exit(dlsym(RTLD_DEFAULT, "puts") ? 7 : 8);
		if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7)
			children++;
	}
	MPI_Finalize();
	over = 1;
	for (int i = 0; argc > 1 && i < 3; i++) {
		void *value;

		pthread_join(threads[i], &value);
		failed += (long)value;
	}
	printf("sum %d, children %d, failed %ld\n", sum, children, failed);
	return 0;
}
