/* SPDX-License-Identifier: BSD-3-Clause
 * alternative - what rules say that only the process can decide, which knows its executable and its number of ranks
 *
 * In a decision it is a text in the form of the handoff: `alt=...;alt=...`, in the order of the rules, the last without
 * a condition. Each value is, escaped once more, `exe=PATTERN` (several: one is enough), `ranks=LEAST-MOST`, `mode`,
 * `threshold`, settings that are not the standard ones, and `fact.NAME=VALUE` for what the trace's metadata is to say
 * if it is this one. spank/handoff.h reads it.
 */
#ifndef SPOOR_ALTERNATIVE_H
#define SPOOR_ALTERNATIVE_H

#include "policy/decision.h"
#include "policy/rule.h"

#define ALTERNATIVES_MAX 32

/* Appends to d->alternatives what one says, if rule's late conditions hold (NULL: it has none). Returns 0, or -1: it
 * does not fit. */
int alternative_add(struct decision *d, const struct rule *rule, const struct decision *one);

#endif
