/* SPDX-License-Identifier: BSD-3-Clause
 * joined_lines - lines of a program that are calls of its own functions, for joined_calls.c
 */
#ifndef SPOOR_PROXY_JOINED_LINES_H
#define SPOOR_PROXY_JOINED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGUMENTS_MOST 20
#define CALLEE_NONE    UINT32_MAX /* of a line that is to be removed */

struct text_range {
	const char *text;
	size_t size;
};

/* A function of the program: "static void Send(int site, long count, MPI_Comm comm_here)". */
struct callee {
	char *name, *mpi;                                    /* as "Send_2" and "Send" */
	char *types[ARGUMENTS_MOST], *names[ARGUMENTS_MOST]; /* "MPI_Comm *", "comm_here", without a number */
	uint32_t count;
	uint32_t sites;  /* call sites in it */
	unsigned writes; /* a bit for each kind of handles: it may change some */
};

/* "Send(47, 1, comm[3]);" */
struct line {
	struct text_range whole; /* with its end */
	int indent;
	uint32_t callee;
	uint32_t number; /* of its first call site */
	struct text_range *arguments;
	uint32_t count;
	bool follows; /* on the line before: side by side, with the next number */
	bool joined;  /* of several lines */
};

struct lines {
	struct callee *callees;
	uint32_t callee_count, callee_capacity;
	struct line *each;
	uint32_t count, capacity;
};

/* The texts must stay as they are until lines_replace. Returns 0, or -1: no memory. */
int lines_read(struct lines *l, char **texts, size_t count, const char *functions);
/* Do so many lines from `first` on follow each other? */
bool lines_follow(const struct lines *l, uint32_t first, uint32_t length);
/* Could a call of a function change what an argument is, as it is passed before that and not behind it? */
bool lines_changes(const struct lines *l, uint32_t callee, const struct text_range *argument);
/* How many letters a line has. */
size_t lines_letters(const struct lines *l, const struct line *line);
/* Adds a function that is so many lines from `first` on. Returns 0, or -1: no memory. */
int lines_add_callee(struct lines *l, const char *definition, uint32_t first, uint32_t length);
/* `length` lines from `first` on become one, of the function that was added last. arguments: taken over. The others are
 * removed by lines_remove. */
void lines_join(struct lines *l, uint32_t first, uint32_t length, struct text_range *arguments, uint32_t count);
void lines_remove(struct lines *l);
/* Writes lines that are joined. Returns 0, or -1: no memory. */
int lines_replace(struct lines *l, char **texts, size_t count);
void lines_free(struct lines *l);

bool range_equal(const struct text_range *a, const struct text_range *b);
/* Is it the same in each function: a number, a name of MPI, a handle with a number? */
bool range_is_global(const struct text_range *r);
/* Is it another one each time that it is asked for? */
bool range_counts(const struct text_range *r);

#endif
