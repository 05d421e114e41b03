/* SPDX-License-Identifier: BSD-3-Clause
 * cell - values as texts in a table
 */
#include "cmd/base/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *cell_text(char out[64], const char *text)
{
	size_t n = 0;
	for (; text[n] && n < 63; n++)
		out[n] = (unsigned char)text[n] <= 0x20 || text[n] == 0x7f ? '?' : text[n];
	out[n] = '\0';
	return n ? out : strcpy(out, "-");
}

const char *cell_start(char out[32], int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	if (ns <= 0 || !localtime_r(&t, &tm) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm))
		strcpy(out, "-");
	return out;
}

const char *cell_elapsed(char out[32], int64_t start, int64_t end)
{
	if (start <= 0 || end < start) {
		strcpy(out, "-");
	} else {
		int64_t s = (end - start) / 1000000000;
		snprintf(out, 32, "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
	}
	return out;
}

const char *cell_size(char out[32], uint64_t bytes)
{
	static const char units[] = "BKMGT";
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(out, 32, unit && value < 10 ? "%.1f%c" : "%.0f%c", value, units[unit]);
	return out;
}

const char *cell_count(char out[32], int64_t count)
{
	snprintf(out, 32, "%" PRId64, count);
	return count > 0 ? out : strcpy(out, "-");
}

const char *cell_figure(char out[32], double v, enum figure_unit unit)
{
	static const char prefixes[] = " kMGTPE";
	size_t prefix = 0;

	if (v < 0)
		return strcpy(out, "-");
	switch (unit) {
	case UNIT_COUNT:
		if (v < 1e6) {
			snprintf(out, 32, "%.0f", v);
			break;
		}
		for (; v >= 1e3 && prefix < 6; prefix++)
			v /= 1e3;
		snprintf(out, 32, v < 100 ? "%.1f%c" : "%.0f%c", v, prefixes[prefix]);
		break;
	case UNIT_HOURS:
		snprintf(out, 32, v >= 100 ? "%.0f" : v >= 1 || v == 0 ? "%.1f" : v >= 0.001 ? "%.3f" : "%.1e", v);
		break;
	case UNIT_SECONDS:
		snprintf(out, 32, "%.3f", v);
		break;
	case UNIT_SHARE:
		snprintf(out, 32, v < 0.001 && v > 0 ? "%.3f%%" : "%.1f%%", 100 * v);
		break;
	case UNIT_BYTES:
	case UNIT_MEAN:
		return cell_size(out, v < 1.8e19 ? (uint64_t)v : UINT64_MAX);
	case UNIT_RATIO:
		snprintf(out, 32, "%.2f", v);
		break;
	}
	return out;
}
