/* SPDX-License-Identifier: BSD-3-Clause
 * codec_zstd - zstd for the chunks of a trace file
 */
#include "archive/codec_zstd.h"

#include <zstd.h>

/* Traces are small, written once and read often. The level is fixed, so that equal traces are equal files. */
#define LEVEL 15

static size_t compress(void *out, const void *in, size_t n)
{
	if (n < 2)
		return 0;
	size_t stored = ZSTD_compress(out, n - 1, in, n, LEVEL); /* n - 1: an error if it would not be smaller */
	return ZSTD_isError(stored) ? 0 : stored;
}

static int decompress(void *out, size_t n, const void *in, size_t stored)
{
	size_t got = ZSTD_decompress(out, n, in, stored);
	return ZSTD_isError(got) || got != n ? -1 : 0;
}

const struct codec codec_zstd = {compress, decompress};
