/* SPDX-License-Identifier: BSD-3-Clause
 * hook_state - for which traces the hooks of the policy were run
 */
#include "cmd/hook_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/base/state_file.h"

#define LINE "%020" PRId64 " %010" PRIu64 " %016" PRIx64 " %u\n"
#define SIZE 51 /* of a line: 20 + 10 + 16 + 1 characters, three blanks, its end */

static int write_entry(const struct hook_state *s, size_t slot, const struct hook_entry *e, struct error *error)
{
	char line[SIZE + 32];
	int n = snprintf(line, sizeof line, LINE, e->arrived, e->uid, e->key, e->left);
	if (n != SIZE || pwrite(s->fd, line, SIZE, (off_t)slot * SIZE) != SIZE || fdatasync(s->fd) != 0)
		return error_set(error, "cannot write for which traces hooks were run: %s", strerror(errno));
	return 0;
}

static int read_entries(struct hook_state *s, struct error *error)
{
	size_t most = (HOOK_ENTRIES + 1) * SIZE;
	char *text = malloc(most + 1);
	ssize_t n = text ? pread(s->fd, text, most, 0) : -1;
	int rv = n < 0 ? error_set(error, "cannot read for which traces hooks were run: %s", strerror(errno)) : 0;
	for (ssize_t at = 0; rv == 0 && at + SIZE <= n; at += SIZE) {
		struct hook_entry e = {.arrived = 0};
		bool good = text[at + SIZE - 1] == '\n';
		text[at + SIZE - 1] = '\0';
		good = good && sscanf(text + at, "%20" SCNd64 " %10" SCNu64 " %16" SCNx64 " %1u", &e.arrived, &e.uid,
		                      &e.key, &e.left) == 4;
		if (at == 0 && good)
			s->since = e.arrived;
		else if (at == 0)
			rv = error_set(error, "the state file is none of hooks");
		else
			s->entries[s->count++] = good ? e : (struct hook_entry){.arrived = 0}; /* torn: free */
	}
	if (rv == 0 && n > 0 && n < SIZE)
		rv = error_set(error, "the state file is none of hooks");
	free(text);
	return rv;
}

int hook_state_open(struct hook_state *s, const char *path, struct error *error)
{
	*s = (struct hook_state){.fd = state_file_open(path, "hooks", error)};
	if (s->fd < 0)
		return -1;
	s->entries = calloc(HOOK_ENTRIES, sizeof *s->entries);
	if (!s->entries)
		return error_set(error, "out of memory");
	if (read_entries(s, error) != 0)
		return -1;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return s->since ? 0 : hook_state_advance(s, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, error);
}

void hook_state_close(struct hook_state *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->entries);
	*s = (struct hook_state){.fd = -1};
}

const struct hook_entry *hook_state_find(const struct hook_state *s, uint64_t uid, uint64_t key)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].key == key && s->entries[i].uid == uid && s->entries[i].arrived >= s->since)
			return &s->entries[i];
	return NULL;
}

size_t hook_state_count(const struct hook_state *s, uint64_t uid, int64_t after)
{
	size_t n = 0;
	for (size_t i = 0; i < s->count; i++)
		n += s->entries[i].uid == uid && s->entries[i].arrived >= s->since && s->entries[i].arrived > after;
	return n;
}

int hook_state_put(struct hook_state *s, const struct hook_entry *e, struct error *error)
{
	const struct hook_entry *old = hook_state_find(s, e->uid, e->key);
	size_t slot = old ? (size_t)(old - s->entries) : 0;
	while (!old && slot < s->count && s->entries[slot].arrived >= s->since)
		slot++;
	if (slot == HOOK_ENTRIES)
		return error_set(error, "hooks were run for %d traces in a short time: no more are", HOOK_ENTRIES);
	s->entries[slot] = *e;
	s->count += slot == s->count;
	return write_entry(s, slot + 1, e, error);
}

int hook_state_advance(struct hook_state *s, int64_t since, struct error *error)
{
	s->since = since;
	return write_entry(s, 0, &(struct hook_entry){.arrived = since}, error);
}
