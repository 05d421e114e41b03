/* SPDX-License-Identifier: BSD-3-Clause
 * simgrid - `spoor export --simgrid DIR`: time-independent traces, which SimGrid's smpirun replays on other machines
 * and networks
 *
 *     DIR/traces         the names of the files below, for smpirun -replay
 *     DIR/rank-N.txt     what rank N does: "N isend 3 4097 1024"
 *     DIR/platform.xml   the machine that the trace is from, as a cluster to begin with; DIR/hostfile   a host for each
 *         rank
 *
 * Such a replay knows MPI_COMM_WORLD alone, and requests only by sender, receiver and tag. So tags are made anew, such
 * that each message under way has one of its own (both sides count the messages of a channel alike); receives from
 * MPI_ANY_SOURCE are from the rank that they were from: a first walk writes down what each turned out to be, by number,
 * into a file. Collectives of other communicators, those that do not block, and some that the replay has not become
 * messages (collectives.c).
 */
#include "cmd/export/simgrid.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/metadata.h"
#include "cmd/base/sink.h"
#include "trace/model/host.h"
#include "trace/base/index.h"
#include "trace/model/stream.h"

/* What a receive turned out to be. At the place of its request's number in a file, so that it costs no memory. */
struct outcome {
	uint32_t known, peer;
	int64_t tag;
	uint64_t number;
};

static int tag_of(const struct act *m)
{
	return ti_tag(hash_mix(hash_mix(hash_mix(19, m->partitioned), m->comm), (uint64_t)m->tag), m->number);
}

int ti_tag(uint64_t channel, uint64_t number)
{
	return 1 + (int)(((channel >> 20 & 0x3ffff) << 12) | (number & 0xfff));
}

void ti_compute(struct ti *ti)
{
	double flops = ti->compute * ti->export->flops * 1e-9;
	ti->compute = 0;
	if (flops >= 1)
		say_to(ti->out, "%u compute %.0f\n", ti->self, flops);
}

/* --- the first walk --- */

static int look_ahead(struct export *x, uint32_t stream, FILE *outcomes)
{
	struct track t;
	int rv = track_begin(&t, x, stream, false);
	while (rv == 0 && (rv = track_next(&t)) == 0)
		for (size_t i = 0; i < t.count && rv == 0; i++) {
			const struct act *m = &t.list[i];
			struct outcome o = {.known = 1, .peer = m->peer, .tag = m->tag, .number = m->number};
			if (m->kind == ACT_RECV_END &&
			    pwrite(fileno(outcomes), &o, sizeof o, (off_t)(m->request * sizeof o)) != sizeof o)
				rv = error_set(&x->error, "a temporary file cannot be written: %s", strerror(errno));
		}
	track_end(&t);
	return rv < 0 ? -1 : 0;
}

static struct outcome outcome_of(FILE *outcomes, uint64_t request)
{
	struct outcome o = {.known = 0};
	if (pread(fileno(outcomes), &o, sizeof o, (off_t)(request * sizeof o)) != sizeof o)
		o.known = 0;
	return o;
}

/* --- the second --- */

