/* SPDX-License-Identifier: BSD-3-Clause
 * traffic - who sent how much to whom
 */
#include "insight/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "insight/transfer.h"
#include "trace/base/budget.h"
#include "trace/base/index.h"

struct pair_table {
	struct traffic_cell *cells; /* open addressing; free where nothing was counted */
	size_t mask, count;
	bool passed; /* what collectives pass on is wanted, too */
};

/* What a pair gets more. */
enum counted { COUNTED_MESSAGE, COUNTED_ONE_SIDED, COUNTED_PASSED };

/* Collectives of larger communicators are not taken apart, so that their pairs take no more than 300 MB. */
#define PAIRS_MOST (UINT64_C(1) << 22)

static bool is_counted(const struct traffic_cell *c)
{
	return c->messages || c->one_sided || c->passed;
}

static struct traffic_cell *cell_of(const struct pair_table *t, uint32_t from, uint32_t to)
{
	size_t i = (size_t)(hash_mix(hash_mix(1, from), to)) & t->mask;
	while (is_counted(&t->cells[i]) && (t->cells[i].from != from || t->cells[i].to != to))
		i = (i + 1) & t->mask;
	return &t->cells[i];
}

static int traffic_grow(struct pair_table *t)
{
	size_t size = t->cells ? (t->mask + 1) * 2 : 256;
	struct pair_table bigger = {
		.cells = calloc(size, sizeof *bigger.cells), .mask = size - 1, .count = t->count, .passed = t->passed};
	if (!bigger.cells)
		return -1;
	for (size_t i = 0; t->cells && i <= t->mask; i++)
		if (is_counted(&t->cells[i]))
			*cell_of(&bigger, t->cells[i].from, t->cells[i].to) = t->cells[i];
	free(t->cells);
	*t = bigger;
	return 0;
}

static int traffic_add(struct pair_table *t, uint32_t from, uint32_t to, enum counted counted, uint64_t bytes)
{
	if ((t->count + 1) * 2 > (t->cells ? t->mask + 1 : 0) && traffic_grow(t) != 0)
		return -1;
	struct traffic_cell *c = cell_of(t, from, to);
	if (!is_counted(c)) {
		*c = (struct traffic_cell){.from = from, .to = to};
		t->count++;
	}
	uint64_t *calls = counted == COUNTED_MESSAGE     ? &c->messages
	                  : counted == COUNTED_ONE_SIDED ? &c->one_sided
	                                                 : &c->passed;
	uint64_t *sum = counted == COUNTED_MESSAGE     ? &c->bytes
	                : counted == COUNTED_ONE_SIDED ? &c->one_sided_bytes
	                                               : &c->passed_bytes;
	++*calls;
	*sum += bytes;
	return 0;
}

static int count_act(struct traffic *m, struct pair_table *cells, uint32_t self, const struct act *a)
{
	if (a->kind != ACT_SEND && a->kind != ACT_SEND_BEGIN)
		return 0;
	if (a->sized) {
		unsigned class = a->bytes ? 64 - (unsigned)__builtin_clzll(a->bytes) : 0;
		m->sizes[class].messages++;
		m->sizes[class].bytes += a->bytes;
	} else {
		m->unknown_sizes++;
	}
	if (a->peer != RANK_UNKNOWN)
		return traffic_add(cells, self, a->peer, COUNTED_MESSAGE, a->bytes);
	m->other_messages++;
	m->other_bytes += a->bytes;
	return 0;
}

static int count_one_sided(struct traffic *m, struct pair_table *cells, uint32_t self, const struct transfer *t)
{
	bool gets = t->kind == TRANSFER_GET;
	m->unknown_sizes += !t->sized;
	if (t->peer != RANK_UNKNOWN)
		return traffic_add(cells, gets ? t->peer : self, gets ? self : t->peer, COUNTED_ONE_SIDED, t->bytes);
	m->other_one_sided++;
	m->other_one_sided_bytes += t->bytes;
	return 0;
}

/* That of a name, added if it is not there; NULL on no memory. */
static struct traffic_file *file_of(struct traffic *m, const struct trace *t, uint32_t name)
{
	const char *text = name ? (const char *)t->strings.items[name].bytes : "?";
	if (!m->file_at && !(m->file_at = calloc(t->strings.count, sizeof *m->file_at)))
		return NULL;
	if (m->file_at[name])
		return &m->files[m->file_at[name] - 1];
	if ((m->file_count & (m->file_count - 1)) == 0) { /* a power of two: full */
		struct traffic_file *more = realloc(m->files, (m->file_count ? 2 * m->file_count : 1) * sizeof *more);
		if (!more)
			return NULL;
		m->files = more;
	}
	m->files[m->file_count] = (struct traffic_file){.name = text};
	m->file_at[name] = (uint32_t)++m->file_count;
	return &m->files[m->file_count - 1];
}

