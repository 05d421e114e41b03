/* SPDX-License-Identifier: BSD-3-Clause
 * place - `spoor place FILE|JOB`: how the ranks of a job would sit better on its nodes
 */
#include "cmd/place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/base/open_trace.h"
#include "cmd/base/options.h"
#include "cmd/base/progress.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "cmd/base/stage.h"
#include "cmd/cmd.h"
#include "trace/base/budget.h"
#include "trace/base/number.h"
#include "trace/file/container.h"

#define NODES_LIKE "CURRENT, or N:SOCKETS:CORES such as 8:2:24 (nodes, sockets of each, cores of a socket)"

/* --nodes-like; nodes 0: those of the run. */
struct nodes_like {
	uint32_t nodes, sockets, cores;
};

static int read_nodes_like(void *to, const char *text)
{
	struct nodes_like like = {.nodes = 0};
	uint32_t *numbers[] = {&like.nodes, &like.sockets, &like.cores};
	char copy[64], *rest = copy;
	if (strcmp(text, "CURRENT") == 0 || strcmp(text, "current") == 0) {
		*(struct nodes_like *)to = like;
		return 0;
	}
	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
		return -1;
	for (int i = 0; i < 3; i++) {
		uint64_t number;
		const char *word = strsep(&rest, ":");
		if (!word || number_parse(word, i ? 4096 : INT32_MAX, &number) != 0 || number == 0)
			return -1;
		*numbers[i] = (uint32_t)number;
	}
	if (rest)
		return -1;
	*(struct nodes_like *)to = like;
	return 0;
}

/* --- where it ran --- */

/* Nodes get their numbers in the order of their lowest ranks, which is that of Slurm's list. */
static int number_nodes(struct place_job *p)
{
	uint32_t *number = budget_malloc(((size_t)p->seats.nodes + 1) * sizeof *number), nodes = 0;
	if (!number)
		return -1;
	for (uint32_t n = 0; n < p->seats.nodes; n++)
		number[n] = UINT32_MAX;
	for (uint32_t r = 0; r < p->seats.size; r++) {
		uint32_t *n = &number[p->seats.ranks[r].node];
		if (*n == UINT32_MAX) {
			*n = nodes++;
			p->host_of[*n] = r;
		}
		p->ran.node[r] = *n;
		p->ran_on.ranks[*n]++;
	}
	budget_free(number);
	return 0;
}

static void number_sockets(struct place_job *p)
{
	p->ran_sockets = p->seats.sockets > 1;
	for (uint32_t r = 0; r < p->seats.size && p->ran_sockets; r++) {
		p->ran.socket[r] = p->seats.ranks[r].socket;
		p->ran_sockets = p->seats.ranks[r].socket < p->seats.sockets;
	}
	for (uint32_t r = 0; r < p->seats.size && !p->ran_sockets; r++)
		p->ran.socket[r] = 0;
}

/* ran_on.nodes stays 0 if the node of a rank is not known. */
static int find_ran(struct place_job *p)
{
	if (arrangement_make(&p->ran, p->trace->size, "as it ran") != 0 || seats_make(&p->seats, p->trace) != 0)
		return -1;
	for (uint32_t r = 0; r < p->seats.size; r++)
		if (p->seats.ranks[r].node == UINT32_MAX)
			return 0;
	p->host_of = budget_calloc((size_t)p->seats.nodes + 1, sizeof *p->host_of);
	p->ran_on.ranks = budget_calloc((size_t)p->seats.nodes + 1, sizeof *p->ran_on.ranks);
	if (!p->host_of || !p->ran_on.ranks || number_nodes(p) != 0)
		return -1;
	p->ran_on.nodes = p->seats.nodes;
	p->ran_on.sockets = p->seats.sockets ? p->seats.sockets : 1;
	p->ran_on.cores = p->seats.cores / p->ran_on.sockets;
	number_sockets(p);
	arrangement_cost(&p->ran, &p->ran_on, &p->peers, &p->ran_cost);
	return 0;
}

static int choose_machine(struct place_job *p, const struct nodes_like *like, struct error *error)
{
	p->current = like->nodes == 0;
	if (!p->current)
		return machine_make(&p->machine, p->trace->size, like->nodes, like->sockets, like->cores, error);
	if (p->ran_on.nodes == 0)
		return error_set(error, "the trace does not say where all ranks ran: say what the nodes are like, with "
		                        "--nodes-like N:SOCKETS:CORES");
	p->machine = p->ran_on;
	p->machine.ranks = budget_malloc(p->ran_on.nodes * sizeof *p->machine.ranks);
	if (!p->machine.ranks)
		return error_set(error, "no memory");
	memcpy(p->machine.ranks, p->ran_on.ranks, p->ran_on.nodes * sizeof *p->machine.ranks);
	return 0;
}

/* --- what is better --- */

/* What srun does by itself. */
static size_t usual_of(const struct place_job *p)
{
	return p->machine.sockets > 1 ? 1 : 0; /* block:cyclic */
}

const struct arrangement_cost *place_before(const struct place_job *p)
{
	return p->current ? &p->ran_cost : &p->placing.slurm_cost[usual_of(p)];
}

const struct arrangement *place_before_arrangement(const struct place_job *p)
{
	return p->current ? &p->ran : &p->placing.slurm[usual_of(p)];
}

uint64_t place_neighbors(const struct place_job *p)
{
	return p->traffic.sums.collectives[COLLECTIVE_NEIGHBOR].calls;
}

bool place_is_whole(const struct place_job *p)
{
	const struct traffic *m = &p->traffic;
	return !m->unordered && !m->sums.unknown && !m->sums.unknown_sizes && !m->sums.other_messages &&
	       !m->sums.other_one_sided && !place_neighbors(p);
}

