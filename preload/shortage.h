/* SPDX-License-Identifier: BSD-3-Clause
 * shortage - what the recorder does when memory is short, or call paths too many
 *
 *     1. the largest columns give up their order (trace/record/reclaim.h)
 *     2. call paths that are new are cut to their innermost 8 frames, then 5, then 3, then one, and at last away: a
 *        function has one site more then. Stacks are unwound no further than that but now and then
 *     3. a call that there can be no site for is only counted, with its time, by function
 *
 * Each of them is written down with the event at which it began (record.stage). None ends: what is known goes on to be
 * recorded.
 *
 * Sites, their frames and their edges get five eighths of the arena before paths are cut, and 1/32 more before they
 * are cut shorter; with what columns that vary will need when they have no order, if they vary irregularly or often.
 * Edges that are new are told apart as long as there is memory for paths of three frames, and edges have no more than a
 * quarter of the arena. Apart from memory, paths are cut as well when a program comes by its calls on ever new ones, so
 * that unwinding would be most of its time.
 *
 * Memory that is left lies in pieces, which may be too small for a site. So some is held (recorder_internal.h) for the
 * sites without a path, with which nothing has to be only counted unless a program calls very many functions.
 */
#ifndef SPOOR_SHORTAGE_H
#define SPOOR_SHORTAGE_H

#include "preload/recorder_internal.h"
#include "trace/model/trace.h"

/* Between two events: sees to it that there is memory for another one, if it can be had. Takes what it takes when there
 * is none. */
void shortage_make_room(struct recorder *r);

/* From now on call paths that are new are cut. */
void shortage_cut_paths(struct recorder *r);
static inline bool shortage_cuts_paths(const struct recorder *r)
{
	return r->record->stage[STAGE_PATHS];
}
/* How many frames a new path may have, as far as memory is concerned. */
size_t shortage_frames(const struct recorder *r);
/* May there be another edge? */
bool shortage_keeps_edge(const struct recorder *r);
/* May this stack be unwound, all of it? Mostly not, once paths are cut. */
bool shortage_may_unwind(struct recorder *r);

/* The site of a call whose path is cut: of its innermost frame, of none, or the one that only counts. NULL: no memory
 * at all. */
struct site *shortage_site(struct recorder *r, uint32_t function, void *return_address);
/* The same, if it was asked for before; NULL: ask shortage_site. */
struct site *shortage_known_site(const struct recorder *r, uint32_t function, void *return_address);
/* Of a recorder that has a struct shortage, with one look; NULL: ask shortage_known_site. */
static inline struct site *shortage_site_at(const struct shortage *k, uint32_t function, void *return_address);
/* Addresses mean something else now. */
void shortage_forget(struct recorder *r);

/* The site that a function's calls are only counted at. It is not in the arena; what is put into its columns is gone.
 * */
struct site *shortage_counter(struct recorder *r, uint32_t function);
static inline bool shortage_is_counter(const struct site *s)
{
	return s->id == UINT32_MAX;
}
/* A call at such a site has ended. */
void shortage_count_call(struct recorder *r, const struct call *c);

/* ---- implementation ---- */

/* Where a call with a cut path has its site; forgotten all at once. A power of two. */
#define CUTS 4096

struct cut {
	void *address;
	struct site *site; /* NULL: there is none here */
	uint32_t function;
};

/* What a struct shortage begins with. */
struct cuts {
	struct cut cut[CUTS];
};

/* Where the search for it begins. An address is of one function, but for calls that some other library makes for
 * several. */
static inline size_t cut_home(uint32_t function, void *return_address)
{
	return (size_t)(((uintptr_t)return_address ^ (uint64_t)function << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}
_Static_assert(CUTS == 1 << (64 - 52), "as many as cut_home can tell apart");

static inline struct site *shortage_site_at(const struct shortage *k, uint32_t function, void *return_address)
{
	const struct cut *cut = &((const struct cuts *)(const void *)k)->cut[cut_home(function, return_address)];
	return cut->address == return_address && cut->function == function ? cut->site : NULL;
}

#endif
