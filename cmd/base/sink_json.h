/* SPDX-License-Identifier: BSD-3-Clause
 * sink_json - what goes out as JSON, for a terminal too (cmd/base/sink.h)
 */
#ifndef SPOOR_SINK_JSON_H
#define SPOOR_SINK_JSON_H

#include <jansson.h>
#include <stdio.h>

/* In ASCII, without control characters. flags: JSON_INDENT(2), JSON_COMPACT. Returns 0 or -1. */
int json_print(FILE *out, const json_t *json, size_t flags);
/* To stdout, indented, with a newline; gives up the reference. Returns 0, or -1: also of NULL (no memory). */
int json_tell(json_t *told);
/* One string of n bytes, with its quotes. What is no UTF-8 is U+FFFD. */
int json_print_text(FILE *out, const char *text, size_t n);

#endif
