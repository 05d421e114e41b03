/* SPDX-License-Identifier: BSD-3-Clause
 * crc32 - the checksum of containers: CRC-32 as in gzip and PNG (polynomial 0xedb88320, reflected)
 */
#ifndef SPOOR_CRC32_H
#define SPOOR_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const void *bytes, size_t n);

#endif
