/* SPDX-License-Identifier: BSD-3-Clause
 * scale_runs - which runs of an application in the archive belong to one series
 */
#include "cmd/scale_runs.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/fresh_index.h"
#include "cmd/list_metadata.h"

#define MOST      2000 /* runs that are looked at: the newest ones */
#define ARGUMENTS 1000

/* A run that may be in a series. */
struct scale_run {
	const struct catalog_row *row;
	char *key; /* malloc'ed */
};

/* --- arguments --- */

/* Each number becomes one `#`. Returns how many bytes of out are used. */
static size_t put_masked(char *out, size_t used, const char *word)
{
	for (; *word && used + 2 < ARGUMENTS; word++) {
		bool digit = *word >= '0' && *word <= '9';
		if (!digit || used == 0 || out[used - 1] != '#')
			out[used++] = digit ? '#' : *word;
	}
	out[used] = '\0';
	return used;
}

/* malloc'ed; NULL: no memory. */
static char *masked_arguments(const json_t *metadata)
{
	char text[ARGUMENTS] = "";
	size_t used = 0;
	const json_t *command = json_object_get(metadata, "command");
	for (size_t i = 1; i < json_array_size(command); i++) {
		const json_t *word = json_array_get(command, i);
		used = put_masked(text, used, i > 1 ? " " : "");
		used = put_masked(text, used, json_is_string(word) ? json_string_value(word) : "");
	}
	return strdup(text);
}

/* --- series --- */

static int by_series(const void *a, const void *b)
{
	const struct scale_run *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	if (order)
		return order;
	if (x->row->ranks != y->row->ranks)
		return x->row->ranks < y->row->ranks ? -1 : 1;
	return (x->row->start_ns < y->row->start_ns) - (x->row->start_ns > y->row->start_ns);
}

/* How many from `first` on are of its series, and of how many sizes. */
static size_t series_at(const struct scale_run *list, size_t count, size_t first, size_t *sizes)
{
	size_t n = 1;
	*sizes = 1;
	for (; first + n < count && strcmp(list[first + n].key, list[first].key) == 0; n++)
		*sizes += list[first + n].row->ranks != list[first + n - 1].row->ranks;
	return n;
}

static int take_series(struct scale_runs *s, const char *archive, const struct scale_run *list, size_t n)
{
	s->alike = strdup(list[0].key);
	s->paths = calloc(n, sizeof *s->paths);
	for (size_t i = 0, of_size = 0; s->paths && i < n; i++) {
		char path[3 * PATH_MAX];
		of_size = i > 0 && list[i].row->ranks == list[i - 1].row->ranks ? of_size + 1 : 0;
		if (of_size >= SCALE_RUNS_EACH)
			continue;
		snprintf(path, sizeof path, "%s/%s/%s.spoor", archive, list[i].row->folder, list[i].row->name);
		if (!(s->paths[s->count] = strdup(path)))
			return -1;
		s->count++;
	}
	return s->alike && s->paths ? 0 : -1;
}

static int choose_series(struct scale_runs *s, const char *archive, struct scale_run *list, size_t count)
{
	size_t best = 0, most = 0, runs = 0, sizes;
	if (count)
		qsort(list, count, sizeof *list, by_series);
	for (size_t i = 0, n; i < count; i += n) {
		n = series_at(list, count, i, &sizes);
		s->series++;
		if (sizes > most || (sizes == most && n > runs)) {
			best = i;
			most = sizes;
			runs = n;
		}
	}
	int rv = take_series(s, archive, list + best, runs);
	s->left_out = count - s->count;
	return rv;
}

static int keep_row(void *rows, const struct catalog_row *row)
{
	return kept_rows_add(rows, row) == 0 ? 0 : 1;
}

static int list_rows(struct catalog *c, struct catalog_filter *filter, struct kept_rows *rows, struct error *error)
{
	filter->whole = true;
	filter->state = "COMPLETED";
	filter->limit = MOST;
	int rv = catalog_lock(c, CATALOG_SHARE, 10000, error);
	if (rv != 0)
		return rv;
	rv = catalog_list(c, filter, false, keep_row, rows, error);
	catalog_lock(c, CATALOG_UNLOCK, 0, NULL);
	if (rv > 0)
		return error_set(error, "no memory");
	if (rv == 0 && rows->count == 0)
		return error_set(error, "no run of %s that ended well is in the archive %s", filter->exe, c->archive);
	return rv;
}

static int find_series(struct scale_runs *s, const char *archive, const struct kept_rows *rows, struct error *error)
{
	struct scale_run *list = calloc(rows->count + 1, sizeof *list);
	size_t count = 0;
	int rv = list ? 0 : -1;
	for (size_t i = 0; i < rows->count && rv == 0; i++) {
		struct error unused = {""};
		json_t *metadata = list_metadata_read(archive, &rows->rows[i], &unused);
		if (!metadata)
			continue;
		list[count] = (struct scale_run){&rows->rows[i], masked_arguments(metadata)};
		rv = list[count++].key ? 0 : -1;
		json_decref(metadata);
	}
	if (rv == 0 && count == 0)
		rv = error_set(error, "the runs of the archive %s cannot be read", archive);
	else if (rv != 0 || choose_series(s, archive, list, count) != 0)
		rv = error_set(error, "no memory");
	for (size_t i = 0; i < count; i++)
		free(list[i].key);
	free(list);
	return rv;
}

int scale_runs_find(struct scale_runs *s, const char *archive, struct catalog_filter *filter, struct error *error)
{
	struct catalog *c = NULL;
	struct kept_rows rows = {.rows = NULL};
	*s = (struct scale_runs){.count = 0};
	int rv = fresh_index(&c, archive, true, false, error);
	if (rv == 0)
		rv = list_rows(c, filter, &rows, error);
	if (rv == 0)
		rv = find_series(s, c->archive, &rows, error);
	kept_rows_free(&rows);
	catalog_close(c);
	return rv;
}

void scale_runs_free(struct scale_runs *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->paths[i]);
	free(s->paths);
	free(s->alike);
}
