/* dkim2.c - judge the chain of a message file against a zone
 *
 * usage: dkim2 ZONE FILE NOW strict|lenient SENDER RCPT...
 *
 * In     ZONE: answers (origin/answers.h, answers_read_zone); NOW: seconds;
 *        SENDER, RCPT: without <>, "" is the null one
 * Out    one line: result, hops, the oldest revision whose body is known,
 *        reason
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/dkim2/dkim2.h"

enum { ARG_ZONE = 1, ARG_FILE, ARG_NOW, ARG_STRICT, ARG_SENDER, ARG_RCPTS };

static bool
file_read(const char *path, struct str *out)
{
	FILE *file = fopen(path, "r");
	char bytes[65536];
	size_t n;

	if (file == NULL)
		return false;
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		str_add(out, bytes, n);
	fclose(file);
	return true;
}

static void
dkim2_say(const struct dkim2 *out)
{
	struct str text = STR_INIT;

	str_add_escaped(&text, slice_of(out->reason));
	printf("%s\t%zu\t%u\t%s\n", origin_text(out->origin), out->count,
	    out->body_from, text.buf);
	str_release(&text);
}

int
main(int argc, char **argv)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct str zone = STR_INIT, message = STR_INIT;
	struct slice rcpts[64];
	struct dkim2_mail mail = { .has_sender = true, .rcpts = rcpts };
	struct dkim2 out;
	uint64_t now_s;
	struct err err;

	if (argc <= ARG_RCPTS || argc - ARG_RCPTS > 64 ||
	    !slice_number(slice_of(argv[ARG_NOW]), 0, INT64_MAX, &now_s) ||
	    !file_read(argv[ARG_ZONE], &zone) ||
	    !file_read(argv[ARG_FILE], &message)) {
		fprintf(stderr, "usage: dkim2 ZONE FILE NOW strict|lenient "
		    "SENDER RCPT...\n");
		return 64;
	}
	if (answers_read_zone(answers, str_slice(&zone), &err) != 0) {
		printf("BROKEN %s\n", err.text);
		return 1;
	}
	mail.message = str_slice(&message);
	mail.received_s = (int64_t)now_s;
	mail.is_lenient = strcmp(argv[ARG_STRICT], "lenient") == 0;
	mail.sender = slice_of(argv[ARG_SENDER]);
	for (int i = ARG_RCPTS; i < argc; i++)
		rcpts[mail.rcpt_count++] = slice_of(argv[i]);
	(void)dkim2_judge(answers, &mail, arena, &out);
	dkim2_say(&out);
	str_release(&zone);
	str_release(&message);
	arena_free(&arena);
	return 0;
}
