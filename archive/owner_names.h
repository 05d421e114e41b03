/* SPDX-License-Identifier: BSD-3-Clause
 * owner_names - the names of users by their numbers, each looked up once
 */
#ifndef SPOOR_OWNER_NAMES_H
#define SPOOR_OWNER_NAMES_H

#include <stddef.h>
#include <sys/types.h>

struct named_owner;

/* Zero-initialised is empty. */
struct owner_names {
	struct named_owner *list;
	size_t count;
};

/* The number as text where there is no such user. Valid until the next call. */
const char *owner_name(struct owner_names *o, uid_t uid);
void owner_names_free(struct owner_names *o);

#endif
