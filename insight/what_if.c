/* SPDX-License-Identifier: BSD-3-Clause
 * what_if - how long a run would take without each of its causes of lost time
 */
#include "insight/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "insight/observed.h"
#include "insight/simulate.h"
#include "trace/base/budget.h"

/* How often costs of call sites are corrected, or the network is. */
#define ROUNDS 8
/* Two for each cause, and the network's. */
#define MOST (2 * CAUSES + 4)

struct asking {
	struct what_ifs *out;
	const struct trace *trace;
	const struct causes *causes;
	struct simulator *simulator;
	struct site_activity activity;
	struct simulation ideal;        /* with what ranks compute before which site */
	double *costs, *zero, *factors; /* by site; by site; by rank and site */
	uint8_t *changes;               /* by site */
	struct error *error;
};

const char *what_if_name(enum what_if_kind kind)
{
	static const char *const names[WHAT_IFS] = {"even",     "alike", "shared", "ready",   "steady",    "packed",
	                                            "left-out", "cores", "files",  "latency", "bandwidth", "ideal"};
	return names[kind];
}

/* --- what ranks compute --- */

static size_t at_of(const struct asking *a, uint32_t rank, uint32_t site)
{
	return (size_t)rank * a->trace->site_count + site;
}

static double computed(const struct asking *a, uint32_t rank, uint32_t site)
{
	return (double)a->ideal.computed_ns[at_of(a, rank, site)];
}

static double scaled(const void *context, uint32_t rank, uint32_t site, double ns)
{
	const struct asking *a = context;
	return ns * a->factors[at_of(a, rank, site)];
}

static double steady(const void *context, uint32_t rank, uint32_t site, double ns)
{
	const struct asking *a = context;
	uint32_t visits = a->ideal.visits[at_of(a, rank, site)];
	return visits ? computed(a, rank, site) / visits : ns;
}

static bool is_named(const struct cause *c, uint32_t rank)
{
	for (uint32_t i = 0; i < c->rank_count; i++)
		if (c->ranks[i] == rank)
			return true;
	return false;
}

/* The mean over the ranks that compute before calls of a site; but: those of this cause do not count (NULL: all). */
static double mean_before(const struct asking *a, uint32_t site, const struct cause *but)
{
	double sum = 0;
	uint32_t ranks = 0;
	for (uint32_t r = 0; r < a->trace->size; r++)
		if (a->ideal.visits[at_of(a, r, site)] && !(but && is_named(but, r))) {
			sum += computed(a, r, site);
			ranks++;
		}
	return ranks ? sum / ranks : 0;
}

static void even_out(const struct asking *a, uint32_t site)
{
	double mean = mean_before(a, site, NULL);
	for (uint32_t r = 0; r < a->trace->size; r++)
		if (computed(a, r, site) > 0)
			a->factors[at_of(a, r, site)] = mean / computed(a, r, site);
}

/* Only what takes them longer than the others. */
static void make_alike(const struct asking *a, uint32_t site, const struct cause *c)
{
	double mean = mean_before(a, site, c);
	for (uint32_t i = 0; i < c->rank_count; i++)
		if (mean > 0 && computed(a, c->ranks[i], site) > mean)
			a->factors[at_of(a, c->ranks[i], site)] = mean / computed(a, c->ranks[i], site);
}

static void set_factors(const struct asking *a, enum what_if_kind kind, const struct cause *c)
{
	const size_t count = (size_t)a->trace->size * a->trace->site_count;
	for (size_t i = 0; i < count; i++)
		a->factors[i] = 1;
	for (uint32_t s = 0; s < a->trace->site_count; s++) {
		if (kind == WHAT_IF_EVEN)
			even_out(a, s);
		else if (kind == WHAT_IF_ALIKE)
			make_alike(a, s, c);
	}
	if (kind == WHAT_IF_SHARED && c->site != CAUSE_NOWHERE)
		for (uint32_t i = 0; i < c->rank_count; i++)
			a->factors[at_of(a, c->ranks[i], c->site)] = 1.0 / a->trace->size;
}

/* --- what calls do --- */

static const struct mpi_function *site_mpi(const struct asking *a, uint32_t site)
{
	return trace_schema(a->trace, &a->trace->sites[site])->mpi;
}

/* Messages of it are small, or of those that it may complete. */
static bool is_small(const struct asking *a, uint32_t site)
{
	const struct activity *one = &a->activity.sites[site];
	const enum mpi_class class = site_mpi(a, site)->class;
	if (class != MPI_CLASS_POINT_TO_POINT && class != MPI_CLASS_COMPLETION)
		return false;
	return one->messages == 0 || one->message_bytes <= OBSERVED_SMALL * one->messages;
}

