/* SPDX-License-Identifier: BSD-3-Clause
 * scale_print - the laws of `spoor scale`, as text and as JSON
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/sink.h"
#include "cmd/base/wrap.h"
#include "cmd/scaling.h"

#define WIDTH 80
#define TEXT  600

static const char *const answers[] = {[MODEL_FOUND] = "found",
                                      [MODEL_TWO_LAWS] = "two laws",
                                      [MODEL_NO_LAW] = "no law",
                                      [MODEL_FEW_SIZES] = "not enough sizes"};

/* --- text --- */

/* Counts as whole numbers, s with as many digits as are worth it. */
static const char *figure_text(char out[32], size_t figure, double value)
{
	if (figure <= GROWTH_BYTES && value < 1e15)
		snprintf(out, 32, "%.0f", value);
	else
		snprintf(out, 32, "%.4g", value);
	return out;
}

/* A program may change its way at sizes that no run had: three say little of that. */
static const char *exactly_text(char out[40], const struct model *m)
{
	snprintf(out, 40, "   meets all %zu sizes", m->sizes);
	return m->checked ? "   exactly" : m->exact ? out : "";
}

static const char *law_text(char out[TEXT], const struct scale_law *law)
{
	char first[MODEL_TEXT], second[MODEL_TEXT], sure[40];
	const struct model *m = &law->model;
	if (m->answer == MODEL_FEW_SIZES)
		snprintf(out, TEXT, "not enough sizes");
	else if (m->answer == MODEL_NO_LAW)
		snprintf(out, TEXT, "no law fits; the nearest is %s", model_text(&m->law, first));
	else if (m->answer == MODEL_TWO_LAWS)
		snprintf(out, TEXT, "two laws fit: %s, or %s", model_text(&m->law, first),
		         model_text(&m->other, second));
	else
		snprintf(out, TEXT, "%s%s", model_text(&m->law, first), exactly_text(sure, m));
	return out;
}

static void print_runs(const struct scaling *s)
{
	const char *const ways[] = {[MATCH_EXACT] = "the same addresses in the same build",
	                            [MATCH_LINE] = "the same functions and lines",
	                            [MATCH_SYMBOL] = "the same functions"};
	char text[TEXT];
	const struct growth *g = &s->growth;
	size_t used = (size_t)snprintf(text, sizeof text, "%zu runs of", g->run_count);
	for (size_t i = 0; i < g->run_count && used < TEXT / 2; i++)
		if (i == 0 || g->runs[i].ranks != g->runs[i - 1].ranks)
			used += (size_t)snprintf(text + used, sizeof text - used, " %" PRIu32, g->runs[i].ranks);
	snprintf(text + used, sizeof text - used,
	         "%s ranks. Call sites are the same if they have %s; %.0f %% of the calls are at %zu call sites that "
	         "all "
	         "runs have.",
	         used >= TEXT / 2 ? " ..." : "", ways[g->match], 100 * g->matched, s->site_count);
	wrap_print(text, 0, WIDTH);
	snprintf(
		text, sizeof text,
		"Their arguments are alike but for numbers: \"%.200s\". They are of the same %s. %zu other runs of the "
		"archive are left out: older ones, and those of %zu other series.",
		s->of.alike ? s->of.alike : "", scale_same_names[s->of.same], s->of.left_out,
		s->of.series ? s->of.series - 1 : 0);
	if (s->of.alike)
		wrap_print(text, 0, WIDTH);
	say("\n");
}

/* All ranks together. */
static void print_figure(const struct scaling *s, size_t f)
{
	char number[32], text[TEXT];
	const struct scale_law *law = &s->total[f];
	const int last = SCALE_AHEAD - 1;
	bool about = f != GROWTH_CALLS && f != GROWTH_BYTES && law->model.answer == MODEL_FOUND;
	say("%-12s %14s", growth_names[f], figure_text(number, f, s->growth.runs[s->growth.run_count - 1].total[f]));
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %14s", figure_text(number, f, law->at[i]));
	say("\n%13s%s%s\n", "", about ? "about " : "", law_text(text, law));
	if (!law->model.exact)
		say("%13slikely at %.0f ranks: %.4g to %.4g\n", "", scale_ahead[last] * s->largest, law->low[last],
		    law->high[last]);
}

static void print_costs(const struct scaling *s)
{
	const struct growth_run *last = &s->growth.runs[s->growth.run_count - 1];
	double now = last->total[GROWTH_COMPUTE] + last->total[GROWTH_MPI];
	say("%-12s %14.4g", "s a rank", now / s->largest);
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %14.4g", scaling_time(s, scale_ahead[i] * s->largest) / (scale_ahead[i] * s->largest));
	say("\n%-12s %14.4g", "core hours", now / 3600);
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %14.4g", scaling_time(s, scale_ahead[i] * s->largest) / 3600);
	say("\n%-12s %12.0f %%", "efficiency", now > 0 ? 100 * last->total[GROWTH_COMPUTE] / now : 100);
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %12.0f %%", 100 * scaling_efficiency(s, scale_ahead[i] * s->largest));
	say("\n\n");
}

