/* SPDX-License-Identifier: BSD-3-Clause
 * turns - the loops of a program, and what the ranks of all sizes did at each place of it
 *
 * All ranks of all sizes have one loop nest (proxy/structure.h). A loop that has as many turns at most at each size is
 * fixed: each of its turns is a place of its own, where all ranks are compared. The turn of another one is a variable
 * of what is found there. So what was seen is sorted into slots:
 *
 *     SLOT_TIMES   how often a node of the nest comes in a turn of its parent; 0: not at all
 *     SLOT_CHOICE  which child of a set in any order comes
 *     SLOT_VISIT   a call
 *     SLOT_ROW     a row of an object table; the node is the table
 */
#ifndef SPOOR_EXTRAPOLATE_TURNS_H
#define SPOOR_EXTRAPOLATE_TURNS_H

#include "cmd/extrapolate/rule.h"
#include "cmd/extrapolate/source.h"
#include "trace/base/index.h"
#include "trace/read/loop_nest.h"

enum slot_kind { SLOT_TIMES, SLOT_CHOICE, SLOT_VISIT, SLOT_ROW };

struct slot {
	enum slot_kind kind;
	uint32_t node;
	uint64_t key;
	struct point *points;
	int64_t *values; /* of VISIT and ROW: where the event begins */
	uint32_t count, point_room, value_room;
};

/* Where somebody is in the loops: the hash of the turns of those that are fixed, and the others. */
struct turns_at {
	uint64_t fixed;
	int32_t vars;
	int32_t var[POINT_VARS];
};

struct turns {
	const struct event_source *source;
	struct loop_nest nest;
	uint32_t *local;   /* of each site of the model, its node */
	uint32_t *site_of; /* of each node that is a site, its number in the model; node 0 is none */
	bool *fixed;       /* of each node */
	struct slot *slots;
	uint32_t slot_count, slot_room;
	struct index index;
};

/* Returns 0, or -1 with error set. The caller frees it in any case. */
int turns_make(struct turns *t, const struct event_source *source, struct error *error);
/* Fills the slots again, after `fixed` has changed. Returns 0, or -1 with error set. */
int turns_fill(struct turns *t, struct error *error);
void turns_free(struct turns *t);

/* In turn `turn` of a node. False: more loops than POINT_VARS depend on the ranks. */
bool turns_enter(const struct turns *t, struct turns_at *at, uint32_t node, uint32_t turn);
/* NULL: nobody was there. */
struct slot *turns_slot(const struct turns *t, enum slot_kind kind, uint32_t node, const struct turns_at *at);

#endif