static void put_act(struct ti *ti, struct track *t, FILE *outcomes, const struct act *begun, struct act *exchange)
{
	struct act m = *begun;
	bool message = m.kind < ACT_COLLECTIVE;
	if (message && m.kind == ACT_RECV_BEGIN) {
		struct outcome o = outcome_of(outcomes, m.request);
		if (!o.known) {
			ti->export->left_out++; /* was never received, or cancelled */
			return;
		}
		m.peer = o.peer;
		m.tag = o.tag;
		m.number = o.number;
	}
	if (message && m.peer == RANK_UNKNOWN) {
		ti->export->left_out += m.kind == ACT_SEND || m.kind == ACT_SEND_BEGIN;
		return;
	}
	ti->export->unsized += !m.sized && (m.kind == ACT_SEND || m.kind == ACT_SEND_BEGIN);
	switch (m.kind) {
	case ACT_SEND:
		say_to(ti->out, "%u %s %u %d %" PRIu64 "\n", ti->self, m.exchange ? "isend" : "send", m.peer,
		       tag_of(&m), m.bytes);
		if (m.exchange)
			*exchange = m;
		break;
	case ACT_SEND_BEGIN:
		say_to(ti->out, "%u isend %u %d %" PRIu64 "\n", ti->self, m.peer, tag_of(&m), m.bytes);
		break;
	case ACT_SEND_END:
		say_to(ti->out, "%u wait %u %u %d\n", ti->self, ti->self, m.peer, tag_of(&m));
		break;
	case ACT_RECV:
		say_to(ti->out, "%u recv %u %d %" PRIu64 "\n", ti->self, m.peer, tag_of(&m),
		       m.sized ? m.bytes : TI_ROOM);
		break;
	case ACT_RECV_BEGIN:
		say_to(ti->out, "%u irecv %u %d %" PRIu64 "\n", ti->self, m.peer, tag_of(&m),
		       m.sized ? m.bytes : TI_ROOM);
		break;
	case ACT_RECV_END:
		say_to(ti->out, "%u wait %u %u %d\n", ti->self, m.peer, ti->self, tag_of(&m));
		break;
	case ACT_COLLECTIVE:
	case ACT_COLLECTIVE_BEGIN:
	case ACT_COLLECTIVE_END:
		ti_collective(ti, t, &m);
		break;
	case ACT_CANCELLED:
	case ACT_PROBED:
	case ACT_READY:
	case ACT_COMM_MADE:
	case ACT_COMM_FREED:
		break;
	}
}

/* Does a call do something that the replay does not know? */
static bool is_foreign(const struct schema *s)
{
	switch (s->mpi->class) {
	case MPI_CLASS_WINDOW:
	case MPI_CLASS_ONE_SIDED:
		return true;
	case MPI_CLASS_FILE: /* reads and writes */
		return s->at[PARAMETER_COUNT] >= 0;
	case MPI_CLASS_COLLECTIVE:
		return s->mpi->neighbor;
	default:
		return s->at[PARAMETER_PARTITIONS] >= 0;
	}
}

static int simgrid_rank(struct export *x, uint32_t stream, const char *path, uint64_t *operations)
{
	struct ti ti = {.export = x, .self = stream, .operations = operations};
	struct track t = {.walk = NULL};
	FILE *outcomes = tmpfile();
	bool polled = false;
	int rv = outcomes ? look_ahead(x, stream, outcomes)
	                  : error_set(&x->error, "no temporary file: %s", strerror(errno));
	if (rv == 0 && !(ti.out = fopen(path, "w")))
		rv = error_set(&x->error, "%s: %s", path, strerror(errno));
	if (rv == 0) {
		say_to(ti.out, "%u init\n", stream);
		rv = track_begin(&t, x, stream, true);
	}
	uint64_t last = 0;
	while (rv == 0 && (rv = track_next(&t)) == 0) {
		const struct call *c = call_of(&x->calls, &t.event);
		struct act exchange = {.peer = RANK_UNKNOWN};
		bool vain = event_is_vain(&t.event);
		/* what passes between one vain question and the next is waiting, which the replay finds for itself */
		const double computed = event_clock_computed(t.clock, t.event.number > 0 ? t.begin - last : 0);
		if (!(polled && c->kind == CALL_COMPLETE) && !(polled && vain))
			ti.compute += computed;
		polled = vain;
		last = t.end;
		x->foreign += is_foreign(c->schema);
		if (t.count > 0)
			ti_compute(&ti);
		for (size_t i = 0; i < t.count; i++)
			put_act(&ti, &t, outcomes, &t.list[i], &exchange);
		if (exchange.peer != RANK_UNKNOWN)
			say_to(ti.out, "%u wait %u %u %d\n", stream, stream, exchange.peer, tag_of(&exchange));
	}
	if (t.walk)
		track_end(&t);
	if (rv > 0) {
		ti_compute(&ti);
		say_to(ti.out, "%u finalize\n", stream);
		rv = fflush(ti.out) != 0 || ferror(ti.out)
		             ? error_set(&x->error, "cannot be written: %s", strerror(errno))
		             : 0;
	}
	if (ti.out && fclose(ti.out) != 0 && rv == 0)
		rv = error_set(&x->error, "cannot be written: %s", strerror(errno));
	if (outcomes)
		fclose(outcomes);
	free(ti.pending);
	return rv == 0 && x->error.text[0] ? -1 : rv;
}

/* --- the folder --- */

