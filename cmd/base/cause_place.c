/* SPDX-License-Identifier: BSD-3-Clause
 * cause_place - where a cause of lost time is, in words
 */
#include "cmd/base/cause_place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd/base/site_names.h"
#include "insight/phrase.h"
#include "trace/model/host.h"

#define RANKS_TOLD 6 /* ranges */

const char *cause_site_text(const struct site_names *names, const struct trace *t, uint32_t site,
                            char out[CAUSE_PLACE_TEXT])
{
	char at[CAUSE_PLACE_TEXT / 2] = "";
	if (site == CAUSE_NOWHERE)
		return "calls that are not known";
	const struct schema *s = trace_schema(t, &t->sites[site]);
	site_names_text(names, site, at, sizeof at);
	snprintf(out, CAUSE_PLACE_TEXT, "%.*s%s%s", (int)s->function_length, s->function, *at ? " in " : "", at);
	return out;
}

void cause_ranks_text(const struct trace *t, const struct cause *c, char out[CAUSE_RANKS_TEXT])
{
	char host[HOST_MAX] = "";
	uint32_t told = 0, ranges = 0;
	*out = '\0';
	struct phrase x = phrase_behind(out, CAUSE_RANKS_TEXT);
	phrase_put(&x, "Rank%s", c->rank_count == 1 ? "" : "s");
	while (told < c->rank_count && ranges < RANKS_TOLD) {
		uint32_t end = told + 1;
		while (end < c->rank_count && c->ranks[end] == c->ranks[end - 1] + 1)
			end++;
		phrase_put(&x, "%s %" PRIu32, ranges++ ? "," : "", c->ranks[told]);
		if (end - told > 1)
			phrase_put(&x, "-%" PRIu32, c->ranks[end - 1]);
		told = end;
	}
	if (told < c->rank_count)
		phrase_put(&x, " and %" PRIu32 " more", c->rank_count - told);
	if (c->rank_count == 1)
		host_get(t, c->ranks[0], host);
	if (*host)
		phrase_put(&x, " on %.64s", host);
}

void cause_place_text(char *out, size_t size, const struct trace *t, const struct site_names *names,
                      const struct cause *c)
{
	char ranks[CAUSE_RANKS_TEXT] = "", place[CAUSE_PLACE_TEXT];
	bool calls = c->kind != CAUSE_OTHER && c->behind == CAUSE_NOWHERE && c->wait_site == CAUSE_NOWHERE;
	if (c->rank_count)
		cause_ranks_text(t, c, ranks);
	ranks[0] = (char)tolower((unsigned char)ranks[0]);
	snprintf(out, size, "%s%s%s %s", ranks, ranks[0] ? ", " : "", calls ? "in" : "before",
	         cause_site_text(names, t, c->site, place));
}
