/* SPDX-License-Identifier: BSD-3-Clause
 * html - text and numbers in a page
 *
 * Whatever comes from a trace goes through html_text: nothing that a user has named can become markup. The pages have a
 * policy that forbids scripts and loading anything, too (html_head).
 */
#ifndef SPOOR_REPORT_HTML_H
#define SPOOR_REPORT_HTML_H

#include <stdint.h>
#include <stdio.h>

/* Text as it is: &, <, >, quotes are escaped, control characters and bytes that are no UTF-8 become U+FFFD. Also good
 * inside attributes. */
void html_text(FILE *out, const char *text);
/* The beginning of a page, up to <main>, and its end. */
void html_head(FILE *out, const char *title);
void html_foot(FILE *out);

/* How narrow a graphic of this width may be drawn, so that its text of 12 pixels does not get smaller than 11. */
#define HTML_SVG_LEAST(width) (((width)*11 + 11) / 12)

/* A point in time, as the clock of whoever writes the page shows it, and how far that is from UTC. */
void html_time(FILE *out, int64_t ns);

/* A figure: <data value="exact">what people read</data>, with a name by which it can be found; NULL: none. */
void html_count(FILE *out, const char *name, uint64_t n);
void html_ns(FILE *out, const char *name, uint64_t ns);
void html_bytes(FILE *out, const char *name, uint64_t bytes);
void html_share(FILE *out, const char *name, double share); /* 0 .. 1; negative: "not known" */

/* The same as plain text, for titles of graphics. */
#define HTML_NUMBER 40
const char *text_count(char out[HTML_NUMBER], uint64_t n);   /* "1,234,567" */
const char *text_ns(char out[HTML_NUMBER], double ns);       /* "1.23 s" */
const char *text_bytes(char out[HTML_NUMBER], double bytes); /* "1.50 MiB" */

#endif
