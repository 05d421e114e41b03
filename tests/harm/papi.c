/* SPDX-License-Identifier: BSD-3-Clause
 * papi - a libpapi that knows every event, and does in one of its functions what the variable STAND_IN says:
 * FUNCTION=crash, hang, exit, print, and what is below
 *
 * With -DLACKS it has no PAPI_stop; with -DNAMES it is a part of a program, whose functions are never to be called.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int told(const char *what)
{
	const char *mode = getenv("STAND_IN");
	return mode && !strcmp(mode, what);
}

static void *crash(void *unused)
{
	(void)unused;
	raise(SIGSEGV);
	return NULL;
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void misbehave(const char *function)
{
	const char *mode = getenv("STAND_IN");
	size_t n = strlen(function);

#ifdef NAMES
	crash(NULL);
#endif
	if (!mode || strncmp(mode, function, n) || mode[n] != '=')
		return;
	mode += n + 1;
	if (!strcmp(mode, "crash"))
		crash(NULL);
	else if (!strcmp(mode, "hang"))
		wait_for_ever(NULL);
	else if (!strcmp(mode, "exit"))
		exit(77);
	else if (!strcmp(mode, "print"))
		puts("PAPI Error: something"), fputs("PAPI Error: more\n", stderr);
	else if (!strcmp(mode, "thread"))
		pthread_create(&(pthread_t){0}, NULL, wait_for_ever, NULL);
	else if (!strcmp(mode, "handler"))
		signal(SIGSEGV, SIG_IGN), signal(SIGCHLD, SIG_IGN);
}

#ifndef NAMES
static void __attribute__((constructor)) begin(void)
{
	misbehave("constructor");
}
#endif

int PAPI_get_opt(int option, void *value)
{
	(void)value;
	misbehave("get_opt");
	return option != 21 ? -1 : told("later") ? 0x09000000 : told("negative") ? INT_MIN : 0x07020000;
}

int PAPI_library_init(int version)
{
	misbehave("library_init");
	return version;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
	misbehave("thread_init");
	return id() ? 0 : -1;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
	(void)name;
	misbehave("event_name_to_code");
	*code = told("codes") ? INT_MIN : 1;
	return 0;
}

int PAPI_create_eventset(int *set)
{
	misbehave("create_eventset");
	*set = told("codes") ? INT_MAX : 0;
	return 0;
}

int PAPI_add_event(int set, int code)
{
	(void)set;
	(void)code;
	misbehave("add_event");
	return 0;
}

int PAPI_start(int set)
{
	(void)set;
	misbehave("start");
	return getenv("STAND_IN") && !strncmp(getenv("STAND_IN"), "text", 4) ? -42 : 0;
}

int PAPI_read(int set, long long *values)
{
	static const long long nonsense[] = {LLONG_MAX, LLONG_MIN, 0, -1, 1LL << 62};
	static unsigned n;

	(void)set;
	misbehave("read");
	if (told("beyond"))
		memset(values, 0, 40 * sizeof *values);
	values[0] = told("values") ? nonsense[n++ % 5] : n++;
	return 0;
}

#ifndef LACKS
int PAPI_stop(int set, long long *values)
{
	(void)set;
	(void)values;
	misbehave("stop");
	return 0;
}
#endif

int PAPI_cleanup_eventset(int set)
{
	(void)set;
	misbehave("cleanup_eventset");
	return 0;
}

int PAPI_destroy_eventset(int *set)
{
	(void)set;
	misbehave("destroy_eventset");
	return 0;
}

/* Without an end: to the last byte of a page that is the last one. */
static char *endless(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(two + page, page);
	memset(two, 'x', page);
	return two + page - 20;
}

char *PAPI_strerror(int code)
{
	static char text[] = "an error";

	(void)code;
	misbehave("strerror");
	return told("text of nothing")    ? NULL
	       : told("text nowhere")     ? (char *)16
	       : told("text without end") ? endless()
	                                  : text;
}

#ifdef NAMES
#include "mpi.c"
#endif
