/* SPDX-License-Identifier: BSD-3-Clause
 * metrics - what the archive says, for Prometheus: the text that node_exporter's textfile collector reads
 */
#include <inttypes.h>
#include <time.h>

#include "archive/aggregate.h"
#include "archive/partitions.h"
#include "cmd/base/sink.h"
#include "cmd/report/site.h"

static void put_one(FILE *out, const char *name, const char *help, double value)
{
	say_to(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", name, help, name, name, value);
}

static void put_cause(FILE *out, const struct aggregate_group *g, enum outcome o)
{
	if (!g->causes[o])
		return;
	say_to(out, "spoor_cause_traces{partition=\"");
	metrics_print_label(out, g->key);
	say_to(out, "\",cause=\"%s\"} %" PRIu64 "\n", outcome_name(o), g->causes[o]);
}

int metrics_write(FILE *out, struct catalog *c, const struct catalog_filter *filter, struct error *error)
{
	struct aggregate *a;

	if (aggregate_make(&a, c, filter, AGGREGATE_PARTITION, NULL, error) != 0)
		return -1;
	if (partitions_join(a, c, error) != 0) {
		aggregate_destroy(a);
		return -1;
	}
	for (int i = 0; i < FIGURE_COLUMNS; i++) {
		const struct figure_column_info *info = &figure_columns[i];
		if (!info->metric)
			continue;
		say_to(out, "# HELP spoor_%s %s, by partition\n# TYPE spoor_%s gauge\n", info->metric, info->meaning,
		       info->metric);
		for (size_t k = 0; k < a->count; k++) {
			if (!a->groups[k]->sum[SUM_TRACES])
				continue;
			double value = aggregate_value(a, a->groups[k], (enum figure_column)i);
			say_to(out, "spoor_%s{partition=\"", info->metric);
			metrics_print_label(out, a->groups[k]->key);
			say_to(out, "\"} %.17g\n", value > 0 ? value : 0);
		}
	}
	say_to(out, "# HELP spoor_cause_traces traces by what is said first of them, by partition\n# TYPE "
	            "spoor_cause_traces gauge\n");
	for (size_t k = 0; k < a->count; k++)
		for (int i = 0; i < OUTCOMES; i++)
			put_cause(out, a->groups[k], (enum outcome)i);
	put_one(out, "spoor_skipped_files", "files that are damaged or cannot be read",
	        (double)json_array_size(a->skipped));
	put_one(out, "spoor_unindexed_traces", "traces that are not in the index yet", (double)a->missing);
	put_one(out, "spoor_metrics_time_seconds", "when this was written", (double)time(NULL));
	say_to(out, "# EOF\n");
	aggregate_destroy(a);
	return 0;
}
