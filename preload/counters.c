/* SPDX-License-Identifier: BSD-3-Clause
 * counters - events that are counted in a thread
 */
#include "preload/counters.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "policy/counter.h"
#include "preload/readable.h"
#include "trace/base/papi.h"
#include "trace/base/path.h"
#include "trace/base/quiet.h"

static struct papi papi;

#define REASON_SIZE 160

static struct counter {
	char name[256];
	enum counter_kernel source;
	bool counted;
	int code;                 /* PAPI's */
	char reason[REASON_SIZE]; /* "": it is counted */
} counters[TRACE_COUNTERS];

static const char *told = ""; /* counters_papi */
static unsigned count;
static bool loaded, yielded;
static unsigned long long adds; /* files that the loader had loaded when it was looked last */

struct counting {
	unsigned sets;
	int set[TRACE_COUNTERS];       /* PAPI's; events of one component each */
	unsigned size[TRACE_COUNTERS]; /* events of a set */
	unsigned which[TRACE_COUNTERS][TRACE_COUNTERS];
	int64_t last[TRACE_COUNTERS];
	bool begun; /* to be read */
};

/* --- is PAPI the program's own? --- */

static int counter_look(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *name = path_name(info->dlpi_name);
	(void)size;
	adds = info->dlpi_adds;
	if (name && !strncmp(name, "libpapi.so", 10))
		*(bool *)context = true;
	return 0;
}

static bool is_used(void)
{
	bool used = false;
	dl_iterate_phdr(counter_look, &used); /* those of this namespace, which ours is not in */
	return used || dlsym(RTLD_DEFAULT, "PAPI_library_init");
}

static int look_at_adds(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	*(unsigned long long *)context = info->dlpi_adds;
	return 1;
}

/* --- its descriptors --- */

/* PAPI keeps a descriptor open for each event of the kernel's. They must not get the lowest free numbers: those are the
 * application's next ones, or its standard streams if they are closed, and what it closes once too often. So these are
 * taken while PAPI opens its own. */
#define DESCRIPTORS_OURS 256

struct held {
	unsigned char number[DESCRIPTORS_OURS / 8];
};

static void hold_lowest(struct held *h)
{
	struct rlimit most;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	*h = (struct held){{0}};
	if (getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur < 2 * DESCRIPTORS_OURS) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fd >= 0 && fd < DESCRIPTORS_OURS) {
		h->number[fd / 8] |= (unsigned char)(1 << fd % 8);
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	if (fd >= 0)
		close(fd);
}

static void counter_release(const struct held *h)
{
	for (int fd = 0; fd < DESCRIPTORS_OURS; fd++)
		if (h->number[fd / 8] >> fd % 8 & 1)
			close(fd);
}

/* --- loading it --- */

/* It may be no text at all. */
static const char *papi_text(int code)
{
	const char *text = papi.strerror(code);
	return text && readable_length_slowly(text) >= 0 ? text : "unknown error";
}

static unsigned long thread_number(void)
{
	return (unsigned long)pthread_self();
}

/* "" or why PAPI cannot be used. */
static const char *counter_load(void)
{
	static char reason[REASON_SIZE];
	int code = 0;

	if (is_used())
		return "the program uses PAPI itself";
	if (told[0] != '/')
		return told[0] ? told + 1 : "PAPI was not tried before the program began";
	/* in a namespace of its own: the program does not see it */
	switch (papi_load(&papi, dlmopen(LM_ID_NEWLM, told, RTLD_NOW | RTLD_LOCAL), &code)) {
	case PAPI_NOT_FOUND:
		return "the libpapi that was tried cannot be loaded";
	case PAPI_LACKS_FUNCTION:
		return "libpapi lacks a function";
	case PAPI_NOT_STARTED:
		snprintf(reason, sizeof reason, "PAPI cannot be initialised: %.80s",
		         code < 0 ? papi_text(code) : "of another version");
		return reason;
	case PAPI_READY:
		break;
	}
	papi.thread_init(thread_number);
	loaded = true;
	return "";
}

static void counter_give_up(struct counter *c, const char *what, int code)
{
	snprintf(c->reason, sizeof c->reason, "%s: %.80s", what, papi_text(code));
}

static void setup_papi(struct counter *c)
{
	static const char *problem;
	struct held held;

	if (!problem) {
		hold_lowest(&held);
		problem = counter_load();
		counter_release(&held);
	}
	if (*problem) {
		snprintf(c->reason, sizeof c->reason, "%s", problem);
		return;
	}
	int rv = papi.event_name_to_code(c->name, &c->code);
	c->counted = rv == PAPI_OK;
	if (!c->counted)
		counter_give_up(c, "PAPI does not know it here", rv);
}

void counters_papi(const char *said)
{
	told = said;
}

unsigned counters_setup(const char *list)
{
	for (count = 0; *list && count < TRACE_COUNTERS; list += *list == ',') {
		struct counter *c = &counters[count++];
		size_t n = strcspn(list, ",");
		*c = (struct counter){.source = counter_kernel(list, n), .counted = true};
		snprintf(c->name, sizeof c->name, "%.*s", (int)n, list);
		list += n;
		if (c->source == COUNTER_PAPI)
			setup_papi(c);
	}
	return count;
}

