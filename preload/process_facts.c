/* SPDX-License-Identifier: BSD-3-Clause
 * process_facts - what only the process itself knows of its job
 */
#include "preload/process_facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/launcher.h"
#include "preload/module.h"
#include "preload/real.h"
#include "preload/recorder.h"
#include "trace/base/facts.h"
#include "trace/base/number.h"

/* What was asked for and is not done. */
static void fact_notes(struct facts *f, const struct handoff *h)
{
	char text[sizeof h->notes + 2048];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", h->notes);
	if (n > 0)
		text[n++] = HANDOFF_SEPARATOR;
	recorder_detail_notes(HANDOFF_SEPARATOR, text + n, sizeof text - n);
	n += strlen(text + n);
	n -= n > 0 && text[n - 1] == HANDOFF_SEPARATOR;
	text[n] = 0;
	if (n > 0)
		facts_set(f, "notes", text);
}

/* The arguments, which the kernel separates by NUL. */
static void fact_command(struct facts *f)
{
	char arguments[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t n = read(fd, arguments, sizeof arguments - 1);
	close(fd);
	for (ssize_t i = 0; i < n - 1; i++)
		arguments[i] = arguments[i] ? arguments[i] : FACT_SEPARATOR;
	arguments[n > 0 ? n : 0] = 0;
	if (n > 0)
		facts_set(f, "command", arguments);
}

static void fact_executable(struct facts *f)
{
	char hex[2 * MODULE_BUILD_ID + 1] = "";
	uint8_t id[MODULE_BUILD_ID];
	size_t size = module_executable_id(id);
	if (*module_executable())
		facts_set(f, "exe", module_executable());
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	facts_set(f, "exe_build_id", hex);
}

static void fact_library(struct facts *f)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
	int n = 0, major = 0, minor = 0;
	if (real.MPI_Get_library_version(text, &n) == MPI_SUCCESS) {
		text[strcspn(text, "\n")] = 0; /* MPICH's goes on with how it was built */
		for (char *p = text; *p; p++)
			*p = *p == '\t' ? ' ' : *p;
		facts_set(f, "mpi_library", text);
	}
	if (real.MPI_Get_version(&major, &minor) == MPI_SUCCESS)
		facts_format(f, "mpi_version", "%d.%d", major, minor);
}

/* A world that another one spawned says which. */
static void fact_parent(struct facts *f)
{
	uint64_t rank;
	uint64_t world = launcher_parent(&rank);
	if (!world)
		return;
	facts_format(f, "parent_world", "%016" PRIx64, world);
	facts_format(f, "parent_rank", "%" PRIu64, rank);
}

/* The n-th number of a small file, behind its last ')' if it has one; 0: there is none. */
static uint64_t file_number(const char *path, unsigned n)
{
	char text[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = 0;
	const char *at = strrchr(text, ')');
	at = at ? at + 1 : text;
	at += strspn(at, " ");
	for (; n > 1; n--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return strtoull(at, NULL, 10);
}

/* Ticks of the kernel's that it shows to processes: of 10 ms on all of Linux' machines that MPI runs on. */
#define TICK_NS 10000000

uint64_t process_age(void)
{
	struct timespec now;
	uint64_t begun = file_number("/proc/self/stat", 20) * TICK_NS; /* since the machine started */
	if (!begun || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
		return 0;
	uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return ns > begun ? ns - begun : 0;
}

uint64_t process_queued(void)
{
	return file_number("/proc/self/schedstat", 2);
}

/* The process's groups come before that line, and may be thousands: what is not asked for is read over. Small arrays:
 * the stack may be a small one. */
void process_cpus(char *out, size_t size)
{
	static const char name[] = "Cpus_allowed_list:\t";
	const size_t other = sizeof name; /* characters of the name that were met; this: it is another line */
	char chunk[512];
	size_t met = 0, length = 0;
	bool ended = false;
	ssize_t n;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && !ended && (n = read(fd, chunk, sizeof chunk)) > 0)
		for (ssize_t i = 0; i < n && !ended; i++)
			if (chunk[i] == '\n') {
				ended = met == sizeof name - 1;
				met = 0;
			} else if (met < sizeof name - 1) {
				met = chunk[i] == name[met] ? met + 1 : other;
			} else if (met < other && ++length < size) {
				out[length - 1] = chunk[i];
			}
	if (fd >= 0)
		close(fd);
	out[ended && length < size ? length : 0] = 0;
}

char *process_facts(const struct handoff *h, int size, int thread_level)
{
	struct facts f = {0};
	facts_format(&f, "ranks", "%d", size);
	fact_command(&f);
	fact_executable(&f);
	fact_library(&f);
	facts_format(&f, "thread_level", "%d", thread_level);
	if (h->set.site_tolerance)
		facts_format(&f, "site_tolerance", "%" PRIu64, h->set.site_tolerance);
	facts_set(&f, "site_ignore", h->set.site_ignore[0] ? h->set.site_ignore : NULL);
	fact_parent(&f);
	fact_notes(&f, h);
	facts_decode(&f, h->facts, strlen(h->facts), HANDOFF_VARIABLE, NULL);
	char *text = facts_encode(&f);
	facts_clear(&f);
	return text;
}
