/* SPDX-License-Identifier: BSD-3-Clause
 * publish - a file appears under its name whole, once, or not at all; on whatever file system
 *
 * It is written to a temporary name in the same folder, synced, and gets its name by link(2), which takes no name that
 * is there. Where that cannot be (file systems without hard links), by renameat2(RENAME_NOREPLACE), or in the end by
 * rename(2) over an empty file that was made for it with O_EXCL. Network file systems may say of what they did that it
 * was there already, when an answer got lost: so the inode under the name decides, not the answer.
 */
#ifndef SPOOR_PUBLISH_H
#define SPOOR_PUBLISH_H

#include <stddef.h>

/* path must not exist (errno EEXIST otherwise). The temporary name, ".NAME.PID.TIME.tmp", is gone in any case. More
 * than the process may write to a file (RLIMIT_FSIZE) is not begun: EFBIG, and no signal. Returns 0, or -1 with errno.
 * */
int publish_file(const char *path, unsigned mode, const void *bytes, size_t n);
/* The same, in the place of a file that may be there: it stays until the new one is whole. */
int publish_over(const char *path, unsigned mode, const void *bytes, size_t n);
/* The same without waiting for the disk: for what may be lost with the node, as what is in a spool may. */
int publish_unsynced(const char *path, unsigned mode, const void *bytes, size_t n);

#endif
