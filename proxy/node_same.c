/* SPDX-License-Identifier: BSD-3-Clause
 * node_same - are two nodes the same program?
 */
#include "proxy/node_same.h"

#include <string.h>

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool node_same(const struct tree_node *a, const struct tree_node *b)
{
	if (a == b)
		return true;
	if (a->form != b->form || a->count != b->count || a->number != b->number || !same_name(a->name, b->name) ||
	    (a->of != b->of && (!a->of || !b->of || definition_shared(a->of) != definition_shared(b->of))))
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!node_same(a->at[i], b->at[i]))
			return false;
	return true;
}

uint64_t node_hash(const struct tree_node *n)
{
	uint64_t hash = hash_mix((uint64_t)n->form * 31 + n->count, (uint64_t)n->number);
	if (n->name)
		hash = hash_mix(hash, hash_bytes(n->name, strlen(n->name)));
	if (n->of)
		hash = hash_mix(hash, (uint64_t)(uintptr_t)definition_shared(n->of));
	for (uint32_t i = 0; i < n->count; i++)
		hash = hash_mix(hash, node_hash(n->at[i]));
	return hash;
}
