/* SPDX-License-Identifier: BSD-3-Clause
 * when - times as Slurm's commands take them
 *
 *     now, now-1hour, now+2days           now, and so long before or after it: seconds (also without a word), minutes,
 *                                         hours, days, weeks, or their beginning
 *     30m, 12h, 7d, 2w                    so long ago: s, m, h, d, w
 *     today, midnight, noon, teatime, fika, yesterday, tomorrow
 *     HH:MM[:SS] [AM|PM]                  today
 *     MM/DD[/YY], MM.DD[.YY], MMDD[YY], each with [-HH:MM[:SS]]
 *     YYYY-MM-DD[THH:MM[:SS]]
 *
 * All of it is local time.
 */
#ifndef SPOOR_WHEN_H
#define SPOOR_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds since 1970. end: a day without a time means its end, a minute its last second. Returns 0, or -1: text is no
 * time. */
int when_parse(const char *text, bool end, int64_t now, int64_t *seconds);

#define WHEN_EXPECTED "2026-03-31, 2026-03-31T12:00, 03/31, 12:00, today, now-1hour, or an age: 30m, 12h, 7d"

#endif
