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

#include "trace/base/papi.h"
#include "trace/base/path.h"
#include "trace/base/quiet.h"

static struct papi papi;

enum source { SOURCE_NONE, SOURCE_CPU_TIME, SOURCE_SWITCHES, SOURCE_FAULTS, SOURCE_MINOR, SOURCE_MAJOR, SOURCE_PAPI };

#define REASON_SIZE 160

static struct counter {
	char name[256];
	enum source source;
	int code;                 /* PAPI's */
	char reason[REASON_SIZE]; /* "": it is counted */
} counters[TRACE_COUNTERS];

static unsigned count;
static bool loaded, yielded;
static unsigned long long adds; /* files that the loader had loaded when it was looked last */

struct counting {
	unsigned sets;
	int set[TRACE_COUNTERS];       /* PAPI's; events of one component each */
	unsigned size[TRACE_COUNTERS]; /* events of a set */
	unsigned which[TRACE_COUNTERS][TRACE_COUNTERS];
	int64_t last[TRACE_COUNTERS];
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

/* In a namespace of its own: the program does not see it. */
static void *counter_open(const char *name)
{
	return dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
}

static unsigned long thread_number(void)
{
	return (unsigned long)pthread_self();
}

/* "" or why PAPI cannot be used. */
static const char *counter_load(void)
{
	static char reason[REASON_SIZE];
	const char *text;
	int code = 0;

	if (is_used())
		return "the program uses PAPI itself";
	switch (papi_load(&papi, counter_open, &code)) {
	case PAPI_NOT_FOUND:
		return "libpapi (version 5 to 7) cannot be loaded";
	case PAPI_LACKS_FUNCTION:
		return "libpapi lacks a function";
	case PAPI_NOT_STARTED:
		text = code < 0 ? papi.strerror(code) : NULL;
		snprintf(reason, sizeof reason, "PAPI cannot be initialised: %.80s",
		         text ? text : "of another version");
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
	const char *text = papi.strerror(code);
	snprintf(c->reason, sizeof c->reason, "%s: %.80s", what, text ? text : "unknown error");
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
	if (rv != PAPI_OK)
		counter_give_up(c, "PAPI does not know it here", rv);
	else
		c->source = SOURCE_PAPI;
}

unsigned counters_setup(const char *list)
{
	static const struct {
		const char *name;
		enum source source;
	} kernel[] = {{"perf::TASK-CLOCK", SOURCE_CPU_TIME},
	              {"perf::CONTEXT-SWITCHES", SOURCE_SWITCHES},
	              {"perf::PAGE-FAULTS", SOURCE_FAULTS},
	              {"perf::MINOR-FAULTS", SOURCE_MINOR},
	              {"perf::MAJOR-FAULTS", SOURCE_MAJOR}};

	for (count = 0; *list && count < TRACE_COUNTERS; list += *list == ',') {
		struct counter *c = &counters[count++];
		size_t n = strcspn(list, ",");
		*c = (struct counter){.source = SOURCE_NONE};
		snprintf(c->name, sizeof c->name, "%.*s", (int)n, list);
		list += n;
		for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
			if (!strcmp(c->name, kernel[i].name))
				c->source = kernel[i].source;
		if (c->source == SOURCE_NONE)
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
	counters[i].source = SOURCE_NONE;
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
			counters[c->which[s][k]].source = SOURCE_NONE;
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
		if (counters[i].source == SOURCE_PAPI)
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

void counting_read(struct counting *c, int64_t values[TRACE_COUNTERS])
{
	struct rusage usage;
	bool asked = false;

	for (unsigned s = 0; s < c->sets; s++) {
		long long read[TRACE_COUNTERS];
		bool good = papi.read(c->set[s], read) == PAPI_OK;
		for (unsigned k = 0; k < c->size[s]; k++) {
			unsigned i = c->which[s][k];
			c->last[i] = good ? read[k] : c->last[i];
		}
	}
	for (unsigned i = 0; i < count; i++) {
		enum source source = counters[i].source;
		if (source == SOURCE_CPU_TIME) {
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			c->last[i] = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		} else if (source != SOURCE_NONE && source != SOURCE_PAPI) {
			if (!asked)
				getrusage(RUSAGE_THREAD, &usage);
			asked = true;
			c->last[i] = source == SOURCE_SWITCHES ? usage.ru_nvcsw + usage.ru_nivcsw
			             : source == SOURCE_MINOR  ? usage.ru_minflt
			             : source == SOURCE_MAJOR  ? usage.ru_majflt
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
		if (counters[i].source == SOURCE_PAPI)
			snprintf(counters[i].reason, sizeof counters[i].reason,
			         "the program began to use PAPI itself, and counting stopped");
	return true;
}
