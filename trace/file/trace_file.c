/* SPDX-License-Identifier: BSD-3-Clause
 * trace_file - a trace as chunks of a container; the byte layout is in doc/trace-format.md, in the same order
 */
#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"
#include "trace/file/container.h"
#include "trace/file/classes_file.h"
#include "trace/file/counts_file.h"
#include "trace/file/means_file.h"
#include "trace/file/rankmap_file.h"
#include "trace/base/regular.h"
#include "trace/file/site_file.h"
#include "trace/model/packed.h"
#include "trace/model/stream.h"
#include "trace/file/tables_file.h"
#include "trace/file/times_file.h"
#include "trace/file/timing_file.h"
#include "trace/file/unended_file.h"
#include "trace/file/away_file.h"
#include "trace/model/trace.h"
#include "trace/base/varint.h"

/* RANK: what is known of each rank. */

/* All streams that there may be: those of the ranks of MPI_COMM_WORLD, and of their further threads. */
static int world_of(const struct trace *t, uint64_t threads, struct rankmap *world)
{
	struct rankmap_builder b = {.references = false};
	rankmap_add(&b, (struct rank_piece){.count = (uint32_t)(t->size * threads), .step = 1});
	return rankmap_take(&b, world);
}

static void put_rank(struct writer *w, struct diagram_file *maps, const struct trace *t)
{
	struct rankmap world;
	uint32_t threads = stream_threads(t);
	if (world_of(t, threads, &world) != 0) {
		w->failed = true;
		return;
	}
	writer_uint(w, trace_is_final(t));
	writer_uint(w, t->size);
	writer_uint(w, threads);
	rankmap_file_put_ranks(w, maps, &t->events, &world);
	rankmap_free(&world);
	rankmap_file_put(w, maps, &t->events);
	const struct rankmap *each[] = {&t->first, &t->host, &t->lost, &t->in_flight, &t->host_number};
	for (int i = 0; i < 5; i++) {
		writer_uint(w, !rankmap_empty(each[i]));
		if (!rankmap_empty(each[i])) {
			rankmap_file_put_ranks(w, maps, each[i], &t->events);
			rankmap_file_put(w, maps, each[i]);
		}
	}
}

static int get_rank(struct reader *r, const struct diagram_file *maps, struct trace *t, bool *final)
{
	int rv = -1;
	struct rankmap ranks = {0};
	uint64_t form = reader_uint(r), size = reader_uint(r), threads = reader_uint(r);
	if (r->bad || form > 1 || size == 0 || size > INT32_MAX || threads < 1 || threads > INT32_MAX / size)
		return -1;
	t->size = (uint32_t)size;
	struct rankmap world;
	if (world_of(t, threads, &world) != 0)
		return -1;
	if (rankmap_file_get_ranks(r, maps, &ranks, &world) != 0 ||
	    rankmap_file_get(r, maps, &t->events, &ranks, false) != 0)
		goto done;
	struct rankmap *each[] = {&t->first, &t->host, &t->lost, &t->in_flight, &t->host_number};
	for (int i = 0; i < 5; i++) {
		if (reader_uint(r) != 1)
			continue;
		rankmap_free(&ranks);
		if (rankmap_file_get_ranks(r, maps, &ranks, &t->events) != 0 ||
		    rankmap_file_get(r, maps, each[i], &ranks, i != 2 && i != 4) != 0)
			goto done;
	}
	*final = form;
	rv = r->bad || r->at != r->end || (*final && !trace_is_final(t)) ? -1 : 0;
done:
	rankmap_free(&ranks);
	rankmap_free(&world);
	return rv;
}

/* PLAC: where the ranks sat, if it is known of any. */

static bool has_placement(const struct trace *t)
{
	return !rankmap_empty(&t->cpus) || !rankmap_empty(&t->topology);
}

static void put_placement(struct writer *w, struct diagram_file *maps, const struct trace *t)
{
	const struct rankmap *each[] = {&t->cpus, &t->first_cpu, &t->topology};
	for (int i = 0; i < 3; i++) {
		writer_uint(w, !rankmap_empty(each[i]));
		if (!rankmap_empty(each[i])) {
			rankmap_file_put_ranks(w, maps, each[i], &t->events);
			rankmap_file_put(w, maps, each[i]);
		}
	}
}

static int get_placement(struct reader *r, const struct diagram_file *maps, struct trace *t)
{
	struct rankmap ranks = {0}, *each[] = {&t->cpus, &t->first_cpu, &t->topology};
	int rv = 0;
	for (int i = 0; rv == 0 && i < 3; i++) {
		if (reader_uint(r) != 1)
			continue;
		if (rankmap_file_get_ranks(r, maps, &ranks, &t->events) != 0 ||
		    rankmap_file_get(r, maps, each[i], &ranks, i != 1) != 0)
			rv = -1;
		rankmap_free(&ranks);
	}
	return rv != 0 || r->bad || r->at != r->end ? -1 : 0;
}

/* LOSS: what was given up on purpose, and because memory was used up. */

