/* SPDX-License-Identifier: BSD-3-Clause
 * sink_json - what goes out as JSON
 */
#include "cmd/base/sink_json.h"

#include <string.h>

#include "cmd/base/sink.h"
#include "trace/base/utf8.h"

/* jansson leaves DEL as it is. It is in texts only. */
static int put_json(const char *text, size_t n, void *file)
{
	FILE *out = file;

	for (size_t i = 0; i < n;) {
		const char *del = memchr(text + i, 0x7f, n - i);
		size_t plain = del ? (size_t)(del - text) - i : n - i;
		if (sink_bytes(out, text + i, plain) != 0 || (del && say_to(out, "\\u007f") < 0))
			return -1;
		i += plain + (del ? 1 : 0);
	}
	return 0;
}

int json_print(FILE *out, const json_t *json, size_t flags)
{
	return json_dump_callback(json, put_json, out, flags | JSON_ENSURE_ASCII);
}

int json_tell(json_t *told)
{
	int rv = told && json_print(stdout, told, JSON_INDENT(2)) == 0 && say("\n") != EOF ? 0 : -1;
	json_decref(told);
	return rv;
}

int json_print_text(FILE *out, const char *text, size_t n)
{
	say_to(out, "\"");
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)text[i];
		size_t length = utf8_length(text + i, n - i);
		if (length == 0)
			say_to(out, "\\ufffd");
		else if (c == '"' || c == '\\')
			say_to(out, "\\%c", c);
		else if (length == 1 && utf8_visible(text + i, 1) == 0)
			say_to(out, "\\u%04x", c);
		else if (utf8_visible(text + i, length) == 0)
			say_to(out, "\\ufffd");
		else
			sink_bytes(out, text + i, length);
		i += length ? length : 1;
	}
	return say_to(out, "\"") < 0 ? -1 : 0;
}
