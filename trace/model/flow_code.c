/* SPDX-License-Identifier: BSD-3-Clause
 * flow_code - what is kept of each time
 */
#include "trace/model/flow_code.h"

unsigned flow_digits(uint64_t millionths)
{
	unsigned digits = 0;
	if (millionths == 0)
		return FLOW_EXACT;
	while (digits < FLOW_DIGITS_MAX && UINT64_C(1000000) > millionths << (digits + 1))
		digits++;
	return digits;
}

double flow_error(unsigned digits)
{
	return digits == FLOW_EXACT ? 0 : 0.5 / (double)(UINT64_C(1) << digits);
}

uint64_t flow_code(uint64_t ticks, unsigned digits)
{
	uint64_t per = UINT64_C(1) << (digits & 63);
	if (digits == FLOW_EXACT || ticks < per)
		return ticks;
	unsigned size = 63 - (unsigned)__builtin_clzll(ticks);
	return (size - digits + 1) * per + (ticks >> (size - digits)) - per;
}

uint64_t flow_ticks(uint64_t code, unsigned digits)
{
	uint64_t per = UINT64_C(1) << (digits & 63);
	if (digits == FLOW_EXACT || code < per)
		return code;
	uint64_t shift = code / per - 1, scale = shift < 64 - digits ? UINT64_C(1) << shift : 1; /* or damaged */
	return (code % per + per) * scale + (scale - 1) / 2;
}
