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

#include "base/mem.h"
#include "origin/arc/arc.h"
#include "tests/corpus/judge_files.h"

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
	return judge_files(argc, argv, arc_file);
}
