/* SPDX-License-Identifier: BSD-3-Clause
 * pmix - what PMIx knows of this process
 *
 * The library's thread answers, by calling a function here. PMIx_Get, which waits for that, is not used: in version
 * 4.2.2 it waits for ever for some keys that are not there. An answer that comes too late is written to a place that
 * nobody reads any more, so all of them are static, and asked for once.
 *
 * The process's own namespace is what the launcher left in the environment. The library is not asked for it: in PMIx 5,
 * its thread crashes after the answer to what it answers itself (pmix.procid, pmix.rank, pmix.version.num).
 *
 * The structures are those of PMIx 2 to 6 (PMIx standard, "Data Structures and Types"). They are written down here, so
 * that every build has them; tests/unit/pmix compares them with pmix.h.
 */
#include "preload/pmix.h"

#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gate/library.h"
#include "preload/clock.h"
#include "preload/pmix_types.h"

#define PATIENCE UINT64_C(200000000) /* ns, for all answers together */

enum { SIZE, LOCAL_SIZE, APPS, PARENT, QUESTIONS };

static const char *const keys[QUESTIONS] = {
	[SIZE] = "pmix.job.size",
	[LOCAL_SIZE] = "pmix.local.size",
	[APPS] = "pmix.job.napps",
	[PARENT] = "pmix.parent",
};

/* What was said to a question: answered is set when the rest is written. */
static struct answer {
	bool answered; /* atomic */
	bool known;
	uint32_t number;
	struct pmix_proc process;
} answers[QUESTIONS];

/* Look only in this process. */
static const struct pmix_info optional = {.key = "pmix.optional",
                                          .value = {.type = PMIX_TYPE_BOOL, .data = {.flag = true}}};

struct library {
	int (*initialized)(void);
	pmix_get_nb *get;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *out)
{
	struct library *l = out;
	struct module m;
	ElfW(Sym) * initialized, *get;

	(void)size;
	if (!module_read(&m, info) || !library_named(&m, "libpmix.so.") ||
	    !(initialized = module_find(&m, "PMIx_Initialized")) || !(get = module_find(&m, "PMIx_Get_nb")))
		return 0;
	l->initialized = (int (*)(void))module_at(&m, initialized);
	l->get = (pmix_get_nb *)module_at(&m, get);
	return 1;
}

/* In PMIx's thread. The value is the library's. */
static void on_answer(int status, struct pmix_value *value, void *data)
{
	struct answer *a = data;

	if (status == 0 && value && value->type == PMIX_TYPE_UINT32) {
		a->number = value->data.number;
		a->known = true;
	} else if (status == 0 && value && value->type == PMIX_TYPE_PROC && value->data.process) {
		a->process = *value->data.process;
		a->known = memchr(a->process.nspace, 0, sizeof a->process.nspace) && a->process.nspace[0];
	}
	__atomic_store_n(&a->answered, true, __ATOMIC_RELEASE);
}

/* Is it known? */
static bool await_answer(const struct answer *a, uint64_t end)
{
	while (!__atomic_load_n(&a->answered, __ATOMIC_ACQUIRE)) {
		if (clock_ns(CLOCK_MONOTONIC) > end)
			return false;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	return a->known;
}

static int answered_number(const struct answer *a, uint64_t end)
{
	return await_answer(a, end) && a->number <= INT32_MAX ? (int)a->number : 0;
}

/* Asks; what cannot be asked is answered already. */
static void ask(const struct library *l, int question, const struct pmix_proc *process)
{
	if (l->get(process, keys[question], &optional, 1, on_answer, &answers[question]) != 0)
		__atomic_store_n(&answers[question].answered, true, __ATOMIC_RELEASE);
}

void pmix_ask(struct pmix *out, int size)
{
	static struct pmix_proc world = {.rank = PMIX_EVERY_RANK}; /* stays while a question is open */
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + PATIENCE;
	struct library l = {NULL, NULL};

	const char *name = getenv("PMIX_NAMESPACE");

	*out = (struct pmix){.local_size = 0};
	if (world.nspace[0] || !name || strlen(name) >= sizeof world.nspace || !dl_iterate_phdr(find_library, &l) ||
	    !l.initialized())
		return;
	strcpy(world.nspace, name);
	for (int q = SIZE; q < QUESTIONS; q++)
		ask(&l, q, &world);
	if (answered_number(&answers[SIZE], end) != size)
		return;
	memcpy(out->nspace, world.nspace, sizeof out->nspace);
	out->local_size = answered_number(&answers[LOCAL_SIZE], end);
	out->apps = answered_number(&answers[APPS], end);
	if (await_answer(&answers[PARENT], end)) {
		memcpy(out->parent, answers[PARENT].process.nspace, sizeof out->parent);
		out->parent_rank = answers[PARENT].process.rank;
	}
}