static void set_changes(const struct asking *a, enum what_if_kind kind, const struct cause *c)
{
	for (uint32_t s = 0; s < a->trace->site_count; s++) {
		bool packed = kind == WHAT_IF_PACKED && is_small(a, s);
		bool ready = kind == WHAT_IF_READY && c->wait_site != CAUSE_NOWHERE &&
		             site_mpi(a, s) == site_mpi(a, c->wait_site);
		bool left_out = kind == WHAT_IF_LEFT_OUT && s == c->site;
		a->changes[s] =
			(uint8_t)(packed * SIMULATE_PACKED | ready * SIMULATE_READY | left_out * SIMULATE_LEFT_OUT);
	}
}

/* Without what calls take beyond the network; or files only. */
static void set_costs(const struct asking *a, enum what_if_kind kind, double *costs)
{
	for (uint32_t s = 0; s < a->trace->site_count; s++) {
		const enum mpi_class class = site_mpi(a, s)->class;
		bool network = class == MPI_CLASS_POINT_TO_POINT || class == MPI_CLASS_COMPLETION ||
		               class == MPI_CLASS_COLLECTIVE;
		bool none = kind == WHAT_IF_FILES ? class == MPI_CLASS_FILE : network;
		costs[s] = none ? 0 : a->costs[s];
	}
}

static struct network changed_network(const struct network *n, enum what_if_kind kind)
{
	struct network to = kind == WHAT_IF_IDEAL ? network_ideal : *n;
	to.computing = n->computing;
	for (int i = 0; i < NETWORK_LEVELS; i++) {
		if (kind == WHAT_IF_LATENCY) {
			to.levels[i].latency /= 2;
			to.levels[i].overhead /= 2;
			to.levels[i].gap /= 2;
		}
		if (kind == WHAT_IF_BANDWIDTH)
			to.levels[i].byte /= 2;
	}
	if (kind == WHAT_IF_BANDWIDTH)
		to.node_byte /= 2;
	return to;
}

/* --- the questions --- */

/* c: NULL: of no cause. */
static int ask(struct asking *a, enum what_if_kind kind, const struct cause *c)
{
	static const struct cause nothing = {
		.behind = CAUSE_NOWHERE, .site = CAUSE_NOWHERE, .wait_site = CAUSE_NOWHERE};
	const struct cause *of = c ? c : &nothing;
	const struct network network = changed_network(&a->out->network, kind);
	struct simulation run = {.known = false};
	struct simulate_options o = {.network = &network, .costs = a->costs, .changes = a->changes, .context = a};
	if (a->out->count == MOST)
		return 0;
	set_changes(a, kind, of);
	if (kind == WHAT_IF_EVEN || kind == WHAT_IF_ALIKE || kind == WHAT_IF_SHARED) {
		set_factors(a, kind, of);
		o.computing = scaled;
	} else if (kind == WHAT_IF_STEADY) {
		o.computing = steady;
	} else if (kind == WHAT_IF_CORES || kind == WHAT_IF_FILES || kind == WHAT_IF_IDEAL) {
		set_costs(a, kind, a->zero);
		o.costs = a->zero;
	}
	int rv = simulator_run(a->simulator, &o, &run, a->error);
	const double base = (double)a->out->base_ns;
	if (rv == 0 && run.known)
		a->out->list[a->out->count++] = (struct what_if){.kind = kind,
		                                                 .cause = c,
		                                                 .run_ns = run.run_ns,
		                                                 .saved = base > 0 ? 1 - (double)run.run_ns / base : 0};
	simulation_free(&run);
	return rv;
}

/* What to ask of a cause. */
static int ask_cause(struct asking *a, const struct cause *c)
{
	static const enum what_if_kind kinds[CAUSES] = {[CAUSE_IMBALANCE] = WHAT_IF_EVEN,
	                                                [CAUSE_SERIAL] = WHAT_IF_SHARED,
	                                                [CAUSE_SERIALISED] = WHAT_IF_READY,
	                                                [CAUSE_MOVING] = WHAT_IF_STEADY,
	                                                [CAUSE_SMALL] = WHAT_IF_PACKED,
	                                                [CAUSE_TRANSFER] = WHAT_IF_BANDWIDTH,
	                                                [CAUSE_SYNCHRONISATION] = WHAT_IF_LEFT_OUT,
	                                                [CAUSE_CORES] = WHAT_IF_CORES,
	                                                [CAUSE_IO] = WHAT_IF_FILES};
	if (c->kind == CAUSE_OTHER || (c->kind == CAUSE_CORES && !a->out->observed))
		return 0;
	int rv = ask(a, kinds[c->kind], c);
	if (rv == 0 && c->kind == CAUSE_IMBALANCE && 2 * c->rank_count <= a->trace->size)
		rv = ask(a, WHAT_IF_ALIKE, c);
	return rv;
}

