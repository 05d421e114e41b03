/* SPDX-License-Identifier: BSD-3-Clause
 * launcher - what the launcher left in the environment of this process
 *
 *                 Open MPI's mpirun   srun --mpi=pmix            srun --mpi=pmi2            mpiexec.hydra
 * the world       PMIX_NAMESPACE      PMIX_NAMESPACE             PMI_JOBID                  PMI_FD
 * its size        *_SIZE              SLURM_STEP_NUM_TASKS       SLURM_STEP_NUM_TASKS       PMI_SIZE
 * of it here      *_LOCAL_SIZE        SLURM_STEP_TASKS_PER_NODE  SLURM_STEP_TASKS_PER_NODE  MPI_LOCALNRANKS
 * executables     OMPI_NUM_APP_CTX    -                          -                          -
 * its parent      OMPI_PARENT_PORT    -                          -                          -
 *
 * The * is OMPI_COMM_WORLD.
 * Run with Open MPI 4.1.4 and 5.0.7, MPICH 4.0.2 and 4.2.1, Slurm 22.05, PMIx 4.2.2 and 5.0.7.
 */
#include "preload/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/clock.h"
#include "trace/base/index.h"
#include "trace/base/limits.h"
#include "trace/base/number.h"

uint64_t launcher_ranks(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		int n = number_variable(names[i], 0);
		if (n > 0)
			return (uint64_t)n;
	}
	return 1;
}

/* Of Slurm's list of tasks per node, 4(x3),2, the entry of this node. */
static int tasks_here(void)
{
	const char *at = getenv("SLURM_STEP_TASKS_PER_NODE"), *node = getenv("SLURM_NODEID");
	uint64_t left, tasks, nodes;

	if (!at || !node || number_parse(node, INT32_MAX, &left) != 0)
		return 0;
	for (; number_read(&at, INT32_MAX, &tasks) == 0; left -= nodes, at++) {
		nodes = 1;
		if (strncmp(at, "(x", 2) == 0 && (at += 2, number_read(&at, INT32_MAX, &nodes) != 0 || *at++ != ')'))
			return 0;
		if (left < nodes)
			return (int)tasks;
		if (*at != ',')
			return 0;
	}
	return 0;
}

int launcher_local_ranks(int size)
{
	if (number_variable("OMPI_COMM_WORLD_SIZE", 0) == size)
		return number_variable("OMPI_COMM_WORLD_LOCAL_SIZE", 0);
	if (number_variable("PMI_SIZE", 0) == size && number_variable("MPI_LOCALNRANKS", 0))
		return number_variable("MPI_LOCALNRANKS", 0);
	return number_variable("SLURM_STEP_NUM_TASKS", 0) == size ? tasks_here() : 0;
}

int launcher_executables(void)
{
	return number_variable("OMPI_NUM_APP_CTX", 0);
}

static uint64_t mix_variable(uint64_t hash, const char *name)
{
	const char *value = getenv(name);
	return hash_mix(hash, value ? hash_bytes(value, strlen(value)) : 0);
}

/* Tells jobs, and the runs of a job, from each other. */
static uint64_t number_job(void)
{
	return mix_variable(mix_variable(1, "SLURM_JOB_ID"), "SLURM_RESTART_COUNT");
}

/* MPICH's hydra gives a start no name. Each rank has a socket to the process that started all ranks of this node, which
 * may be their grandparent: shells come between. 0: there is no such socket. Not asked under a filter of system calls,
 * which could end the process. */
static pid_t hydra_proxy(void)
{
	struct ucred peer = {.pid = 0};
	socklen_t size = sizeof peer;
	struct limits limits;
	int fd = number_variable("PMI_FD", -1);
	limits_read(&limits);
	if (fd < 0 || limits.filtered || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return 0;
	return peer.pid;
}

uint64_t launcher_world(int size, pid_t pid)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID"};
	uint64_t world = number_job();
	pid_t proxy = size > 1 && number_variable("MPI_LOCALNRANKS", 0) == size ? hydra_proxy() : 0;
	if (proxy)
		return hash_mix(mix_variable(world, "SLURM_STEP_ID"), (uint64_t)proxy);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (getenv(names[i]) && (size > 1 || i == 0))
			return mix_variable(world, names[i]);
	if (size == 1) /* started by itself, and several may be in one step */
		return hash_mix(hash_mix(world, clock_ns(CLOCK_REALTIME)), (uint64_t)pid);
	return hash_mix(world, (uint64_t)getppid());
}

/* Open MPI leaves its parents' port, which begins with two numbers: their namespace's, and the rank's that spawned.
 * Open MPI 4: the first is the namespace. 5: its low 16 bits are what is behind the @ of the namespace, and
 * what is before it is alike for all worlds of an mpirun. 0 is no world's: the parent was started by itself, and has no
 * namespace. */
uint64_t launcher_parent(uint64_t *rank)
{
	const char *at = getenv("OMPI_PARENT_PORT"), *mine = getenv("PMIX_NAMESPACE");
	char name[256];
	uint64_t space;

	*rank = 0;
	if (!at || number_read(&at, UINT32_MAX, &space) != 0 || *at++ != '.' || number_read(&at, INT32_MAX, rank) != 0)
		return 0;
	const char *end = mine ? strrchr(mine, '@') : NULL;
	if (end && (space & 0xffff) == 0)
		return 0;
	int n = end ? snprintf(name, sizeof name, "%.*s@%u", (int)(end - mine), mine, (unsigned)space & 0xffff)
	            : snprintf(name, sizeof name, "%lu", (unsigned long)space);
	return n < (int)sizeof name ? hash_mix(number_job(), hash_bytes(name, (size_t)n)) : 0;
}

void launcher_node(char *name, size_t size)
{
	const char *node = getenv("SLURMD_NODENAME");
	if (node)
		snprintf(name, size, "%s", node);
	else if (gethostname(name, size) != 0 || !memchr(name, 0, size))
		name[0] = 0;
}
