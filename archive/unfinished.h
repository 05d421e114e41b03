/* SPDX-License-Identifier: BSD-3-Clause
 * unfinished - what a killed process left in the archive (trace/base/publish.h): hidden `.NAME.PID.TIME.tmp` files, and
 * empty traces
 */
#ifndef SPOOR_UNFINISHED_H
#define SPOOR_UNFINISHED_H

#include <stddef.h>
#include <stdint.h>

/* A file that is being written changes all the time; one that did not for so long has nobody who would finish it. */
#define UNFINISHED_AGE 3600 /* seconds */

/* Removes those in a folder whose name, behind the dot, begins with PREFIX and that did not change for `age` seconds;
 * what is not the caller's to remove stays. The folder must not be a symbolic link. With dry, only counts. Returns how
 * many, and adds what they take of the disk to *bytes (may be NULL). */
size_t unfinished_remove(const char *folder, const char *prefix, int64_t age, int dry, uint64_t *bytes);

#endif
