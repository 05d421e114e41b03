/* SPDX-License-Identifier: BSD-3-Clause
 * iterates - a program that stands in front of libc's dl_iterate_phdr, and asks for the next one late
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *argument)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return next(callback, argument);
}

static int see(struct dl_phdr_info *info, size_t size, void *seen)
{
	(void)size;
	*(int *)seen += info->dlpi_phnum > 0;
	return 0;
}

int main(void)
{
	int seen = 0;

	dl_iterate_phdr(see, &seen);
	printf("files: %s\n", seen > 1 ? "some" : "none");
	return 3;
}
