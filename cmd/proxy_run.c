/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_run - builds the program of a proxy, and runs it under the tracer
 */
#include "cmd/proxy_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/base/command.h"
#include "cmd/base/sink.h"
#include "policy/counter.h"
#include "trace/read/summary.h"

/* Of the name of a counter in a list. */
#define COUNTER_ROOM 128

#define LIMIT_TIMES 10.0
#define LIMIT_LEAST 60.0 /* s */

int proxy_run_folder(char path[PATH_MAX / 2])
{
	const char *temporary = getenv("TMPDIR");
	snprintf(path, PATH_MAX / 2, "%s/spoor-proxy.XXXXXX", temporary && temporary[0] == '/' ? temporary : "/tmp");
	if (mkdtemp(path))
		return 0;
	say_to(stderr, "spoor proxy: %s: %s\n", path, strerror(errno));
	return -1;
}

int proxy_build(const char *source, const char *program, const char *define)
{
	const char *compiler = getenv("MPICC");
	struct command c = {.name = "spoor proxy"};
	const char *const words[] = {compiler && *compiler ? compiler : "mpicc",
	                             "-std=c99",
	                             "-O2",
	                             "-Wl,-z,now",
	                             define,
	                             "-o",
	                             program,
	                             source,
	                             "-lm"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i] && command_add(&c, words[i]) != 0)
			return 1;
	return command_run(&c);
}

const char *proxy_counter_name(const struct trace *t, uint32_t counter)
{
	return (const char *)t->strings.items[t->counters[counter].name].bytes;
}

bool proxy_counter_usable(const struct trace *t, uint32_t counter)
{
	const char *name = proxy_counter_name(t, counter), *wrong;
	size_t n;
	return t->counters[counter].ranks > 0 && !strchr(name, ',') && strlen(name) < COUNTER_ROOM &&
	       counter_check(name, &wrong, &n) == COUNTER_GOOD;
}

/* Their names, for --counters. False: nothing was counted. */
static bool list_counters(const struct trace *t, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (uint32_t i = 0; i < t->counter_count; i++)
		if (proxy_counter_usable(t, i))
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "",
			                         proxy_counter_name(t, i));
	return used > 0;
}

double proxy_run_took(const struct trace *t)
{
	struct summary s;
	return summary_make(&s, t, NULL) == 0 ? (double)(s.run_ns + s.init_ns) * 1e-9 : 0;
}

double proxy_run_limit(const struct trace *t)
{
	double took = proxy_run_took(t);
	return LIMIT_TIMES * took > LIMIT_LEAST ? LIMIT_TIMES * took : LIMIT_LEAST;
}

int proxy_run(const char *program, const char *output, const struct trace *t, const struct proxy_run *o)
{
	static char self[PATH_MAX];
	char number[16];
	struct command c = {.name = "spoor proxy"};
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return 1;
	self[n] = '\0';
	char counters[TRACE_COUNTERS * COUNTER_ROOM];
	bool counts = list_counters(t, counters, sizeof counters);
	const char *const words[] = {
		self, "run", "-f", "-o", output, counts ? "--counters" : NULL, counts ? counters : NULL, "--"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i] && command_add(&c, words[i]) != 0)
			return 1;
	if (command_add_launcher(&c, o->launcher, o->launcher_count, t->size, number) != 0 ||
	    command_add(&c, program) != 0)
		return 1;
	return command_run_within(&c, o->seconds);
}
