/* judge_files.h - a program that judges message files against a zone
 *
 * usage: PROGRAM ZONE FILE...
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_CORPUS_JUDGE_FILES_H
#define ZM_TESTS_CORPUS_JUDGE_FILES_H

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* The bytes of a file, at most 4 MiB, until the next call; none if it cannot
 * be read. */
static inline struct slice
file_read(const char *path)
{
	static char bytes[4 << 20];
	FILE *file = fopen(path, "r");
	struct slice text = { bytes, 0 };

	if (file == NULL)
		return text;
	text.n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return text;
}

/* Judge each file of the command line.  Returns the exit status. */
static inline int
judge_files(int argc, char **argv,
    void (*judge)(const char *path, struct slice zone))
{
	static char zone[1 << 20];
	struct slice text;

	if (argc < 2) {
		fprintf(stderr, "usage: %s ZONE FILE...\n", argv[0]);
		return 64;
	}
	text = file_read(argv[1]);
	if (text.n > sizeof(zone))
		return 65;
	memcpy(zone, text.p, text.n);
	text.p = zone;
	for (int i = 2; i < argc; i++)
		judge(argv[i], text);
	return 0;
}

#endif
