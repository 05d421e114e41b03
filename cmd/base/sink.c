/* SPDX-License-Identifier: BSD-3-Clause
 * sink - the only way out for text: each value is escaped for the place that it goes to
 */
#include "cmd/base/sink.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/repeated.h"
#include "trace/base/utf8.h"

/* Writes what stands for the character at s, of n bytes; n = 0: for a byte that is to be seen by nobody. Returns how
 * many bytes it wrote. */
typedef int put(FILE *out, const char *s, size_t n);

static int put_all(FILE *out, const char *text)
{
	return fputs(text, out) < 0 ? -1 : (int)strlen(text);
}

static int put_same(FILE *out, const char *s, size_t n)
{
	return (int)fwrite(s, 1, n, out);
}

static int put_plain(FILE *out, const char *s, size_t n)
{
	return n ? put_same(out, s, n) : put_all(out, "?");
}

static int put_html(FILE *out, const char *s, size_t n)
{
	return n == 0       ? put_all(out, "&#xfffd;")
	       : *s == '&'  ? put_all(out, "&amp;")
	       : *s == '<'  ? put_all(out, "&lt;")
	       : *s == '>'  ? put_all(out, "&gt;")
	       : *s == '"'  ? put_all(out, "&quot;")
	       : *s == '\'' ? put_all(out, "&#39;")
	                    : put_same(out, s, n);
}

static int put_csv(FILE *out, const char *s, size_t n)
{
	return n && *s == '"' ? put_all(out, "\"\"") : put_plain(out, s, n);
}

static int put_barred(FILE *out, const char *s, size_t n)
{
	return put_plain(out, s, n && *s == '|' ? 0 : n);
}

static int put_label(FILE *out, const char *s, size_t n)
{
	return n && *s == '"' ? put_all(out, "\\\"") : n && *s == '\\' ? put_all(out, "\\\\") : put_plain(out, s, n);
}

/* All n bytes of a value. */
static int put_value(FILE *out, put *escape, const char *text, size_t n)
{
	int sum = 0;
	for (size_t i = 0; i < n;) {
		size_t plain = 0; /* most text is letters and digits */
		while (i + plain < n && isalnum((unsigned char)text[i + plain]))
			plain++;
		size_t length = plain ? plain : utf8_visible(text + i, n - i);
		int put_now = plain ? put_same(out, text + i, plain) : escape(out, text + i, length);
		if (put_now < 0)
			return -1;
		sum += put_now;
		i += length ? length : 1;
	}
	return sum;
}

/* --- formats --- */

struct conversion {
	bool left, zero;               /* of the flags - and 0 */
	char flags[8], length, letter; /* length: of "hh" and "ll" H and q */
	int width, precision;          /* precision -1: none */
};

static const char *read_width(const char *p, va_list *ap, int *number)
{
	if (*p == '*') {
		*number = va_arg(*ap, int);
		return p + 1;
	}
	for (*number = 0; *p >= '0' && *p <= '9'; p++)
		*number = 10 * *number + (*p - '0');
	return p;
}

/* p: behind the %. Returns what is behind the conversion. */
static const char *read_conversion(const char *p, va_list *ap, struct conversion *c)
{
	size_t n = strspn(p, "-+ #0");

	*c = (struct conversion){.precision = -1};
	memcpy(c->flags, p, n < sizeof c->flags ? n : sizeof c->flags - 1);
	p = read_width(p + n, ap, &c->width);
	if (*p == '.')
		p = read_width(p + 1, ap, &c->precision);
	c->left = strchr(c->flags, '-') || c->width < 0;
	c->width = abs(c->width);
	for (; *p && strchr("hlzjt", *p); p++)
		c->length = c->length == 'h' ? 'H' : c->length == 'l' ? 'q' : *p;
	c->letter = *p;
	return *p ? p + 1 : p;
}

static int put_blanks(FILE *out, int n)
{
	for (int i = 0; i < n; i++)
		putc(' ', out);
	return n > 0 ? n : 0;
}

/* A character that does not fit into the precision is not begun. Behind the precision nothing is read. */
static size_t value_length(const char *text, int precision)
{
	if (precision < 0)
		return strlen(text);
	size_t n = strnlen(text, (size_t)precision), last = n;
	while (last && n - last < 3 && ((unsigned char)text[last - 1] & 0xc0) == 0x80)
		last--;
	bool cut = n == (size_t)precision && last && (unsigned char)text[last - 1] >= 0xc0 &&
	           !utf8_length(text + last - 1, n - last + 1);
	return cut ? last - 1 : n;
}

static int put_formatted(FILE *out, put *escape, const struct conversion *c, const char *text)
{
	size_t n = text ? value_length(text, c->precision) : 0;
	int blanks = c->width > (int)n ? c->width - (int)n : 0;

	if (!c->left)
		put_blanks(out, blanks);
	int sum = put_value(out, escape, text, n);
	if (c->left)
		put_blanks(out, blanks);
	return sum < 0 ? -1 : sum + blanks;
}

static intmax_t next_signed(char length, va_list *ap)
{
	return length == 'H'   ? (signed char)va_arg(*ap, int)
	       : length == 'h' ? (short)va_arg(*ap, int)
	       : length == 'l' ? va_arg(*ap, long)
	       : length == 'q' ? va_arg(*ap, long long)
	       : length == 'z' ? va_arg(*ap, ssize_t)
	       : length == 'j' ? va_arg(*ap, intmax_t)
	       : length == 't' ? va_arg(*ap, ptrdiff_t)
	                       : va_arg(*ap, int);
}

