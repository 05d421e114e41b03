/* SPDX-License-Identifier: BSD-3-Clause
 * wrap - what every wrapper of an MPI function does around the call itself
 */
#include "preload/wrap.h"

#include <stdio.h>

#include "preload/caller.h"

bool wrap_may_begin(void *return_address)
{
	return (real_state == REAL_ACTIVE || real_wake()) && (!recording.frame || !caller_is_library(return_address));
}

bool wrap_begin_slowly(struct call *c, enum mpi_number f, void *return_address, void *cfa)
{
	return (c->rec || wrap_may_begin(return_address)) && call_begin_slowly(c, f, return_address, cfa);
}

void wrap_error(struct call *c, int rc)
{
	enum mpi_constant name = CONST_MPI_ERR_UNKNOWN; /* also for what the application added */
	const int class = abi_error_class(rc);

	for (size_t i = 0; i < MPI_ERRORS_COUNT; i++) {
		if (mpi_errors[i].value == class) {
			name = mpi_errors[i].constant;
			break;
		}
	}
	call_put_error(c, name);
}

int64_t role_mask(struct call *c, int64_t v, const struct mpi_value *bits, size_t n)
{
	char text[512] = ""; /* all the names of the longest mask fit */
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(v & bits[i].value))
			continue;
		v &= ~(int64_t)bits[i].value;
		used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? "|" : "",
		                 mpi_constant_name[bits[i].constant]);
	}
	if (v && used) /* bits that have no name stay a number */
		snprintf(text + used, sizeof(text) - used, "|%lld", (long long)v);
	return used ? call_constant_named(c, text) : v;
}
