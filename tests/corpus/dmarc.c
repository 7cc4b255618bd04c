/* dmarc.c - judge DMARC of what SPF and DKIM are said to have found
 *
 * usage: dmarc ZONE < ROWS
 *
 * In     ZONE: answers (origin/answers.h, answers_read_zone); a row a line,
 *        its words parted by a blank: domain of From, SPF's result and domain,
 *        DKIM's result and domain ("-": none)
 * Out    a row a line: result, policy, whether DKIM and SPF are aligned,
 *        where the record is ("-": nowhere)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/dmarc/dmarc.h"

enum { WORDS = 5 };

static size_t
row_words(char *line, struct slice words[WORDS])
{
	size_t n = 0;

	for (char *word = strtok(line, " \n"); word != NULL && n < WORDS;
	     word = strtok(NULL, " \n"))
		words[n++] = slice_of(strcmp(word, "-") == 0 ? "" : word);
	return n;
}

static int
row_judge(struct answers *answers, const struct slice words[WORDS])
{
	struct arena *arena = arena_new();
	struct spf spf = { .domain = words[2] };
	struct dkim dkim = { .domain = words[4] };
	struct dmarc out;
	int result = -1;

	if (origin_of_text(words[1], &spf.origin) &&
	    origin_of_text(words[3], &dkim.origin)) {
		(void)dmarc_judge(answers, words[0], &spf, &dkim, 1, arena,
		    &out);
		printf("%s %s %d %d ", origin_text(out.origin),
		    dmarc_policy_text(out.asked), out.is_dkim_aligned,
		    out.is_spf_aligned);
		if (out.record_at.n == 0)
			printf("-");
		printf("%.*s\n", SLICE_ARG(out.record_at));
		result = 0;
	}
	arena_free(&arena);
	return result;
}

int
main(int argc, char **argv)
{
	static char zone[1 << 20], line[1024];
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct slice words[WORDS], text = { zone, 0 };
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	struct err err;
	int status = 0;

	if (file == NULL) {
		fprintf(stderr, "usage: dmarc ZONE < ROWS\n");
		return 64;
	}
	text.n = fread(zone, 1, sizeof(zone), file);
	fclose(file);
	if (answers_read_zone(answers, text, &err) != 0) {
		fprintf(stderr, "dmarc: %s\n", err.text);
		return 65;
	}
	while (status == 0 && fgets(line, sizeof(line), stdin) != NULL)
		if (row_words(line, words) != WORDS ||
		    row_judge(answers, words) != 0) {
			fprintf(stderr, "dmarc: not a row\n");
			status = 65;
		}
	arena_free(&arena);
	return status;
}
