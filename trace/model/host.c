/* SPDX-License-Identifier: BSD-3-Clause
 * host - the hosts of a trace's ranks, by their names
 */
#include "trace/model/host.h"

#include <string.h>

#include "trace/base/budget.h"

#define HOST_DIGITS 9

/* Where the number in a name is: the last digits of its first part. Returns how many digits there are, 0 if there is no
 * number. */
static size_t host_digits(const char *name, size_t n, size_t *at)
{
	size_t end = 0, digits = 0;
	while (end < n && name[end] != '.')
		end++;
	while (end > 0 && !(name[end - 1] >= '0' && name[end - 1] <= '9'))
		end--;
	while (digits < end && name[end - 1 - digits] >= '0' && name[end - 1 - digits] <= '9')
		digits++;
	*at = end - digits;
	return digits <= HOST_DIGITS && n < HOST_MAX && !memchr(name, '#', n) ? digits : 0;
}

int host_set(struct trace *t, uint32_t rank, const char *name, size_t n)
{
	char form[HOST_MAX];
	size_t at, digits = host_digits(name, n, &at);
	int64_t number = 0;
	if (digits) {
		memcpy(form, name, n);
		for (size_t i = at; i < at + digits; i++) {
			number = 10 * number + (name[i] - '0');
			form[i] = '#';
		}
		if (rankmap_single(&t->host_number, rank, number, false) != 0)
			return -1;
		name = form;
	}
	uint32_t string = pool_intern(&t->strings, name, n);
	return string == UINT32_MAX ? -1 : rankmap_single(&t->host, rank, string, true);
}

static void host_name(const struct trace *t, int64_t host, bool numbered, int64_t number, char name[HOST_MAX])
{
	const struct pool_item *form = &t->strings.items[host];
	size_t n = form->size < HOST_MAX ? form->size : HOST_MAX - 1;
	memcpy(name, form->bytes, n);
	name[n] = '\0';
	for (size_t i = n; numbered && i-- > 0;)
		if (name[i] == '#') {
			name[i] = (char)('0' + (number < 0 ? 0 : number % 10));
			number /= 10;
		}
}

void host_get(const struct trace *t, uint32_t rank, char name[HOST_MAX])
{
	int64_t host, number = 0;
	name[0] = '\0';
	if (rankmap_get(&t->host, rank, &host)) {
		bool numbered = rankmap_get(&t->host_number, rank, &number);
		host_name(t, host, numbered, number, name);
	}
}

struct host {
	int64_t host, number;
	bool numbered;
	uint64_t ranks;
};

struct host_wanted {
	const struct host *hosts, *host;
};

static bool host_equal(const void *context, uint32_t i)
{
	const struct host_wanted *w = context;
	const struct host *a = &w->hosts[i], *b = w->host;
	return a->host == b->host && a->number == b->number && a->numbered == b->numbered;
}

int host_each(const struct trace *t, void (*tell)(void *context, const char *name, uint64_t ranks), void *context)
{
	int rv = -1;
	struct index index = {0};
	struct host *hosts = NULL;
	uint32_t count = 0, capacity = 0, last = 0;
	struct host h = {.ranks = 0};
	for (uint64_t r = 0; rankmap_next(&t->host, &r, &h.host) && r < t->size; r++) {
		h.number = 0;
		h.numbered = rankmap_get(&t->host_number, (uint32_t)r, &h.number);
		if (count > 0 && host_equal(&(struct host_wanted){hosts, &h}, last)) {
			hosts[last].ranks++;
			continue;
		}
		uint64_t hash = hash_mix(hash_mix(h.numbered, (uint64_t)h.host), (uint64_t)h.number);
		last = index_find(&index, hash, host_equal, &(struct host_wanted){hosts, &h});
		if (last == INDEX_NONE) {
			if (!budget_grow(&hosts, count, &capacity, sizeof *hosts) ||
			    index_add(&index, hash, count) != 0)
				goto done;
			last = count++;
			hosts[last] = h;
		}
		hosts[last].ranks++;
	}
	for (uint32_t i = 0; i < count; i++) {
		char name[HOST_MAX];
		host_name(t, hosts[i].host, hosts[i].numbered, hosts[i].number, name);
		tell(context, name, hosts[i].ranks);
	}
	rv = 0;
done:
	budget_free(hosts);
	index_free(&index);
	return rv;
}
