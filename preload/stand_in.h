/* SPDX-License-Identifier: BSD-3-Clause
 * stand_in - what a call writes to whose site is brief (trace/record/brief.h)
 *
 * A brief site has no columns. So for each of its calls there is a struct site in private memory, a stand-in, which
 * nothing has been put into. When the call is complete, what was put becomes a visit of the brief site. A recorder has
 * two: that of the last event, which says what follows it, and that of the call under way. A call inside of another
 * has none; its site is never brief.
 */
#ifndef SPOOR_STAND_IN_H
#define SPOOR_STAND_IN_H

#include "preload/recorder_internal.h"
#include "trace/record/brief.h"

/* Returns 0 or -1 (no memory). */
int stand_in_init(struct recorder *r);
void stand_in_free(struct recorder *r);
static inline bool stand_in_is(const struct recorder *r, const struct site *s)
{
	return s == r->stand_in[0] || s == r->stand_in[1];
}

/* A new brief site, which is in no index: its stand-in. NULL: no room. function: in the record; columns: its width. */
struct site *stand_in_new(struct recorder *r, uint32_t function, uint32_t path, uint32_t columns);
/* A site for the next call, by number. brief: if it is brief, and may have another visit, its stand-in. Else it is a
 * struct site from now on. NULL: no room. */
struct site *stand_in_site(struct recorder *r, uint32_t id, uint32_t columns, bool brief);

/* In the middle of the puts, `put` of them made: they are moved to the struct site that the site is from now on. NULL:
 * no room, and nothing has changed. */
struct site *stand_in_leave(struct recorder *r, const struct site *s, uint32_t put);

/* The steps of the commit. First: the visit is complete but for the count. Returns the site that it is of: the
 * stand-in, whose visits are those that count, or the struct site that it had to become. Where arguments have used up
 * the room for an event, the site that only counts; NULL: not even that. */
struct site *stand_in_take(struct recorder *r, struct site *s, uint64_t ticks);
/* The last event was that of the stand-in `last`: says what follows it, so many ticks later. NULL: it is said. Else the
 * struct site that it had to become. */
struct site *stand_in_follow(struct recorder *r, struct site *last, const struct site *next, uint64_t ticks);
/* The visit counts. */
void stand_in_count(struct recorder *r, const struct site *s);

#endif
