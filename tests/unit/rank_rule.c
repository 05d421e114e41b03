/* SPDX-License-Identifier: BSD-3-Clause
 * rank_rule - the expressions of all small cases say what the ranks are
 */
#include "proxy/rank_rule.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static char *expression(const char *kinds, uint32_t count)
{
	static char *const texts[] = {"A", "B", "C", "D"};
	uint8_t kind[64];
	char *text = NULL;
	size_t size;
	for (size_t i = 0; kinds[i]; i++)
		kind[i] = kinds[i] == '-' ? RANK_ANY : (uint8_t)(kinds[i] - '0');
	FILE *f = open_memstream(&text, &size);
	rank_rule_write(f, kind, (uint32_t)strlen(kinds), count, texts);
	fclose(f);
	return text;
}

static void is_written(const char *kinds, uint32_t count, const char *expected)
{
	char *text = expression(kinds, count);
	if (!ok(!strcmp(text, expected), "%s: %s", kinds, expected))
		printf("# %s\n", text);
	free(text);
}

int main(void)
{
	is_written("0", 1, "A");
	is_written("000", 1, "A");
	is_written("0111", 2, "rank == 0 ? A : B");
	is_written("1110", 2, "rank == 3 ? A : B");
	is_written("00111", 2, "rank < 2 ? A : B");
	is_written("11100", 2, "rank >= 3 ? A : B");
	is_written("1100111", 2, "rank >= 2 && rank <= 3 ? A : B");
	is_written("0101", 2, "rank % 2 == 0 ? A : B");
	is_written("1-001011", 2, "\".-xx.x..\"[rank] == 'x' ? A : B");
	is_written("0-10--01", 2, "\"x-.x--x.\"[rank] == 'x' ? A : B");
	is_written("0-00", 1, "A");
	is_written("0122210", 3, "\"x.....x\"[rank] == 'x' ? A : \".x...x.\"[rank] == 'x' ? B : C");
	is_written("011122", 3, "rank == 0 ? A : rank >= 4 ? C : B");
	return tap_end();
}
