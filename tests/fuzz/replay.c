/* SPDX-License-Identifier: BSD-3-Clause
 * replay - reads inputs again that a fuzzer found: files, or all files of folders; prints how many
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

/* For harnesses that have a mutator: nothing is changed here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data;
	(void)max;
	return size;
}

static int one(const char *path)
{
	FILE *file = fopen(path, "rbe");
	struct stat st;

	if (!file || stat(path, &st)) {
		perror(path);
		return -1;
	}
	uint8_t *data = malloc((size_t)st.st_size + 1);
	size_t n = fread(data, 1, (size_t)st.st_size, file);
	fclose(file);
	/* exactly its own size, so that one byte too many is seen */
	uint8_t *exact = malloc(n ? n : 1);
	for (size_t i = 0; i < n; i++)
		exact[i] = data[i];
	free(data);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	int n = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		if (!dir) {
			if (one(argv[i]))
				return 1;
			n++;
			continue;
		}
		for (struct dirent *e; (e = readdir(dir));) {
			snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
			if (e->d_name[0] != '.') {
				if (one(path))
					return 1;
				n++;
			}
		}
		closedir(dir);
	}
	printf("%d inputs\n", n);
	return 0;
}
