/* SPDX-License-Identifier: BSD-3-Clause
 * observed - the network that a trace was recorded on
 */
#include "insight/observed.h"

#include <math.h>

#include "trace/base/budget.h"

/* Where nothing was seen: ns, and ns for a byte (1 GB/s). */
#define USUAL_NS   1000.0
#define USUAL_BYTE 1.0
/* What a call takes at least: one in so many is faster, as clocks are not exact. */
#define FASTEST 0.05
/* A run that takes longer than it did, by this, is on a network that is too slow; it becomes faster by that. */
#define TOO_LONG 1.02
#define CHEAPER  0.7
/* Costs that are wrong by so little are not corrected again. */
#define CLOSE 0.005
/* Nothing passes on a byte faster (1 TB/s). */
#define BYTE_LEAST 0.001

static const struct mpi_function *site_mpi(const struct trace *t, uint32_t site)
{
	return trace_schema(t, &t->sites[site])->mpi;
}

static double mean_bytes(const struct activity *a)
{
	return a->messages ? (double)a->message_bytes / (double)a->messages : -1;
}

/* The least time of small sends; negative: there are none. */
static double least_send(const struct trace *t, const struct site_activity *activity)
{
	double least = -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct histogram *h = &t->sites[i].communicate;
		double bytes = mean_bytes(&activity->sites[i]);
		if (h->count == 0 || bytes < 0 || bytes > OBSERVED_SMALL ||
		    site_mpi(t, i)->class != MPI_CLASS_POINT_TO_POINT)
			continue;
		double ns = histogram_at(h, FASTEST);
		least = least < 0 || ns < least ? ns : least;
	}
	return least;
}

/* What a round of a small collective operation takes at least; negative: there is none. */
static double least_round(const struct trace *t, const struct site_activity *activity)
{
	const double rounds = fmax(1, ceil(log2(t->size)));
	double least = -1;
	for (uint32_t i = 0; i < t->site_count && t->size > 1; i++) {
		const struct trace_site *s = &t->sites[i];
		const struct mpi_function *m = site_mpi(t, i);
		if (s->communicate.count == 0 || m->class != MPI_CLASS_COLLECTIVE || m->form != FORM_BLOCKING ||
		    m->waits != WAITS_FOR_ALL ||
		    (double)activity->sites[i].bytes > OBSERVED_SMALL * (double)s->communicate.count)
			continue;
		double round = histogram_at(&s->communicate, FASTEST) / rounds;
		least = least < 0 || round < least ? round : least;
	}
	return least;
}

/* How many bytes pass a rank's port in a call of so many, by the algorithms for large ones. */
static double passed(const struct mpi_function *m, uint32_t size)
{
	switch (m->base) {
	case FN_MPI_Allgather:
	case FN_MPI_Allgatherv:
		return size - 1.0;
	case FN_MPI_Alltoall:
	case FN_MPI_Alltoallv:
	case FN_MPI_Alltoallw:
	case FN_MPI_Reduce_scatter:
		return (size - 1.0) / size;
	case FN_MPI_Allreduce:
		return 2;
	default:
		return 1;
	}
}

/* The least time for a byte of large messages; negative: there are none. */
static double least_byte(const struct trace *t, const struct site_activity *activity, const struct simulation *ideal)
{
	double least = -1;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct trace_site *s = &t->sites[i];
		const struct activity *a = &activity->sites[i];
		const struct mpi_function *m = site_mpi(t, i);
		bool moves = m->form == FORM_BLOCKING &&
		             (m->class == MPI_CLASS_POINT_TO_POINT || m->class == MPI_CLASS_COLLECTIVE);
		double ns = (double)s->communicate.sum - (double)ideal->inside_ns[i];
		if (!moves || ns <= 0 || (double)a->bytes < OBSERVED_LARGE * (double)s->communicate.count)
			continue;
		double each = ns / (fmax(passed(m, t->size), 0.5) * (double)a->bytes);
		least = least < 0 || each < least ? each : least;
	}
	return least;
}