static int count_file(struct traffic *m, const struct trace *t, const struct event *e, const struct transfer *moved)
{
	struct traffic_file *f = file_of(m, t, moved->file);
	bool reads = moved->kind == TRANSFER_READ;
	if (!f)
		return -1;
	m->unknown_sizes += moved->counts && !moved->sized;
	*(reads ? &f->reads : &f->writes) += moved->counts;
	*(reads ? &f->read : &f->written) += moved->bytes;
	if (moved->timed) {
		*(reads ? &f->timed_read : &f->timed_written) += moved->bytes;
		*(reads ? &f->read_ns : &f->written_ns) += histogram_mean(&t->sites[e->site].communicate);
	}
	return 0;
}

static int count_transfer(struct traffic *m, struct pair_table *cells, const struct trace *t, uint32_t self,
                          const struct event *e, struct transfers *transfers)
{
	struct transfer moved;
	if (transfers_event(transfers, e, &moved) != 0)
		return -1;
	switch (moved.kind) {
	case TRANSFER_PUT:
	case TRANSFER_GET:
		return count_one_sided(m, cells, self, &moved);
	case TRANSFER_READ:
	case TRANSFER_WRITE:
		return count_file(m, t, e, &moved);
	default:
		return 0;
	}
}

/* How far it is, and who is told. */
struct counting {
	uint64_t done, all;
	void (*progress)(void *context, uint64_t done, uint64_t all);
	void *context;
};

/* --- what collectives pass from rank to rank --- */

/* A collective of one rank. */
struct passing {
	const struct trace *trace;
	const struct comms *comms;
	const struct execution *execution;
	const struct event *event;
	const struct act *act;
	uint32_t self, size;
};

/* What the i-th element of a call's arrays is. Where a persistent operation was started, its arguments belong to
 * another event, and each peer is taken to get the same. */
static uint64_t passed_element(const struct passing *p, enum mpi_parameter counts, enum mpi_parameter types, uint32_t i)
{
	size_t n, k;
	uint64_t size = 0;
	const struct pool_item *list = call_array(p->trace, p->event, counts, &n),
			       *each = call_array(p->trace, p->event, types, &k);
	if (!list || i >= n)
		return p->act->sent / p->size;
	int64_t type = each && i < k ? array_element(each, i) : call_value(p->event, types),
		count = array_element(list, i);
	return count > 0 && execution_type_size(p->execution, type, &size) ? (uint64_t)count * size : 0;
}

static uint64_t passed_to(const struct passing *p, uint32_t i)
{
	size_t n;
	switch (p->act->collective) {
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
		return call_array(p->trace, p->event, PARAMETER_COUNT, &n)
		               ? passed_element(p, PARAMETER_COUNT, PARAMETER_TYPE, i)
		               : passed_element(p, PARAMETER_RECV_COUNT, PARAMETER_RECV_TYPE, i); /* in place */
	case COLLECTIVE_SCATTERV:
		return passed_element(p, PARAMETER_COUNT, PARAMETER_TYPE, i);
	default:
		return p->act->send_piece;
	}
}

static int pass_one(struct pair_table *cells, const struct passing *p, uint32_t i)
{
	uint32_t to = comms_world(p->comms, p->act->comm, i, p->self);
	uint64_t bytes = to == p->self || to == RANK_UNKNOWN ? 0 : passed_to(p, i);
	return bytes ? traffic_add(cells, p->self, to, COUNTED_PASSED, bytes) : 0;
}

static int pass_each(struct pair_table *cells, const struct passing *p)
{
	int rv = 0;
	for (uint32_t i = 0; i < p->size && rv == 0 && budget_step(1); i++)
		rv = pass_one(cells, p, i);
	return rv;
}

/* Do its arguments say which ranks get what? The root of MPI_Gather sends nothing, nor do the others in MPI_Scatter. */
static bool says_pairs(const struct act *a)
{
	switch (a->collective) {
	case COLLECTIVE_ALLTOALL:
	case COLLECTIVE_ALLTOALLV:
	case COLLECTIVE_ALLTOALLW:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_SCATTERV:
		return true;
	case COLLECTIVE_GATHER:
	case COLLECTIVE_GATHERV:
		return a->root || a->peer != RANK_UNKNOWN;
	default:
		return false;
	}
}

