/* SPDX-License-Identifier: BSD-3-Clause
 * preload - what is ours in a value of LD_PRELOAD
 *
 * The value is a list of entries between colons or blanks. Ours is the one that is the configuration's text to the byte
 * (the dynamic loader expands `$PLATFORM` in it, nobody else does); all other bytes are the user's and stay as they
 * are. libc only.
 */
#ifndef SPOOR_PRELOAD_H
#define SPOOR_PRELOAD_H

#include <stdbool.h>

/* The value with the entry in front: malloc'ed, or NULL without memory. users may be NULL or empty, which means the
 * same. */
char *preload_add(const char *users, const char *entry);

/* Takes the entry out of the value, wherever and how often it is there, so that what preload_add made is what it was
 * before. Returns true if it was there. */
bool preload_remove(char *value, const char *entry);

#endif
