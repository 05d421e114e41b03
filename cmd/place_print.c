/* SPDX-License-Identifier: BSD-3-Clause
 * place_print - what `spoor place` has found, as text and as JSON
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/base/sink.h"
#include "cmd/base/wrap.h"
#include "cmd/place.h"
#include "trace/model/host.h"

#define WIDTH     80
#define SENTENCES 1200
#define SEATED    4096 /* of more ranks, JSON does not have the nodes of each of Slurm's */

static const char *const verdicts[] = {
	[PLACE_GAIN] = "gain", [PLACE_NO_GAIN_FOUND] = "none found", [PLACE_NO_GAIN_POSSIBLE] = "none possible"};

static const char *what_of(const struct place_job *p)
{
	return p->by == PLACING_BYTES ? "bytes" : "messages";
}

/* How much less is between nodes than before, of what counts; 0..1. */
static double saving_of(const struct place_job *p, const struct crossing *before)
{
	const struct crossing *found = &p->placing.found_cost.nodes;
	double had = (double)(p->by == PLACING_BYTES ? before->bytes : before->messages);
	double has = (double)(p->by == PLACING_BYTES ? found->bytes : found->messages);
	return had > 0 ? 1 - has / had : 0;
}

/* Bytes of collectives that are not in the table. */
static uint64_t left_out(const struct place_job *p)
{
	return p->traffic.sums.other_passed_bytes;
}

/* --- text --- */

static void print_machine(const struct place_job *p)
{
	const struct machine *m = &p->machine;
	uint32_t least = m->ranks[0], most = m->ranks[0];
	for (uint32_t n = 1; n < m->nodes; n++) {
		least = m->ranks[n] < least ? m->ranks[n] : least;
		most = m->ranks[n] > most ? m->ranks[n] : most;
	}
	say("%" PRIu32 " rank%s on %" PRIu32 " node%s", p->trace->size, p->trace->size == 1 ? "" : "s", m->nodes,
	    m->nodes == 1 ? "" : "s");
	if (least == most)
		say(", %" PRIu32 " on each", most);
	else
		say(", %" PRIu32 " to %" PRIu32 " on one", least, most);
	if (m->sockets > 1)
		say("; %" PRIu32 " sockets of %" PRIu32 " cores", m->sockets, m->cores);
	say("\n\n");
}

static void print_row(const struct place_job *p, const char *name, const struct arrangement_cost *c, bool sockets)
{
	say("%-16s %8" PRIu64 " %12" PRIu64 " %16" PRIu64, name, c->nodes.pairs, c->nodes.messages, c->nodes.bytes);
	if (p->machine.sockets > 1 && sockets)
		say(" %12" PRIu64 " %16" PRIu64, c->sockets.messages, c->sockets.bytes);
	say("\n");
}

static void print_rows(const struct place_job *p)
{
	bool sockets = p->machine.sockets > 1;
	say("%-16s %38s%s\n", "", "BETWEEN NODES", sockets ? "      BETWEEN SOCKETS OF ONE" : "");
	say("%-16s %8s %12s %16s", "PLACEMENT", "PAIRS", "MESSAGES", "BYTES");
	if (sockets)
		say(" %12s %16s", "MESSAGES", "BYTES");
	say("\n");
	if (p->ran_on.nodes && (p->current || p->ran_on.nodes > 1))
		print_row(p, "as it ran", &p->ran_cost, p->ran_sockets);
	for (size_t i = 0; i < p->placing.slurm_count; i++)
		print_row(p, p->placing.slurm[i].name, &p->placing.slurm_cost[i], true);
	print_row(p, "found", &p->placing.found_cost, true);
	say("\n");
}