static uintmax_t next_unsigned(char length, va_list *ap)
{
	return length == 'H'   ? (unsigned char)va_arg(*ap, unsigned)
	       : length == 'h' ? (unsigned short)va_arg(*ap, unsigned)
	       : length == 'l' ? va_arg(*ap, unsigned long)
	       : length == 'q' ? va_arg(*ap, unsigned long long)
	       : length == 'z' ? va_arg(*ap, size_t)
	       : length == 'j' ? va_arg(*ap, uintmax_t)
	       : length == 't' ? (uintmax_t)va_arg(*ap, ptrdiff_t)
	                       : va_arg(*ap, unsigned);
}

static int put_number(FILE *out, const struct conversion *c, va_list *ap)
{
	char one[32];
	bool real = strchr("aeEfFgG", c->letter), sign = c->letter == 'd' || c->letter == 'i';

	snprintf(one, sizeof one, "%%%s%s*.*%s%c", c->flags, c->left && !strchr(c->flags, '-') ? "-" : "",
	         real ? "" : "j", c->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (real)
		return fprintf(out, one, c->width, c->precision, va_arg(*ap, double));
	if (sign)
		return fprintf(out, one, c->width, c->precision, next_signed(c->length, ap));
	return fprintf(out, one, c->width, c->precision, next_unsigned(c->length, ap));
#pragma GCC diagnostic pop
}

static int put_conversion(FILE *out, put *escape, const struct conversion *c, va_list *ap)
{
	char one[2] = "";

	switch (c->letter) {
	case '%':
		return put_all(out, "%");
	case 's':
		return put_formatted(out, escape, c, va_arg(*ap, const char *));
	case 'c':
		one[0] = (char)va_arg(*ap, int);
		return put_formatted(out, escape, c, one);
	default:
		return put_number(out, c, ap);
	}
}

static int print(FILE *out, put *escape, const char *format, va_list given)
{
	int sum = 0;
	va_list ap;

	va_copy(ap, given);
	while (*format && sum >= 0) {
		size_t n = strcspn(format, "%");
		int now = put_same(out, format, n);
		format += n;
		if (now == (int)n && *format) {
			struct conversion c;
			format = read_conversion(format + 1, &ap, &c);
			int more = put_conversion(out, escape, &c, &ap);
			now = more < 0 ? -1 : now + more;
		}
		sum = now < 0 || ferror(out) ? -1 : sum + now;
	}
	va_end(ap);
	return sum;
}

/* --- text and pages --- */

int say_to_v(FILE *out, const char *format, va_list ap)
{
	return print(out, put_plain, format, ap);
}

int say_to(FILE *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int rv = print(out, put_plain, format, ap);
	va_end(ap);
	return rv;
}

int say(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int rv = print(stdout, put_plain, format, ap);
	va_end(ap);
	return rv;
}

void say_more(const char *who, size_t count)
{
	if (repeated_more(count))
		say_to(stderr, "%s: and %zu more like these\n", who, repeated_more(count));
}

char *say_copy(const char *text)
{
	char *copy = NULL;
	size_t size;
	FILE *out = open_memstream(&copy, &size);
	bool good = out && say_to(out, "%s", text) >= 0;
	if (out && fclose(out) == 0 && good)
		return copy;
	free(copy);
	return NULL;
}

int say_lines(FILE *out, const char *text)
{
	for (; *text; text += strcspn(text, "\n")) {
		if (*text == '\n') {
			putc('\n', out);
			text++;
		}
		if (put_value(out, put_plain, text, strcspn(text, "\n")) < 0)
			return -1;
	}
	return 0;
}

int html_print(FILE *out, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int rv = print(out, put_html, format, ap);
	va_end(ap);
	return rv;
}

/* --- for programs --- */

/* "-" is what is not known, and numbers are numbers. */
static bool is_formula(const char *text)
{
	char *end;
	if (!*text || !strchr("=+-@", *text) || !strcmp(text, "-"))
		return false;
	strtod(text, &end);
	return *end != '\0';
}

int csv_print_text(FILE *out, const char *text)
{
	bool formula = is_formula(text), quoted = formula || text[strcspn(text, ",\"")];

	put_all(out, quoted ? "\"" : "");
	put_all(out, formula ? "'" : "");
	put_value(out, put_csv, text, strlen(text));
	return put_all(out, quoted ? "\"" : "");
}

int sql_print_text(FILE *out, const char *text)
{
	int sum = put_all(out, "'");
	for (; *text; text++)
		sum += put_all(out, *text == '\'' ? "''" : (const char[]){*text, '\0'});
	return sum + put_all(out, "'");
}

int columns_print_text(FILE *out, const char *text)
{
	return put_value(out, put_barred, text, strlen(text));
}

int metrics_print_label(FILE *out, const char *text)
{
	return put_value(out, put_label, text, strlen(text));
}

int comment_print_text(FILE *out, const char *text, size_t most)
{
	size_t sum = 0, n = strlen(text);
	for (size_t i = 0; i < n && sum < most; sum++) {
		size_t length = utf8_visible(text + i, n - i);
		putc(length == 1 && !strchr("\"'`$\\|", text[i]) ? text[i] : '?', out);
		i += length ? length : 1;
	}
	return ferror(out) ? -1 : (int)sum;
}

int sink_bytes(FILE *out, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, out) == n ? 0 : -1;
}