const char *counters_name(unsigned i)
{
	return counters[i].name;
}

const char *counters_reason(unsigned i)
{
	return counters[i].reason[0] ? counters[i].reason : NULL;
}

/* --- in a thread --- */

static void counter_stop(struct counting *c)
{
	long long values[TRACE_COUNTERS];

	for (unsigned i = 0; i < c->sets; i++) {
		papi.stop(c->set[i], values);
		papi.cleanup_eventset(c->set[i]);
		papi.destroy_eventset(&c->set[i]);
	}
	c->sets = 0;
}

/* To a set that takes it, or to a new one: events of several components cannot be in one. */
static void counter_add(struct counting *c, unsigned i)
{
	int rv = PAPI_NULL;

	for (unsigned s = 0; s < c->sets; s++)
		if ((rv = papi.add_event(c->set[s], counters[i].code)) == PAPI_OK) {
			c->which[s][c->size[s]++] = i;
			return;
		}
	int set = PAPI_NULL;
	if ((rv = papi.create_eventset(&set)) == PAPI_OK && (rv = papi.add_event(set, counters[i].code)) == PAPI_OK) {
		c->set[c->sets] = set;
		c->size[c->sets] = 1;
		c->which[c->sets++][0] = i;
		return;
	}
	if (set != PAPI_NULL)
		papi.destroy_eventset(&set);
	counter_give_up(&counters[i], "it cannot be counted here", rv);
	counters[i].counted = false;
}

static void counter_start(struct counting *c)
{
	for (unsigned s = 0; s < c->sets;) {
		int rv = papi.start(c->set[s]);
		if (rv == PAPI_OK) {
			s++;
			continue;
		}
		for (unsigned k = 0; k < c->size[s]; k++) {
			counter_give_up(&counters[c->which[s][k]], "counting cannot be started", rv);
			counters[c->which[s][k]].counted = false;
		}
		papi.cleanup_eventset(c->set[s]);
		papi.destroy_eventset(&c->set[s]);
		unsigned last = --c->sets;
		c->set[s] = c->set[last];
		c->size[s] = c->size[last];
		memcpy(c->which[s], c->which[last], sizeof c->which[s]);
	}
}

struct counting *counting_begin(void)
{
	struct counting *c = calloc(1, sizeof *c);
	struct held held;

	if (!c || !loaded || yielded)
		return c;
	struct quiet before = quiet_begin();
	hold_lowest(&held);
	for (unsigned i = 0; i < count; i++)
		if (counters[i].source == COUNTER_PAPI && counters[i].counted)
			counter_add(c, i);
	counter_start(c);
	counter_release(&held);
	quiet_end(before);
	return c;
}

void counting_end(struct counting *c)
{
	if (c && !yielded)
		counter_stop(c);
	free(c);
}

/* More than this no counter counts from one reading to the next. */
#define MOST_COUNTED (INT64_C(1) << 48)

/* What a counter is at, which was at `last`, or is read for the first time. Nonsense is not taken: differences of what
 * is are numbers, and so are sums of those. */
static int64_t counter_at(int64_t last, int64_t now, bool first)
{
	const int64_t most = INT64_C(1) << 61;

	if (now < -most || now > most || (!first && (now < last - MOST_COUNTED || now > last + MOST_COUNTED)))
		return last;
	return now;
}

void counting_read(struct counting *c, int64_t values[TRACE_COUNTERS])
{
	struct rusage usage;
	bool asked = false;

	for (unsigned s = 0; s < c->sets; s++) {
		long long read[TRACE_COUNTERS];
		bool good = papi.read(c->set[s], read) == PAPI_OK;
		for (unsigned k = 0; k < c->size[s]; k++) {
			unsigned i = c->which[s][k];
			c->last[i] = good ? counter_at(c->last[i], read[k], !c->begun) : c->last[i];
		}
	}
	c->begun = true;
	for (unsigned i = 0; i < count; i++) {
		enum counter_kernel source = counters[i].source;
		if (source == COUNTER_CPU_TIME) {
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			c->last[i] = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		} else if (source != COUNTER_PAPI) {
			if (!asked)
				getrusage(RUSAGE_THREAD, &usage);
			asked = true;
			c->last[i] = source == COUNTER_SWITCHES ? usage.ru_nvcsw + usage.ru_nivcsw
			             : source == COUNTER_MINOR  ? usage.ru_minflt
			             : source == COUNTER_MAJOR  ? usage.ru_majflt
			                                        : usage.ru_minflt + usage.ru_majflt;
		}
		values[i] = c->last[i];
	}
}

bool counters_yield(struct counting *c)
{
	unsigned long long now = 0;

	if (!loaded || yielded)
		return false;
	dl_iterate_phdr(look_at_adds, &now);
	if (now == adds || !is_used())
		return false;
	yielded = true;
	counter_stop(c);
	for (unsigned i = 0; i < count; i++)
		if (counters[i].source == COUNTER_PAPI && counters[i].counted)
			snprintf(counters[i].reason, sizeof counters[i].reason,
			         "the program began to use PAPI itself, and counting stopped");
	return true;
}
