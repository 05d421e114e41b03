/* SPDX-License-Identifier: BSD-3-Clause
 * matrix - `spoor show --matrix`: messages and bytes from rank to rank, and by size
 */
#include "cmd/show/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/open_trace.h"
#include "cmd/export/traffic.h"
#include "trace/read/walk.h"

static void matrix_json(const struct traffic *m, json_t *json)
{
	json_t *list = json_array(), *sizes = json_array();
	for (size_t i = 0; i < m->count; i++) {
		const struct traffic_cell *c = &m->cells[i];
		json_array_append_new(list, json_pack("[i, i, I, I]", (int)c->from, (int)c->to, (json_int_t)c->messages,
		                                      (json_int_t)c->bytes));
	}
	for (unsigned i = 0; i < TRAFFIC_CLASSES; i++)
		if (m->sizes[i].messages)
			json_array_append_new(
				sizes, json_pack("[I, I, I]", (json_int_t)(i ? UINT64_C(1) << (i - 1) : 0),
			                         (json_int_t)m->sizes[i].messages, (json_int_t)m->sizes[i].bytes));
	json_object_set_new(json, "matrix", list);
	json_object_set_new(json, "message_sizes", sizes);
	json_object_set_new(json, "matrix_other_messages", json_integer((json_int_t)m->other_messages));
	json_object_set_new(json, "matrix_other_bytes", json_integer((json_int_t)m->other_bytes));
	json_object_set_new(json, "matrix_unknown_sizes", json_integer((json_int_t)m->unknown_sizes));
}

static void matrix_print(const struct traffic *m)
{
	printf("%8s %8s %14s %16s\n", "FROM", "TO", "MESSAGES", "BYTES");
	for (size_t i = 0; i < m->count; i++)
		printf("%8u %8u %14" PRIu64 " %16" PRIu64 "\n", m->cells[i].from, m->cells[i].to, m->cells[i].messages,
		       m->cells[i].bytes);
	if (m->count > 0)
		printf("\n%19s %14s %16s\n", "SIZE, BYTES", "MESSAGES", "BYTES");
	for (unsigned i = 0; i < TRAFFIC_CLASSES; i++) {
		char size[48];
		if (m->sizes[i].messages == 0)
			continue;
		if (i < 2)
			snprintf(size, sizeof size, "%u", i);
		else
			snprintf(size, sizeof size, "%" PRIu64 "-%" PRIu64, UINT64_C(1) << (i - 1),
			         (UINT64_C(1) << (i - 1)) * 2 - 1);
		printf("%19s %14" PRIu64 " %16" PRIu64 "\n", size, m->sizes[i].messages, m->sizes[i].bytes);
	}
	if (m->other_messages)
		printf("and %" PRIu64 " messages, %" PRIu64 " bytes, in communicators whose members are not known\n",
		       m->other_messages, m->other_bytes);
	if (m->unknown_sizes)
		printf("%" PRIu64 " messages are of a datatype whose size is not known; their bytes are not counted\n",
		       m->unknown_sizes);
}

int show_matrix(const struct show *s, json_t *json)
{
	struct traffic m;
	struct error error = {""};
	if (open_expect(s->name, walk_cost(s->trace)) != 0)
		return -1;
	int rv = traffic_make(&m, s->trace, &error);
	if (rv != 0)
		fprintf(stderr, "spoor: %s: %s\n", s->name, error.text);
	else if (json)
		matrix_json(&m, json);
	else
		matrix_print(&m);
	traffic_free(&m);
	return rv;
}
