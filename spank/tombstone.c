/* SPDX-License-Identifier: BSD-3-Clause
 * tombstone - the plugin for clusters where spoor was removed: it knows --trace and --spoor, and does nothing
 *
 * Without it, `#SBATCH --trace=off` in a script is an unknown option, which is fatal.
 */
#include <slurm/spank.h>
#include <stddef.h>

SPANK_PLUGIN(spoor_tombstone, 1)

static int ignore_option(int val, const char *argument, int remote)
{
	(void)val;
	(void)argument;
	(void)remote;
	return 0;
}

int slurm_spank_init(spank_t spank, int ac, char *av[])
{
	static struct spank_option options[] = {
		{"trace", "MODE", "ignored: MPI calls are not captured on this cluster", 2, 0, ignore_option},
		{"spoor", "MODE", "the same as --trace", 2, 1, ignore_option},
	};

	(void)ac;
	(void)av;
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		spank_option_register(spank, &options[i]);
	return 0;
}
