/* SPDX-License-Identifier: BSD-3-Clause
 * html - text and numbers in a page
 */
#include "cmd/report/html.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cmd/base/sink.h"
#include "cmd/report/style.h"

void html_text(FILE *out, const char *text)
{
	html_print(out, "%s", text);
}

void html_head(FILE *out, const char *title)
{
	html_print(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
		"img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
		"content=\"light dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
	html_text(out, title);
	html_print(out, "</title>\n<style>\n");
	sink_bytes(out, report_style, strlen(report_style));
	html_print(out, "</style>\n</head>\n<body>\n");
}

void html_foot(FILE *out)
{
	html_print(out, "<footer>Made by spoor " PACKAGE_VERSION
	                ". This page needs no network and runs no scripts.</footer>\n</body>\n</html>\n");
}

const char *text_count(char out[HTML_NUMBER], uint64_t n)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

/* Three digits that mean something. */
static void three(char out[HTML_NUMBER], double v, const char *unit)
{
	snprintf(out, HTML_NUMBER, "%.*f %s", v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, unit);
}

const char *text_ns(char out[HTML_NUMBER], double ns)
{
	if (ns >= 3600e9 * 2)
		three(out, ns / 3600e9, "h");
	else if (ns >= 300e9)
		three(out, ns / 60e9, "min");
	else if (ns >= 0.9995e9)
		three(out, ns / 1e9, "s");
	else if (ns >= 0.9995e6)
		three(out, ns / 1e6, "ms");
	else if (ns >= 0.9995e3)
		three(out, ns / 1e3, "µs");
	else
		snprintf(out, HTML_NUMBER, "%.0f ns", ns);
	return out;
}

const char *text_bytes(char out[HTML_NUMBER], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t i = 0;
	for (; bytes >= 1023.5 && i + 1 < sizeof units / sizeof *units; i++)
		bytes /= 1024;
	if (i == 0)
		snprintf(out, HTML_NUMBER, "%.0f B", bytes);
	else
		three(out, bytes, units[i]);
	return out;
}

static void data(FILE *out, const char *name, uint64_t value, const char *text)
{
	html_print(out, "<data");
	if (name)
		html_print(out, " data-figure=\"%s\"", name);
	html_print(out, " value=\"%" PRIu64 "\">%s</data>", value, text);
}

void html_count(FILE *out, const char *name, uint64_t n)
{
	char text[HTML_NUMBER];
	data(out, name, n, text_count(text, n));
}

void html_ns(FILE *out, const char *name, uint64_t ns)
{
	char text[HTML_NUMBER];
	data(out, name, ns, text_ns(text, (double)ns));
}

void html_bytes(FILE *out, const char *name, uint64_t bytes)
{
	char text[HTML_NUMBER];
	data(out, name, bytes, text_bytes(text, (double)bytes));
}

void html_share(FILE *out, const char *name, double share)
{
	if (share < 0) {
		html_print(out, "<span class=\"dim\">not known</span>");
		return;
	}
	html_print(out, "<data");
	if (name)
		html_print(out, " data-figure=\"%s\"", name);
	html_print(out, " value=\"%.17g\">%.*f&nbsp;%%</data>", share,
	           share < 0.0995                ? 1
	           : share > 0.9995 && share < 1 ? 1
	                                         : 0,
	           100 * share);
}

void html_time(FILE *out, int64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64];
	if (localtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm) > 0)
		html_print(out, "%s", text);
}
