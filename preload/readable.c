/* SPDX-License-Identifier: BSD-3-Clause
 * readable - may what an argument points to be read?
 *
 * rt_sigprocmask reads the set that it is given before it looks at what is to be done with it, and says EFAULT where a
 * read would be a SIGSEGV; to do something that does not exist is EINVAL. Every program calls it, so that no filter of
 * system calls takes offence (as process_vm_readv might give). Eight bytes of each page are enough.
 */
#include "preload/readable.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE    4096u /* the smallest there is */
#define LONGEST 65536

static bool ask_system(uintptr_t page, bool otherwise)
{
	/* without a set, which is the first page, it has nothing to do, and succeeds */
	return syscall(SYS_rt_sigprocmask, ~0, page, NULL, 8) != 0 &&
	       (errno == EINVAL || (errno != EFAULT && otherwise));
}

bool readable(const void *array, ptrdiff_t n, size_t size, bool otherwise)
{
	int saved = errno;
	bool can = array && n >= 0 && (size_t)n <= (UINTPTR_MAX - (uintptr_t)array) / size;

	if (!can || n == 0)
		return can;
	uintptr_t last = ((uintptr_t)array + (size_t)n * size - 1) & -(uintptr_t)PAGE;
	for (uintptr_t page = (uintptr_t)array & -(uintptr_t)PAGE; can && page <= last; page += PAGE)
		can = ask_system(page, otherwise);
	errno = saved;
	return can;
}

ptrdiff_t readable_length_slowly(const char *s)
{
	for (size_t n = 0, page; n < LONGEST; n += page) {
		const char *end;

		page = PAGE - ((uintptr_t)(s + n) & (PAGE - 1));
		if (!readable(s + n, 1, 1, false))
			return -1;
		end = memchr(s + n, '\0', page);
		if (end)
			return end - s;
	}
	return -1;
}
