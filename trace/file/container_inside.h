/* SPDX-License-Identifier: BSD-3-Clause
 * container_inside - what reading and writing a container share
 */
#ifndef SPOOR_CONTAINER_INSIDE_H
#define SPOOR_CONTAINER_INSIDE_H

#include "trace/file/container.h"

#define CONTAINER_MAGIC  "\x89SPOOR\r\n" /* 8 bytes, without the NUL */
#define CONTAINER_HEADER 32              /* bytes */
#define CONTAINER_ENTRY  32
#define CONTAINER_MAJOR  1
#define CONTAINER_MINOR  0

#endif
