/* SPDX-License-Identifier: BSD-3-Clause
 * waiting - where ranks waited for others, and for what: what `spoor show --waits` says
 */
#include <inttypes.h>

#include "cmd/report/html.h"
#include "cmd/base/sink.h"
#include "cmd/report/report.h"

#define SHOWN_WAITS 12
/* Sites with less than this part of the longest wait are left out. */
#define WORTH_WAITING 0.01

static const struct {
	const char *key, *name;
} wait_kinds[] = {{"late_sender_ns", "Late sender"},
                  {"late_receiver_ns", "Late receiver"},
                  {"collective_ns", "Collective calls"},
                  {"unended_ns", "Never ended"}};

#define KINDS (sizeof wait_kinds / sizeof *wait_kinds)

static uint64_t wait_of(const json_t *site, size_t kind)
{
	return (uint64_t)json_integer_value(json_object_get(site, wait_kinds[kind].key));
}

static uint64_t wait_of_site(const json_t *site)
{
	uint64_t sum = 0;
	for (size_t k = 0; k < KINDS; k++)
		sum += wait_of(site, k);
	return sum;
}

static void put_wait_row(FILE *out, const json_t *site, size_t i)
{
	html_print(out, "<tr><th scope=\"row\" class=\"l\"><strong>");
	html_text(out, json_string_value(json_object_get(site, "function")));
	html_print(out, "</strong> <span class=\"dim\">site %" JSON_INTEGER_FORMAT "</span><br><span class=\"path\">",
	           json_integer_value(json_object_get(site, "site")));
	html_text(out, json_string_value(json_object_get(site, "at")));
	html_print(out, "</span></th>");
	for (size_t k = 0; k < KINDS; k++) {
		char key[80];
		snprintf(key, sizeof key, "waits.sites.%zu.%s", i, wait_kinds[k].key);
		if (wait_of(site, k)) {
			html_print(out, "<td>");
			html_ns(out, key, wait_of(site, k));
			html_print(out, "</td>");
		} else {
			html_print(out, "<td class=\"dim\">–</td>");
		}
	}
	html_print(out, "</tr>\n");
}

void report_waits(struct report *r)
{
	const json_t *waits = json_object_get(r->json, "waits"), *list = json_object_get(waits, "sites");
	const uint64_t longest = wait_of_site(json_array_get(list, 0));
	FILE *out = r->out;
	if (longest == 0)
		return;
	html_print(out, "<h3 id=\"waits\">Waiting for other ranks</h3>\n<p class=\"dim\">Of all ranks together, ");
	html_print(out, json_is_true(json_object_get(waits, "exact"))
	                        ? "from the times of all events"
	                        : "estimated: <code>timing: full</code> makes it exact");
	html_print(out, ".</p>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" "
	                "class=\"l\">Call site</th>");
	for (size_t k = 0; k < KINDS; k++)
		html_print(out, "<th scope=\"col\">%s</th>", wait_kinds[k].name);
	html_print(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < json_array_size(list) && i < SHOWN_WAITS; i++) {
		const json_t *site = json_array_get(list, i);
		if ((double)wait_of_site(site) >= WORTH_WAITING * (double)longest)
			put_wait_row(out, site, i);
	}
	html_print(out, "</tbody></table></div>\n");
}
