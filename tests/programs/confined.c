/* SPDX-License-Identifier: BSD-3-Clause
 * confined - a program in a narrow place, or that makes it narrow for itself: what it does, and prints, must be the
 * same under a tracer
 *
 *     confined [WHAT [FILE [NUMBER]]]
 *
 * It calls MPI; then, or before, does WHAT; then calls MPI so often, with new texts, that a tracer needs more memory;
 * and ends. It prints a line for each thing that could have gone wrong, and names of descriptors that are none of its
 * own and not of the MPI library's.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, size;
static const char *what = "nothing", *file = "";
static long number;
static char said[1 << 16]; /* what is printed in the end, when standard output is a file again */

static int is(const char *name)
{
	return strcmp(what, name) == 0;
}

static void say(const char *text, long value)
{
	size_t n = strlen(said);
	snprintf(said + n, sizeof(said) - n, "%s %ld\n", text, value);
}

static void limit(int which, rlim_t value)
{
	struct rlimit l = {value, value};
	if (setrlimit(which, &l) != 0)
		say("setrlimit: errno", errno);
}

/* --- calls --- */

static void ring(void)
{
	int in, out = rank;
	for (int i = 0; i < 20; i++)
		MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A call that is refused: a tracer cannot know what its arguments point to. */
static void refused(void)
{
	MPI_Info info;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Info_create(&info);
	say("MPI_Info_set:", MPI_Info_set(info, "", "x") != MPI_SUCCESS);
	MPI_Info_free(&info);
}

/* Texts of which each is another: more than a megabyte of them. Not for MPI_COMM_WORLD: Open MPI 5.0.7 has memory for
 * its first name only (tests/launch.py). */
static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Datatype type;
	MPI_Type_contiguous(1, MPI_INT, &type);
	for (int i = 0; i < 15000; i++) {
		snprintf(name, sizeof(name), "a name of about sixty characters, so that they are many %06d", i);
		MPI_Type_set_name(type, name);
	}
	MPI_Type_free(&type);
}

/* --- descriptors --- */

/* What is open and has to do with tracing. */
static void look(const char *when)
{
	DIR *dir = opendir("/proc/self/fd");
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char target[512];
		ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strstr(target, ".arena") || strstr(target, "world-") || strstr(target, "note-")) {
			say(target, atoi(e->d_name));
			say(when, -1);
		}
	}
	if (dir)
		closedir(dir);
}

/* Closes a descriptor twice; in between the tracer has begun. A file of the application then has the number. */
static int mine = -1;
static void double_close(void)
{
	int fd = open("/dev/null", O_RDONLY), flag;
	close(fd);
	MPI_Initialized(&flag);
	close(fd);
	mine = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (write(mine, "content", 7) != 7)
		say("write: errno", errno);
}

static void keep_all(void)
{
	int n = 0;
	limit(RLIMIT_NOFILE, 64);
	while (open("/dev/null", O_RDONLY) >= 0)
		n++;
	say("open: errno", errno);
}

/* --- filters --- */

/* What MPI programs do without, but a tracer might want. */
static const int unusual[] = {
#ifdef SYS_fork /* arm64 does not have these */
	SYS_link,
	SYS_rename,
	SYS_readlink,
	SYS_chmod,
	SYS_fork,
	SYS_vfork,
#endif
	SYS_membarrier,
	SYS_fallocate,
	SYS_flock,
	SYS_fsync,
	SYS_fdatasync,
	SYS_prlimit64,
	SYS_prctl,
	SYS_mincore,
	SYS_msync,
	SYS_linkat,
	SYS_renameat,
	SYS_renameat2,
	SYS_fchmod,
	SYS_ftruncate,
	SYS_gettid,
	SYS_memfd_create,
	SYS_userfaultfd,
	SYS_perf_event_open,
	SYS_process_vm_readv,
	SYS_getrusage,
	SYS_times,
	SYS_ptrace};
#define UNUSUAL (sizeof(unusual) / sizeof(unusual[0]))

static void filter(unsigned answer, int opens)
{
	struct sock_filter code[2 * UNUSUAL + 8];
	unsigned short n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < UNUSUAL; i++) {
		if (unusual[i] == SYS_ftruncate && !opens) /* MPI_Init does that, and it is not over */
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)unusual[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {n, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		say("seccomp: errno", errno);
}

/* --- memory --- */

static long peak(void)
{
	char line[256];
	long value = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPeak: %ld", &value);
	if (f)
		fclose(f);
	return value;
}

/* As many MiB as it was told to. */
static void take(void)
{
	void **all = calloc((size_t)number + 1, sizeof(*all));
	long had = 0;
	while (all && had < number && (all[had] = malloc(1 << 20)))
		memset(all[had++], 1, 1 << 20);
	say("MiB", had);
	for (long i = 0; all && i < had; i++)
		free(all[i]);
	free(all);
}

/* --- stacks --- */

/* How much of its stack a thread uses for calls of MPI; each in a thread of its own, which has called nothing before.
 * */
static void *on_stack(void *area)
{
	MPI_Comm other;
	int flag;
	ring();
	MPI_Comm_dup(MPI_COMM_SELF, &other);
	MPI_Comm_set_name(other, "a thread's");
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &flag, MPI_STATUS_IGNORE);
	MPI_Comm_free(&other);
	return area;
}

