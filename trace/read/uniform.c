/* SPDX-License-Identifier: BSD-3-Clause
 * uniform - whether all handles of a column stand for things of one size
 */
#include "trace/read/uniform.h"

#include <string.h>

#include "trace/model/value.h"

static bool uniform_value(struct handles *h, struct uniform *u, uniform_of *of, uint32_t stream, int64_t value)
{
	uint64_t size;
	enum handle_answer answer = of(h, stream, value, &size);
	u->none |= answer == HANDLE_NOT_SIGNIFICANT;
	if (answer != HANDLE_KNOWN)
		return answer == HANDLE_NOT_SIGNIFICANT;
	bool same = !u->some || u->size == size;
	u->some = true;
	u->size = size;
	return same;
}

static bool uniform_map(struct handles *h, struct uniform *u, uniform_of *of, const struct rankmap *map)
{
	int64_t value;
	if (rankmap_constant(map, &value) && value_is_constant(value))
		return uniform_value(h, u, of, rankmap_first(map), value);
	if (!handles_afford(h, rankmap_size(map), 1))
		return false;
	for (uint64_t r = 0; rankmap_next(map, &r, &value); r++)
		if (!uniform_value(h, u, of, (uint32_t)r, value))
			return false;
	return true;
}

static bool uniform_array(struct handles *h, struct uniform *u, uniform_of *of, const struct rankmap *arrays)
{
	int64_t number, value;
	if (!rankmap_constant(arrays, &number))
		return false;
	if (value_is_constant(number))
		return uniform_value(h, u, of, rankmap_first(arrays), number);
	const struct pool_item *item = &handles_trace(h)->vector_pool.items[number];
	for (size_t i = 0; i + sizeof value <= item->size; i += sizeof value) {
		memcpy(&value, item->bytes + i, sizeof value);
		if (!value_is_constant(value) || !uniform_value(h, u, of, 0, value))
			return false;
	}
	return true;
}

bool uniform_size(struct handles *h, struct uniform *u, uniform_of *of, const struct trace_site *site, int column)
{
	bool same = true;
	*u = (struct uniform){.size = 0};
	for (uint32_t g = 0; same && g < site->columns[column].count; g++) {
		const struct trace_group *group = &site->columns[column].groups[g];
		same = !group->lossy;
		for (uint32_t i = 0; same && i < group->count; i++) {
			const struct trace_stretch *d = &group->dict[i];
			same = d->count == 1;
			for (uint32_t k = 0; same && d->vector && k < d->width; k++)
				same = uniform_map(h, u, of, &d->elements[k]);
			if (same && !d->vector)
				same = (trace_schema(handles_trace(h), site)->column[column].vector
				                ? uniform_array
				                : uniform_map)(h, u, of, &d->start);
		}
	}
	return same;
}
