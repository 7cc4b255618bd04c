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

#include "base/mem.h"
#include "origin/dkim/dkim.h"
#include "tests/corpus/judge_files.h"

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
		(void)dkim_judge(answers, &(struct dkim_ask){
		    .message = file_read(path) }, arena, out, &n, &found);
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
	return judge_files(argc, argv, dkim_file);
}
