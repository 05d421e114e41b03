/* SPDX-License-Identifier: BSD-3-Clause
 * codec_zstd - zstd for the chunks of a trace file
 */
#include "archive/codec_zstd.h"

#include <zstd.h>

#include "trace/base/embed.h"

/* Traces are small, written once and read often. The level is fixed, so that equal traces are equal files. */
#define LEVEL 15

/* What most traces hold: how functions are recorded, names of constants, keys of metadata. It is a part of the format:
 * files are unreadable without it, so it never changes. A better one would be another chunk's. */
EMBED(words, "archive/words.txt")

static size_t compress(void *out, const void *in, size_t n, bool joined)
{
	if (n < 2)
		return 0;
	ZSTD_CCtx *c = ZSTD_createCCtx();
	if (!c)
		return 0;
	/* n - 1: an error if it would not be smaller */
	size_t stored = ZSTD_compress_usingDict(c, out, n - 1, in, n, words, joined ? EMBED_SIZE(words) : 0, LEVEL);
	ZSTD_freeCCtx(c);
	return ZSTD_isError(stored) ? 0 : stored;
}

static int decompress(void *out, size_t n, const void *in, size_t stored, bool joined)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	if (!d)
		return -1;
	size_t got = ZSTD_decompress_usingDict(d, out, n, in, stored, words, joined ? EMBED_SIZE(words) : 0);
	ZSTD_freeDCtx(d);
	return ZSTD_isError(got) || got != n ? -1 : 0;
}

const struct codec codec_zstd = {compress, decompress};
