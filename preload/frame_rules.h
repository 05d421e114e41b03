/* SPDX-License-Identifier: BSD-3-Clause
 * frame_rules - how to get from a frame to its caller's: the unwind information of one place in a program
 *
 * Reads .eh_frame, which compilers write for each function (System V ABI, "Exception Frames"; the LSB's "Exception
 * Framework"; DWARF 5, section 6.4). A frame's CFA, canonical frame address, is where its callee's arguments begin: the
 * value of the stack pointer before the call. Everything else is relative to it:
 *
 *     CFA      = register + offset, or an expression
 *     register = as it was | unknown | at CFA + offset | CFA + offset | another register | what an expression says
 *
 * Nothing outside of [low, high) is read, whatever the information says.
 */
#ifndef SPOOR_FRAME_RULES_H
#define SPOOR_FRAME_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/registers.h"

enum frame_how {
	FRAME_SAME, /* all zero: nothing was said of it */
	FRAME_UNKNOWN,
	FRAME_AT_OFFSET,
	FRAME_IS_OFFSET,
	FRAME_IN_REGISTER,
	FRAME_AT_EXPRESSION,
	FRAME_IS_EXPRESSION
};

struct frame_rule {
	uint8_t how; /* enum frame_how */
	union {
		int64_t n;                 /* offset, register */
		const uint8_t *expression; /* its length as an unsigned LEB128, and its bytes */
	};
};

struct frame_row {
	bool by_expression; /* the CFA */
	uint16_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* as above */
	bool signed_return;            /* the return address is signed (arm64) */
	struct frame_rule reg[REGISTERS];
};

struct frame_rules {
	struct frame_row row;
	uint8_t return_column;
	bool signal; /* a signal handler's caller: pc is where it was interrupted, and not behind a call */
};

/* What the search needs besides: large, and so not on the stack. */
#define FRAME_REMEMBERED 4
struct frame_search {
	struct frame_rules found;
	struct frame_row initial, remembered[FRAME_REMEMBERED];
	size_t depth;
};

/* The unwind information of a file. */
struct frame_image {
	uintptr_t low, high;  /* the segment that it is in */
	const uint8_t *table; /* .eh_frame_hdr */
};

/* The rules at pc are in s->found. False: there are none, or they cannot be understood. */
bool frame_rules_find(struct frame_search *s, const struct frame_image *image, uintptr_t pc);

#endif
