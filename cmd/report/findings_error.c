/* SPDX-License-Identifier: BSD-3-Clause
 * findings_error - calls that returned an error, in a run that then failed
 */
#include <inttypes.h>
#include <string.h>

#include "archive/metadata.h"
#include "cmd/base/site_names.h"
#include "cmd/report/findings.h"
#include "cmd/report/findings_inside.h"
#include "insight/verdict.h"
#include "trace/base/budget.h"
#include "trace/model/stream.h"

#define PLACE_TEXT 512

/* The class of the last error of a call on a rank: "MPI_ERR_TRUNCATE"; NULL: it is not known. */
static const char *error_class(const struct trace *t, const struct trace_site *s, uint32_t stream)
{
	const int column = trace_schema(t, s)->at[PARAMETER_ERROR];
	int64_t value;
	for (uint32_t g = 0; g < s->columns[column].count; g++) {
		const struct trace_group *group = &s->columns[column].groups[g];
		if (!group->lossy && rankmap_get(&group->dict[group->count - 1].start, stream, &value) &&
		    value_is_constant(value))
			return trace_constant_name(t, value);
	}
	return NULL;
}

/* Does a stream of that name come back from calls of the site? */
static bool has_stream(const struct trace *t, const struct rankmap *visits, const char *wanted, uint64_t *stream)
{
	char name[STREAM_NAME];
	int64_t times;
	for (*stream = 0; wanted && rankmap_next(visits, stream, &times) && budget_step(1); ++*stream)
		if (times > 0 && strcmp(stream_name(t, *stream, name), wanted) == 0)
			return true;
	return false;
}

/* A site of calls that failed: on the stream of that name if it has any, else on any. */
static bool find_site(const struct trace *t, const char *wanted, uint32_t *site, uint64_t *stream, uint64_t *ranks)
{
	bool found = false;
	int64_t visits;
	for (uint32_t i = 0; i < t->site_count; i++) {
		const struct rankmap *m = &t->sites[i].visits;
		uint64_t first = 0, named;
		if (trace_schema(t, &t->sites[i])->at[PARAMETER_ERROR] < 0)
			continue;
		bool own = has_stream(t, m, wanted, &named);
		if ((found && !own) || !rankmap_next(m, &first, &visits))
			continue;
		found = true;
		*site = i;
		*stream = own ? named : first;
		*ranks = rankmap_size_not_zero(m);
	}
	return found;
}

bool findings_error(struct finding_text *out, const struct report *r)
{
	const json_t *step = json_array_get(json_object_get(json_object_get(r->json, "hang"), "steps"), 0);
	const struct trace *t = r->trace;
	struct run_end end;
	struct site_names names = {.trace = NULL};
	char at[PLACE_TEXT] = "", name[STREAM_NAME];
	uint32_t site;
	uint64_t stream, ranks;
	if (!metadata_run_end(r->show->meta, &end) || (!end.signal && !end.status) ||
	    !find_site(t, json_string_value(json_object_get(step, "ranks")), &site, &stream, &ranks))
		return false;
	const struct schema *s = trace_schema(t, &t->sites[site]);
	const char *class = error_class(t, &t->sites[site], (uint32_t)stream);
	if (site_names_make(&names, t) == 0)
		site_names_text(&names, site, at, sizeof at);
	site_names_free(&names);
	*out = (struct finding_text){.kind = FINDING_ERROR};
	snprintf(out->text, sizeof out->text, "%.*s%s%s returned %s on rank %s", (int)s->function_length, s->function,
	         *at ? " in " : "", at, class ? class : "an error", stream_name(t, stream, name));
	size_t n = strlen(out->text);
	if (ranks > 1)
		n += (size_t)snprintf(out->text + n, sizeof out->text - n, " and %" PRIu64 " more", ranks - 1);
	snprintf(out->text + n, sizeof out->text - n, ", and the run failed.");
	return true;
}