static void print_totals(const struct scaling *s)
{
	say("%-12s %8s %5.0f", "ALL RANKS", "AT", s->largest);
	for (int i = 0; i < SCALE_AHEAD; i++)
		say(" %8s %5.0f", "AT", scale_ahead[i] * s->largest);
	say("\n");
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		print_figure(s, f);
	print_costs(s);
}

static void print_kind(const struct scaling *s)
{
	char text[TEXT];
	const char *kind = scaling_kind(s);
	snprintf(text, sizeof text, "The computation of all ranks grows as p^%.2f: %s.", s->power,
	         strcmp(kind, "weak") == 0     ? "each rank has as much to do at all sizes (weak scaling)"
	         : strcmp(kind, "strong") == 0 ? "the ranks share what is to do (strong scaling)"
	                                       : "neither weak nor strong scaling");
	wrap_print(text, 0, WIDTH);
	snprintf(text, sizeof text, "The bytes that a call passes on grow as p^%.2f.", s->message_power);
	if (!isnan(s->message_power))
		wrap_print(text, 0, WIDTH);
	if (s->half >= 1)
		snprintf(text, sizeof text, "By these laws, half of the ranks' time is computation up to %.0f ranks.",
		         s->half);
	else
		snprintf(text, sizeof text, "By these laws, %s half of the ranks' time is computation.",
		         scaling_efficiency(s, s->largest) < 0.5 ? "at no size" : "at all sizes looked at, more than");
	wrap_print(text, 0, WIDTH);
}

/* The one whose share grows most. */
static void print_fastest(const struct scaling *s)
{
	char text[2 * TEXT], law[TEXT];
	const struct scale_site *most = scaling_fastest(s);
	if (!most) {
		wrap_print("No call site grows faster than the whole.", 0, WIDTH);
		return;
	}
	bool waits = most->laws[GROWTH_MPI].at[SCALE_AHEAD - 1] > most->laws[GROWTH_COMPUTE].at[SCALE_AHEAD - 1];
	snprintf(text, sizeof text,
	         "What grows fastest: %s. It and the computation before it have %.0f %% of the time at %.0f ranks, and "
	         "%.0f %% at %.0f. %s: %s.",
	         most->site->name, 100 * most->share, s->largest, 100 * most->share_ahead,
	         scale_ahead[SCALE_AHEAD - 1] * s->largest, waits ? "Time in MPI" : "Computation",
	         law_text(law, &most->laws[waits ? GROWTH_MPI : GROWTH_COMPUTE]));
	wrap_print(text, 0, WIDTH);
}

static void print_site(const struct scaling *s, const struct scale_site *site)
{
	char text[TEXT];
	say("\n%5.1f %% %5.1f %%  %s\n", 100 * site->share, 100 * site->share_ahead, site->site->name);
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		if (site->site->values[(f + 1) * s->growth.run_count - 1] > 0)
			say("%17s%-12s %s\n", "", growth_names[f], law_text(text, &site->laws[f]));
}

static void print_sites(const struct scaling *s)
{
	size_t shown = s->top == 0 || (size_t)s->top > s->site_count ? s->site_count : (size_t)s->top;
	say("\n%7s %7s  CALL SITE, by its share of the time at %.0f and at %.0f ranks\n", "NOW", "LATER", s->largest,
	    scale_ahead[SCALE_AHEAD - 1] * s->largest);
	for (size_t i = 0; i < shown; i++)
		print_site(s, &s->sites[i]);
	if (shown < s->site_count)
		say("\nand %zu more (--top 0 shows all)\n", s->site_count - shown);
	if (s->others)
		say("\n%zu call site%s not in all runs, and without a law:\n", s->others,
		    s->others == 1 ? " is" : "s are");
	for (size_t i = 0, told = 0; i < s->growth.site_count && told < 10; i++)
		if (s->growth.sites[i].runs < s->growth.run_count) {
			say("    %s: in %" PRIu32 " of %zu\n", s->growth.sites[i].name, s->growth.sites[i].runs,
			    s->growth.run_count);
			told++;
		}
}

void scaling_print(const struct scaling *s)
{
	print_runs(s);
	print_totals(s);
	print_kind(s);
	print_fastest(s);
	print_sites(s);
}

/* --- JSON --- */

static json_t *terms_json(const struct model_law *law)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < law->terms; i++)
		json_array_append_new(list,
		                      json_pack("{s:f, s:f, s:i}", "factor", law->term[i].factor, "power",
		                                model_powers[law->term[i].power], "logs", (int)law->term[i].logs));
	return list;
}

