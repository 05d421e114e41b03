/* SPDX-License-Identifier: BSD-3-Clause
 * codec_zstd - zstd for the chunks of a trace file (trace/file/container.h)
 */
#ifndef SPOOR_CODEC_ZSTD_H
#define SPOOR_CODEC_ZSTD_H

#include "trace/file/container.h"

/* Always there; what the archive writes, and what every reader of archived traces needs. */
extern const struct codec codec_zstd;

#endif
