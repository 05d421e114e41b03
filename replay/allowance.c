/* SPDX-License-Identifier: BSD-3-Clause
 * allowance - what a rank of a replay may take of it because its trace says so
 */
#include "replay/allowance.h"

#include <stdatomic.h>

static uint64_t most = UINT64_MAX;
static _Atomic uint64_t taken;
static atomic_bool spent;

void allowance_set(uint64_t bytes)
{
	most = bytes;
}

bool allowance_take(uint64_t bytes)
{
	uint64_t before = atomic_load(&taken);
	do {
		if (bytes > most || before > most - bytes || atomic_load(&spent)) {
			atomic_store(&spent, true);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&taken, &before, before + bytes));
	return true;
}

uint64_t allowance_spent(void)
{
	return atomic_load(&spent) ? most : 0;
}
