/* SPDX-License-Identifier: BSD-3-Clause
 * mode - how much of a job is captured
 */
#include "policy/mode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/number.h"

int mode_parse(struct mode *mode, const char *text)
{
	struct mode m = {MODE_OFF, 0};

	if (!strcmp(text, "lossless")) {
		m.kind = MODE_LOSSLESS;
	} else if (!strcmp(text, "lossy")) {
		m = (struct mode){MODE_LOSSY, MODE_THRESHOLD};
	} else if (!strncmp(text, "lossy:", 6)) {
		uint64_t threshold;
		if (number_parse(text + 6, UINT32_MAX, &threshold) != 0)
			return -1;
		m = (struct mode){MODE_LOSSY, (uint32_t)threshold};
	} else if (strcmp(text, "off")) {
		return -1;
	}
	*mode = m;
	return 0;
}

char *mode_format(const struct mode *mode, char out[MODE_TEXT_SIZE])
{
	if (mode->kind == MODE_LOSSY)
		snprintf(out, MODE_TEXT_SIZE, "lossy:%" PRIu32, mode->threshold);
	else
		snprintf(out, MODE_TEXT_SIZE, "%s", mode->kind == MODE_LOSSLESS ? "lossless" : "off");
	return out;
}
