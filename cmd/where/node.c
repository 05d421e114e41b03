/* SPDX-License-Identifier: BSD-3-Clause
 * node - of `spoor where`: on a node of the job, as its user
 *
 * What is written goes through srun, with that of all other nodes, and srun keeps lines whole that are short enough:
 *
 *     W n1 0 3 8953504f4f52...     bytes of trace 3 of this node, of step 0
 *     E n1 16 0 0 -                that was all of node n1: 16 arenas were read, no early ones, all could be read
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/base/status.h"
#include "cmd/base/sink.h"
#include "cmd/where/view.h"
#include "deliver/running.h"

#define LINE_BYTES 480    /* of a trace in one line: srun keeps those of up to 1024 bytes whole */
#define LEFT_OVERS 100    /* as spool.c has it */
#define STEPS_MOST 100000 /* of a job, that are looked for */

struct node {
	const char *name, *spool, *job, *step; /* step: the one at hand */
	unsigned traces;
	struct running running;
	bool failed;
};

static int write_trace(void *context, const uint8_t *bytes, size_t size, struct error *error)
{
	struct node *n = context;
	(void)error;
	for (size_t at = 0; at < size; at += LINE_BYTES) {
		say("W %s %s %u ", n->name, n->step, n->traces);
		for (size_t i = at; i < size && i < at + LINE_BYTES; i++)
			say("%02x", bytes[i]);
		say("\n");
	}
	n->traces++;
	return 0;
}

/* The folder of a step that was begun several times is the last one. */
static bool find_step(const struct node *n, char *path, size_t size)
{
	char other[4096];
	struct stat st;
	if (snprintf(path, size, "%s/%s.%s.%s", n->spool, n->job, n->step, n->name) >= (int)size || lstat(path, &st) ||
	    st.st_uid != geteuid())
		return false;
	for (int i = 1; i <= LEFT_OVERS; i++) {
		if (snprintf(other, sizeof other, "%s/%s.%s.%s.%d", n->spool, n->job, n->step, n->name, i) >=
		            (int)sizeof other ||
		    lstat(other, &st))
			break;
		snprintf(path, size, "%s", other);
	}
	return true;
}

static void read_step(struct node *n, const char *step)
{
	char path[4096];
	struct error error = {""};
	n->step = step;
	if (find_step(n, path, sizeof path) && running_read(&n->running, path, &error) != 0) {
		say_to(stderr, "spoor where: %s: %s\n", n->name, error.text);
		n->failed = true;
	}
}

int where_node(const char *spool, const char *job, const char *step)
{
	const char *name = getenv("SLURMD_NODENAME"), *own = getenv("SLURM_STEP_ID");
	struct node n = {.name = name, .spool = spool, .job = job, .running = {.take = write_trace}};
	char number[24];
	if (!name || !own) {
		say_to(stderr, "spoor where: --node is for steps of a job: `spoor where JOB` starts one\n");
		return CMD_USAGE;
	}
	n.running.context = &n;
	if (step && strcmp(step, "all") != 0) {
		read_step(&n, step);
	} else { /* those begun before this one; nobody but root can list the spool */
		unsigned long last = strtoul(own, NULL, 10);
		read_step(&n, "batch");
		read_step(&n, "interactive");
		for (unsigned long i = 0; i < last && i < STEPS_MOST; i++) {
			snprintf(number, sizeof number, "%lu", i);
			read_step(&n, number);
		}
	}
	const struct running *r = &n.running;
	say("E %s %zu %zu %zu %.300s\n", name, r->arenas, r->early, r->unread, r->unread ? r->first.text : "-");
	return n.failed ? CMD_FAILED : CMD_OK;
}
