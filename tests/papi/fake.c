/* SPDX-License-Identifier: BSD-3-Clause
 * fake - a libpapi for tests: knows three events, and fails where it is told to
 *
 * PAPI_TOT_INS counts 1000 and PAPI_TOT_CYC 500 with each reading, so that two readings in a row are that far apart;
 * fake::STEPS 1. What is started keeps a descriptor of /dev/zero open. FAKE_PAPI=version|init|add|start|read: what
 * fails.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long long value[3];
static int kept[8]; /* a descriptor for each set that counts, as the real one has for each event */
static int events[8][8], count[8], sets;

static int fails(const char *what)
{
	const char *told = getenv("FAKE_PAPI");
	return told && !strcmp(told, what);
}

int PAPI_get_opt(int option, void *p)
{
	(void)p;
	return option == 21 ? 0x07000000 : -1;
}

int PAPI_library_init(int version)
{
	return fails("init") ? -8 : fails("version") ? -1 : version;
}

int PAPI_thread_init(unsigned long (*id)(void))
{
	return id() ? 0 : -1;
}

int PAPI_event_name_to_code(const char *name, int *code)
{
	static const char *const names[] = {"PAPI_TOT_INS", "PAPI_TOT_CYC", "fake::STEPS"};
	for (*code = 0; *code < 3; ++*code)
		if (!strcmp(name, names[*code]))
			return 0;
	return -7;
}

int PAPI_create_eventset(int *set)
{
	*set = sets++;
	return 0;
}

int PAPI_add_event(int set, int code)
{
	if (fails("add"))
		return -25;
	if (count[set] && (events[set][0] == 2) != (code == 2)) /* another component */
		return -1;
	events[set][count[set]++] = code;
	return 0;
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

int PAPI_cleanup_eventset(int set)
{
	count[set] = 0;
	return 0;
}

int PAPI_destroy_eventset(int *set)
{
	*set = -1;
	return 0;
}

char *PAPI_strerror(int code)
{
	return code == -7    ? "Event does not exist"
	       : code == -25 ? "Component containing event is disabled"
	                     : "a fake error";
}
