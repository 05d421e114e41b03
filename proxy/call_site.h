/* SPDX-License-Identifier: BSD-3-Clause
 * call_site - the statements of a call site
 */
#ifndef SPOOR_PROXY_CALL_SITE_H
#define SPOOR_PROXY_CALL_SITE_H

#include "proxy/call_parts.h"

/* Adds its statements. Returns 0, or -1 with columns.error set. */
int call_make(struct columns *c, const struct proxy_site *site, const struct call_place *at, struct nodes *out);
/* Does the site have the same values again each `turns` visits? */
bool call_is_periodic(const struct structure *s, const struct proxy_site *site, uint64_t turns);

#endif
