/* SPDX-License-Identifier: BSD-3-Clause
 * pmix - a library that looks like PMIx, and whatever is asked of it does what the variable STAND_IN says: crashes,
 * hangs, exits, prints
 *
 * PMIx 5 crashes in its own thread after the answer to some keys, PMIx 4 waits for ever for others. Nothing is asked of
 * it, so that nothing happens.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int misbehave(void)
{
	const char *mode = getenv("STAND_IN");

	if (!mode)
		return 0;
	puts("PMIx was asked");
	fflush(stdout);
	if (!strcmp(mode, "crash"))
		raise(SIGSEGV);
	else if (!strcmp(mode, "hang"))
		for (;;)
			pause();
	else if (!strcmp(mode, "exit"))
		exit(77);
	return -1;
}

#define FUNCTION(name)              \
	int name(void);             \
	int name(void)              \
	{                           \
		return misbehave(); \
	}
FUNCTION(PMIx_Initialized)
FUNCTION(PMIx_Get)
FUNCTION(PMIx_Get_nb)
FUNCTION(PMIx_Get_version)
FUNCTION(PMIx_Init)
FUNCTION(PMIx_Finalize)
FUNCTION(PMIx_Query_info)
FUNCTION(PMIx_Query_info_nb)
FUNCTION(PMIx_Resolve_peers)
FUNCTION(PMIx_Fence)
