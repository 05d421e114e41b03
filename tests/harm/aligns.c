/* SPDX-License-Identifier: BSD-3-Clause
 * aligns - a program without MPI that opens a plugin with MPI, and allocates before it uses that
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *block = memalign(64, 1000);
	int (*run)(void);

	if (!plugin || !block)
		return 9;
	free(block);
	*(void **)&run = dlsym(plugin, "run");
	puts("aligned");
	return run();
}
