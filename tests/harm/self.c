/* SPDX-License-Identifier: BSD-3-Clause
 * self - an MPI program that does something odd to itself between its calls, and says what it sees
 *
 *     self ACTION [COMMAND]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <grp.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static const char *action, *command;
static volatile sig_atomic_t ticks;

static void tick(int number)
{
	ticks += number == SIGALRM;
}

static void report_state(const char *when)
{
	char line[256];
	sigset_t blocked;
	struct sigaction handler;
	FILE *status;

	printf("%s: umask", when);
	mode_t mask = umask(0);
	umask(mask);
	printf(" %o, handlers", (unsigned)mask);
	for (int i = 1; i < 65; i++)
		if (!sigaction(i, NULL, &handler) && handler.sa_handler != SIG_DFL)
			printf(" %d", i);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	printf(", blocked");
	for (int i = 1; i < 65; i++)
		if (sigismember(&blocked, i) == 1)
			printf(" %d", i);
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit((__rlimit_resource_t)i, &limit))
			printf(", %d: %lld %lld", i, (long long)limit.rlim_cur, (long long)limit.rlim_max);
	}
	printf(", dumpable %d, keeps %d, new privileges %d, name ", prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		if (!strncmp(line, "Threads:", 8) || !strncmp(line, "Name:", 5) ||
		    (!strncmp(line, "Sig", 3) && line[3] != 'Q') || !strncmp(line, "Shd", 3))
			fputs(line, stdout);
	if (status)
		fclose(status);
}

static void act(int argc, char **argv)
{
	struct itimerval often = {{0, 300}, {0, 300}};

	if (!strcmp(action, "command"))
		printf("command %d\n", system(command));
	else if (!strcmp(action, "user"))
		printf("user %d\n",
		       setgroups(0, NULL) || setresgid(65123, 65123, 65123) || setresuid(65123, 65123, 65123));
	else if (!strcmp(action, "chroot"))
		printf("chroot %d\n", mkdir("empty", 0755) || chroot("empty") || chdir("/"));
	else if (!strcmp(action, "umask"))
		umask(0777);
	else if (!strcmp(action, "environment"))
		clearenv();
	else if (!strcmp(action, "title")) /* as setproctitle: all that was there at the beginning is overwritten */
		for (char *p = argv[0], *end = argv[argc - 1] + strlen(argv[argc - 1]); p < end; p++)
			*p = 'x';
	else if (!strcmp(action, "timer"))
		signal(SIGALRM, tick), setitimer(ITIMER_REAL, &often, NULL);
	else if (!strcmp(action, "exceptions"))
		feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
	else if (!strcmp(action, "rounding"))
		feclearexcept(FE_ALL_EXCEPT), fesetround(FE_UPWARD);
	else if (!strcmp(action, "lock"))
		printf("lock %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
	else if (!strcmp(action, "dumpable"))
		prctl(PR_SET_DUMPABLE, 0);
	else if (!strcmp(action, "daemon"))
		printf("daemon %d\n", daemon(1, 1));
	else if (!strcmp(action, "unlink"))
		printf("unlink %d\n", unlink(argv[0]));
	else if (!strcmp(action, "size"))
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
	else if (!strcmp(action, "memory")) {
		struct rlimit limit = {0, 0};
		long pages = 0;
		FILE *file = fopen("/proc/self/statm", "r");

		if (file && fscanf(file, "%ld", &pages) == 1)
			limit.rlim_cur = limit.rlim_max = (rlim_t)(pages * 4096 + (1 << 20));
		setrlimit(RLIMIT_AS, &limit);
	} else if (!strcmp(action, "files"))
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
	else if (!strcmp(action, "signals")) {
		sigset_t all;

		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
	}
}

/* Many kinds of calls with many values, so that the tracer has to keep much. */
static int calls(int n)
{
	int sum = 0, *data = calloc((size_t)n, sizeof *data);

	for (int i = 0; i < n; i++) {
		int one = 1, out = 0;
		MPI_Request request;

		MPI_Irecv(data, n, MPI_INT, 0, i * 7919 % 1000, MPI_COMM_SELF, &request);
		errno = 4711;
		MPI_Send(data, i * 104729 % n, MPI_INT, 0, i * 7919 % 1000, MPI_COMM_SELF);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (errno != 4711)
			printf("errno %d\n", errno);
		MPI_Allreduce(&one, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		sum += out;
	}
	free(data);
	return sum;
}

int main(int argc, char **argv)
{
	int sum;

	if (argc < 2)
		return 1;
	action = strdup(argv[1]);
	command = argc > 2 ? strdup(argv[2]) : "";
	if (!strcmp(action, "state"))
		report_state("before");
	MPI_Init(NULL, NULL);
	if (!strcmp(action, "state"))
		report_state("between");
	sum = calls(3000);
	fflush(stdout);
	act(argc, argv);
	sum += calls(3000);
	if (!strcmp(action, "rounding"))
		printf("rounding %d, exceptions %x\n", fegetround() == FE_UPWARD,
		       (unsigned)fetestexcept(FE_ALL_EXCEPT));
	if (!strcmp(action, "timer"))
		setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL), printf("ticks %d\n", ticks > 0);
	MPI_Finalize();
	if (!strcmp(action, "state"))
		report_state("after");
	printf("%s: sum %d\n", action, sum);
	return 3;
}