static json_t *ahead_json(const struct scaling *s, const struct scale_law *law, bool range)
{
	json_t *list = json_array();
	for (int i = 0; i < SCALE_AHEAD; i++) {
		json_t *one = json_pack("{s:f, s:f}", "ranks", scale_ahead[i] * s->largest, "value", law->at[i]);
		if (range && one) {
			json_object_set_new(one, "low", json_real(law->low[i]));
			json_object_set_new(one, "high", json_real(law->high[i]));
		}
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *law_json(const struct scaling *s, const struct scale_law *law, const double *values, bool range)
{
	char text[MODEL_TEXT], other[MODEL_TEXT];
	const struct model *m = &law->model;
	json_t *list = json_array();
	for (size_t i = 0; i < s->growth.run_count; i++)
		json_array_append_new(list, json_real(values[i]));
	return json_pack("{s:s, s:b, s:b, s:s, s:o, s:s?, s:f, s:o, s:o}", "answer", answers[m->answer], "exact",
	                 (int)m->exact, "checked", (int)m->checked, "law", model_text(&m->law, text), "terms",
	                 terms_json(&m->law), "other",
	                 m->answer == MODEL_TWO_LAWS ? model_text(&m->other, other) : NULL, "error", m->error, "values",
	                 list, "at", ahead_json(s, law, range));
}

static json_t *runs_json(const struct scaling *s)
{
	json_t *list = json_array();
	for (size_t i = 0; i < s->growth.run_count; i++)
		json_array_append_new(list, json_pack("{s:s, s:i, s:f}", "trace", s->growth.runs[i].name, "ranks",
		                                      (int)s->growth.runs[i].ranks, "run_s", s->growth.runs[i].run_s));
	return list;
}

static json_t *totals_json(const struct scaling *s)
{
	json_t *all = json_object();
	double *values = malloc(s->growth.run_count * sizeof *values);
	for (size_t f = 0; values && f < GROWTH_FIGURES; f++) {
		for (size_t i = 0; i < s->growth.run_count; i++)
			values[i] = s->growth.runs[i].total[f];
		json_object_set_new(all, growth_names[f], law_json(s, &s->total[f], values, true));
	}
	free(values);
	return all;
}

json_t *scaling_ahead_json(const struct scaling *s)
{
	json_t *list = json_array();
	for (int i = 0; i < SCALE_AHEAD; i++) {
		double ranks = scale_ahead[i] * s->largest, time = scaling_time(s, ranks);
		json_array_append_new(
			list, json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "ranks", ranks, "rank_s", time / ranks,
		                        "core_hours", time / 3600, "core_hours_low",
		                        (s->total[GROWTH_COMPUTE].low[i] + s->total[GROWTH_MPI].low[i]) / 3600,
		                        "core_hours_high",
		                        (s->total[GROWTH_COMPUTE].high[i] + s->total[GROWTH_MPI].high[i]) / 3600,
		                        "efficiency", scaling_efficiency(s, ranks)));
	}
	return list;
}

static json_t *site_json(const struct scaling *s, const struct scale_site *site)
{
	json_t *json = json_pack("{s:s, s:f, s:f}", "site", site->site->name, "share", site->share, "share_ahead",
	                         site->share_ahead);
	for (size_t f = 0; f < GROWTH_FIGURES; f++)
		json_object_set_new(json, growth_names[f],
		                    law_json(s, &site->laws[f], site->site->values + f * s->growth.run_count, false));
	return json;
}

json_t *scaling_json(const struct scaling *s)
{
	json_t *sites = json_array(), *others = json_array();
	for (size_t i = 0; i < s->site_count; i++)
		json_array_append_new(sites, site_json(s, &s->sites[i]));
	for (size_t i = 0; i < s->growth.site_count; i++)
		if (s->growth.sites[i].runs < s->growth.run_count)
			json_array_append_new(others, json_pack("{s:s, s:i}", "site", s->growth.sites[i].name, "runs",
			                                        (int)s->growth.sites[i].runs));
	return json_pack("{s:o, s:s?, s:s?, s:I, s:s, s:f, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "runs",
	                 runs_json(s), "arguments", s->of.alike, "same",
	                 s->of.alike ? scale_same_names[s->of.same] : NULL, "runs_left_out", (json_int_t)s->of.left_out,
	                 "match", diff_match_names[s->growth.match], "matched", s->growth.matched, "scaling",
	                 scaling_kind(s), "computation_power", s->power, "message_power",
	                 isnan(s->message_power) ? json_null() : json_real(s->message_power), "useful_ranks",
	                 s->half >= 1 ? json_real(s->half) : json_null(), "total", totals_json(s), "at",
	                 scaling_ahead_json(s), "sites", sites, "sites_not_in_all", others);
}
