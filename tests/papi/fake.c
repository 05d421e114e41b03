/* SPDX-License-Identifier: BSD-3-Clause
 * fake - a libpapi for tests: knows three events, and fails where it is told to
 *
 * PAPI_TOT_INS counts 1000 and PAPI_TOT_CYC 500 with each reading, so that two readings in a row are that far apart;
 * fake::STEPS 1. What is started keeps a descriptor of /dev/zero open. FAKE_PAPI=version|init|add|start|read: what
 * fails.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/papi/library.h"

static long long value[3];
static int kept[8]; /* a descriptor for each set that counts, as the real one has for each event */

static const char *event_name(int code)
{
	static const char *const names[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC", "fake::STEPS"};
	return code < 3 ? names[code] : NULL;
}

static int fails(const char *what)
{
	const char *told = getenv("FAKE_PAPI");
	return told && !strcmp(told, what);
}

/* fake::STEPS is of another component. */
static int fits(int first, int code)
{
	return (first == 2) == (code == 2);
}

int PAPI_start(int set)
{
	kept[set] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	return fails("start") ? -10 : 0;
}

int PAPI_read(int set, long long *values)
{
	static const long long steps[] = {1000, 500, 1};
	if (fails("read"))
		return -4;
	for (int i = 0; i < count[set]; i++)
		values[i] = value[events[set][i]] += steps[events[set][i]];
	return 0;
}

int PAPI_stop(int set, long long *values)
{
	(void)values;
	close(kept[set]);
	return 0;
}
