/* SPDX-License-Identifier: BSD-3-Clause
 * starts - starts a command by fork, exec and by posix_spawn, and ends as it did
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int status = 0, again = 0;
	pid_t pid = argc > 1 ? fork() : -1;

	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 100;
	if (posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, environ) != 0 || waitpid(pid, &again, 0) != pid)
		return 101;
	printf("%zu bits: %d %d\n", 8 * sizeof(long), WEXITSTATUS(status), WEXITSTATUS(again));
	return WEXITSTATUS(status);
}
