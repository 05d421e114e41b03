/* SPDX-License-Identifier: BSD-3-Clause
 * aggregate_hung - the jobs that lost most node hours in calls that never ended
 */
#include <stdlib.h>
#include <string.h>

#include "archive/aggregate_group.h"

static void hung_free(struct aggregate_hung *h)
{
	free(h->name);
	free(h->user);
	free(h->exe);
	free(h->verdict);
	*h = (struct aggregate_hung){.node_ns = 0};
}

void aggregate_free_hung(struct aggregate *a)
{
	while (a->hung_count > 0)
		hung_free(&a->hung[--a->hung_count]);
}

/* Most node time first, then by name: the order of adding does not show. */
static bool is_before(const struct aggregate_hung *a, const struct aggregate_hung *b)
{
	return a->node_ns != b->node_ns ? a->node_ns > b->node_ns : strcmp(a->name, b->name) < 0;
}

int aggregate_add_hung(struct aggregate *a, const struct aggregate_hung *h)
{
	size_t at = a->hung_count;
	while (at > 0 && is_before(h, &a->hung[at - 1]))
		at--;
	if (at == AGGREGATE_HUNG)
		return 0;
	struct aggregate_hung copy = {h->node_ns, strdup(h->name), strdup(h->user), strdup(h->exe), strdup(h->verdict)};
	if (!copy.name || !copy.user || !copy.exe || !copy.verdict) {
		hung_free(&copy);
		return -1;
	}
	if (a->hung_count == AGGREGATE_HUNG)
		hung_free(&a->hung[--a->hung_count]);
	memmove(&a->hung[at + 1], &a->hung[at], (a->hung_count - at) * sizeof *a->hung);
	a->hung[at] = copy;
	a->hung_count++;
	return 0;
}

json_t *aggregate_hung_json(const struct aggregate *a)
{
	json_t *list = json_array();
	for (size_t i = 0; i < a->hung_count; i++) {
		const struct aggregate_hung *h = &a->hung[i];
		json_array_append_new(list, json_pack("{s:f, s:s, s:s, s:s, s:s}", "node_hours",
		                                      (double)h->node_ns / 3.6e12, "trace", h->name, "user", h->user,
		                                      "executable", h->exe, "verdict", h->verdict));
	}
	return list;
}
