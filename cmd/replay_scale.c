/* SPDX-License-Identifier: BSD-3-Clause
 * replay_scale - names in --scale become numbers of sites
 */
#include "cmd/replay_scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/frames.h"
#include "cmd/base/scale.h"
#include "cmd/base/sink.h"

/* Has a frame this name: its function, or its file without the folder? */
static bool frame_has(struct frames *frames, const struct trace *t, uint32_t node, const char *name)
{
	char function[SCALE_NAME + 1];
	const struct trace_node *n = &t->nodes[node];
	if (n->module == UINT32_MAX)
		return false;
	const char *file = (const char *)t->strings.items[t->modules[n->module].name].bytes,
		   *slash = strrchr(file, '/');
	if (strcmp(slash ? slash + 1 : file, name) == 0)
		return true;
	frames_function(frames, node, function, sizeof function);
	return strcmp(function, name) == 0;
}

/* Writes an entry for each run of sites in whose call path the name is. Returns how many sites those are. */
static uint32_t put_sites(FILE *out, struct frames *frames, const struct trace *t, const struct scale_entry *e)
{
	uint32_t found = 0, run = 0;
	for (uint32_t i = 0; i <= t->site_count; i++) {
		bool has = false;
		for (uint32_t node = i < t->site_count ? t->sites[i].node : 0; node && !has;
		     node = t->nodes[node].parent)
			has = frame_has(frames, t, node, e->name);
		found += has;
		if (!has && run)
			say_to(out, ",#%u-%u=%.17g", i - run, i - 1, e->factor);
		run = has ? run + 1 : 0;
	}
	return found;
}

char *replay_scale(const struct trace *t, const char *text)
{
	char *made = NULL;
	size_t size;
	struct scale_entry e;
	bool good = true;
	struct frames *frames = frames_create(t);
	FILE *out = frames ? open_memstream(&made, &size) : NULL;
	if (out)
		say_to(out, "%s", SCALE_DEFAULT);
	while (out && good && scale_next(&text, &e) == 0) {
		if (!e.name[0]) {
			say_to(out, ",%.17g", e.factor);
		} else if (put_sites(out, frames, t, &e) == 0) {
			say_to(stderr,
			       "spoor replay: --scale: no call path has a function or a file `%s`: `spoor show "
			       "--loops` "
			       "prints those that there are\n",
			       e.name);
			good = false;
		}
	}
	frames_destroy(frames);
	if (out && fclose(out) != 0)
		good = false;
	if (out && good)
		return made;
	free(made);
	return NULL;
}
