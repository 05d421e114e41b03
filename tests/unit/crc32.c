/* SPDX-License-Identifier: BSD-3-Clause
 * crc32 - known checksums
 */
#include "trace/base/crc32.h"

#include <string.h>

#include "tests/unit/tap.h"

int main(void)
{
	static const char text[] = "The quick brown fox jumps over the lazy dog";
	unsigned char bytes[64] = {0};
	ok(crc32_of(NULL, 0) == 0, "of nothing");
	ok(crc32_of("123456789", 9) == 0xcbf43926, "the check value of CRC-32");
	ok(crc32_of(text, strlen(text)) == 0x414fa339, "of a sentence");
	ok(crc32_of("\0", 1) == 0xd202ef8d && crc32_of("\0\0", 2) == 0x41d912ff, "zeros count");
	uint32_t whole = crc32_of(bytes, sizeof bytes), same = 0;
	for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		same += crc32_of(bytes, sizeof bytes) == whole;
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	ok(same == 0, "each flipped bit is noticed");
	return tap_end();
}
