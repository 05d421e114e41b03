/* SPDX-License-Identifier: BSD-3-Clause
 * anonymise - a trace in which nothing says who, where, or what: names are replaced by pseudonyms that depend on a key
 *
 * A pseudonym is a word of letters made of HMAC-SHA-256(key, name). The same name gets the same pseudonym wherever it
 * stands, in all traces that are anonymised with one key, so that sets of them can be joined and grouped; without the
 * key nobody can find out whose it is, not even by trying names.
 *
 *     /home/ada/bin/halo    /yqkzmwfurbtn/odhwcxrepqvy/mtrgfdbzclaq/pwnshvyejkio     paths part by part
 *     node017.cluster       host-vkqhzmdwteux                                        node numbers do not stay
 *
 * What stays: names and constants of the MPI standard, numbers (sizes, ranks, times, dates), state, mode, versions.
 * Everything else that is text is replaced, also what a later version of spoor adds to the metadata; so are the numbers
 * of jobs, build ids, and worlds; the user's number goes.
 */
#ifndef SPOOR_EXPORT_ANONYMISE_H
#define SPOOR_EXPORT_ANONYMISE_H

#include <jansson.h>

#include "cmd/base/options.h"
#include "trace/model/trace.h"

struct anonymiser;

/* key: the name of a file that holds the key, at least 16 bytes (an end of line is no part of it); or env:NAME, the
 * variable that does. Returns 0, or -1 with error set. The caller destroys *out. */
int anonymiser_create(struct anonymiser **out, const char *key, struct error *error);
void anonymiser_destroy(struct anonymiser *a);
/* Replaces all names in a decoded trace, which can still be encoded, walked and shown. Returns 0, or -1 with error set.
 * */
int anonymise_trace(struct anonymiser *a, struct trace *t, struct error *error);
/* The metadata without names: a new object; NULL if there is no memory, or meta is NULL. */
json_t *anonymise_meta(struct anonymiser *a, const json_t *meta);

/* The line of it in a table of options. */
#define OPTION_ANONYMISE(to)                                                                                      \
	OPTION_TEXT("anonymise", 0, "KEY", to,                                                                    \
	            "names, paths, users, hosts become pseudonyms; KEY: the file with the key, or env:VARIABLE"), \
		OPTION_TEXT("anonymize", 0, "KEY", to, NULL)

/* Both, as an option of a command asks for it: *meta, which may be NULL, is replaced. Returns 0, or -1 after a message
 * on stderr. */
int anonymise(struct trace *t, json_t **meta, const char *key, const char *command);

#endif
