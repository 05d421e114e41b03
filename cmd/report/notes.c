/* SPDX-License-Identifier: BSD-3-Clause
 * notes - what the figures leave out, and what is known of the job
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"
#include "merge/slim.h"
#include "trace/model/stream.h"

static void put_item(FILE *out, bool *any, const char *text)
{
	if (!*any)
		html_print(out, "<ul>\n");
	*any = true;
	html_print(out, "<li>%s", text);
}

static void notes_degraded(struct report *r, bool *any)
{
	static const char *const stages[TRACE_STAGES] = {[STAGE_COLUMNS] = "the order of some values was given up",
	                                                 [STAGE_PATHS] = "new call paths were cut",
	                                                 [STAGE_COUNTING] = "events were only counted"};
	const struct trace *t = r->trace;
	FILE *out = r->out;
	char text[HTML_NUMBER], more[HTML_NUMBER];
	uint64_t columns = 0, lossy = 0;
	uint32_t why = 0;
	for (uint32_t i = 0; i < t->site_count; i++)
		for (uint32_t k = 0; k < t->sites[i].column_count; k++) {
			const struct trace_column *c = &t->sites[i].columns[k];
			bool counted = false;
			columns++;
			for (uint32_t g = 0; g < c->count; g++)
				if (c->groups[g].lossy) {
					why |= c->groups[g].lossy->why;
					counted = true;
				}
			lossy += counted;
		}
	if (t->loss.lossy) {
		put_item(out, any, "");
		html_print(out,
		           "The mode was <code>lossy:%" PRIu64 "</code>: values are counted exactly, but the order of "
		           "those that varied more is not kept.</li>\n",
		           t->loss.threshold);
	}
	if (slim_given_up(t)) {
		put_item(out, any, "");
		html_print(out, "So that the trace is small, %s.</li>\n", slim_given_up(t));
	}
	if (lossy) {
		char reasons[WHY_SIZE];
		put_item(out, any, "");
		html_print(out, "Of %s columns %s have no order (%s). Totals stay exact.</li>\n",
		           text_count(text, columns), text_count(more, lossy), trace_why_text(why, reasons));
	}
	for (int s = 0; s < TRACE_STAGES; s++)
		if (t->loss.stage[s].ranks) {
			put_item(out, any, "");
			html_print(out, "Memory was nearly used up: in %s rank%s %s, from event %s on.</li>\n",
			           text_count(text, t->loss.stage[s].ranks), t->loss.stage[s].ranks == 1 ? "" : "s",
			           stages[s], text_count(more, t->loss.stage[s].since));
		}
}

/* What the figures leave out. */
static void notes_unknown(struct report *r, bool *any)
{
	FILE *out = r->out;
	char text[HTML_NUMBER];
	if (r->sum.unsized) {
		put_item(out, any, "");
		html_print(
			out,
			"The sizes of %s messages are not in the trace’s summary: what says so has no order in a lossy "
			"trace, or their datatypes and requests "
			"could not be followed.</li>\n",
			text_count(text, r->sum.unsized));
	}
	if (r->has_traffic && r->traffic.sums.unknown_sizes) {
		put_item(out, any, "");
		html_print(out, "%s messages are of a datatype whose size is not known.</li>\n",
		           text_count(text, r->traffic.sums.unknown_sizes));
	}
	if (r->has_traffic && r->traffic.unordered) {
		put_item(out, any, "");
		html_print(out, "%s events are not in the map, because their order is not known.</li>\n",
		           text_count(text, r->traffic.unordered));
	}
	if (r->has_traffic && r->traffic.sums.other_messages) {
		put_item(out, any, "");
		html_print(out,
		           "%s messages went to ranks that are not known here (of other worlds); they "
		           "are not in the map.</li>\n",
		           text_count(text, r->traffic.sums.other_messages));
	}
}

