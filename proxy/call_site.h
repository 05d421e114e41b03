/* SPDX-License-Identifier: BSD-3-Clause
 * call_site - the statements of a call site
 */
#ifndef SPOOR_PROXY_CALL_SITE_H
#define SPOOR_PROXY_CALL_SITE_H

#include "proxy/call_text.h"
#include "proxy/column_value.h"

struct call_place {
	uint32_t number;    /* of the call site in the program */
	const char *visit;  /* the variable that counts visits; NULL: a counter of its own, if it needs one */
	uint64_t turns;     /* it begins anew behind so many visits; 0: it does not */
	uint32_t *counters; /* counters so far */
	int indent;
	bool *used; /* set if `visit` is asked for; may be NULL */
	bool alone; /* in a block, so that its variables need no other one */
};

/* Returns 0, or -1 with columns.error set. */
int call_write(struct columns *c, const struct proxy_site *site, const struct call_place *at, FILE *out);
/* Does the site have the same values again each `turns` visits? */
bool call_is_periodic(const struct structure *s, const struct proxy_site *site, uint64_t turns);

#endif
