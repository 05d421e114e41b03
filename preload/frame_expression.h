/* SPDX-License-Identifier: BSD-3-Clause
 * frame_expression - where a rule of a frame is an expression (DWARF 5, section 2.5)
 *
 * Such rules describe stubs of the linker, functions that align their stack, and the frame that the kernel makes for a
 * signal handler. What only debuggers' information has (locations in pieces, calls, branches) is not known here.
 */
#ifndef SPOOR_FRAME_EXPRESSION_H
#define SPOOR_FRAME_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/registers.h"
#include "preload/stack.h"

/* The value of an expression (its length, its bytes; before `end`). cfa: what it begins with on its stack, or NULL.
 * False: it reads what must not be read, or cannot be understood. */
bool frame_expression(const uint8_t *expression, const uint8_t *end, const struct registers *r, struct stack_view *v,
                      const uintptr_t *cfa, uintptr_t *value);

#endif
