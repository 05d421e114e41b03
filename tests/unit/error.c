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
	return tap_end();
}
