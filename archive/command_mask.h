/* SPDX-License-Identifier: BSD-3-Clause
 * command_mask - what tells runs of an application apart: its arguments without their numbers, and these numbers
 *
 *     solver -n 64 --eps 1e-3 mesh2.dat     masked "-n # --eps #e-# mesh#.dat"     numbers "64 1 3 2"
 *
 * Each run of digits is a number, whatever stands around it.
 */
#ifndef SPOOR_COMMAND_MASK_H
#define SPOOR_COMMAND_MASK_H

#include <jansson.h>
#include <stddef.h>

#define COMMAND_MASK_SIZE 1000

/* Of longer arguments only the beginning counts; it has the numbers of what is masked. */
struct command_mask {
	char masked[COMMAND_MASK_SIZE], numbers[COMMAND_MASK_SIZE];
};

/* Of the command in a trace's metadata; without the program's name. */
void command_mask_make(struct command_mask *a, const json_t *metadata);

/* Puts numbers back in their places: those of which keep(context, n) is true, n from 0. Writes at most size bytes. */
void command_mask_fill(char *out, size_t size, const char *masked, const char *numbers,
                       int (*keep)(const void *context, size_t n), const void *context);

#endif
