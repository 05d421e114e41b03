/* SPDX-License-Identifier: BSD-3-Clause
 * site - where in the program a call is made: frames, call paths, sites, and edges from one site to the next
 */
#ifndef SPOOR_SITE_H
#define SPOOR_SITE_H

#include "preload/recorder_internal.h"

/* The site of a function (enum mpi_number, + FUNCTION_ERROR) and a path (index of a node); NULL if there is no room
 * for a new one. */
struct site *site_get(struct recorder *r, uint32_t function, uint32_t path);
/* Which function, as above, has this number in the record. */
uint32_t site_function_of(const struct recorder *r, uint32_t number);
/* The site that a call of this function (number in the record) and path has when it fails. Without room its path is
 * cut, or it only counts. NULL: no memory at all. Keeps errno. */
struct site *site_of_error(struct recorder *r, uint32_t number, uint32_t path);
/* The site that the memo knows. brief: as below. NULL: no room. */
struct site *site_known(struct recorder *r, uint32_t function, void *known, bool brief);
/* The way of a call that the memo does not know: the stack is unwound, and the memo knows it from then on. NULL: no
 * room. Keeps errno. brief: if the site is brief, or new, it is a stand-in (stand_in.h). */
struct site *site_unwind(struct recorder *r, uint32_t function, void *return_address, void *cfa, bool brief);
/* The same, of no more than the innermost frames (shortage_frames, which must not be 0). */
struct site *site_unwind_cut(struct recorder *r, uint32_t function, void *return_address, void *cfa);
/* The edge between two sites, the other one by its number; NULL if there is no room for a new one. */
struct record_edge *site_edge(struct recorder *r, struct site *from, uint32_t to);
/* A path that is cut to the frame that an address returns to (NULL: to nothing), as site_get wants it; UINT32_MAX if
 * there is no room. */
uint32_t site_cut_path(struct recorder *r, void *return_address);
/* A function's number in the record; UINT32_MAX if there is no room for its schema. */
uint32_t site_function(struct recorder *r, uint32_t function);
/* The columns of a schema. */
uint32_t site_width(const char *schema);

#endif
