/* SPDX-License-Identifier: BSD-3-Clause
 * image - a column when it is taken out of its arena: a pattern and a dictionary that depend on its values alone
 */
#ifndef SPOOR_IMAGE_H
#define SPOOR_IMAGE_H

#include "trace/record/column.h"
#include "trace/base/varint.h"

/* What a column is when it is taken out of its arena. `pattern` is in the form of doc/trace-format.md, empty if all
 * values are equal. */
struct column_image {
	uint64_t visits;
	struct writer pattern;
	struct dict_run *dict; /* canonical: stretches of more than one value have at least DICT_STRETCH */
	size_t dict_count;
	/* Of a column that is edited (trace/record/edited.h), all of it is here: edits. Else there are none. */
	int64_t *edits;
	size_t edit_count;
};
#define DICT_STRETCH 4

/* Takes the first `visits` values out of a column of a private arena (arena_open), which may change the column.
 * Everything in it is checked. references: the values are numbers of things, so that stretches of them mean nothing and
 * are not made. Returns 0, or -1 if the column is damaged or holds fewer values. The caller frees the image in any
 * case. */
int column_extract(struct columns *x, struct column *c, uint64_t visits, bool references, struct column_image *out);
void column_image_free(struct column_image *image);

#endif
