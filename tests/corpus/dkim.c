/* dkim.c - judge the signatures of message files against a zone
 *
 * usage: dkim ZONE FILE...
 *
 * In     ZONE: answers (origin/answers.h, answers_read_zone)
 * Out    a signature a line: file, result, algorithm, reason
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/dkim/dkim.h"

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
dkim_file(const char *path, struct slice zone)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct dkim out[DKIM_SIGNATURES_MAX];
	struct str text = STR_INIT;
	size_t n = 0, found;
	struct err err;

	if (answers_read_zone(answers, zone, &err) != 0)
		printf("BROKEN %s\n", err.text);
	else
		(void)dkim_judge(answers, file_read(path), 0, arena, out, &n,
		    &found);
	for (size_t i = 0; i < n; i++) {
		str_reset(&text);
		str_add_escaped(&text, out[i].algorithm);
		str_addc(&text, '\t');
		str_add_escaped(&text, slice_of(out[i].reason));
		printf("%s\t%s\t%s\n", path, origin_text(out[i].origin),
		    text.buf);
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
		fprintf(stderr, "usage: dkim ZONE FILE...\n");
		return 64;
	}
	text = file_read(argv[1]);
	if (text.n > sizeof(zone))
		return 65;
	memcpy(zone, text.p, text.n);
	text.p = zone;
	for (int i = 2; i < argc; i++)
		dkim_file(argv[i], text);
	return 0;
}
