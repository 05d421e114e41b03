/* SPDX-License-Identifier: BSD-3-Clause
 * extremes - what its parts have in common
 */
#ifndef SPOOR_HARM_EXTREMES_H
#define SPOOR_HARM_EXTREMES_H

struct way {
	const char *name;
	void (*f)(void);
};
/* Each ends with a NULL. */
extern const struct way thread_ways[], handler_ways[];

void init(void);
void init_threads(void);
void end(void);
/* MPI's answers are right. */
int ask(void);
/* So is what it communicates. */
int talk(void);
void all(void);

#endif
