/* SPDX-License-Identifier: BSD-3-Clause
 * metadata - the facts of a job as the JSON object of a trace's META chunk (doc/metadata.md)
 */
#ifndef SPOOR_METADATA_H
#define SPOOR_METADATA_H

#include "policy/facts.h"

/* The object as malloc'ed text, or NULL if memory is short. Facts that doc/metadata.md does not know become texts under
 * their own names. */
char *metadata_encode(const struct facts *facts);
/* The object of an exit note: what a node without the trace knows of how its tasks ended. */
char *metadata_encode_note(const struct facts *facts);

#endif
