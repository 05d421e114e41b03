/* SPDX-License-Identifier: BSD-3-Clause
 * pmix_types - the structures of PMIx, as far as they are used (PMIx standard, "Data Structures and Types")
 */
#ifndef SPOOR_PMIX_TYPES_H
#define SPOOR_PMIX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* pmix_data_type_t */
#define PMIX_TYPE_BOOL   1
#define PMIX_TYPE_UINT32 14
#define PMIX_TYPE_PROC   22

#define PMIX_EVERY_RANK (UINT32_MAX - 1) /* PMIX_RANK_WILDCARD: of the namespace as a whole */

struct pmix_proc {
	char nspace[256];
	uint32_t rank;
};

struct pmix_value {
	uint16_t type;
	union {
		bool flag;
		uint32_t number;
		struct pmix_proc *process;
		void *largest[3];
	} data;
};

struct pmix_info {
	char key[512];
	uint32_t flags;
	struct pmix_value value;
};

/* PMIx_Get_nb: returns 0 if the function will be called. */
typedef int pmix_get_nb(const struct pmix_proc *, const char *key, const struct pmix_info *, size_t count,
                        void (*)(int status, struct pmix_value *, void *data), void *data);

#endif
