/* SPDX-License-Identifier: BSD-3-Clause
 * taken_out - for unit tests: what comes out of a column again
 */
#ifndef SPOOR_TEST_TAKEN_OUT_H
#define SPOOR_TEST_TAKEN_OUT_H

#include <stdlib.h>

#include "trace/model/pattern.h"
#include "trace/record/image.h"

/* Are these the first n values that a column is taken out with? */
static bool taken_out(struct columns *columns, struct column *c, size_t n, bool references, const int64_t *values)
{
	struct column_image image;
	struct pattern pattern = {0};
	struct pattern_cursor cursor = {0};
	uint32_t token;
	uint64_t count, news = 0, at = 0;
	int64_t *known = calloc(n + 1, sizeof *known);
	bool good = column_extract(columns, c, n, references, &image) == 0;
	for (size_t i = 0, k = 0; good && i < image.dict_count; i++)
		for (uint64_t j = 0; j < image.dict[i].count && k < n; j++)
			known[k++] = image.dict[i].start + image.dict[i].stride * (int64_t)j;
	if (good && image.pattern.size == 0) {
		for (; at < n && values[at] == known[0]; at++)
			;
	} else if (good && pattern_parse(&pattern, image.pattern.data, image.pattern.size) == 0 &&
	           pattern_begin(&cursor, &pattern) == 0) {
		while (good && pattern_next(&cursor, &token, &count) == 0)
			for (; good && count > 0; count--, at++)
				good = at < n && values[at] == known[token == PATTERN_NEW ? news++ : token - 1];
	}
	pattern_end(&cursor);
	pattern_free(&pattern);
	column_image_free(&image);
	free(known);
	return good && at == n;
}

#endif
