/* SPDX-License-Identifier: BSD-3-Clause
 * scale - by what the computation of a replay is multiplied: "0.5", "solve=0.5", "2,solve=0.5,libfft.so=1"
 *
 * A name is that of a function, or of a file, in the call path of the call behind the computation. `spoor replay` knows
 * names; to spoor-replay, which does not, it passes numbers of sites on: "2,#3-7=0.5". Of several entries that a site
 * is in, the last one holds.
 */
#ifndef SPOOR_SCALE_H
#define SPOOR_SCALE_H

#include <stdint.h>

#define SCALE_MOST    1e9
#define SCALE_NAME    256
#define SCALE_DEFAULT "1"

struct scale_entry {
	char name[SCALE_NAME]; /* "": all that nothing else is said of */
	double factor;         /* 0 .. SCALE_MOST */
};

/* Takes the next entry off *text. Returns 0; 1: there is none; -1: it is none. */
int scale_next(const char **text, struct scale_entry *e);
/* For OPTION_READ: `to` is a const char **. Returns 0, or -1: something in it is no entry. */
int scale_read(void *to, const char *text);
/* Of entries with numbers: by_site gets the factor of each of `count` sites. Returns 0, or -1: one is no number. */
int scale_sites(const char *text, double *by_site, uint32_t count);

#endif