static bool has_loss(const struct trace_loss *l)
{
	bool any = l->lossy;
	for (int i = 0; i < TRACE_STAGES; i++)
		any |= l->stage[i].ranks > 0;
	return any;
}

static void put_loss(struct writer *w, const struct trace_loss *l)
{
	writer_uint(w, l->lossy);
	if (l->lossy) {
		writer_uint(w, l->threshold);
		writer_uint(w, l->structure | (uint64_t)l->slim << 1);
	}
	for (int i = 0; i < TRACE_STAGES; i++) {
		writer_uint(w, l->stage[i].ranks);
		if (l->stage[i].ranks)
			writer_uint(w, l->stage[i].since);
	}
}

static int get_loss(struct reader *r, struct trace_loss *l)
{
	l->lossy = reader_uint(r) != 0;
	if (l->lossy) {
		l->threshold = reader_uint(r);
		uint64_t both = reader_uint(r);
		if (both >> 1 > SLIM_STEPS)
			return -1;
		l->structure = both & 1;
		l->slim = (unsigned)(both >> 1);
	}
	for (int i = 0; i < TRACE_STAGES; i++) {
		l->stage[i].ranks = reader_uint(r);
		if (l->stage[i].ranks)
			l->stage[i].since = reader_uint(r);
	}
	return r->bad || r->at != r->end ? -1 : 0;
}

/* The whole. Nodes of maps are a chunk only if there are any. */

enum {
	PART_STRG,
	PART_PATH,
	PART_VECT,
	PART_PATT,
	PART_MAPS,
	PART_RANK,
	PART_SITE,
	PART_HIST,
	PART_LOSS,
	PART_PLAC,
	PART_CNTR,
	PART_PACK,
	PART_FULL,
	PART_CLAS,
	PART_OPEN,
	PART_AWAY,
	PART_MEAN,
	PARTS
};
static const char part_id[PARTS][CHUNK_ID_SIZE + 1] = {"STRG", "PATH", "VECT", "PATT", "MAPS", "RANK",
                                                       "SITE", "HIST", "LOSS", "PLAC", "CNTR", "PACK",
                                                       "FULL", "CLAS", "OPEN", "AWAY", "MEAN"};

static bool is_optional(size_t part)
{
	return part == PART_MAPS || part >= PART_LOSS;
}

int trace_encode(const struct trace *t, const struct chunk *further, size_t n, const struct codec *codec,
                 uint8_t **bytes, size_t *size)
{
	int rv = -1;
	struct writer part[PARTS] = {{0}};
	struct diagram_file maps = {.height = NULL};
	struct derivations derivations = {.vector_count = t->vector_pool.count};
	bool final = trace_is_final(t);
	struct chunk *chunks = budget_calloc(PARTS + n, sizeof *chunks);
	/* a message from rank to rank is not worth the search */
	if ((final || codec) && derive_find(&derivations, t) != 0)
		goto done;
	tables_put_pool(&part[PART_STRG], &t->strings, 1);
	tables_put_paths(&part[PART_PATH], t);
	tables_put_vectors(&part[PART_VECT], &t->vector_pool, &derivations);
	tables_put_pool(&part[PART_PATT], &t->patterns, 0);
	put_rank(&part[PART_RANK], &maps, t);
	if (has_placement(t))
		put_placement(&part[PART_PLAC], &maps, t);
	if (t->unended_count)
		unended_put(&part[PART_OPEN], &maps, t);
	if (away_has(t))
		away_put(&part[PART_AWAY], &maps, t);
	const bool edits = sites_put(&part[PART_SITE], &maps, t, &derivations);
	times_put(&part[PART_HIST], t, final);
	classes_put(&part[PART_CLAS], &maps, t, final);
	put_loss(&part[PART_LOSS], &t->loss);
	if (t->counter_count)
		counts_put(&part[PART_CNTR], t, final);
	if (t->timing_count)
		timing_put(&part[PART_FULL], t, final);
	size_t others = diagram_file_bytes(&maps, 0);
	for (size_t i = 0; i < PARTS; i++)
		others += part[i].size;
	means_put(&part[PART_MEAN], &maps, t, final, others);
	diagram_file_put(&part[PART_MAPS], &maps);
	if (!chunks)
		goto done;
	size_t count = 0;
	for (size_t i = 0; i < PARTS; i++) {
		if (part[i].failed)
			goto done;
		if ((i == PART_MAPS && maps.diagram.count == 0) || (i == PART_LOSS && !has_loss(&t->loss)) ||
		    (i > PART_LOSS && part[i].size == 0))
			continue;
		memcpy(chunks[count].id, part_id[i], sizeof chunks[count].id);
		chunks[count].data = part[i].data;
		chunks[count++].size = part[i].size;
	}
	for (size_t i = 0; i < n; i++)
		chunks[count++] = further[i];
	rv = container_encode(chunks, count, edits ? CONTAINER_EDITS : 0, codec, bytes, size);
done:
	for (size_t i = 0; i < PARTS; i++)
		writer_free(&part[i]);
	derive_free(&derivations);
	diagram_file_free(&maps);
	budget_free(chunks);
	return rv;
}

