/* SPDX-License-Identifier: BSD-3-Clause
 * work_text - functions of a program that says how long it computes
 */
#ifndef SPOOR_PROXY_WORK_TEXT_H
#define SPOOR_PROXY_WORK_TEXT_H

extern const char work_text_spend[];   /* work_spend, and what it includes */
extern const char work_text_slack[];   /* work_begin */
extern const char work_text_in_turn[]; /* each of these goes with tables of work.c */
extern const char work_text_place[];   /* before the next two */
extern const char work_text_drawn[];
extern const char work_text_varied[];

#endif
