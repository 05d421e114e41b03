/* SPDX-License-Identifier: BSD-3-Clause
 * command_mask - what tells runs of an application apart
 */
#include "archive/command_mask.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct masking {
	struct command_mask *a;
	size_t used, numbers;
	bool digit; /* the byte before was one */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns false when there is no room for more. */
static bool mask_byte(struct masking *m, char c)
{
	bool digit = is_digit(c), first = digit && !m->digit;
	if (m->used + 1 >= COMMAND_MASK_SIZE || m->numbers + 2 >= COMMAND_MASK_SIZE)
		return false;
	if (first && m->numbers)
		m->a->numbers[m->numbers++] = ' ';
	if (digit)
		m->a->numbers[m->numbers++] = c;
	if (!digit || first)
		m->a->masked[m->used++] = digit ? '#' : c;
	m->digit = digit;
	return true;
}

void command_mask_make(struct command_mask *a, const json_t *metadata)
{
	const json_t *command = json_object_get(metadata, "command");
	struct masking m = {.a = a};
	bool room = true;
	for (size_t i = 1; i < json_array_size(command) && room; i++) {
		const json_t *word = json_array_get(command, i);
		const char *text = json_is_string(word) ? json_string_value(word) : "";
		room = i == 1 || mask_byte(&m, ' ');
		for (; *text && room; text++)
			room = mask_byte(&m, *text);
	}
	a->masked[m.used] = a->numbers[m.numbers] = '\0';
}

void command_mask_fill(char *out, size_t size, const char *masked, const char *numbers,
                       int (*keep)(const void *context, size_t n), const void *context)
{
	size_t used = 0, n = 0;
	for (; *masked && used + 1 < size; masked++) {
		size_t digits = *masked == '#' ? strcspn(numbers, " ") : 0;
		if (digits && keep(context, n) && used + digits < size) {
			memcpy(out + used, numbers, digits);
			used += digits;
		} else {
			out[used++] = *masked;
		}
		if (digits) {
			numbers += digits + (numbers[digits] == ' ');
			n++;
		}
	}
	out[used] = '\0';
}
