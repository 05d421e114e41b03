/* SPDX-License-Identifier: BSD-3-Clause
 * suggest - the word that somebody probably meant
 */
#include "policy/suggest.h"

#include <string.h>
#include <strings.h>

#define LONGEST 40 /* words longer than this are nobody's typing mistake */

/* Edit distance (insert, delete, replace), without regard to case. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t replaced = diagonal + (strncasecmp(&a[i - 1], &b[j - 1], 1) != 0);
			size_t best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			diagonal = row[j];
			row[j] = replaced < best ? replaced : best;
		}
	}
	return row[n];
}

const char *suggest(const char *word, const char *const *choices, size_t n)
{
	const char *nearest = NULL;
	size_t least = (size_t)-1;

	if (strlen(word) > LONGEST)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t d = strlen(choices[i]) <= LONGEST ? edit_distance(word, choices[i]) : LONGEST;
		if (d < least && d <= 1 + strlen(choices[i]) / 3) {
			least = d;
			nearest = choices[i];
		}
	}
	return nearest;
}
