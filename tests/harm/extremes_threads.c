/* SPDX-License-Identifier: BSD-3-Clause
 * extremes_threads - threads of all kinds
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "extremes.h"

static void *all_here(void *p)
{
	all();
	fflush(stdout);
	return p;
}

static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, all_here, NULL);
	pthread_join(t, NULL);
}

static void main_is_gone(void)
{
	pthread_t t;

	pthread_create(&t, NULL, all_here, NULL);
	pthread_detach(t);
	pthread_exit(NULL);
}

static pthread_key_t key;

static void at_thread_end(void *p)
{
	printf("at the end %d\n", ask() && talk());
	(void)p;
}

static void *with_key(void *p)
{
	pthread_setspecific(key, &key);
	printf("in it %d\n", talk());
	return p;
}

/* The key is made before MPI is initialised, or after that: its destructor is called before or after the tracer's. */
static void key_destructor(bool first)
{
	pthread_t t;

	if (first)
		pthread_key_create(&key, at_thread_end);
	init_threads();
	if (!first)
		pthread_key_create(&key, at_thread_end);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, with_key, NULL);
		pthread_join(t, NULL);
	}
	end();
}

static void early_key(void)
{
	key_destructor(true);
}

static void late_key(void)
{
	key_destructor(false);
}

static void *one_call(void *p)
{
	*(int *)p += ask();
	return NULL;
}

static void many_threads(void)
{
	int right = 0;

	init_threads();
	for (int i = 0; i < 500; i++) {
		pthread_t t;

		pthread_create(&t, NULL, one_call, &right);
		pthread_join(t, NULL);
	}
	printf("%d\n", right);
	end();
}

static volatile bool stop;

static void *until_stopped(void *p)
{
	while (!stop)
		*(int *)p &= ask();
	return NULL;
}

/* Threads that are ended wherever they are, in calls that do not wait. */
static void *to_be_cancelled(void *p)
{
	for (;;) {
		ask();
		pthread_testcancel();
	}
	return p;
}

static void cancelled(void)
{
	init_threads();
	for (int i = 0; i < 50; i++) {
		pthread_t t;

		pthread_create(&t, NULL, to_be_cancelled, NULL);
		ask();
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	printf("%d\n", ask());
	end();
}

static void one_processor(void)
{
	enum { THREADS = 8 };
	pthread_t t[THREADS];
	int right[THREADS], n = 0;
	cpu_set_t set;

	sched_getaffinity(0, sizeof set, &set);
	for (int c = 0, kept = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &set) && kept++)
			CPU_CLR(c, &set);
	init_threads();
	sched_setaffinity(0, sizeof set, &set);
	for (int i = 0; i < THREADS; i++) {
		right[i] = 1;
		pthread_create(&t[i], NULL, until_stopped, &right[i]);
	}
	usleep(200000);
	stop = true;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		n += right[i];
	}
	printf("%d\n", n);
	end();
}

static void *leaves_process(void *p)
{
	printf("%d\n", ask());
	fflush(stdout);
	exit(5);
	return p;
}

/* exit while another thread makes calls */
static void exit_in_thread(void)
{
	pthread_t t;
	int right = 1;

	init_threads();
	pthread_create(&t, NULL, leaves_process, NULL);
	until_stopped(&right);
}

static void *other_files(void *p)
{
	unshare(CLONE_FILES | CLONE_FS);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	if (chdir("/") == 0)
		umask(0777);
	*(int *)p += ask();
	return NULL;
}

static void own_files(void)
{
	pthread_t t;
	int right = 0;

	init_threads();
	pthread_create(&t, NULL, other_files, &right);
	pthread_join(t, NULL);
	printf("%d\n", right);
	end();
}

static volatile int notified;

static void notify(union sigval v)
{
	(void)v;
	notified += ask();
}

/* glibc makes a thread for each. */
static void timer_threads(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
	struct itimerspec once = {.it_value.tv_nsec = 1};
	timer_t t;

	init_threads();
	for (int i = 0; i < 5; i++) {
		timer_create(CLOCK_MONOTONIC, &e, &t);
		timer_settime(t, 0, &once, NULL);
		while (notified <= i)
			usleep(100);
		timer_delete(t);
	}
	printf("%d\n", notified);
	end();
}

/* ---- threads without the C library's help ---- */

static volatile int asked;
static int gone = 1;

static int clone_asks(void *p)
{
	(void)p;
	asked = ask();
	return 0;
}

static void with_clone(int flags, size_t size, void *tls)
{
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	clone(clone_asks, stack + size, flags | CLONE_CHILD_CLEARTID, NULL, NULL, tls, &gone);
	for (int value; (value = __atomic_load_n(&gone, __ATOMIC_ACQUIRE));)
		syscall(SYS_futex, &gone, FUTEX_WAIT, value, NULL, NULL, 0);
	munmap(stack, size);
	printf("%d %d\n", asked, ask());
}

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

/* It has the thread-local storage of the one that makes it. */
static void clone_thread(void)
{
	init();
	with_clone(THREAD, 1 << 18, NULL);
	end();
}

/* And its own, in which all is zero but what the compiler's code needs. */
static void clone_storage(void)
{
	static char storage[1 << 16] __attribute__((aligned(64)));
	char *at = storage + sizeof storage - 4096;
	uintptr_t old;

	init();
	__asm__("mov %%fs:0, %0" : "=r"(old));
	memcpy(at, (void *)old, 64); /* the guard of stacks, too */
	memcpy(at, &at, sizeof at);
	memcpy(at + 16, &at, sizeof at);
	with_clone(THREAD | CLONE_SETTLS, 1 << 18, at);
	end();
}

/* A process with this one's memory. */
static void clone_memory(void)
{
	int status = -1;

	init();
	with_clone(CLONE_VM | SIGCHLD, 1 << 18, NULL);
	wait(&status);
	printf("status %d, %d\n", status, talk());
	end();
}

/* Two threads in the classes of real time, on one processor: who waits for the other by turning on the spot waits for
 * ever. */
static void *at_real_time(void *p)
{
	struct sched_param q = {.sched_priority = *(int *)p ? 10 : 1};

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &q);
	for (int i = 0; i < 20000; i++)
		ask();
	return NULL;
}

static void real_time(void)
{
	pthread_t t[2];
	int which[2] = {0, 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	init_threads();
	sched_setaffinity(0, sizeof set, &set);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, at_real_time, &which[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", ask());
	end();
}

const struct way thread_ways[] = {
	{"in-thread", in_thread},         {"main-is-gone", main_is_gone},   {"early-key", early_key},
	{"late-key", late_key},           {"many-threads", many_threads},   {"cancelled", cancelled},
	{"one-processor", one_processor}, {"real-time", real_time},         {"exit-in-thread", exit_in_thread},
	{"own-files", own_files},         {"timer-threads", timer_threads}, {"clone-thread", clone_thread},
	{"clone-storage", clone_storage}, {"clone-memory", clone_memory},   {0}};
