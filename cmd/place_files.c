/* SPDX-License-Identifier: BSD-3-Clause
 * place_files - the files of `spoor place -o`: what srun, mpirun and Cray's MPICH read to place ranks
 *
 *     nodes              the number of the node of each rank, one a line
 *     srun               a script: makes a host file from `nodes` and the nodes of the job, and calls srun with it
 *     hostfile           of the nodes of the run: their names, by rank; for SLURM_HOSTFILE
 *     rankfile           for Open MPI's mpirun: nodes by their number in the job, sockets and cores
 *     MPICH_RANK_ORDER   ranks in the order in which they take the places
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/base/sink.h"
#include "cmd/export/output.h"
#include "cmd/place.h"
#include "trace/model/host.h"

static void write_nodes(const struct place_job *p, FILE *out)
{
	for (uint32_t r = 0; r < p->trace->size; r++)
		say_to(out, "%" PRIu32 "\n", p->placing.found.node[r]);
}

static void write_hostfile(const struct place_job *p, FILE *out)
{
	char host[HOST_MAX];
	for (uint32_t r = 0; r < p->trace->size; r++) {
		host_get(p->trace, p->host_of[p->placing.found.node[r]], host);
		say_to(out, "%s\n", host);
	}
}

static void write_srun(const struct place_job *p, FILE *out)
{
	say_to(out,
	       "#!/bin/sh\n"
	       "# srun [OPTION...] PROGRAM [ARGUMENT...] - in a job of Slurm: starts %" PRIu32
	       " ranks where `nodes` says\n"
	       "nodes=$(dirname \"$0\")/nodes\n"
	       "SLURM_HOSTFILE=$(mktemp) || exit 1\n"
	       "export SLURM_HOSTFILE\n"
	       "trap 'rm -f \"$SLURM_HOSTFILE\"' EXIT\n"
	       "scontrol show hostnames \"${SLURM_JOB_NODELIST:?this is no job of Slurm}\" |\n"
	       "\tawk 'NR == FNR { host[NR - 1] = $1; next } !($1 in host) { exit 1 } { print host[$1] }' - \"$nodes\" "
	       ">\"$SLURM_HOSTFILE\" || {\n"
	       "\techo \"$0: the job has fewer than %" PRIu32 " nodes\" >&2\n"
	       "\texit 1\n"
	       "}\n"
	       /* how many nodes there are follows from the file: Slurm 24.11 refuses to be told */
	       "env -u SLURM_NNODES -u SLURM_JOB_NUM_NODES srun --ntasks=%" PRIu32 " --distribution=arbitrary \"$@\"\n",
	       p->trace->size, p->machine.nodes, p->trace->size);
}

/* The places in order: nodes, sockets, ranks. */
static int places_order(const struct arrangement *a, uint32_t x, uint32_t y)
{
	if (a->node[x] != a->node[y])
		return a->node[x] < a->node[y] ? -1 : 1;
	if (a->socket[x] != a->socket[y])
		return a->socket[x] < a->socket[y] ? -1 : 1;
	return (x > y) - (x < y);
}

static int compare_places(const void *x, const void *y, void *arrangement)
{
	return places_order(arrangement, *(const uint32_t *)x, *(const uint32_t *)y);
}

static void write_order(FILE *out, const uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		say_to(out, i + 1 == n || i % 16 == 15 ? "%" PRIu32 "\n" : "%" PRIu32 ",", order[i]);
}

/* Cores of a node are shared out evenly among its ranks, as far as there are any for each. */
static void write_rankfile(const struct place_job *p, FILE *out, const uint32_t *order)
{
	const struct arrangement *a = &p->placing.found;
	uint32_t at = 0;
	for (uint32_t i = 0; i < a->size; i++) {
		uint32_t rank = order[i], node = a->node[rank], socket = a->socket[rank];
		bool next = i == 0 || a->node[order[i - 1]] != node || a->socket[order[i - 1]] != socket;
		uint32_t room = machine_socket_room(&p->machine, p->machine.ranks[node]);
		uint32_t cores = p->machine.cores / room;
		at = next ? 0 : at + 1;
		say_to(out, "rank %" PRIu32 "=+n%" PRIu32 " slot=%" PRIu32, rank, node, socket);
		if (cores > 1)
			say_to(out, ":%" PRIu32 "-%" PRIu32 "\n", at * cores, at * cores + cores - 1);
		else
			say_to(out, ":%" PRIu32 "\n", at);
	}
}

/* Names of hosts are what the trace says: only such as srun takes. */
static bool hosts_are_names(const struct place_job *p)
{
	char host[HOST_MAX];
	for (uint32_t n = 0; n < p->machine.nodes; n++) {
		host_get(p->trace, p->host_of[n], host);
		if (!*host || *host == '-' ||
		    host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")])
			return false;
	}
	return true;
}

static FILE *open_part(const struct output *o, const char *name, struct error *error)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", o->temporary, name);
	FILE *f = fopen(path, "wx");
	if (!f)
		error_set(error, "%s/%s: cannot be written: %s", o->name, name, strerror(errno));
	return f;
}

static int close_part(const struct output *o, FILE *f, const char *name, struct error *error)
{
	bool bad = ferror(f) != 0;
	if (fclose(f) == 0 && !bad)
		return 0;
	return error_set(error, "%s/%s: cannot be written: %s", o->name, name, strerror(errno));
}

static int write_part(const struct place_job *p, const struct output *o, const char *name, const uint32_t *order,
                      struct error *error)
{
	FILE *f = open_part(o, name, error);
	if (!f)
		return -1;
	if (strcmp(name, "nodes") == 0)
		write_nodes(p, f);
	else if (strcmp(name, "hostfile") == 0)
		write_hostfile(p, f);
	else if (strcmp(name, "rankfile") == 0)
		write_rankfile(p, f, order);
	else if (strcmp(name, "MPICH_RANK_ORDER") == 0)
		write_order(f, order, p->trace->size);
	else
		write_srun(p, f);
	if (strcmp(name, "srun") == 0) {
		mode_t mask = umask(0);
		umask(mask);
		fchmod(fileno(f), 0777 & ~mask);
	}
	return close_part(o, f, name, error);
}

static int place_write_parts(const struct place_job *p, const struct output *o, struct error *error)
{
	static const char *const names[] = {"nodes", "srun", "rankfile", "MPICH_RANK_ORDER", "hostfile"};
	size_t parts = p->current && hosts_are_names(p) ? 5 : 4;
	uint32_t *order = malloc(((size_t)p->trace->size + 1) * sizeof *order);
	int rv = order ? 0 : error_set(error, "no memory");
	for (uint32_t r = 0; rv == 0 && r < p->trace->size; r++)
		order[r] = r;
	if (rv == 0)
		qsort_r(order, p->trace->size, sizeof *order, compare_places, (void *)&p->placing.found);
	for (size_t i = 0; i < parts && rv == 0; i++)
		rv = write_part(p, o, names[i], order, error);
	free(order);
	return rv;
}

int place_write(const struct place_job *p, const char *out)
{
	struct output o;
	struct error error = {""};
	int rv = output_folder(&o, out, &error);
	if (rv == 0)
		rv = place_write_parts(p, &o, &error);
	if (rv == 0)
		rv = output_finish(&o, &error);
	output_discard(&o);
	if (rv != 0)
		say_to(stderr, "spoor place: %s\n", error.text);
	return rv;
}
