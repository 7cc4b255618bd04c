/* arc.c - judge the chains of message files against a zone
 *
 * usage: arc ZONE FILE...
 *
 * In     ZONE: answers (origin/answers.h, answers_read_zone)
 * Out    a message a line: file, result, how many sets, reason
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/arc/arc.h"

static struct slice
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

static void
arc_file(const char *path, struct slice zone)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct str text = STR_INIT;
	struct arc out;
	struct err err;

	if (answers_read_zone(answers, zone, &err) != 0) {
		printf("BROKEN %s\n", err.text);
	} else {
		(void)arc_judge(answers, file_read(path), 0, arena, &out);
		str_add_escaped(&text, slice_of(out.reason));
		printf("%s\t%s\t%zu\t%s\n", path, origin_text(out.origin),
		    out.count, text.buf);
	}
	str_release(&text);
	arena_free(&arena);
}

int
main(int argc, char **argv)
{
	static char zone[1 << 20];
	struct slice text;

	if (argc < 2) {
		fprintf(stderr, "usage: arc ZONE FILE...\n");
		return 64;
	}
	text = file_read(argv[1]);
	if (text.n > sizeof(zone))
		return 65;
	memcpy(zone, text.p, text.n);
	text.p = zone;
	for (int i = 2; i < argc; i++)
		arc_file(argv[i], text);
	return 0;
}
