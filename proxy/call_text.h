/* SPDX-License-Identifier: BSD-3-Clause
 * call_text - lines of a program: how far they are indented, and what stands for the number of a visit
 */
#ifndef SPOOR_PROXY_CALL_TEXT_H
#define SPOOR_PROXY_CALL_TEXT_H

#include <stdint.h>
#include <stdio.h>

void call_indent(FILE *out, int indent);
/* Writes an expression with the visit counter by another name. turns: this is always less; 0: not known. */
void call_write_visit(const char *text, const char *visit, uint64_t turns, FILE *out);

#endif
