/* SPDX-License-Identifier: BSD-3-Clause
 * plugin - the SPANK callbacks: which part of spoor runs in which context
 *
 *     srun, sbatch, salloc   slurm_spank_init            registers --trace, hands SPOOR_TRACE on, and the tracer not
 *                                                        (local.c)
 *     slurmstepd             slurm_spank_init            registers --trace
 *                            slurm_spank_init_post_opt   decides, prepares the step (remote.c)
 *                            slurm_spank_user_init       tells the user what the policy does not allow
 *                            slurm_spank_task_exit       keeps the exit status
 *                            slurm_spank_exit            has the traces collected
 *
 * slurmstepd calls all of them but slurm_spank_user_init as root, for every user's job. Every callback returns 0: a
 * plugin that fails in slurmstepd would fail the job, and may drain the node.
 */
#include <slurm/spank.h>

#include "spank/config.h"
#include "spank/local.h"
#include "spank/option.h"
#include "spank/remote.h"

SPANK_PLUGIN(spoor, 1)

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
/* Were slurm_spank_init to fail in spite of all, the node is not to be drained. */
int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;
#endif

static const struct config *configuration(int ac, char **av)
{
	static struct config config;
	struct error error = {""};

	if (config_read(&config, ac, av, &error))
		slurm_info("spoor: %s", error.text);
	return &config;
}

int slurm_spank_init(spank_t spank, int ac, char *av[])
{
	option_register(spank);
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR)
		local_init(configuration(ac, av));
	return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char *av[])
{
	if (spank_context() == S_CTX_REMOTE)
		remote_begin(spank, configuration(ac, av));
	return 0;
}

int slurm_spank_user_init(spank_t spank, int ac, char *av[])
{
	(void)ac;
	(void)av;
	if (spank_context() == S_CTX_REMOTE)
		remote_tell(spank);
	return 0;
}

int slurm_spank_task_exit(spank_t spank, int ac, char *av[])
{
	(void)ac;
	(void)av;
	if (spank_context() == S_CTX_REMOTE)
		remote_task_exit(spank);
	return 0;
}

int slurm_spank_exit(spank_t spank, int ac, char *av[])
{
	if (spank_context() == S_CTX_REMOTE)
		remote_end(spank, configuration(ac, av));
	return 0;
}
