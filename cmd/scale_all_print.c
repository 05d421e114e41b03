/* SPDX-License-Identifier: BSD-3-Clause
 * scale_all_print - the applications of `spoor scale --all`, as text and as JSON
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/base/sink.h"
#include "cmd/base/wrap.h"
#include "cmd/scale_all.h"

#define WIDTH  80
#define INDENT 4
#define TEXT   800

static double hours_now(const struct scaling *s)
{
	const struct growth_run *last = &s->growth.runs[s->growth.run_count - 1];
	return (last->total[GROWTH_COMPUTE] + last->total[GROWTH_MPI]) / 3600;
}

static double efficiency_now(const struct scaling *s)
{
	const struct growth_run *last = &s->growth.runs[s->growth.run_count - 1];
	double all = last->total[GROWTH_COMPUTE] + last->total[GROWTH_MPI];
	return all > 0 ? last->total[GROWTH_COMPUTE] / all : 1;
}

/* Of its time: in MPI, or computation. */
static const struct scale_law *law_of(const struct scale_site *site)
{
	const int last = SCALE_AHEAD - 1;
	const struct scale_law *laws = site->laws;
	return &laws[laws[GROWTH_MPI].at[last] > laws[GROWTH_COMPUTE].at[last] ? GROWTH_MPI : GROWTH_COMPUTE];
}

/* --- text --- */

static void print_head(const struct scale_application *a)
{
	char text[TEXT];
	const struct series *of = &a->series;
	const struct scaling *s = &a->scaling;
	const char *kind = scaling_kind(s);
	say("%s", of->application);
	snprintf(text, sizeof text,
	         "%.4g node hours. %zu runs of %" PRIu32 " to %.0f ranks, of the same %s: \"%.200s\". %s.",
	         of->node_hours, s->growth.run_count, s->growth.runs[0].ranks, s->largest, scale_same_names[of->same],
	         of->alike,
	         *kind == 'w'   ? "Weak scaling"
	         : *kind == 's' ? "Strong scaling"
	                        : "Neither weak nor strong scaling");
	say("\n%*s", INDENT, "");
	wrap_print(text, INDENT, WIDTH);
}

static void print_ahead(const struct scaling *s)
{
	say("%*s%-12s %12.0f", INDENT, "", "ranks", s->largest);
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %12.0f", scale_ahead[i] * s->largest);
	say("\n%*s%-12s %12.4g", INDENT, "", "core hours", hours_now(s));
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %12.4g", scaling_time(s, scale_ahead[i] * s->largest) / 3600);
	say("\n%*s%-12s %10.0f %%", INDENT, "", "efficiency", 100 * efficiency_now(s));
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %10.0f %%", 100 * scaling_efficiency(s, scale_ahead[i] * s->largest));
	say("\n");
}

static void print_advice(const struct scaling *s)
{
	char text[TEXT], law[MODEL_TEXT], useful[100];
	const struct scale_site *most = scaling_fastest(s);
	if (s->half >= 1)
		snprintf(useful, sizeof useful, "Half of the time is computation up to %.0f ranks.", s->half);
	else
		snprintf(useful, sizeof useful, "%s half of the time is computation.",
		         scaling_efficiency(s, s->largest) < 0.5 ? "At no size" : "At all sizes looked at, more than");
	if (most)
		snprintf(text, sizeof text,
		         "%s What grows fastest: %.60s, %.0f %% of the time now and %.0f %% at %.0f ranks (%s).",
		         useful, most->site->name, 100 * most->share, 100 * most->share_ahead,
		         scale_ahead[SCALE_AHEAD - 1] * s->largest, model_text(&law_of(most)->model.law, law));
	else
		snprintf(text, sizeof text, "%s Nothing grows faster than the whole.", useful);
	say("%*s", INDENT, "");
	wrap_print(text, INDENT, WIDTH);
	say("\n");
}

void scale_all_print(const struct scale_all *a)
{
	for (size_t i = 0; i < a->count; i++) {
		print_head(&a->list[i]);
		print_ahead(&a->list[i].scaling);
		print_advice(&a->list[i].scaling);
	}
	if (a->more)
		say("and %zu more applications (--top 0 shows all)\n", a->more);
	if (a->few)
		say("%zu application%s too few sizes: %.3g of %.4g node hours\n", a->few,
		    a->few == 1 ? " has" : "s have", a->few_hours, a->all_hours);
}

/* --- JSON --- */

static json_t *fastest_json(const struct scaling *s)
{
	char law[MODEL_TEXT];
	const struct scale_site *most = scaling_fastest(s);
	return most ? json_pack("{s:s, s:f, s:f, s:s}", "what", most->site->name, "share", most->share, "share_ahead",
	                        most->share_ahead, "law", model_text(&law_of(most)->model.law, law))
	            : json_null();
}

static json_t *sizes_json(const struct growth *g)
{
	json_t *list = json_array();
	for (size_t i = 0; i < g->run_count; i++)
		json_array_append_new(
			list, json_pack("{s:i, s:f}", "ranks", (int)g->runs[i].ranks, "run_s", g->runs[i].run_s));
	return list;
}

static json_t *application_json(const struct scale_application *a)
{
	const struct scaling *s = &a->scaling;
	return json_pack(
		"{s:s, s:s, s:s, s:f, s:I, s:o, s:s, s:f, s:o, s:{s:f, s:f, s:f}, s:o, s:o, s:o}", "application",
		a->series.application, "arguments", a->series.alike, "same", scale_same_names[a->series.same],
		"node_hours", a->series.node_hours, "runs_left_out", (json_int_t)a->series.left_out, "runs",
		sizes_json(&s->growth), "scaling", scaling_kind(s), "computation_power", s->power, "message_power",
		isnan(s->message_power) ? json_null() : json_real(s->message_power), "now", "ranks", s->largest,
		"core_hours", hours_now(s), "efficiency", efficiency_now(s), "at", scaling_ahead_json(s),
		"useful_ranks", s->half >= 1 ? json_real(s->half) : json_null(), "fastest", fastest_json(s));
}

json_t *scale_all_json(const struct scale_all *a)
{
	json_t *list = json_array();
	for (size_t i = 0; i < a->count; i++)
		json_array_append_new(list, application_json(&a->list[i]));
	return json_pack("{s:o, s:I, s:I, s:f, s:f}", "applications", list, "applications_more", (json_int_t)a->more,
	                 "applications_with_few_sizes", (json_int_t)a->few, "node_hours_of_these", a->few_hours,
	                 "node_hours", a->all_hours);
}
