/* SPDX-License-Identifier: BSD-3-Clause
 * worlds - of `spoor where`: the traces of all nodes, by MPI_COMM_WORLD
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/codec_zstd.h"
#include "cmd/where/view.h"
#include "trace/base/budget.h"
#include "trace/file/container.h"

static struct where_world *world_at(struct where_worlds *w, uint64_t id, const char *step)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->each[i].world.id == id)
			return &w->each[i];
	if (!w->each)
		w->each = calloc(WHERE_WORLDS, sizeof *w->each);
	if (!w->each || w->count == WHERE_WORLDS || world_init(&w->each[w->count].world, id) != 0)
		return NULL;
	snprintf(w->each[w->count].step, sizeof w->each->step, "%s", step);
	return &w->each[w->count++];
}

static int add_trace(struct where_worlds *w, const char *step, const struct trace *t, const struct container *c,
                     struct error *error)
{
	const struct chunk *chunk = container_find(c, "FACT");
	struct facts facts = {0};
	int rv = chunk ? facts_decode(&facts, (const char *)chunk->data, chunk->size, "a node's trace", error)
	               : error_set(error, "a node's trace has no facts");
	const char *id = rv == 0 ? facts_get(&facts, "world") : NULL;
	struct where_world *to = id ? world_at(w, strtoull(id, NULL, 16), step) : NULL;
	if (rv == 0)
		rv = to ? world_add_trace(&to->world, t, &facts, error)
		        : error_set(error, "a node's trace is of no MPI_COMM_WORLD, or there are more than %d",
		                    WHERE_WORLDS);
	facts_clear(&facts);
	return rv;
}

int where_add(struct where_worlds *w, const char *step, const uint8_t *bytes, size_t size, struct error *error)
{
	struct container *c = NULL;
	struct trace t = {.size = 0};
	budget_file(size);
	int rv = container_parse(&c, "a node's trace", bytes, size, &codec_zstd, error);
	if (rv == 0)
		rv = trace_decode(&t, c, error);
	if (rv == 0)
		rv = add_trace(w, step, &t, c, error);
	if (rv != 0)
		budget_explain("what the nodes sent", error);
	trace_free(&t);
	container_destroy(c);
	return rv;
}

void where_begin(struct where_worlds *w)
{
	*w = (struct where_worlds){.budget = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS, .grows = true}};
	budget_begin(&w->budget);
}

void where_free(struct where_worlds *w)
{
	for (size_t i = 0; i < w->count; i++)
		world_free(&w->each[i].world);
	free(w->each);
	budget_end(&w->budget);
}

int where_make(struct where_trace *out, struct where_world *w, const char *name, struct error *error)
{
	*out = (struct where_trace){.size = 0};
	int rv = world_encode(&w->world, 0, &out->bytes, &out->size, error);
	if (rv == 0)
		rv = container_parse(&out->container, name, out->bytes, out->size, NULL, error);
	return rv == 0 ? trace_decode(&out->trace, out->container, error) : rv;
}

void where_trace_free(struct where_trace *t)
{
	trace_free(&t->trace);
	container_destroy(t->container);
	free(t->bytes);
}