static FILE *file_in(struct export *x, const struct output *out, const char *name)
{
	char path[PATH_MAX];
	FILE *file =
		snprintf(path, sizeof path, "%s/%s", out->temporary, name) < (int)sizeof path ? fopen(path, "w") : NULL;
	if (!file)
		error_set(&x->error, "%s/%s: cannot be written: %s", out->name, name, strerror(errno));
	return file;
}

/* A cluster like the one that the trace is from: what is not known of it is a guess that is to be replaced. */
static int put_machine(struct export *x, const struct output *out)
{
	const struct trace *t = x->trace;
	char host[HOST_MAX], times[EVENT_CLOCK_SAYS];
	json_t *nodes = json_object();
	FILE *list = file_in(x, out, "traces"), *hosts = file_in(x, out, "hostfile"),
	     *platform = file_in(x, out, "platform.xml");
	int rv = nodes && list && hosts && platform ? 0 : -1;
	for (uint32_t rank = 0; rv == 0 && rank < t->size; rank++) {
		host_get(t, rank, host);
		json_t *node = json_object_get(nodes, host);
		json_int_t number = node ? json_integer_value(node) : (json_int_t)json_object_size(nodes);
		if (!node && json_object_set_new_nocheck(nodes, host, json_integer(number)) != 0)
			rv = error_set(&x->error, "no memory");
		say_to(list, "rank-%u.txt\n", rank);
		say_to(hosts, "node-%" JSON_INTEGER_FORMAT "\n", number);
	}
	if (rv == 0)
		say_to(platform,
		       "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
		       "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
		       "  <!-- times of the computations: %s -->\n"
		       "  <!-- speed: what one second of recorded computation is (--flops). core: at least the ranks "
		       "of a node. Put your network's bandwidth and latency here. -->\n"
		       "  <cluster id=\"cluster\" prefix=\"node-\" suffix=\"\" radical=\"0-%zu\" speed=\"%.0ff\" "
		       "core=\"%u\" bw=\"12.5GBps\" lat=\"1us\"\n"
		       "           loopback_bw=\"20GBps\" loopback_lat=\"300ns\"/>\n</platform>\n",
		       event_clock_says(t, times), json_object_size(nodes) ? json_object_size(nodes) - 1 : 0, x->flops,
		       t->size);
	if (list && fclose(list) != 0)
		rv = -1;
	if (hosts && fclose(hosts) != 0)
		rv = -1;
	if (platform && fclose(platform) != 0)
		rv = -1;
	json_decref(nodes);
	return rv == 0 || x->error.text[0] ? rv : error_set(&x->error, "cannot be written: %s", strerror(errno));
}

static int simgrid_refuse(struct export *x)
{
	const struct trace *t = x->trace;
	if (metadata_number(x->meta, "partial", 0) > 0 || stream_threads(t) > 1 ||
	    stream_ranks(t, &t->events) < t->size)
		return error_set(&x->error,
		                 stream_threads(t) > 1
		                         ? "--simgrid: ranks with several threads cannot be replayed there"
		                         : "--simgrid: a partial trace: its messages would be waited for for ever");
	if (trace_has_lossy(t))
		return error_set(
			&x->error,
			"--simgrid: a lossy trace: which message went where is not known (spoor replay draws it)");
	if (!rankmap_empty(&t->lost))
		return error_set(&x->error, "--simgrid: events were not recorded: " TRACE_LOST);
	return 0;
}

int export_simgrid(struct export *x, const char *folder)
{
	struct output out;
	int rv = simgrid_refuse(x) != 0 ? -1 : output_folder(&out, folder, &x->error);
	if (rv != 0)
		return -1;
	uint64_t *operations = calloc(comms_count(x->comms), sizeof *operations);
	if (!operations)
		rv = error_set(&x->error, "no memory");
	for (uint32_t rank = 0; rv == 0 && rank < x->trace->size; rank++) {
		char path[PATH_MAX];
		memset(operations, 0, comms_count(x->comms) * sizeof *operations);
		if (snprintf(path, sizeof path, "%s/rank-%u.txt", out.temporary, rank) >= (int)sizeof path)
			rv = error_set(&x->error, "%s: too long a name", folder);
		else
			rv = simgrid_rank(x, rank, path, operations);
	}
	if (rv == 0)
		rv = put_machine(x, &out);
	if (rv == 0)
		rv = output_finish(&out, &x->error);
	output_discard(&out);
	free(operations);
	return rv;
}
