/* SPDX-License-Identifier: BSD-3-Clause
 * rank_rule - which of a few kinds each rank is of, as a C expression of the variable `rank`
 *
 * kinds by rank 0 1 1 1      rank == 0 ? A : B
 * kinds by rank 0 1 0 1      rank % 2 == 0 ? A : B
 * kinds by rank 0 0 1 0 1    "00101"[rank] == '0' ? A : B
 */
#ifndef SPOOR_RANK_RULE_H
#define SPOOR_RANK_RULE_H

#include <stdint.h>
#include <stdio.h>

#define RANK_KINDS 16   /* at most */
#define RANK_ANY   0xff /* the kind of a rank that does not matter */

/* Writes the expression. kind: of each rank, below `kinds`; each comes at least once. texts: what each kind is. */
void rank_rule_write(FILE *f, const uint8_t *kind, uint32_t ranks, uint32_t kinds, char *const *texts);

#endif
