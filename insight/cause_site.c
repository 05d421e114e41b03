/* SPDX-License-Identifier: BSD-3-Clause
 * cause_site - causes of single sites: what their calls took above what was waiting for others' computation
 */
#include "insight/cause.h"
#include "insight/cause_inside.h"
#include "trace/model/mpi.h"
#include "trace/read/seats.h"

/* Messages of fewer bytes are small: sending one costs more than its bytes do. */
#define SMALL 1024
/* No call takes longer than this, and so much for each of its bytes, if its rank has a core (ns). */
#define CALL_MOST 1000000
#define BYTE_MOST 10
/* Where ranks have fewer cores together than they are, a call that takes longer than this waits for a core: with cores
 * of their own, ranks of a node meet within a few microseconds. */
#define CALL_SHARED 50000

/* Bytes of a message in the mean over the trace; negative: there is none of known size. */
static double mean_message(const struct cause_finder *f)
{
	uint64_t messages = 0, bytes = 0;
	for (uint32_t i = 0; i < f->trace->site_count; i++) {
		messages += f->activity.sites[i].messages;
		bytes += f->activity.sites[i].message_bytes;
	}
	return messages ? (double)bytes / (double)messages : -1;
}

/* mean: of the trace's messages, for calls that complete what others sent. */
static enum cause_kind site_kind(const struct trace_site *s, const struct mpi_function *m, const struct activity *a,
                                 double mean)
{
	double each = a->messages ? (double)a->message_bytes / (double)a->messages : mean;
	switch (m->class) {
	case MPI_CLASS_FILE:
		return CAUSE_IO;
	case MPI_CLASS_WINDOW:
	case MPI_CLASS_ONE_SIDED:
		return CAUSE_TRANSFER;
	case MPI_CLASS_POINT_TO_POINT:
	case MPI_CLASS_COMPLETION:
		return each >= 0 && each <= SMALL ? CAUSE_SMALL : CAUSE_TRANSFER;
	case MPI_CLASS_COLLECTIVE:
		return (double)a->bytes < SMALL * (double)s->communicate.count ? CAUSE_SYNCHRONISATION : CAUSE_TRANSFER;
	default:
		return CAUSE_OTHER;
	}
}

/* Did its calls take so long because ranks waited for a core? call: what one takes at most if they did not. */
static bool lacks_cores(const struct trace_site *s, const struct activity *a, double ns, double mean, double call)
{
	double calls = (double)s->communicate.count, bytes = a->bytes ? (double)a->bytes : mean > 0 ? mean * calls : 0;
	return ns > call * calls + BYTE_MOST * bytes;
}

/* Most ranks share cores: then all wait for those that have none. */
static double longest_call(const struct trace *t)
{
	struct seats seats;
	double ns = CALL_MOST;
	if (seats_make(&seats, t) == 0 && seats.sharing > t->size / 2)
		ns = CALL_SHARED;
	seats_free(&seats);
	return ns;
}

/* What a site took above what is waiting. */
static double site_rest(const struct cause_finder *f, uint32_t site)
{
	const struct trace_site *s = &f->trace->sites[site];
	double ns = trace_initializes(trace_schema(f->trace, s)) ? 0 : (double)s->communicate.sum - f->waited[site];
	return ns > 0 ? ns : 0;
}

/* At its end a rank waits for the calls of others as it does before. */
void cause_sites(struct cause_finder *f)
{
	double mean = mean_message(f), call = longest_call(f->trace), all = 0;
	for (uint32_t i = 0; i < f->trace->site_count; i++)
		all += site_rest(f, i);
	for (uint32_t i = 0; i < f->trace->site_count; i++) {
		const struct trace_site *s = &f->trace->sites[i];
		const struct schema *schema = trace_schema(f->trace, s);
		double ns = site_rest(f, i);
		if (ns <= 0)
			continue;
		struct cause c = {.kind = site_kind(s, schema->mpi, &f->activity.sites[i], mean),
		                  .ns = ns * (1 + f->late_ns / all),
		                  .behind = CAUSE_NOWHERE,
		                  .site = i,
		                  .wait_site = CAUSE_NOWHERE,
		                  .calls = s->communicate.count,
		                  .bytes = f->activity.sites[i].bytes,
		                  .site_ns = s->communicate.sum};
		if (c.kind != CAUSE_IO && lacks_cores(s, &f->activity.sites[i], ns, mean, call))
			c.kind = CAUSE_CORES;
		cause_add(f, &c);
	}
}
