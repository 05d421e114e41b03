/* SPDX-License-Identifier: BSD-3-Clause
 * predict - a rule for everything that was seen in the turns of the program
 */
#ifndef SPOOR_EXTRAPOLATE_PREDICT_H
#define SPOOR_EXTRAPOLATE_PREDICT_H

#include "cmd/extrapolate/turns.h"

/* How one number follows. */
struct prediction {
	struct value_rule *rule; /* NULL: it is always `constant`; or there is none */
	int64_t constant;
	bool failed;
};

/* A column of a slot; of an array: how long it is, and its elements. */
struct column_prediction {
	struct prediction value;
	struct prediction *elements; /* malloc'ed */
	uint32_t count;              /* of these: 1 if they are `listed` by a rule, which has the number as last turn */
	bool listed;
};

struct slot_prediction {
	struct column_prediction *columns; /* malloc'ed; of TIMES and CHOICE: one */
	uint32_t count;
};

/* What has no rule. */
struct unpredicted {
	uint32_t node; /* as in the slot */
	enum slot_kind kind;
	uint32_t column; /* UINT32_MAX: the elements of arrays are no part of it */
	bool there;      /* it has a rule, but not for where a rank is */
	char values[160];
	uint64_t times;
};

struct predictions {
	const struct turns *turns;
	unsigned grid;                 /* the one that the program makes, or the line */
	struct slot_prediction *slots; /* as turns.slots */
	struct prediction *known;      /* found before */
	uint64_t *keys;
	uint32_t known_count, known_room, keys_room;
	struct index index;
	struct unpredicted *missing;
	uint32_t missing_count, missing_room;
};

/* Which loops that are not fixed are as long as the rank's place in the grid says, whatever the size? They are fixed
 * from then on. Returns how many: if any, all slots are to be made again. -1 with error set: no memory. */
int predictions_fix(struct predictions *p, struct turns *turns, struct error *error);
/* Finds all rules. Returns 0, or -1 with error set: no memory. What has no rule is in `missing`. */
int predictions_make(struct predictions *p, const struct turns *turns, struct error *error);
void predictions_free(struct predictions *p);

/* The schema of what a slot has; NULL: TIMES or CHOICE. */
const struct schema *slot_schema(const struct turns *t, const struct slot *s);
int predictions_miss(struct predictions *p, const struct slot *s, uint32_t column, bool there, const char *values);

#endif