void observed_network(struct network *out, const struct trace *t, const struct site_activity *activity,
                      const struct simulation *ideal)
{
	double send = least_send(t, activity), round = least_round(t, activity), byte = least_byte(t, activity, ideal);
	*out = (struct network){.eager = OBSERVED_LARGE, .computing = 1};
	if (send < 0)
		send = round < 0 ? USUAL_NS : round / 3;
	double latency = round < 0 ? send : fmax(0, round - 2 * send);
	if (round >= 0 && round < 2 * send) /* a round is the better measure: o is part of it */
		send = round / 2;
	for (int i = 0; i < NETWORK_LEVELS; i++)
		out->levels[i] = (struct network_level){.latency = latency,
		                                        .overhead = send,
		                                        .gap = send,
		                                        .byte = byte < 0 ? USUAL_BYTE : fmax(byte, BYTE_LEAST)};
}

/* Does the network say how long its calls take? */
static bool is_networks(const struct mpi_function *m)
{
	return m->class == MPI_CLASS_POINT_TO_POINT || m->class == MPI_CLASS_COMPLETION ||
	       m->class == MPI_CLASS_COLLECTIVE;
}

void observed_costs(double *costs, const struct trace *t)
{
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct histogram *h = &t->sites[i].communicate;
		const struct mpi_function *m = site_mpi(t, i);
		if (h->count == 0 || is_networks(m) || trace_initializes(trace_schema(t, &t->sites[i])))
			continue;
		/* who waits for others there does so for a time that is not the call's */
		costs[i] = m->waits == WAITS_FOR_ALL && m->class != MPI_CLASS_FILE && m->class != MPI_CLASS_ONE_SIDED
		                   ? histogram_at(h, FASTEST)
		                   : histogram_mean(h);
	}
}

/* What a site's calls cost in the run before, and how long they took then, in ns. */
struct tried {
	double cost, ns;
};

/* How much longer a site's calls take, all together, if each costs a ns more: at least that; more where what one waits
 * for waits itself. */
static double slope_of(const struct tried *before, double cost, double ns, double calls, double ranks)
{
	double slope = fabs(cost - before->cost) > 1 ? (ns - before->ns) / (cost - before->cost) : calls;
	return fmin(fmax(slope, calls), calls * ranks);
}

/* Returns by how much it was wrong, of the time in such calls. */
static double correct(double *costs, struct tried *before, const struct trace *t, const struct simulation *ideal,
                      const struct simulation *base)
{
	double wrong = 0, all = 0;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct histogram *h = &t->sites[i].communicate;
		if (h->count == 0 || !is_networks(site_mpi(t, i)))
			continue;
		const double ns = (double)base->inside_ns[i], calls = (double)h->count, was = costs[i];
		const double slope = slope_of(&before[i], was, ns, calls, t->size);
		const double most = fmax(0, (double)h->sum - (double)ideal->inside_ns[i]) / calls;
		costs[i] = fmin(fmax(0, was + ((double)h->sum - ns) / slope), most);
		before[i] = (struct tried){was, ns};
		wrong += fabs(costs[i] - was) * calls;
		all += (double)h->sum;
	}
	return all > 0 ? wrong / all : 0;
}

/* Calls cannot take less than nothing: where the run takes longer than it did, messages must be cheaper. */
static bool cheapen(struct network *n, const struct trace *t, const struct simulation *base)
{
	if ((double)base->run_ns <= TOO_LONG * (double)t->total[TOTAL_ELAPSED].max)
		return false;
	for (int i = 0; i < NETWORK_LEVELS; i++) {
		struct network_level *l = &n->levels[i];
		*l = (struct network_level){l->latency * CHEAPER, l->overhead * CHEAPER, l->gap * CHEAPER,
		                            l->byte * CHEAPER};
	}
	return true;
}

static int run_again(struct simulator *s, const struct simulate_options *o, struct simulation *base,
                     struct error *error)
{
	simulation_free(base);
	return simulator_run(s, o, base, error);
}

int observed_fit(double *costs, struct network *network, struct simulator *s, const struct trace *t,
                 const struct simulation *ideal, const struct seats *seats, int rounds, struct simulation *base,
                 struct error *error)
{
	const struct simulate_options o = {.network = network, .costs = costs, .seats = seats};
	struct tried *before = budget_calloc((size_t)t->site_count + 1, sizeof *before);
	int rv = before ? run_again(s, &o, base, error) : error_set(error, "no memory");
	double wrong = 1;
	for (int i = 0; rv == 0 && base->known && i < rounds && wrong > CLOSE; i++) {
		if (i % 2 || !cheapen(network, t, base))
			wrong = correct(costs, before, t, ideal, base);
		rv = run_again(s, &o, base, error);
	}
	budget_free(before);
	return rv;
}
