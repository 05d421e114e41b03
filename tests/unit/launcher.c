/* SPDX-License-Identifier: BSD-3-Clause
 * launcher - unit test of preload/launcher.c: the environments that launchers leave, as they were found, and wrong ones
 */
#include "preload/launcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tap.h"

/* In these, and no others. */
static void environment(const char *const *variables)
{
	clearenv();
	for (; *variables; variables++)
		putenv((char *)*variables);
}
#define ENVIRONMENT(...) environment((const char *const[]){__VA_ARGS__, NULL})

static void test_nothing(void)
{
	uint64_t rank = 7;

	clearenv();
	ok(launcher_ranks() == 1 && launcher_local_ranks(1) == 0 && launcher_executables() == 0, "nothing is known");
	ok(!launcher_parent(&rank), "no parent");
	ok(launcher_world(1, 5) != launcher_world(1, 5), "two that were started by themselves are two worlds");
	ok(launcher_world(4, 5) == launcher_world(4, 6), "ranks of one shell are one world");
}

static void test_nonsense(void)
{
	static const char *const ports[] = {"",
	                                    ".",
	                                    "1",
	                                    "1.",
	                                    "x.1",
	                                    "-1.0:2",
	                                    "1,2",
	                                    "99999999999999999999.0:1",
	                                    "4294967296.0:1",
	                                    "1.99999999999:1"};
	char variable[64];
	uint64_t rank;

	ENVIRONMENT("OMPI_COMM_WORLD_SIZE=99999999999999", "PMI_SIZE=-4", "SLURM_STEP_NUM_TASKS=2x",
	            "SLURM_NTASKS=", "OMPI_COMM_WORLD_LOCAL_SIZE=-1", "MPI_LOCALNRANKS=0x4", "OMPI_NUM_APP_CTX=many");
	ok(launcher_ranks() == 1 && launcher_local_ranks(4) == 0 && launcher_executables() == 0,
	   "what is no number is not known");
	for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
		snprintf(variable, sizeof variable, "OMPI_PARENT_PORT=%s", ports[i]);
		ENVIRONMENT(variable);
		ok(!launcher_parent(&rank), "no port: %s", ports[i]);
	}
	for (const char *const *list =
	             (const char *const[]){"4(x", "4(x3", "4(x3)2", "(x3)", "4,", "x", "4(x0),", NULL};
	     *list; list++) {
		snprintf(variable, sizeof variable, "SLURM_STEP_TASKS_PER_NODE=%s", *list);
		ENVIRONMENT("SLURM_STEP_NUM_TASKS=14", "SLURM_NODEID=3", variable);
		ok(launcher_local_ranks(14) == 0, "no list of tasks: %s", *list);
	}
}

static void test_mpirun(void)
{
	uint64_t rank, one, two;

	ENVIRONMENT("OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_SIZE=4", "OMPI_NUM_APP_CTX=2",
	            "PMIX_NAMESPACE=669319169", "PMIX_RANK=3");
	ok(launcher_ranks() == 8 && launcher_local_ranks(8) == 4 && launcher_executables() == 2, "mpirun");
	ok(launcher_local_ranks(2) == 0, "a world of another size is not mpirun's");
	one = launcher_world(8, 5);
	ok(one == launcher_world(8, 6) && !launcher_parent(&rank), "its world, which has no parent");
	ENVIRONMENT("PMIX_NAMESPACE=669319170", "OMPI_PARENT_PORT=669319169.3:2067881840");
	two = launcher_world(2, 5);
	ok(two != one && launcher_parent(&rank) == one && rank == 3, "Open MPI 4: the parent");

	ENVIRONMENT("PMIX_NAMESPACE=prterun-n1-50@1");
	one = launcher_world(2, 5);
	ENVIRONMENT("PMIX_NAMESPACE=prterun-n1-50@2", "OMPI_PARENT_PORT=3366060033.1:1798430734");
	ok(launcher_parent(&rank) == one && rank == 1, "Open MPI 5: the parent");
	ENVIRONMENT("PMIX_NAMESPACE=prte-n1-63@1", "OMPI_PARENT_PORT=401211392.0:1798430734");
	ok(!launcher_parent(&rank), "Open MPI 5: a parent that was started by itself has no name");
}

static void test_others(void)
{
	ENVIRONMENT("SLURM_STEP_NUM_TASKS=14", "SLURM_NODEID=3", "SLURM_STEP_TASKS_PER_NODE=4(x3),2",
	            "PMIX_NAMESPACE=slurm.pmix.7.0", "SLURM_JOB_ID=7");
	ok(launcher_local_ranks(14) == 2, "srun --mpi=pmix, the last node");
	setenv("SLURM_NODEID", "1", 1);
	ok(launcher_local_ranks(14) == 4, "srun --mpi=pmix, another one");
	setenv("SLURM_NODEID", "4", 1);
	ok(launcher_local_ranks(14) == 0, "a node that has none");

	ENVIRONMENT("PMI_SIZE=8", "MPI_LOCALNRANKS=4", "PMI_FD=77");
	ok(launcher_ranks() == 8 && launcher_local_ranks(8) == 4, "hydra");

	ENVIRONMENT("PMI_JOBID=7.0", "SLURM_JOB_ID=7", "SLURM_RESTART_COUNT=1");
	uint64_t again = launcher_world(2, 5);
	unsetenv("SLURM_RESTART_COUNT");
	ok(again != launcher_world(2, 5) && launcher_world(2, 5) == launcher_world(2, 6),
	   "srun --mpi=pmi2: a world, and another one when the job is run again");
}

static void test_node(void)
{
	char name[256], host[256], small[2];

	ENVIRONMENT("SLURMD_NODENAME=n17");
	launcher_node(name, sizeof name);
	ok(!strcmp(name, "n17"), "Slurm's name of the node");
	clearenv();
	launcher_node(name, sizeof name);
	gethostname(host, sizeof host);
	ok(!strcmp(name, host), "else the host's");
	launcher_node(small, sizeof small);
	ok(memchr(small, 0, sizeof small), "a name that has no room still ends");
}

int main(void)
{
	test_nothing();
	test_nonsense();
	test_mpirun();
	test_others();
	test_node();
	return tap_end();
}
