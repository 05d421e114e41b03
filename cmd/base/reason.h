/* SPDX-License-Identifier: BSD-3-Clause
 * reason - why a trace is partial, in words
 */
#ifndef SPOOR_REASON_H
#define SPOOR_REASON_H

/* Of a `reason` of the metadata (doc/metadata.md): "it reached its time limit". NULL: it is none, or NULL. */
const char *reason_text(const char *reason);

#endif
