/* SPDX-License-Identifier: BSD-3-Clause
 * placed_time - how long a run takes with its ranks at other places
 */
#include "insight/placed_time.h"

#include <math.h>

#include "insight/observed.h"
#include "insight/simulate.h"
#include "trace/base/budget.h"

/* Within a node, by shared memory: ns, and ns for a byte. */
#define NEAR_NS   500.0
#define NEAR_BYTE 0.1
/* How often costs of call sites are corrected. */
#define ROUNDS 4

enum variant { VARIANT_LEAST, VARIANT_LIKELY, VARIANT_MOST, VARIANTS };

struct timing {
	const struct trace *trace;
	struct simulator *simulator;
	struct site_activity activity;
	struct simulation ideal;
	struct seats before, after;
	double *costs;
	struct error *error;
};

/* --- networks --- */

static struct network_level level_within(const struct network_level *far, enum variant variant)
{
	const double time = 2 * far->overhead + far->latency, near = variant == VARIANT_LEAST ? time / 2 : NEAR_NS;
	const double part = time > near ? near / time : 1;
	const double byte = variant == VARIANT_LEAST ? far->byte / 2 : fmin(far->byte, NEAR_BYTE);
	return (struct network_level){far->latency * part, far->overhead * part, far->gap * part, byte};
}

static struct network network_of(const struct network *observed, enum variant variant)
{
	struct network n = *observed;
	const struct network_level *far = &n.levels[SEATS_FAR];
	n.levels[SEATS_SOCKET] = n.levels[SEATS_NODE] = level_within(far, variant);
	if (variant == VARIANT_MOST)
		n.node_byte = far->byte;
	return n;
}

/* --- runs --- */

static int seats_of(struct seats *s, const struct arrangement *a, const struct machine *m)
{
	*s = (struct seats){.size = a->size, .nodes = m->nodes, .sockets = m->sockets};
	s->ranks = budget_calloc((size_t)a->size + 1, sizeof *s->ranks);
	for (uint32_t r = 0; s->ranks && r < a->size; r++)
		s->ranks[r] = (struct seat){.node = a->node[r], .socket = (uint16_t)a->socket[r]};
	return s->ranks ? 0 : -1;
}

/* *saved: NAN: it cannot be played. rounds: of observed_fit. */
static int try_network(struct timing *g, struct network *n, int rounds, double *saved)
{
	struct simulation base = {.known = false}, placed = {.known = false};
	*saved = NAN;
	for (uint32_t i = 0; i < g->trace->site_count; i++)
		g->costs[i] = 0;
	observed_costs(g->costs, g->trace);
	int rv = observed_fit(g->costs, n, g->simulator, g->trace, &g->ideal, &g->before, rounds, &base, g->error);
	const struct simulate_options o = {.network = n, .costs = g->costs, .seats = &g->after};
	if (rv == 0 && base.known)
		rv = simulator_run(g->simulator, &o, &placed, g->error);
	if (rv == 0 && base.known && placed.known && base.run_ns > 0)
		*saved = 1 - (double)placed.run_ns / (double)base.run_ns;
	simulation_free(&base);
	simulation_free(&placed);
	return rv;
}

static int try_variants(struct timing *g, struct placed_time *p)
{
	struct network observed;
	double saved[VARIANTS];
	int rv = 0;
	observed_network(&observed, g->trace, &g->activity, &g->ideal);
	for (int v = 0; v < VARIANTS && rv == 0; v++) {
		struct network n = network_of(&observed, (enum variant)v);
		rv = try_network(g, &n, ROUNDS, &saved[v]);
	}
	if (rv != 0)
		return rv;
	p->known = !isnan(saved[VARIANT_LEAST]) && !isnan(saved[VARIANT_LIKELY]) && !isnan(saved[VARIANT_MOST]);
	p->saved = saved[VARIANT_LIKELY];
	p->low = fmin(fmin(saved[VARIANT_LEAST], saved[VARIANT_LIKELY]), saved[VARIANT_MOST]);
	p->high = fmax(fmax(saved[VARIANT_LEAST], saved[VARIANT_LIKELY]), saved[VARIANT_MOST]);
	return 0;
}

static int try_given(struct timing *g, struct placed_time *p, const struct network *network)
{
	struct network n = *network;
	int rv = try_network(g, &n, 0, &p->saved);
	p->known = rv == 0 && !isnan(p->saved);
	p->low = p->high = p->saved;
	return rv;
}

static int run_all(struct timing *g, struct placed_time *p, const struct network *network)
{
	const struct simulate_options o = {.network = &network_ideal};
	if (simulator_keep(g->simulator, g->error) != 0 || simulator_run(g->simulator, &o, &g->ideal, g->error) != 0)
		return -1;
	if (!g->ideal.known)
		return 0;
	return network ? try_given(g, p, network) : try_variants(g, p);
}

int placed_time_find(struct placed_time *p, const struct trace *t, const struct arrangement *before,
                     const struct arrangement *after, const struct machine *m, const struct network *network,
                     struct error *error)
{
	struct timing g = {.trace = t, .error = error};
	*p = (struct placed_time){.known = false};
	int rv = simulator_create(&g.simulator, t, PLACED_TIME_EVENTS, error);
	if (rv == 0 && g.simulator) {
		g.costs = budget_calloc((size_t)t->site_count + 1, sizeof *g.costs);
		bool room = g.costs && seats_of(&g.before, before, m) == 0 && seats_of(&g.after, after, m) == 0 &&
		            site_activity_make(&g.activity, t) == 0;
		rv = room ? run_all(&g, p, network) : error_set(error, "no memory");
	}
	simulator_destroy(g.simulator);
	simulation_free(&g.ideal);
	site_activity_free(&g.activity);
	seats_free(&g.before);
	seats_free(&g.after);
	budget_free(g.costs);
	return rv;
}