static int count_passed(struct traffic *m, struct pair_table *cells, const struct passing *p)
{
	const struct act *a = p->act;
	bool gathers = a->collective == COLLECTIVE_GATHER || a->collective == COLLECTIVE_GATHERV;
	if (a->collective == COLLECTIVE_ALLTOALL && comms_is_world(p->comms, a->comm)) {
		m->uniform += p->size - 1;
		m->uniform_bytes += a->send_piece * (p->size - 1);
	} else if (!says_pairs(a) || p->size == 0 || (uint64_t)p->size * p->size > PAIRS_MOST) {
		m->other_passed_bytes += a->sent;
	} else if (!gathers) {
		return pass_each(cells, p);
	} else if (!a->root && a->sent) {
		return traffic_add(cells, p->self, a->peer, COUNTED_PASSED, a->sent);
	}
	return 0;
}

static int count_collective(struct traffic *m, struct pair_table *cells, struct passing *p)
{
	const struct act *a = p->act;
	if (a->kind != ACT_COLLECTIVE && a->kind != ACT_COLLECTIVE_BEGIN)
		return 0;
	m->collectives[a->collective].calls++;
	m->collectives[a->collective].sent += a->sent;
	m->collectives[a->collective].received += a->received;
	if (!cells->passed || a->bystander)
		return 0;
	p->size = comms_peers(p->comms, a->comm, p->self);
	return count_passed(m, cells, p);
}

static int count_rank(struct traffic *m, struct pair_table *cells, const struct calls *calls, const struct comms *comms,
                      uint32_t stream, struct counting *counting, struct error *error)
{
	int rv = -1, step;
	struct walk *w = NULL;
	struct event e;
	struct execution *execution = execution_create(calls, comms, stream);
	struct transfers *transfers = transfers_create(calls->trace, comms, execution, stream);
	uint32_t self = stream_rank(calls->trace, stream);
	if (!execution || !transfers) {
		error_set(error, "no memory");
		goto done;
	}
	if (walk_begin(&w, calls->trace, stream, error) != 0)
		goto done;
	while ((step = walk_next(w, &e, error)) == 0) {
		size_t n;
		const struct act *list = execution_event(execution, &e, &n);
		bool full = !list;
		for (size_t i = 0; i < n && !full; i++) {
			struct passing p = {calls->trace, comms, execution, &e, &list[i], self, 0};
			full = count_act(m, cells, self, &list[i]) != 0 || count_collective(m, cells, &p) != 0;
		}
		if (full || count_transfer(m, cells, calls->trace, self, &e, transfers) != 0) {
			error_set(error, "no memory");
			goto done;
		}
		if ((++counting->done & 0xfff) == 0 && counting->progress)
			counting->progress(counting->context, counting->done, counting->all);
	}
	m->unknown += execution_unknown(execution);
	rv = step < 0 ? -1 : 0;
done:
	walk_end(w);
	transfers_destroy(transfers);
	execution_destroy(execution);
	return rv;
}

static int by_ranks(const void *a, const void *b)
{
	const struct traffic_cell *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct traffic_file *)a)->name, ((const struct traffic_file *)b)->name);
}

static int traffic_walk(struct traffic *m, const struct trace *t, bool passed,
                        void (*progress)(void *context, uint64_t done, uint64_t all), void *context,
                        struct error *error)
{
	int rv = -1;
	struct pair_table cells = {.cells = NULL, .passed = passed};
	struct calls calls;
	struct comms *comms = NULL;
	struct counting counting = {0, (uint64_t)rankmap_sum(&t->events), progress, context};
	int64_t unused;
	*m = (struct traffic){.count = 0};
	if (calls_make(&calls, t) != 0)
		error_set(error, "no memory");
	else
		rv = comms_make(&comms, &calls, error);
	for (uint64_t stream = 0; rv == 0 && rankmap_next(&t->events, &stream, &unused); stream++)
		rv = count_rank(m, &cells, &calls, comms, (uint32_t)stream, &counting, error);
	m->unordered = counting.all - counting.done;
	for (size_t i = 0; cells.cells && i <= cells.mask; i++)
		if (is_counted(&cells.cells[i]))
			cells.cells[m->count++] = cells.cells[i];
	if (m->count > 0)
		qsort(cells.cells, m->count, sizeof *cells.cells, by_ranks);
	m->cells = cells.cells;
	if (m->file_count > 0)
		qsort(m->files, m->file_count, sizeof *m->files, by_name);
	free(m->file_at);
	m->file_at = NULL;
	comms_destroy(comms);
	calls_free(&calls);
	return rv;
}

int traffic_make(struct traffic *m, const struct trace *t, void (*progress)(void *context, uint64_t done, uint64_t all),
                 void *context, struct error *error)
{
	return traffic_walk(m, t, false, progress, context, error);
}

int traffic_make_passed(struct traffic *m, const struct trace *t,
                        void (*progress)(void *context, uint64_t done, uint64_t all), void *context,
                        struct error *error)
{
	return traffic_walk(m, t, true, progress, context, error);
}

void traffic_free(struct traffic *m)
{
	free(m->cells);
	free(m->files);
	m->files = NULL;
	m->cells = NULL;
}
