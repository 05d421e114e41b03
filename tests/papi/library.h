/* SPDX-License-Identifier: BSD-3-Clause
 * library - what a libpapi has besides its counters, for libraries that stand in for it (fake.c, bench/valgrind_papi.c)
 *
 * Each defines the functions that are declared here, PAPI_start, PAPI_read and PAPI_stop. At most 8 sets of 8 events.
 */
#include <stdlib.h>
#include <string.h>

static const char *event_name(int code); /* NULL: there are no more */
static int fails(const char *what);      /* init, version, add? */
static int fits(int first, int code);    /* can an event be in a set that begins with another one? */

static int events[8][8], count[8], sets;

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
	for (*code = 0; event_name(*code); ++*code)
		if (!strcmp(name, event_name(*code)))
			return 0;
	return -7;
}

int PAPI_create_eventset(int *set)
{
	*set = sets++ % 8;
	count[*set] = 0;
	return 0;
}

int PAPI_add_event(int set, int code)
{
	if (fails("add"))
		return -25;
	if (count[set] == 8 || (count[set] && !fits(events[set][0], code)))
		return -1;
	events[set][count[set]++] = code;
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
