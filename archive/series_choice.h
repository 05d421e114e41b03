/* SPDX-License-Identifier: BSD-3-Clause
 * series_choice - which runs of an application differ in nothing but their size
 */
#ifndef SPOOR_SERIES_CHOICE_H
#define SPOOR_SERIES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERIES_SIZES 3 /* fewer say nothing of how it grows */

/* By what runs are known to be of one program. */
enum series_same { SERIES_BUILD, SERIES_EXECUTABLE, SERIES_NAME };

/* A run; texts are numbers of table text, 0: empty. */
struct series_candidate {
	int64_t id, alike, build, exe, ranks, start_ns;
	char *numbers; /* malloc'ed: those of its arguments (archive/command_mask.h) */
	int64_t kind;  /* for series_choose */
};

struct series_chosen {
	enum series_same same;
	size_t first, count; /* of the list, as it is sorted then: by ranks, the newest first */
	size_t sizes;        /* different numbers of ranks */
	size_t series;       /* how many there were */
	bool *fixed;         /* malloc'ed: is number n of the arguments the same in all of them? */
	size_t numbers;
};

/* Chooses the series with most sizes, of these that with most runs; sorts the list. Arguments are alike but for
 * numbers. It is the same build; if such runs have too few sizes, the same executable; then, if `named`, just the name.
 * A number that differs between runs of one size is no matter of size: of these runs, those with one value are taken,
 * unless they have too few sizes. Returns 0, or -1 on no memory. The caller frees `fixed` in any case. */
int series_choose(struct series_chosen *out, struct series_candidate *list, size_t count, bool named);

#endif
