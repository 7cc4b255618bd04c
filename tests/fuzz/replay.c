/* replay.c - run a fuzz target over files, without a fuzzer
 *
 * In     files and directories named on the command line
 * Out    one line: how many inputs were run; exit 1 when there were none
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned inputs;

static void
run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, got;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	do {
		data = realloc(data, size + 65536);
		if (data == NULL)
			exit(1);
		got = fread(data + size, 1, 65536, file);
		size += got;
	} while (got > 0);
	fclose(file);
	/* an exact-size copy, so that a read after the end is seen */
	uint8_t *exact = malloc(size ? size : 1);
	if (exact == NULL)
		exit(1);
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	inputs++;
}

static void
run_path(const char *path)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (stat(path, &st) != 0) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		run_path(name);
	}
	if (dir != NULL)
		closedir(dir);
}

int
main(int argc, char **argv)
{
	const char *src = getenv("ZMAILER_SRC");
	const char *name = strrchr(argv[0], '/');
	char path[4096];

	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (argc == 1 && src != NULL) {
		name = name ? name + 1 : argv[0];
		snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", src,
		    strncmp(name, "fuzz-", 5) == 0 ? name + 5 : name);
		run_path(path);
	}
	printf("%s: %u inputs\n", argv[0], inputs);
	return inputs == 0;
}