/* What a gain is worth. */
static void print_gain_time(const struct place_job *p)
{
	char text[SENTENCES];
	const struct placed_time *t = &p->time;
	if (place_judge(p) != PLACE_GAIN)
		return;
	if (!t->known && !p->platform && p->ran_on.nodes < 2)
		snprintf(text, sizeof text,
		         "What that saves is not known: the trace is of one node, and its times say nothing of the way "
		         "between nodes. --platform describes a network.");
	else if (!t->known)
		snprintf(text, sizeof text, "What that saves is not known: the run cannot be simulated.");
	else if (p->platform)
		snprintf(text, sizeof text, "That %s about %.2g %% of the run on %s, by simulation.",
		         t->saved < 0 ? "costs" : "saves", 100 * fabs(t->saved), p->platform_name);
	else
		snprintf(text, sizeof text,
		         "That %s about %.2g %% of the run (%.2g to %.2g %%), by simulation. The range is that of "
		         "several networks within a node, of which the trace says nothing.",
		         t->saved < 0 ? "costs" : "saves", 100 * fabs(t->saved), 100 * t->low, 100 * t->high);
	wrap_print(text, 0, WIDTH);
}

static void print_judgement(const struct place_job *p)
{
	char text[SENTENCES];
	const struct placing *g = &p->placing;
	const char *before = p->current ? "as it ran" : "by srun's own distribution";
	enum place_verdict verdict = place_judge(p);
	if (p->machine.nodes == 1)
		snprintf(text, sizeof text, "It is one node. --nodes-like says what several would be like.");
	else if (verdict == PLACE_NO_GAIN_POSSIBLE)
		snprintf(text, sizeof text, "No gain is possible: in no order could fewer %s go between nodes than %s.",
		         what_of(p), before);
	else if (verdict == PLACE_NO_GAIN_FOUND)
		snprintf(text, sizeof text, "No gain was found: %s, no more %s go between nodes.", before, what_of(p));
	else
		snprintf(text, sizeof text,
		         "As it was found, %s between nodes are %.3g %% fewer than %s, and %.3g %% fewer than by %s, "
		         "the "
		         "best of Slurm's distributions.",
		         what_of(p), 100 * saving_of(p, &place_before(p)->nodes), before,
		         100 * saving_of(p, &g->slurm_cost[g->best].nodes), g->slurm[g->best].name);
	wrap_print(text, 0, WIDTH);
	if (verdict == PLACE_GAIN && place_is_best(p))
		wrap_print("No placement has less between nodes than that.", 0, WIDTH);
	print_gain_time(p);
}

static void print_gap(const char *why, uint64_t count, const char *what)
{
	char text[SENTENCES];
	snprintf(text, sizeof text, "Not counted, because %s: %" PRIu64 " %s.", why, count, what);
	if (count)
		wrap_print(text, 0, WIDTH);
}

/* What was not counted. */
static void print_gaps(const struct place_job *p)
{
	const struct traffic *m = &p->traffic;
	char text[SENTENCES];
	snprintf(text, sizeof text,
	         "Of collective operations, those are counted whose arguments say who gets what from whom: "
	         "MPI_Alltoall, MPI_Gather and MPI_Scatter, each pair by itself. Others passed on %" PRIu64
	         " bytes, in a way that the MPI library chooses.",
	         left_out(p));
	if (left_out(p) || m->sums.uniform)
		wrap_print(text, 0, WIDTH);
	print_gap("it is not known where they went", m->sums.other_messages + m->sums.other_one_sided, "messages");
	print_gap("it is not known whom they reach", place_neighbors(p), "calls of MPI_Neighbor_*");
	print_gap("their size is not known", m->sums.unknown_sizes, "messages; only their bytes are missing");
	print_gap("a parameter has no order in this trace", m->sums.unknown, "messages and requests");
	print_gap("their order is not known", m->unordered, "events");
}

