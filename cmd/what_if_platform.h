/* SPDX-License-Identifier: BSD-3-Clause
 * what_if_platform - a machine's network from a file (spoor-what-if(1), "Platforms"; etc/platforms/)
 */
#ifndef SPOOR_WHAT_IF_PLATFORM_H
#define SPOOR_WHAT_IF_PLATFORM_H

#include "insight/network.h"
#include "trace/base/error.h"

#define PLATFORM_NAME 64

/* Reads a file. name: what it calls the machine. Returns 0, or -1 with error set: the file, the key, what was expected,
 * and what is there. */
int platform_read(struct network *out, char name[PLATFORM_NAME], const char *path, struct error *error);

#endif
