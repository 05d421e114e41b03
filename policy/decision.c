/* SPDX-License-Identifier: BSD-3-Clause
 * decision - what is to happen to one job, and why
 */
#include "policy/decision.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/facts.h"

char *decision_encode(const struct decision *d)
{
	struct facts f = {0};
	char mode[MODE_TEXT_SIZE];

	facts_set(&f, "mode", mode_format(&d->mode, mode));
	facts_set(&f, "archive", d->archive);
	facts_set(&f, "spool", d->spool);
	facts_set(&f, "admin_group", d->admin_group);
	for (size_t i = 0; i < setting_count; i++) {
		char value[SETTING_TEXT_SIZE];
		facts_set(&f, setting_table[i].name, setting_format(&setting_table[i], &d->set, value));
	}
	facts_set(&f, "rule", d->rule);
	facts_set(&f, "where", d->where);
	facts_set(&f, "reason", d->reason);
	facts_set(&f, "refused", d->refused);
	facts_set(&f, "alternatives", d->alternatives);
	char *text = facts_encode(&f);
	facts_clear(&f);
	return text;
}

static int take_value(char *out, size_t size, const struct facts *f, const char *name, struct error *error)
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
	if (take_value(mode, sizeof mode, &f, "mode", error) ||
	    take_value(d->archive, sizeof d->archive, &f, "archive", error) ||
	    take_value(d->spool, sizeof d->spool, &f, "spool", error) ||
	    take_value(d->admin_group, sizeof d->admin_group, &f, "admin_group", error) ||
	    take_value(d->rule, sizeof d->rule, &f, "rule", error) ||
	    take_value(d->where, sizeof d->where, &f, "where", error) ||
	    take_value(d->reason, sizeof d->reason, &f, "reason", error) ||
	    take_value(d->refused, sizeof d->refused, &f, "refused", error) ||
	    take_value(d->alternatives, sizeof d->alternatives, &f, "alternatives", error))
		goto done;
	if (mode_parse(&d->mode, mode)) {
		error_set(error, "decision: mode %s is not one of off, lossless, lossy:N", mode);
		goto done;
	}
	if (d->archive[0] != '/' || d->spool[0] != '/') {
		error_set(error, "decision: archive or spool is no absolute path");
		goto done;
	}
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *s = &setting_table[i];
		const char *value = facts_get(&f, s->name);
		char expected[SETTING_EXPECTED_SIZE];
		if (!value || setting_parse(s, &d->set, value)) {
			error_set(error, "decision: %s is \"%s\"; expected %s", s->name, value ? value : "",
			          setting_expected(s, expected));
			goto done;
		}
	}
	rv = 0;
done:
	facts_clear(&f);
	return rv;
}
