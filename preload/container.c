/* SPDX-License-Identifier: BSD-3-Clause
 * container - programs that start others in containers do not hand the tracer on
 *
 * In the container's own tree of files the tracer is not there, or is for another libc, and the dynamic loader would complain to the user of
 * every program that starts. So the tracer takes itself out of LD_PRELOAD before such a program's main, unless the site says that its file
 * is there in containers as well.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank/handoff.h"

#define TRACER "libspoor-preload.so"

static bool starts_containers(const char *name)
{
	static const char *const names[] = {"apptainer", "singularity", "starter", "starter-suid", "podman", "docker", "nerdctl", "charliecloud",
	                                    "ch-run", "enroot", "shifter", "sarus", "bwrap", "unshare", "nsenter", "chroot", "crun", "runc", "udocker"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* Without the tracer; what else is there stays. */
static void leave(void)
{
	const char *old = getenv("LD_PRELOAD");
	char *list = old ? strdup(old) : NULL, *out = list;

	for (const char *p = list; p && *p;) {
		size_t n = strcspn(p, ": "), own = sizeof TRACER - 1;
		bool is_tracer = n >= own && !memcmp(p + n - own, TRACER, own);
		if (n > 0 && !is_tracer) {
			if (out > list)
				*out++ = ':';
			memmove(out, p, n);
			out += n;
		}
		p += n;
		p += *p != '\0';
	}
	if (!list)
		return;
	*out = '\0';
	if (*list)
		setenv("LD_PRELOAD", list, 1);
	else
		unsetenv("LD_PRELOAD");
	free(list);
}

static __attribute__((constructor)) void on_load(void)
{
	static struct handoff h; /* it is large, and not needed in any other program: these pages are never touched there */
	int saved = errno;

	if (!starts_containers(program_invocation_short_name))
		return;
	const char *text = getenv(HANDOFF_VARIABLE);
	if (!text || handoff_decode(&h, text, NULL) || !h.set.containers)
		leave();
	errno = saved;
}
