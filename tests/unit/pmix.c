/* SPDX-License-Identifier: BSD-3-Clause
 * pmix - unit test of preload/pmix_types.h: the structures are those of pmix.h, if that is installed; and of
 * preload/pmix.c: without a library nothing is known
 */
#ifdef HAVE_PMIX
#include <pmix.h>
#define pmix_proc  our_proc /* its structures have the same tags */
#define pmix_value our_value
#define pmix_info  our_info
#endif

#include "preload/pmix.h"
#include "preload/pmix_types.h"

#include "tests/unit/tap.h"

int main(void)
{
	struct pmix pmix = {.local_size = 5};

#ifdef HAVE_PMIX
	ok(sizeof(struct pmix_proc) == sizeof(pmix_proc_t) &&
	           offsetof(struct pmix_proc, rank) == offsetof(pmix_proc_t, rank),
	   "a process");
	ok(sizeof(struct pmix_value) == sizeof(pmix_value_t) &&
	           offsetof(struct pmix_value, data) == offsetof(pmix_value_t, data),
	   "a value");
	ok(sizeof(struct pmix_info) == sizeof(pmix_info_t) &&
	           offsetof(struct pmix_info, flags) == offsetof(pmix_info_t, flags) &&
	           offsetof(struct pmix_info, value) == offsetof(pmix_info_t, value),
	   "a directive");
	ok(PMIX_TYPE_BOOL == PMIX_BOOL && PMIX_TYPE_UINT32 == PMIX_UINT32 && PMIX_TYPE_PROC == PMIX_PROC, "types");
	ok(PMIX_EVERY_RANK == PMIX_RANK_WILDCARD, "all ranks");
	ok(!strcmp(PMIX_JOB_SIZE, "pmix.job.size") && !strcmp(PMIX_LOCAL_SIZE, "pmix.local.size") &&
	           !strcmp(PMIX_JOB_NUM_APPS, "pmix.job.napps") && !strcmp(PMIX_PARENT_ID, "pmix.parent") &&
	           !strcmp(PMIX_OPTIONAL, "pmix.optional"),
	   "keys");
#endif
	pmix_ask(&pmix, 1);
	ok(!pmix.nspace[0] && !pmix.parent[0] && pmix.local_size == 0 && pmix.apps == 0, "no library, no answers");
	return tap_end();
}
