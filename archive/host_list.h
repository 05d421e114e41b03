/* SPDX-License-Identifier: BSD-3-Clause
 * host_list - names of hosts as one text, as Slurm writes them: "n[1-128],login,x[07-09].cluster"
 */
#ifndef SPOOR_HOST_LIST_H
#define SPOOR_HOST_LIST_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Longer names are cut. */
#define HOST_LIST_NAME 256

/* An array of names as such a text; malloc'ed, NULL: no memory. What is no text is left out, and what the text itself
 * has a meaning for (a bracket) becomes `?`. */
char *host_list_encode(const json_t *hosts);

struct host_range_list {
	const char *at;
	uint64_t next, left; /* of a range: its next number, and how many follow */
};

/* text must stay. */
struct host_range_list host_list_begin(const char *text);
/* The next name; NULL at the end. Empty names are left out. Returns name. */
const char *host_list_next(struct host_range_list *l, char name[HOST_LIST_NAME]);
size_t host_list_count(const char *text);

#endif
