/* SPDX-License-Identifier: BSD-3-Clause
 * error - the first text stays, long ones are cut
 */
#include "trace/base/error.h"

#include <stdint.h>
#include <string.h>

#include "tests/unit/tap.h"

int main(void)
{
	struct error error = {""};
	ok(error_set(NULL, "%d", 1) == -1, "nobody wants the text");
	ok(error_set(&error, "%s: line %d", "file", 3) == -1 && strcmp(error.text, "file: line 3") == 0, "a text");
	ok(error_set(&error, "later") == -1 && strcmp(error.text, "file: line 3") == 0, "the first text stays");
	error.text[0] = '\0';
	error_set(&error, "%0700d", 1);
	ok(strlen(error.text) == sizeof error.text - 1, "a long text is cut, and terminated");
	error.text[0] = '\0';
	error_set(&error, "%s", "a\x1b[2J\n\xc2\x9b\x7f \xc3\x89 \xc2\xa0\xc2");
	ok(strcmp(error.text, "a?[2J???? \xc3\x89 \xc2\xa0\xc2") == 0, "control characters go to no terminal: %s",
	   error.text);
	return tap_end();
}