static void small_stack(void)
{
	enum { PAINT = 0x5a };
	size_t bytes = (size_t)number << 10, free_bytes = 0;
	pthread_attr_t attributes;
	pthread_t thread;
	unsigned char *stack =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	memset(stack, PAINT, bytes);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, bytes);
	int failure = pthread_create(&thread, &attributes, on_stack, NULL);
	if (failure == 0)
		pthread_join(thread, NULL);
	else
		say("pthread_create:", failure);
	while (free_bytes < bytes && stack[free_bytes] == PAINT)
		free_bytes++;
	if (file[0]) {
		FILE *f = fopen(file, "w");
		fprintf(f, "%ld\n", (long)(bytes - free_bytes));
		fclose(f);
	}
}

/* A thread that was cancelled calls MPI for the first time, in a call that is no place to end a thread. */
static void *cancelled(void *unused)
{
	int n;
	pthread_cancel(pthread_self());
	MPI_Comm_rank(MPI_COMM_WORLD, &n);
	say("after MPI_Comm_rank:", n == rank);
	pthread_testcancel();
	return unused;
}

static void cancel(void)
{
	pthread_t thread;
	void *end = NULL;
	pthread_create(&thread, NULL, cancelled, NULL);
	pthread_join(thread, &end);
	say("cancelled:", end == PTHREAD_CANCELED);
}

/* --- */

static void before(void)
{
	if (is("double-close"))
		double_close();
	if (is("filter-errno"))
		filter(SECCOMP_RET_ERRNO | EPERM, 0);
	if (is("filter-kill") || is("filter-kill-threads"))
		filter(SECCOMP_RET_KILL_PROCESS, 0);
	if (is("memory-lock"))
		mlockall(MCL_CURRENT | MCL_FUTURE);
}

static void after(void)
{
	char path[1000];
	struct stat st;
	if (is("late-filter-errno"))
		filter(SECCOMP_RET_ERRNO | EPERM, 1);
	if (is("late-filter-kill"))
		filter(SECCOMP_RET_KILL_PROCESS, 1);
	if (is("late-file-size"))
		limit(RLIMIT_FSIZE, (rlim_t)number);
	if (is("no-descriptors"))
		keep_all();
	if (is("close-files")) /* all but pipes and sockets, which are the MPI library's */
		for (int fd = 3; fd < 1024; fd++)
			if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
				close(fd);
	if (is("rename") && rank == 0) {
		snprintf(path, sizeof(path), "%s.gone", file);
		say("rename:", rename(file, path));
	}
	if (is("remove") && rank == 0) {
		snprintf(path, sizeof(path), "rm -rf '%s'", file);
		say("rm:", system(path));
	}
	if (is("user") && (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
		say("setresuid: errno", errno);
	if (is("user"))
		limit(RLIMIT_NPROC, 0);
	if (is("root-folder") && (chdir(file) != 0 || chroot(file) != 0))
		say("chroot: errno", errno);
	if (is("descriptors")) { /* the next ones */
		say("number", open("/dev/null", O_RDONLY));
		say("number", open("/dev/null", O_RDONLY));
		say("close", close(open("/dev/null", O_RDONLY)));
	}
	if (is("cancel"))
		cancel();
	if (is("take"))
		take();
	if (is("stack"))
		small_stack();
	if (is("cpu"))
		for (volatile unsigned long i = 0;; i++) {
		}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int provided;
	if (argc > 1)
		what = argv[1];
	if (argc > 2)
		file = argv[2];
	if (argc > 3)
		number = atol(argv[3]);
	before();
	MPI_Init_thread(&argc, &argv,
	                is("stack") || is("cancel") || is("filter-kill-threads") ? MPI_THREAD_MULTIPLE
	                                                                         : MPI_THREAD_SINGLE,
	                &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	ring();
	look("after MPI_Init");
	after();
	ring();
	refused();
	if (!is("stack"))
		names();
	look("at the end");
	if (is("double-close")) {
		struct stat st = {.st_size = -1};
		fstat(mine, &st);
		say("size", (long)st.st_size);
	}
	if (is("streams")) { /* the numbers of standard streams that are closed are the next files' */
		int fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
		say("number", fd);
		if (write(fd, "content", 7) != 7)
			say("write: errno", errno);
		printf("this may go into the file\n");
		fflush(stdout);
	}
	MPI_Finalize();
	if (is("peak"))
		say("peak", peak());
	say("ranks", size);
	fputs(said, stdout);
	return fflush(stdout) == 0 ? 0 : 5;
}
