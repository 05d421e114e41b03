/* SPDX-License-Identifier: BSD-3-Clause
 * otf2_comms - the communicators of an OTF2 archive, and the groups of ranks in them
 */
#ifndef SPOOR_EXPORT_OTF2_COMMS_H
#define SPOOR_EXPORT_OTF2_COMMS_H

#include <otf2/otf2.h>

#include "cmd/export/exporter.h"

/* Writes them; a communicator has its number of comms.h. empty: the string ""; *strings: the next free one. Returns 0,
 * or -1 with x->error set. */
int otf2_comms(OTF2_GlobalDefWriter *w, struct export *x, OTF2_StringRef empty, OTF2_StringRef *strings);

#endif
