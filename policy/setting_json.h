/* SPDX-License-Identifier: BSD-3-Clause
 * setting_json - a setting's value, from JSON; inside of policy/ only
 */
#ifndef SPOOR_SETTING_JSON_H
#define SPOOR_SETTING_JSON_H

#include "policy/parser.h"

/* Where the settings of an object go. */
struct setting_target {
	struct settings *set;
	size_t *line; /* where each stands; NULL if nobody wants to know */
	bool *has;    /* which are there; NULL if nobody wants to know */
};

/* Reads the value at s. One that the setting does not take is said, and the target is left alone. */
void setting_read_json(struct parser *p, const struct spot *s, const struct setting *setting,
                       const struct setting_target *target);

#endif
