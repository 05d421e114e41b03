/* SPDX-License-Identifier: BSD-3-Clause
 * decision - what is to happen to one job, and why
 */
#include "policy/decision.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/facts.h"

char *decision_encode(const struct decision *d)
{
	struct facts f = {0};
	char mode[MODE_TEXT_SIZE];

	facts_set(&f, "mode", mode_format(&d->mode, mode));
	facts_set(&f, "archive", d->archive);
	facts_set(&f, "spool", d->spool);
	facts_set(&f, "admin_group", d->admin_group);
	facts_format(&f, "memory", "%" PRIu64, d->memory);
	facts_format(&f, "deadline", "%" PRIu32, d->deadline);
	facts_set(&f, "rule", d->rule);
	facts_set(&f, "where", d->where);
	facts_set(&f, "reason", d->reason);
	char *text = facts_encode(&f);
	facts_clear(&f);
	return text;
}

static int take(char *out, size_t size, const struct facts *f, const char *name, struct error *error)
{
	const char *value = facts_get(f, name);
	if (!value)
		return error_set(error, "decision: %s is missing", name);
	if ((size_t)snprintf(out, size, "%s", value) >= size)
		return error_set(error, "decision: %s is longer than %zu bytes", name, size - 1);
	return 0;
}

int decision_decode(struct decision *d, const char *text, size_t n, struct error *error)
{
	struct facts f = {0};
	char mode[MODE_TEXT_SIZE];
	int rv = -1;

	*d = (struct decision){0};
	if (facts_decode(&f, text, n, "decision", error))
		goto done;
	if (take(mode, sizeof mode, &f, "mode", error) || take(d->archive, sizeof d->archive, &f, "archive", error) ||
	    take(d->spool, sizeof d->spool, &f, "spool", error) ||
	    take(d->admin_group, sizeof d->admin_group, &f, "admin_group", error) ||
	    take(d->rule, sizeof d->rule, &f, "rule", error) || take(d->where, sizeof d->where, &f, "where", error) ||
	    take(d->reason, sizeof d->reason, &f, "reason", error))
		goto done;
	int64_t memory = facts_number(&f, "memory", -1), deadline = facts_number(&f, "deadline", -1);
	if (mode_parse(&d->mode, mode)) {
		error_set(error, "decision: mode %s is not one of off, lossless, lossy:N", mode);
		goto done;
	}
	if (d->archive[0] != '/' || d->spool[0] != '/' || memory <= 0 || deadline <= 0 || deadline > UINT32_MAX) {
		error_set(error, "decision: archive, spool, memory or deadline out of range");
		goto done;
	}
	d->memory = (uint64_t)memory;
	d->deadline = (uint32_t)deadline;
	rv = 0;
done:
	facts_clear(&f);
	return rv;
}
