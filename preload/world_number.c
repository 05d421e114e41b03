/* SPDX-License-Identifier: BSD-3-Clause
 * world_number - from the launcher's name for a world, and what tells the runs of a job from each other
 */
#include "preload/world_number.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "preload/clock.h"
#include "trace/base/index.h"
#include "trace/base/limits.h"
#include "trace/base/number.h"

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

uint64_t world_number(const struct pmix *pmix, int size, pid_t pid)
{
	static const char *const names[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID"};
	uint64_t world = number_job();
	if (pmix->nspace[0])
		return hash_mix(world, hash_bytes(pmix->nspace, strlen(pmix->nspace)));
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

/* Where PMIx cannot be asked: Open MPI leaves its parents' port in the environment, which begins with their namespace
 * and the number of the process that spawned it. */
uint64_t world_number_parent(const struct pmix *pmix, uint64_t *rank)
{
	*rank = pmix->parent_rank;
	if (pmix->parent[0])
		return hash_mix(number_job(), hash_bytes(pmix->parent, strlen(pmix->parent)));
	const char *port = getenv("OMPI_PARENT_PORT");
	size_t n = port ? strcspn(port, ".") : 0;
	const char *process = port + n + 1;
	if (!n || !port[n] || number_read(&process, INT32_MAX, rank) != 0)
		return 0;
	return hash_mix(number_job(), hash_bytes(port, n));
}