static bool is_asked(const struct asking *a, enum what_if_kind kind)
{
	for (size_t i = 0; i < a->out->count; i++)
		if (a->out->list[i].kind == kind)
			return true;
	return false;
}

static int ask_all(struct asking *a, double worth)
{
	static const enum what_if_kind always[] = {WHAT_IF_LATENCY, WHAT_IF_BANDWIDTH, WHAT_IF_IDEAL};
	int rv = 0;
	for (size_t i = 0; rv == 0 && i < a->causes->count; i++)
		if (a->causes->list[i].share >= worth)
			rv = ask_cause(a, &a->causes->list[i]);
	for (size_t i = 0; rv == 0 && i < sizeof always / sizeof *always; i++)
		if (!is_asked(a, always[i]))
			rv = ask(a, always[i], NULL);
	return rv;
}

/* The run as it was, on the network. */
static int find_base(struct asking *a, const struct network *network)
{
	struct simulation base = {.known = false};
	a->out->observed = !network;
	if (network)
		a->out->network = *network;
	else
		observed_network(&a->out->network, a->trace, &a->activity, &a->ideal);
	observed_costs(a->costs, a->trace);
	int rv = observed_fit(a->costs, &a->out->network, a->simulator, a->trace, &a->ideal, NULL, network ? 0 : ROUNDS,
	                      &base, a->error);
	if (rv == 0 && base.known) {
		a->out->known = true;
		a->out->eager = base.eager;
		a->out->base_ns = base.run_ns;
	}
	simulation_free(&base);
	return rv;
}

static int by_saving(const void *a, const void *b)
{
	const struct what_if *x = a, *y = b;
	return x->saved != y->saved ? (x->saved < y->saved ? 1 : -1) : (int)x->kind - (int)y->kind;
}

static int find(struct asking *a, const struct network *network, double worth)
{
	const struct trace *t = a->trace;
	const struct simulate_options o = {.network = &network_ideal, .sums = true};
	a->out->list = budget_calloc(MOST, sizeof *a->out->list);
	a->costs = budget_calloc((size_t)t->site_count + 1, sizeof *a->costs);
	a->zero = budget_calloc((size_t)t->site_count + 1, sizeof *a->zero);
	a->changes = budget_calloc((size_t)t->site_count + 1, sizeof *a->changes);
	a->factors = budget_calloc((size_t)t->size * t->site_count + 1, sizeof *a->factors);
	if (!a->out->list || !a->costs || !a->zero || !a->changes || !a->factors ||
	    site_activity_make(&a->activity, t) != 0)
		return error_set(a->error, "no memory");
	int rv = simulator_keep(a->simulator, a->error);
	if (rv == 0)
		rv = simulator_run(a->simulator, &o, &a->ideal, a->error);
	if (rv == 0 && a->ideal.known)
		rv = find_base(a, network);
	if (rv == 0 && a->out->known)
		rv = ask_all(a, worth);
	if (a->out->count)
		qsort(a->out->list, a->out->count, sizeof *a->out->list, by_saving);
	return rv;
}

int what_ifs_find(struct what_ifs *w, const struct trace *t, const struct causes *causes, const struct network *network,
                  double worth, struct error *error)
{
	struct asking a = {.out = w, .trace = t, .causes = causes, .error = error};
	*w = (struct what_ifs){.recorded_ns = (double)t->total[TOTAL_ELAPSED].max};
	if (!causes->known)
		return 0;
	int rv = simulator_create(&a.simulator, t, SIMULATE_EVENTS, error);
	if (a.simulator)
		rv = find(&a, network, worth);
	simulator_destroy(a.simulator);
	simulation_free(&a.ideal);
	site_activity_free(&a.activity);
	budget_free(a.costs);
	budget_free(a.zero);
	budget_free(a.changes);
	budget_free(a.factors);
	return rv;
}

void what_ifs_free(struct what_ifs *w)
{
	budget_free(w->list);
	*w = (struct what_ifs){.known = false};
}
