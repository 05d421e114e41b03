/* SPDX-License-Identifier: BSD-3-Clause
 * layout - what arena_layout() says: a fingerprint of all structures that a recorder puts into an arena
 *
 * Sizes and offsets are the compiler's. Whoever adds a structure, or a field that readers look at, adds it here: then
 * an arena of another build is refused instead of misread. The last number is for what has the same place but another
 * meaning; it counts up.
 */
#include <stddef.h>

#include "trace/base/arena.h"
#include "trace/base/index.h"
#include "trace/record/lossy.h"
#include "trace/record/record.h"

#define MEANING            1
#define FIELD(type, field) (uint32_t) offsetof(struct type, field)
#define SIZE(type)         (uint32_t)sizeof(struct type)

static const uint32_t layout[] = {
	MEANING,
	ARENA_CLASSES,
	ARENA_JOURNAL,
	TRACE_COUNTERS,
	SIZE(arena_header),
	FIELD(arena_header, root),
	FIELD(arena_header, journal),
	/* record.h */
	SIZE(table),
	FIELD(table, count),
	SIZE(record_string),
	SIZE(record_vector),
	SIZE(record_module),
	SIZE(record_node),
	FIELD(record_node, offset),
	SIZE(record_counters),
	SIZE(record_detail),
	FIELD(record_detail, counts),
	SIZE(record_edge),
	FIELD(record_edge, next),
	FIELD(record_edge, detail),
	FIELD(record_edge, compute),
	SIZE(site),
	FIELD(site, id),
	FIELD(site, visits),
	FIELD(site, edges),
	FIELD(site, detail),
	FIELD(site, communicate),
	FIELD(site, successor),
	FIELD(site, column),
	SIZE(record_counted),
	FIELD(record_counted, ticks),
	SIZE(record_at),
	FIELD(record_at, in_flight),
	SIZE(record),
	FIELD(record, world),
	FIELD(record, events),
	FIELD(record, lost),
	FIELD(record, at),
	FIELD(record, first),
	FIELD(record, thread),
	FIELD(record, counters),
	FIELD(record, sites),
	FIELD(record, functions),
	FIELD(record, strings),
	FIELD(record, vectors),
	FIELD(record, modules),
	FIELD(record, nodes),
	FIELD(record, objects),
	FIELD(record, clock_ticks),
	FIELD(record, clock_ns),
	FIELD(record, realtime_ns),
	FIELD(record, facts),
	FIELD(record, host),
	FIELD(record, bins),
	FIELD(record, timing),
	FIELD(record, untimed),
	FIELD(record, first_ticks),
	FIELD(record, own_ticks),
	FIELD(record, structure),
	FIELD(record, threshold),
	FIELD(record, stage),
	FIELD(record, counted),
	FIELD(record, loose_ticks),
	/* time.h, flow.h */
	SIZE(record_time),
	FIELD(record_time, sum),
	FIELD(record_time, squares),
	FIELD(record_time, bins),
	FIELD(record_time, first),
	FIELD(record_time, min),
	FIELD(record_time, spilled),
	SIZE(record_spill),
	FIELD(record_spill, count),
	SIZE(flow),
	SIZE(flow_block),
	FIELD(flow_block, used),
	FIELD(flow_block, bytes),
	/* column.h, grammar.h, value.h */
	SIZE(column),
	FIELD(column, start),
	FIELD(column, token),
	FIELD(column, grammar),
	FIELD(column, synced),
	FIELD(column, lead),
	FIELD(column, queued),
	FIELD(column, loop),
	FIELD(column, period_length),
	FIELD(column, period),
	FIELD(column, rule),
	FIELD(column, dict_count),
	FIELD(column, dict),
	FIELD(column, first),
	FIELD(column, lossy),
	FIELD(column, role),
	FIELD(column, appends),
	SIZE(period_run),
	SIZE(node),
	FIELD(node, symbol),
	FIELD(node, exponent),
	SIZE(grammar_run),
	SIZE(dict_run),
	FIELD(dict_run, count),
	FIELD(dict_run, first),
	/* lossy.h, tally.h */
	SIZE(lossy),
	FIELD(lossy, since),
	FIELD(lossy, others),
	FIELD(lossy, tally),
	FIELD(lossy, elements),
	FIELD(lossy, vector),
	FIELD(lossy, next),
	FIELD(lossy, counted),
	FIELD(lossy, run_value),
	FIELD(lossy, last),
	SIZE(lossy_tally),
	FIELD(lossy_tally, other),
	SIZE(lossy_next),
	SIZE(lossy_waiting),
	SIZE(tally_bin),
	FIELD(tally_bin, count),
};

uint64_t arena_layout(void)
{
	return hash_bytes(layout, sizeof layout);
}
