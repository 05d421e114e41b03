/* SPDX-License-Identifier: BSD-3-Clause
 * otf2_comms - the communicators of an OTF2 archive, and the groups of ranks in them
 */
#include "cmd/export/otf2_comms.h"

#include <stdlib.h>

#include "cmd/base/sink.h"

static void define_group(OTF2_GlobalDefWriter *w, OTF2_GroupRef group, OTF2_StringRef empty, uint64_t *members,
                         const uint32_t *ranks, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t world = ranks ? ranks[k] : k;
		members[k] = world == RANK_UNKNOWN ? OTF2_UNDEFINED_UINT64 : world;
	}
	OTF2_GlobalDefWriter_WriteGroup(w, group, empty, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
	                                OTF2_GROUP_FLAG_NONE, n, members);
}

int otf2_comms(OTF2_GlobalDefWriter *w, struct export *x, OTF2_StringRef empty, OTF2_StringRef *strings)
{
	const struct trace *t = x->trace;
	const struct comms *comms = x->comms;
	OTF2_GroupRef groups = 2;
	uint64_t *members = malloc(((size_t)t->size + 1) * sizeof *members);
	if (!members)
		return error_set(&x->error, "no memory");
	for (uint32_t i = 0; i < t->size; i++)
		members[i] = i;
	/* group 0: who may be in communicators; 1: of those that one is alone in; 2: MPI_COMM_WORLD; then in order of
	 * communicators */
	OTF2_GlobalDefWriter_WriteGroup(w, 0, empty, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
	                                OTF2_GROUP_FLAG_NONE, t->size, members);
	OTF2_GlobalDefWriter_WriteGroup(w, 1, empty, OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
	                                0, NULL);
	for (uint32_t i = 0; i < comms_count(comms); i++) {
		const struct comm *c = comms_at(comms, i);
		OTF2_GroupRef group = i == COMM_SELF ? 1 : groups++;
		OTF2_CommRef parent = c->parent == COMM_UNKNOWN ? OTF2_UNDEFINED_COMM : c->parent;
		OTF2_CommFlag flag = i > COMM_SELF ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
		char name[64];
		snprintf(name, sizeof name, "communicator %u", i);
		OTF2_StringRef label = (*strings)++;
		char *visible = say_copy(c->name ? c->name : name); /* readers print it as it is */
		OTF2_GlobalDefWriter_WriteString(w, label, visible ? visible : "?");
		free(visible);
		if (i != COMM_SELF)
			define_group(w, group, empty, members, c->members, c->size);
		if (c->remote) {
			define_group(w, groups, empty, members, c->remote, c->remote_size);
			OTF2_GlobalDefWriter_WriteInterComm(w, i, label, group, groups++, parent, flag);
		} else {
			OTF2_GlobalDefWriter_WriteComm(w, i, label, group, parent, flag);
		}
	}
	free(members);
	return 0;
}
