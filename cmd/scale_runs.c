/* SPDX-License-Identifier: BSD-3-Clause
 * scale_runs - which runs of an application in the archive belong to one series
 */
#include "cmd/scale_runs.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/history.h"
#include "archive/size_series.h"
#include "cmd/base/fresh_index.h"

const char *const scale_same_names[] = {
	[SERIES_BUILD] = "build", [SERIES_EXECUTABLE] = "executable", [SERIES_NAME] = "name"};

struct finding {
	struct catalog *c;
	struct scale_runs *best;
	size_t series, runs;
};

static int take_paths(struct scale_runs *s, struct catalog *c, const struct series *of)
{
	char file[PATH_MAX], path[2 * PATH_MAX];
	s->paths = calloc(of->count + 1, sizeof *s->paths);
	s->alike = strdup(of->alike);
	for (size_t i = 0; s->paths && i < of->count; i++) {
		if (history_path(c, of->runs[i].id, file, sizeof file) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", c->archive, file);
		if (!(s->paths[s->count] = strdup(path)))
			return -1;
		s->count++;
	}
	return s->alike && s->paths ? 0 : -1;
}

/* Of several applications, too, the one with most sizes. Returns 1 on no memory. */
static int take_better(void *context, const struct series *of)
{
	struct finding *f = context;
	f->series += of->series;
	f->runs += of->count + of->left_out;
	if (of->sizes < f->best->sizes || (of->sizes == f->best->sizes && of->count <= f->best->count))
		return 0;
	scale_runs_free(f->best);
	*f->best = (struct scale_runs){.sizes = of->sizes, .same = of->same};
	return take_paths(f->best, f->c, of) == 0 ? 0 : 1;
}

int scale_runs_find(struct scale_runs *s, const char *archive, const struct catalog_filter *filter, struct error *error)
{
	struct finding f = {.best = s};
	*s = (struct scale_runs){.count = 0};
	int rv = fresh_index(&f.c, archive, true, false, error);
	if (rv == 0 && (rv = catalog_lock(f.c, CATALOG_SHARE, 10000, error)) == 0) {
		rv = series_each(f.c, filter, true, take_better, &f, error);
		catalog_lock(f.c, CATALOG_UNLOCK, 0, NULL);
	}
	if (rv > 0)
		rv = error_set(error, "no memory");
	if (rv == 0 && s->count == 0)
		rv = error_set(error, "no run of %s that ended well is in the archive %s", filter->exe, f.c->archive);
	s->series = f.series;
	s->left_out = f.runs - s->count;
	catalog_close(f.c);
	return rv;
}

void scale_runs_free(struct scale_runs *s)
{
	for (size_t i = 0; s->paths && i < s->count; i++)
		free(s->paths[i]);
	free(s->paths);
	free(s->alike);
}
