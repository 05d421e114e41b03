/* SPDX-License-Identifier: BSD-3-Clause
 * share - tables and functions of a program that are the same but for their names become one
 */
#ifndef SPOOR_PROXY_SHARE_H
#define SPOOR_PROXY_SHARE_H

#include <stddef.h>

/* texts[0] is definitions: each begins a line with "static ". What has a name such as table_7 is compared without it,
 * and left out if there is the same in front of it; names in all `count` texts follow. What has a state of its own is
 * not shared. The texts are malloc'ed, and replaced. Returns 0, or -1: no memory. */
int share_definitions(char **texts, size_t count);

#endif
