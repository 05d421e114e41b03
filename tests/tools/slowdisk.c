/* SPDX-License-Identifier: BSD-3-Clause
 * slowdisk - a library behind the tracer: a disk that is so busy that nothing is ever synced
 */
#include <unistd.h>

int fsync(int fd)
{
	(void)fd;
	for (;;)
		pause();
}

int fdatasync(int fd)
{
	return fsync(fd);
}
