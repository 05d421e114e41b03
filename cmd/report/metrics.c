/* SPDX-License-Identifier: BSD-3-Clause
 * metrics - what the archive says, for Prometheus: the text that node_exporter's textfile collector reads
 */
#include <time.h>

#include "archive/aggregate.h"
#include "archive/partitions.h"
#include "cmd/base/sink.h"
#include "cmd/report/site.h"

static const struct {
	const char *name, *help;
	enum aggregate_column column;
} metrics[] = {
	{"spoor_traces", "traces in the archive", COLUMN_TRACES},
	{"spoor_jobs", "jobs that have traces", COLUMN_JOBS},
	{"spoor_partial_traces", "traces made of what killed ranks left", COLUMN_PARTIAL},
	{"spoor_degraded_traces", "traces that gave something up", COLUMN_DEGRADED},
	{"spoor_events", "MPI calls in traces", COLUMN_EVENTS},
	{"spoor_node_hours", "nodes x time of the jobs", COLUMN_HOURS},
	{"spoor_mpi_node_hours", "of them in MPI", COLUMN_MPI_HOURS},
	{"spoor_wait_node_hours", "of them waiting for other ranks", COLUMN_WAIT},
	{"spoor_unended_node_hours", "of them in calls that never ended", COLUMN_UNENDED},
	{"spoor_idle_node_hours", "of them that equal work would save", COLUMN_IDLE},
	{"spoor_tracing_node_hours", "of them that the tracer used", COLUMN_OVERHEAD},
	{"spoor_mpi_share", "share of the ranks' time in MPI", COLUMN_MPI},
	{"spoor_counted_share", "share of the calls that are no events", COLUMN_COUNTED},
};

static void put_one(FILE *out, const char *name, const char *help, double value)
{
	say_to(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.17g\n", name, help, name, name, value);
}

int metrics_write(FILE *out, struct catalog *c, const struct catalog_filter *filter, struct error *error)
{
	struct aggregate_share all = {.of = 1};
	struct aggregate *a;

	if (aggregate_make(&a, c, filter, AGGREGATE_PARTITION, &all, error) != 0)
		return -1;
	if (partitions_join(a, c, error) != 0) {
		aggregate_destroy(a);
		return -1;
	}
	for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
		say_to(out, "# HELP %s %s, by partition\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help,
		       metrics[i].name);
		for (size_t k = 0; k < a->count; k++) {
			if (!a->groups[k]->sum[SUM_TRACES])
				continue;
			double value = aggregate_value(a, a->groups[k], metrics[i].column);
			say_to(out, "%s{partition=\"", metrics[i].name);
			metrics_print_label(out, a->groups[k]->key);
			say_to(out, "\"} %.17g\n", value > 0 ? value : 0);
		}
	}
	put_one(out, "spoor_skipped_files", "files that are damaged or cannot be read",
	        (double)json_array_size(a->skipped));
	put_one(out, "spoor_unindexed_traces", "traces that are not in the index yet", (double)a->missing);
	put_one(out, "spoor_metrics_time_seconds", "when this was written", (double)time(NULL));
	say_to(out, "# EOF\n");
	aggregate_destroy(a);
	return 0;
}
