/* SPDX-License-Identifier: BSD-3-Clause
 * raw_image - raw values when they are taken out of an arena: a pattern and a dictionary like any other's
 *
 *     raw values   9 3 9      what follows   new^2 1 over the dictionary 4 5
 *     together     new new 1 new^2 3 over the dictionary 9 3 4 5
 *
 * What follows has tokens of its own dictionary: they count on behind that of the raw values. A value that is in both
 * is twice in the dictionary.
 */
#ifndef SPOOR_RAW_IMAGE_H
#define SPOOR_RAW_IMAGE_H

#include "trace/base/varint.h"
#include "trace/record/raw.h"

/* Zero-initialised is empty. */
struct raw_image {
	struct dict_run *dict;
	size_t dict_count, dict_capacity;
	uint64_t rule_count;       /* of what follows, without its last one */
	struct writer rules, last; /* their bytes; the symbols of the last rule */
	uint64_t symbols;          /* in the last rule */
	/* value -> place in the dictionary + 1, as long as there are raw values */
	uint32_t *slots;
	size_t mask;
	uint32_t token; /* the run under way */
	uint64_t run;
	uint64_t taken; /* raw values so far */
};

/* The first n values, n > 0. Returns 0, or -1: damaged, or no memory. The caller frees the image in any case. */
int raw_image_take(struct raw_image *i, const struct arena *a, ref at, uint64_t n);
/* Adds what follows: a pattern, as it is stored, and its dictionary of n stretches. Returns 0 or -1. */
int raw_image_append(struct raw_image *i, const struct writer *pattern, const struct dict_run *dict, size_t n);
/* The pattern of all. Returns 0 or -1 (no memory). */
int raw_image_write(const struct raw_image *i, struct writer *out);
void raw_image_free(struct raw_image *i);

#endif
