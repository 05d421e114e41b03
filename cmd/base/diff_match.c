/* SPDX-License-Identifier: BSD-3-Clause
 * diff_match - of `spoor diff`: which site of one trace is which of another
 */
#include "cmd/base/diff_match.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/frames.h"
#include "trace/file/container.h"

const char *const diff_match_names[] = {"none", "exact", "line", "function"};

/* --- call paths as texts --- */

static char *append_key(char *text, const char *more)
{
	size_t n = text ? strlen(text) : 0, m = strlen(more);
	char *longer = realloc(text, n + m + 1);

	if (!longer) {
		free(text);
		return NULL;
	}
	memcpy(longer + n, more, m + 1);
	return longer;
}

/* "main at halo.c:41 (halo)" without the line: the name of a function in a file stays when lines move. */
static void without_line(char *frame)
{
	char *at = strstr(frame, " at "), *colon = at ? strchr(at, ':') : NULL, *plus = strchr(frame, '+'), *end;

	if (colon) {
		end = colon + 1 + strspn(colon + 1, "0123456789");
		memmove(colon, end, strlen(end) + 1);
	} else if (plus) { /* "function (module+0x12)", "module+0x12" */
		end = strchr(plus, ')');
		if (end)
			memmove(plus, end, strlen(end) + 1);
		else
			*plus = '\0';
	}
}

int diff_make_keys(struct diff_input *in, uint32_t site)
{
	const struct trace *t = &in->trace;
	const struct trace_site *s = &t->sites[site];
	struct diff_side *side = &in->sites[site];
	const struct schema *schema = trace_schema(t, s);
	char text[DIFF_FRAME_SIZE + 64];

	snprintf(text, sizeof text, "%.*s", (int)schema->function_length, schema->function);
	for (int m = MATCH_EXACT; m <= MATCH_SYMBOL; m++)
		side->keys[m] = append_key(NULL, text);
	for (uint32_t node = s->node; node != 0; node = t->nodes[node].parent) {
		const struct trace_node *n = &t->nodes[node];
		size_t used = 0;

		text[0] = '<';
		text[1] = '\0';
		if (n->module != UINT32_MAX) {
			const struct trace_module *module = &t->modules[n->module];
			const struct pool_item *id =
				&t->strings.items[module->build_id ? module->build_id : module->name];

			for (size_t i = 0; module->build_id && i < id->size && used < DIFF_FRAME_SIZE / 2; i++)
				used += (size_t)snprintf(text + 1 + used, sizeof text - 1 - used, "%02x", id->bytes[i]);
			if (!module->build_id)
				snprintf(text + 1, DIFF_FRAME_SIZE, "%s", (const char *)id->bytes);
		}
		snprintf(text + strlen(text), 40, "+%" PRIx64, n->offset);
		side->keys[MATCH_EXACT] = side->keys[MATCH_EXACT] ? append_key(side->keys[MATCH_EXACT], text) : NULL;
		text[0] = '<';
		frames_text(in->names, node, text + 1, DIFF_FRAME_SIZE);
		side->keys[MATCH_LINE] = side->keys[MATCH_LINE] ? append_key(side->keys[MATCH_LINE], text) : NULL;
		without_line(text);
		side->keys[MATCH_SYMBOL] = side->keys[MATCH_SYMBOL] ? append_key(side->keys[MATCH_SYMBOL], text) : NULL;
	}
	return side->keys[MATCH_EXACT] && side->keys[MATCH_LINE] && side->keys[MATCH_SYMBOL] ? 0 : -1;
}

/* --- matching --- */

struct key {
	const char *text;
	uint32_t site;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int rv = strcmp(x->text, y->text);

	return rv ? rv : x->site < y->site ? -1 : x->site > y->site;
}

static struct key *sorted_keys(const struct diff_input *in, enum match m, size_t *n)
{
	struct key *keys = malloc(((size_t)in->trace.site_count + 1) * sizeof *keys);

	*n = 0;
	for (uint32_t i = 0; keys && i < in->trace.site_count; i++)
		if (in->sites[i].match == MATCH_NONE)
			keys[(*n)++] = (struct key){in->sites[i].keys[m], i};
	if (keys && *n)
		qsort(keys, *n, sizeof *keys, compare_keys);
	return keys;
}

/* Sites of equal keys are paired in order. */
int diff_match_by(struct diff_input *a, struct diff_input *b, enum match m)
{
	size_t n, k, i = 0, j = 0;
	struct key *x = sorted_keys(a, m, &n), *y = sorted_keys(b, m, &k);
	int rv = x && y ? 0 : -1;
	while (rv == 0 && i < n && j < k) {
		int order = strcmp(x[i].text, y[j].text);
		if (order == 0) {
			a->sites[x[i].site].match = b->sites[y[j].site].match = m;
			a->sites[x[i].site].other = y[j].site;
			b->sites[y[j].site].other = x[i].site;
		}
		i += order <= 0;
		j += order >= 0;
	}
	free(x);
	free(y);
	return rv;
}
