/* SPDX-License-Identifier: BSD-3-Clause
 * embed - a file of the source tree as it is, in the program: text that is no C keeps a file of its own
 *
 *     EMBED(words, "archive/words.txt")      words[], and EMBED_SIZE(words) bytes of it; a NUL follows
 *
 * The file is found as #include finds it, and named in Makemodule.am as what the object depends on.
 */
#ifndef SPOOR_EMBED_H
#define SPOOR_EMBED_H

#include <stddef.h>
#include <stdint.h>

#define EMBED(name, file)                                                                                   \
	__asm__(".pushsection .rodata\n.balign 8\n" #name "_size:\n.quad " #name "_end - " #name "\n" #name \
	        ":\n.incbin \"" file "\"\n" #name "_end:\n.byte 0\n.popsection\n");                         \
	extern const char name[] __attribute__((visibility("hidden")));                                     \
	extern const uint64_t name##_size __attribute__((visibility("hidden")));

#define EMBED_SIZE(name) ((size_t)name##_size)

#endif