void report_notes(struct report *r)
{
	const struct trace *t = r->trace;
	FILE *out = r->out;
	bool any = false;
	char text[HTML_NUMBER], more[HTML_NUMBER];
	uint64_t missing = t->size - stream_ranks(t, &t->events);
	html_print(out, "<section aria-labelledby=\"notes\">\n<h2 id=\"notes\">Notes</h2>\n<p>");
	html_count(out, "events", r->sum.events);
	html_print(out, " events from ");
	html_count(out, NULL, t->site_count);
	html_print(out, " call sites in a file of ");
	html_bytes(out, "size", container_file_size(r->show->container));
	html_print(out, ".</p>\n");
	if (report_partial(r)) {
		put_item(out, &any, "");
		html_print(out,
		           "The trace is partial: it was made of what the ranks left behind when they ended.</li>\n");
	}
	if (missing) {
		put_item(out, &any, "");
		html_print(out, "%s of %s ranks are not in this trace.</li>\n", text_count(text, missing),
		           text_count(more, t->size));
	}
	if (r->sum.lost) {
		put_item(out, &any, "");
		html_print(out,
		           "%s calls of %s ranks are no events (" TRACE_LOST "): they were only counted, those without "
		           "memory with their time. Totals have them.</li>\n",
		           text_count(text, r->sum.lost), text_count(more, stream_ranks_any(t, &t->lost)));
	}
	notes_degraded(r, &any);
	if (r->sum.parallel_efficiency < 0)
		put_item(out, &any,
		         "The times of ranks are not in this trace: it is of an early version, or without "
		         "computation.</li>\n");
	notes_unknown(r, &any);
	if (r->sum.overhead_ns) {
		put_item(out, &any, "");
		html_print(out, "Tracing took ");
		html_ns(out, "summary.overhead_ns", r->sum.overhead_ns);
		html_print(out, " of all ranks together; it is taken out of all times here.</li>\n");
	}
	if (any)
		html_print(out, "</ul>\n");
	html_print(
		out,
		"<p class=\"dim\">Efficiencies are those of the POP project: load balance is the mean computation of "
		"the "
		"ranks / the most of a rank, communication "
		"efficiency is the most computation of a rank / the run time, parallel efficiency their product. Times "
		"are without <code>MPI_Init</code>, unless they are of it. "
		"All figures are those of <code>spoor show --json</code>.</p>\n</section>\n");
}

static void loss_value(FILE *out, const json_t *v)
{
	if (json_is_string(v)) {
		html_text(out, json_string_value(v));
		return;
	}
	if (json_is_array(v)) {
		size_t n = json_array_size(v);
		for (size_t i = 0; i < n && i < 200; i++) {
			html_print(out, i ? " " : "");
			loss_value(out, json_array_get(v, i));
		}
		if (n > 200)
			html_print(out, " … (%zu)", n);
		return;
	}
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
	html_text(out, text);
	free(text);
}

static const struct {
	const char *key, *label;
} labels[] = {{"cluster", "Cluster"},
              {"job", "Job"},
              {"step", "Step"},
              {"array_job", "Array job"},
              {"array_task", "Array task"},
              {"job_name", "Name"},
              {"user", "User"},
              {"claimed_user", "User as the trace says"},
              {"account", "Account"},
              {"partition", "Partition"},
              {"qos", "QoS"},
              {"claimed_account", "Account as the trace says"},
              {"claimed_partition", "Partition as the trace says"},
              {"claimed_qos", "QoS as the trace says"},
              {"reservation", "Reservation"},
              {"container", "Container"},
              {"state", "State"},
              {"reason", "Reason"},
              {"exit_code", "Exit code"},
              {"signal", "Signal"},
              {"node_list", "Nodes"},
              {"hosts", "Hosts"},
              {"ranks_per_node", "Ranks a node"},
              {"start", "Start"},
              {"end", "End"},
              {"elapsed", "Elapsed, s"},
              {"exe", "Executable"},
              {"exe_build_id", "Build id"},
              {"command", "Command"},
              {"mpi_library", "MPI library"},
              {"mpi_version", "MPI version"},
              {"mode", "Mode"},
              {"rule", "Rule"},
              {"rule_where", "Rule at"},
              {"rule_reason", "Reason of the rule"},
              {"world", "World"},
              {"parent_world", "Spawned by"},
              {"spoor_version", "spoor"},
              {"slurm_version", "Slurm"}};

void report_meta_table(struct report *r)
{
	FILE *out = r->out;
	html_print(out, "<section aria-labelledby=\"job\">\n<h2 id=\"job\">Job</h2>\n<dl "
	                "class=\"meta\">\n<dt>Trace</dt><dd><code>");
	html_text(out, r->show->name);
	html_print(out, "</code></dd>\n");
	for (size_t i = 0; r->show->meta && i < sizeof labels / sizeof *labels; i++) {
		const json_t *v = json_object_get(r->show->meta, labels[i].key);
		if (!v || json_is_null(v) || (json_is_string(v) && !*json_string_value(v)))
			continue;
		bool start = !strcmp(labels[i].key, "start"), end = !strcmp(labels[i].key, "end");
		html_print(out, "<dt>%s</dt><dd>", labels[i].label);
		if (start || end)
			html_time(out, (int64_t)report_meta_number(r, start ? "start_ns" : "end_ns"));
		else if (!strcmp(labels[i].key, "state") && report_state(r))
			html_text(out, report_state(r));
		else
			loss_value(out, v);
		html_print(out, "</dd>\n");
	}
	html_print(out, "</dl>\n</section>\n");
}