bool place_is_best(const struct place_job *p)
{
	return place_is_whole(p) && crossing_compare(&p->placing.found_cost.nodes, &p->placing.bound, p->by) <= 0;
}

enum place_verdict place_judge(const struct place_job *p)
{
	const struct crossing *before = &place_before(p)->nodes, *found = &p->placing.found_cost.nodes;
	if (crossing_compare(found, before, p->by) < 0)
		return PLACE_GAIN;
	if (!place_is_whole(p))
		return PLACE_NO_GAIN_FOUND; /* the bound knows nothing of the rest */
	return crossing_compare(before, &p->placing.bound, p->by) <= 0 ? PLACE_NO_GAIN_POSSIBLE : PLACE_NO_GAIN_FOUND;
}

/* What that is worth. Where it ran on one node, its times say nothing of the way between nodes. */
static int find_time(struct place_job *p, struct error *error)
{
	if (place_judge(p) != PLACE_GAIN || (!p->platform && p->ran_on.nodes < 2))
		return 0;
	return placed_time_find(&p->time, p->trace, place_before_arrangement(p), &p->placing.found, &p->machine,
	                        p->platform ? &p->network : NULL, error);
}

static int place_find(struct place_job *p, const struct nodes_like *like, struct error *error)
{
	struct progress progress;
	const struct traffic_wish wish = {.passed = true, .progress = progress_callback, .context = &progress};
	progress_begin(&progress, "counting messages", 0, false);
	int rv = traffic_make(&p->traffic, p->trace, &wish, error);
	progress_end(&progress);
	if (rv == 0)
		rv = peers_make(&p->peers, &p->traffic, p->trace->size, error);
	if (rv == 0 && find_ran(p) != 0)
		rv = error_set(error, "no memory");
	if (rv == 0)
		rv = choose_machine(p, like, error);
	if (rv == 0 && placing_make(&p->placing, &p->peers, &p->machine, p->current ? &p->ran : NULL, p->by) != 0)
		rv = error_set(error, "no memory");
	return rv == 0 ? find_time(p, error) : rv;
}

static void place_free(struct place_job *p)
{
	placing_free(&p->placing);
	machine_free(&p->machine);
	machine_free(&p->ran_on);
	arrangement_free(&p->ran);
	budget_free(p->host_of);
	seats_free(&p->seats);
	peers_free(&p->peers);
	traffic_free(&p->traffic);
}

static int tell_place(const struct place_job *p, bool json)
{
	if (!json) {
		place_print(p);
		return 0;
	}
	return json_tell(place_json(p));
}

static int place_trace(struct place_job *p, struct container *c, const struct nodes_like *like, bool json)
{
	struct error error = {""};
	p->name = container_name(c);
	int rv = place_find(p, like, &error);
	if (open_spent(p->name) != 0)
		return -1;
	if (rv != 0)
		say_to(stderr, "spoor place: %s: %s\n", p->name, error.text);
	if (rv == 0 && p->folder)
		rv = place_write(p, p->folder);
	return rv == 0 ? tell_place(p, json) : -1;
}

int cmd_place(int argc, char **argv)
{
	static const char *const kinds[] = {"bytes", "messages", NULL};
	const char *archive = NULL, *least = kinds[0];
	bool json = false;
	struct nodes_like like = {.nodes = 0};
	struct place_job p = {.by = PLACING_BYTES};
	const struct option_line lines[] = {
		OPTION_READ("nodes-like", 0, "CURRENT|N:SOCKETS:CORES", &like, read_nodes_like, NODES_LIKE,
	                    "the nodes to sit on: those of the run (default), or N nodes of SOCKETS with CORES each"),
		OPTION_WORD("least", 0, "bytes|messages", &least, kinds,
	                    "what shall be least between nodes (default: bytes); the other one decides where that is "
	                    "the same"),
		OPTION_TEXT("platform", 'p', "FILE", &p.platform,
	                    "the network by which the gain in time is simulated; default: by the trace's own times"),
		OPTION_TEXT("output", 'o', "DIR", &p.folder,
	                    "make a folder with a host file, a rank file and a rank order of what was found"),
		OPTION_FLAG("json", 0, &json, "as JSON"),
		OPTION_ARCHIVE(&archive),
		OPTION_LIMIT,
		OPTION_END};
	const struct options options = {"spoor place",
	                                "FILE|JOB",
	                                "Says what a job sends from node to node, and how its ranks would sit better: "
	                                "by one of srun's distributions, or in another order.",
	                                NULL,
	                                lines,
	                                1,
	                                1,
	                                false};
	int rv;
	struct container *c;
	struct trace t;
	struct error error = {""};
	if (!options_read(&options, argc, argv, &rv))
		return rv;
	p.by = least == kinds[0] ? PLACING_BYTES : PLACING_MESSAGES;
	if (p.platform && platform_read(&p.network, p.platform_name, p.platform, &error) != 0) {
		say_to(stderr, "spoor place: %s\n", error.text);
		return CMD_FAILED;
	}
	if (p.folder && access(p.folder, F_OK) == 0) {
		say_to(stderr, "spoor place: %s: is there already\n", p.folder);
		return CMD_FAILED;
	}
	if (stage_begin("spoor place", p.folder, false) != 0 || open_trace(argv[optind], archive, &c, &t) != 0)
		return CMD_FAILED;
	p.trace = &t;
	rv = place_trace(&p, c, &like, json);
	place_free(&p);
	trace_free(&t);
	container_destroy(c);
	return rv == 0 ? CMD_OK : CMD_FAILED;
}