static void print_way(const struct place_job *p)
{
	const struct placing *g = &p->placing;
	bool better = place_judge(p) == PLACE_GAIN;
	if (better && g->slurm_suffices)
		say("\n    srun --distribution=%s\n", g->slurm[g->best].name);
	else if (better && !p->folder)
		say("\nspoor place -o DIR makes files that bring it about.\n");
	if (!p->folder)
		return;
	say("\nOn %" PRIu32 " node%s, one of these:\n", p->machine.nodes, p->machine.nodes == 1 ? "" : "s");
	say("    %s/srun PROGRAM       (in a job of Slurm: srun --distribution=arbitrary)\n", p->folder);
	say("    mpirun --rankfile %s/rankfile PROGRAM      (Open MPI 4; see spoor-place(1))\n", p->folder);
	say("    MPICH_RANK_REORDER_METHOD=3, with %s/MPICH_RANK_ORDER in the folder of the job (Cray MPICH)\n",
	    p->folder);
}

void place_print(const struct place_job *p)
{
	print_machine(p);
	print_rows(p);
	print_judgement(p);
	print_gaps(p);
	print_way(p);
}

/* --- JSON --- */

static json_t *crossing_json(const struct crossing *c)
{
	return json_pack("{s:I, s:I, s:I}", "pairs", (json_int_t)c->pairs, "messages", (json_int_t)c->messages, "bytes",
	                 (json_int_t)c->bytes);
}

static json_t *numbers_json(const uint32_t *numbers, uint32_t n)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(numbers[i]));
	return list;
}

/* seats: also where each rank sits. */
static json_t *row_json(const struct place_job *p, const struct arrangement *a, const struct arrangement_cost *c,
                        bool sockets, bool seats)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "placement", a->name, "between_nodes", crossing_json(&c->nodes),
	                 "between_sockets",
	                 p->machine.sockets > 1 && sockets ? crossing_json(&c->sockets) : json_null(), "nodes",
	                 seats ? numbers_json(a->node, a->size) : json_null(), "sockets",
	                 seats ? numbers_json(a->socket, a->size) : json_null());
}

json_t *place_json(const struct place_job *p)
{
	const struct placing *g = &p->placing;
	const struct placed_time *time = &p->time;
	json_t *slurm = json_array();
	for (size_t i = 0; i < g->slurm_count; i++)
		json_array_append_new(slurm,
		                      row_json(p, &g->slurm[i], &g->slurm_cost[i], true, p->trace->size <= SEATED));
	json_t *machine =
		json_pack("{s:i, s:i, s:i, s:o}", "nodes", (int)p->machine.nodes, "sockets", (int)p->machine.sockets,
	                  "cores", (int)p->machine.cores, "ranks", numbers_json(p->machine.ranks, p->machine.nodes));
	return json_pack(
		"{s:s, s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:b, s:o, s:b, s:f, s:f, s:o, s:I, s:I, s:I, "
		"s:I, s:I, s:I}",
		"trace", p->name, "ranks", (int)p->trace->size, "machine", machine, "least", what_of(p), "verdict",
		verdicts[place_judge(p)], "ran",
		p->ran_on.nodes ? row_json(p, &p->ran, &p->ran_cost, p->ran_sockets, true) : json_null(), "slurm",
		slurm, "found", row_json(p, &g->found, &g->found_cost, true, true), "best_of_slurm",
		g->slurm[g->best].name, "slurm_suffices", (int)g->slurm_suffices, "bound", crossing_json(&g->bound),
		"best", (int)place_is_best(p), "gain", saving_of(p, &place_before(p)->nodes), "gain_over_slurm",
		saving_of(p, &g->slurm_cost[g->best].nodes), "time",
		time->known
			? json_pack("{s:s, s:f, s:f, s:f}", "platform", p->platform ? p->platform_name : "calibrated",
	                            "saved", time->saved, "saved_low", time->low, "saved_high", time->high)
			: json_null(),
		"collective_bytes_not_counted", (json_int_t)left_out(p), "messages_not_counted",
		(json_int_t)(p->traffic.sums.other_messages + p->traffic.sums.other_one_sided), "bytes_not_counted",
		(json_int_t)(p->traffic.sums.other_bytes + p->traffic.sums.other_one_sided_bytes),
		"neighbor_calls_not_counted", (json_int_t)place_neighbors(p), "events_not_counted",
		(json_int_t)p->traffic.unordered, "lossy_not_counted", (json_int_t)p->traffic.sums.unknown);
}
