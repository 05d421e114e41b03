/* SPDX-License-Identifier: BSD-3-Clause
 * readable - may what an argument points to be read?
 *
 * process_vm_readv on the process itself is allowed to everybody, and says EFAULT where a read would be a SIGSEGV. One byte of each page is enough.
 */
#include "preload/readable.h"

#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE  4096u /* the smallest there is */
#define PAGES 64    /* in one question: the stack may be a signal handler's */
#define LONGEST 65536

static bool ask(uintptr_t first, size_t pages, bool otherwise)
{
	char bytes[PAGES];
	struct iovec here = {bytes, pages}, there[PAGES];

	for (size_t i = 0; i < pages; i++)
		there[i] = (struct iovec){(void *)(first + i * PAGE), 1};
	ssize_t n = process_vm_readv(getpid(), &here, 1, there, pages, 0);
	if (n < 0 && errno != EFAULT)
		return otherwise;
	return n == (ssize_t)pages;
}

bool readable(const void *array, ptrdiff_t n, size_t size, bool otherwise)
{
	int saved = errno;
	bool can = array && n >= 0 && (size_t)n <= (UINTPTR_MAX - (uintptr_t)array) / size;

	if (!can || n == 0)
		return can;
	uintptr_t at = (uintptr_t)array & -(uintptr_t)PAGE, last = ((uintptr_t)array + (size_t)n * size - 1) & -(uintptr_t)PAGE;
	for (size_t left = (last - at) / PAGE + 1, now; can && left > 0; left -= now, at += now * PAGE) {
		now = left < PAGES ? left : PAGES;
		can = ask(at, now, otherwise);
	}
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
