/* SPDX-License-Identifier: BSD-3-Clause
 * phrase - a text that is put together piece by piece, in a buffer that cuts off what is too long
 */
#ifndef SPOOR_INSIGHT_PHRASE_H
#define SPOOR_INSIGHT_PHRASE_H

#include <stddef.h>

struct phrase {
	char *at;    /* where it ends */
	size_t left; /* bytes from there on; at least 1 */
};

/* Behind the text in a buffer. */
struct phrase phrase_behind(char *text, size_t size);
void phrase_put(struct phrase *x, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
