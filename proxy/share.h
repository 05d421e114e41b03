/* SPDX-License-Identifier: BSD-3-Clause
 * share - tables and functions of a program that are the same but for their names become one
 */
#ifndef SPOOR_PROXY_SHARE_H
#define SPOOR_PROXY_SHARE_H

#include "proxy/definition.h"

/* What is the same as one in front of it is gone, and that stands for it. What has a state of its own is not shared,
 * nor are two arrays of one call: an array is there until its function is called again. Returns 0, or -1: no memory. */
int share_definitions(struct definitions *d);

#endif
