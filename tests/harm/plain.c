/* SPDX-License-Identifier: BSD-3-Clause
 * plain - a program without MPI: memory, threads, a file, both streams
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *work(void *argument)
{
	char *p = malloc(100000);

	memset(p, (int)(long)argument, 100000);
	argument = (void *)(long)p[99999];
	free(p);
	return argument;
}

int main(void)
{
	pthread_t threads[4];
	long sum = 0;
	FILE *file = fopen("made", "w");

	for (long i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++) {
		void *value;

		pthread_join(threads[i], &value);
		sum += (long)value;
	}
	printf("sum %ld\n", sum);
	if (file) {
		fprintf(file, "descriptor %d\n", fileno(file));
		fclose(file);
	}
	fprintf(stderr, "ended\n");
	return 3;
}
