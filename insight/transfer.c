/* SPDX-License-Identifier: BSD-3-Clause
 * transfer - what one rank moves without messages: to and from the memory of others, and files
 */
#include "insight/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/index.h"
#include "trace/read/activity.h"

/* By number of the handle; UINT32_MAX where none was made. */
struct known_handles {
	uint32_t *list;
	size_t count;
	uint64_t state; /* a hash of all */
};

struct transfers {
	const struct trace *trace;
	const struct comms *comms;
	const struct execution *execution;
	uint32_t stream, self;
	struct known_handles windows; /* communicators */
	struct known_handles files;   /* names: strings */
};

struct transfers *transfers_create(const struct trace *t, const struct comms *comms, const struct execution *execution,
                                   uint32_t stream)
{
	struct transfers *f = calloc(1, sizeof *f);
	if (f)
		*f = (struct transfers){.trace = t,
		                        .comms = comms,
		                        .execution = execution,
		                        .stream = stream,
		                        .self = stream_rank(t, stream)};
	return f;
}

void transfers_destroy(struct transfers *f)
{
	if (!f)
		return;
	free(f->windows.list);
	free(f->files.list);
	free(f);
}

static uint64_t handle_hash(int64_t number, uint32_t value)
{
	return value == UINT32_MAX ? 0 : hash_mix(hash_mix(41, (uint64_t)number), value);
}

static int put_handle(struct known_handles *k, int64_t number, uint32_t value)
{
	if (number < 0 || number > INT32_MAX)
		return 0;
	if ((uint64_t)number >= k->count) {
		size_t more = (size_t)number + k->count / 2 + 16;
		uint32_t *bigger = realloc(k->list, more * sizeof *bigger);
		if (!bigger)
			return -1;
		memset(bigger + k->count, 0xff, (more - k->count) * sizeof *bigger);
		k->list = bigger;
		k->count = more;
	}
	k->state += handle_hash(number, value) - handle_hash(number, k->list[number]);
	k->list[number] = value;
	return 0;
}

uint64_t transfers_state(const struct transfers *f)
{
	return hash_mix(f->windows.state, f->files.state);
}

static uint32_t get_handle(const struct known_handles *k, int64_t number)
{
	return number >= 0 && (uint64_t)number < k->count ? k->list[number] : UINT32_MAX;
}

/* The name that a file is opened with, a string; 0 if it is not known. */
static uint32_t opened_name(const struct transfers *f, const struct event *e)
{
	for (size_t i = 0; i < e->schema->count; i++)
		if (e->schema->column[i].kind == 's')
			return e->values[i] >= 0 && e->values[i] < f->trace->strings.count ? (uint32_t)e->values[i] : 0;
	return 0;
}

static void one_sided(const struct transfers *f, const struct event *e, struct transfer *out)
{
	int64_t target = call_value(e, PARAMETER_DEST);
	uint32_t comm = get_handle(&f->windows, call_value(e, PARAMETER_WIN));
	if (trace_is_constant(f->trace, target, CONST_MPI_PROC_NULL))
		return;
	out->kind = e->schema->mpi->moves == MOVES_READ ? TRANSFER_GET : TRANSFER_PUT;
	if (comm != COMM_UNKNOWN && target > VALUE_LOSSY && !value_is_constant(target))
		out->peer = comms_world(f->comms, comm, target + e->base, f->self);
}

static void file_access(const struct transfers *f, const struct event *e, struct transfer *out)
{
	uint32_t name = get_handle(&f->files, call_value(e, PARAMETER_FILE));
	out->kind = e->schema->mpi->moves == MOVES_READ ? TRANSFER_READ : TRANSFER_WRITE;
	out->file = name == UINT32_MAX ? 0 : name;
}

int transfers_event(struct transfers *f, const struct event *e, struct transfer *out)
{
	const struct mpi_function *function = e->schema->mpi;
	int created = e->schema->at[PARAMETER_CREATED];
	*out = (struct transfer){.kind = TRANSFER_NONE, .peer = RANK_UNKNOWN};
	if (call_failed(e))
		return 0;
	if (created >= 0 && e->schema->column[created].kind == 'w')
		return put_handle(&f->windows, e->values[created],
		                  comms_find(f->comms, f->stream, call_value(e, PARAMETER_COMM)));
	if (created >= 0 && e->schema->column[created].kind == 'f')
		return put_handle(&f->files, e->values[created], opened_name(f, e));
	if (!function->moves)
		return 0;
	if (function->class == MPI_CLASS_ONE_SIDED)
		one_sided(f, e, out);
	else
		file_access(f, e, out);
	bool passes = activity_kind(e->schema) != ACTIVITY_NONE;
	out->counts = passes;
	out->sized = passes && execution_bytes(f->execution, e, &out->bytes);
	out->timed = function->form == FORM_BLOCKING;
	if (!passes && !out->timed)
		out->kind = TRANSFER_NONE;
	return 0;
}