int trace_encode_tables(const struct trace *t, uint8_t **bytes, size_t *size)
{
	struct writer sites = {0};
	struct trace rest = *t;
	rest.site_count = 0;
	packed_put(&sites, t);
	struct chunk chunk = {.id = "PACK", .data = sites.data, .size = sites.size};
	int rv = sites.failed ? -1 : trace_encode(&rest, &chunk, 1, NULL, bytes, size);
	writer_free(&sites);
	return rv;
}

static int get_part(struct reader *r, size_t part, struct diagram_file *maps, bool *final, struct trace *t,
                    trace_needs *needs, bool *left_out)
{
	switch (part) {
	case PART_STRG:
		return tables_get_pool(r, &t->strings);
	case PART_PATH:
		return tables_get_paths(r, t);
	case PART_VECT:
		return tables_get_vectors(r, &t->vector_pool);
	case PART_PATT:
		return tables_get_pool(r, &t->patterns);
	case PART_MAPS:
		return diagram_file_get(r, maps);
	case PART_RANK:
		return get_rank(r, maps, t, final);
	case PART_SITE:
		return sites_get(r, maps, t, needs, left_out);
	case PART_HIST:
		return times_get(r, t, *final);
	case PART_LOSS:
		return get_loss(r, &t->loss);
	case PART_PLAC:
		return get_placement(r, maps, t);
	case PART_CNTR:
		return counts_get(r, t, *final);
	case PART_PACK: /* in messages */
		return packed_get(r, t);
	case PART_FULL:
		return timing_get(r, t, *final);
	case PART_CLAS:
		return classes_get(r, maps, t, *final);
	case PART_OPEN:
		return unended_get(r, maps, t);
	case PART_AWAY:
		return away_get(r, maps, t);
	case PART_MEAN:
		return means_file_get(r, maps, t);
	}
	return -1;
}

static int decode(struct trace *t, const struct container *c, bool packing, trace_needs *needs, bool *left_out,
                  struct error *error)
{
	struct error inner = {""};
	bool final = false;
	struct diagram_file maps = {.height = NULL};
	int rv = 0;
	if (trace_init(t) != 0)
		return error_set(error, "%s: no memory", container_name(c));
	t->packing = t->message = packing;
	uint64_t steps = budget_narrow(BUDGET_READ + BUDGET_EACH * container_bytes(c));
	for (size_t i = 0; rv == 0 && i < PARTS; i++) {
		const struct chunk *chunk = container_find(c, part_id[i]);
		if (!chunk && is_optional(i))
			continue;
		if (!chunk) {
			rv = error_set(error, "%s: chunk %s is missing: not a complete trace", container_name(c),
			               part_id[i]);
			break;
		}
		struct reader r = reader_of(chunk->data, chunk->size);
		if (get_part(&r, i, &maps, &final, t, needs, left_out) != 0)
			rv = error_set(error, "%s: chunk %s at offset %llu: damaged content at its byte %zu",
			               container_name(c), part_id[i], (unsigned long long)chunk->offset,
			               reader_offset(&r));
	}
	diagram_file_free(&maps);
	/* messages come from processes of the same job, where nobody else can write to them; and have checksums */
	bool ours = packing && container_find(c, part_id[PART_PACK]);
	if (rv == 0 && !ours && trace_check(t, &inner) != 0)
		rv = error_set(error, "%s: chunk SITE at offset %llu: %s", container_name(c),
		               (unsigned long long)container_find(c, "SITE")->offset, inner.text);
	if (budget_explain(container_name(c), error))
		rv = -1;
	budget_widen(steps);
	return rv;
}

int trace_decode(struct trace *t, const struct container *c, struct error *error)
{
	return decode(t, c, false, NULL, NULL, error);
}

int trace_decode_packed(struct trace *t, const struct container *c, struct error *error)
{
	return decode(t, c, true, NULL, NULL, error);
}

int trace_decode_some(struct trace *t, const struct container *c, trace_needs *needs, bool *left_out,
                      struct error *error)
{
	return decode(t, c, false, needs, left_out, error);
}

int trace_take(struct trace *t, struct container **c, int fd, const char *name, const struct codec *codec,
               struct error *error)
{
	struct budget own = {.memory = BUDGET_MEMORY, .steps = BUDGET_STEPS, .grows = true};
	bool begun = budget_now != NULL;
	*t = (struct trace){.size = 0};
	if (!begun)
		budget_begin(&own);
	int rv = container_take(c, fd, name, codec, error) == 0 && trace_decode(t, *c, error) == 0 ? 0 : -1;
	if (!begun)
		budget_end(&own);
	return rv;
}

int trace_open(struct trace *t, struct container **c, const char *path, const struct codec *codec, struct error *error)
{
	*t = (struct trace){.size = 0};
	*c = NULL;
	int fd = regular_open_named(path, NULL, error);
	return fd < 0 ? -1 : trace_take(t, c, fd, path, codec, error);
}
