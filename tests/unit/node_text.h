/* SPDX-License-Identifier: BSD-3-Clause
 * node_text - for tests: what nodes of a program (proxy/nodes.h) are as C
 */
#ifndef SPOOR_TEST_NODE_TEXT_H
#define SPOOR_TEST_NODE_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#include "proxy/routine.h"

static inline FILE *nodes_open(char **text)
{
	static size_t size;
	FILE *out = open_memstream(text, &size);
	if (!out)
		abort();
	return out;
}

/* Of an expression; the caller frees it. */
static inline char *text_of_node(const struct tree_node *n)
{
	char *text;
	struct printer p = {.out = nodes_open(&text)};
	print_node(&p, n);
	fclose(p.out);
	return text;
}

static inline char *text_of_statement(const struct tree_node *n)
{
	char *text;
	struct printer p = {.out = nodes_open(&text)};
	print_statement(&p, n, 1);
	fclose(p.out);
	return text;
}

static inline char *text_of_definitions(const struct definitions *d)
{
	char *text;
	struct printer p = {.out = nodes_open(&text)};
	for (const struct definition *one = d->first; one; one = one->next)
		print_definition(&p, one);
	fclose(p.out);
	return text;
}

static inline char *text_of_routines(const struct routines *f)
{
	char *text;
	struct printer p = {.out = nodes_open(&text)};
	routines_print(&p, f);
	fclose(p.out);
	return text;
}

#endif
