/* spf.c - judge cases of SPF against a zone
 *
 * usage: spf ZONE < CASES
 *
 * In     ZONE: answers (origin/answers.h, answers_read_zone); a case a line:
 *        name, address, HELO, MAIL FROM, with tabs between them
 * Out    a case a line: name, result, explanation, reason
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "origin/spf/spf.h"

static void
spf_case(struct slice line, struct slice zone)
{
	struct arena *arena = arena_new();
	struct answers *answers = answers_new(arena);
	struct slice name, ip, helo;
	struct spf_ask ask = { .receiver = SLICE("receiver.test"),
	    .now_s = 1700000000 };
	struct str text = STR_INIT;
	struct err err;
	struct spf out;

	if (!slice_cut(&line, '\t', &name) || !slice_cut(&line, '\t', &ip) ||
	    !slice_cut(&line, '\t', &helo) ||
	    net_parse(ip, &ask.client, &err) != 0 ||
	    answers_read_zone(answers, zone, &err) != 0) {
		printf("BROKEN %s\n", err.text);
	} else {
		ask.helo = helo;
		ask.sender = line;
		(void)spf_judge(answers, &ask, arena, &out);
		str_add_escaped(&text, slice_of(out.reason));
		printf("%.*s\t%s\t%.*s\t%s\n", SLICE_ARG(name),
		    origin_text(out.origin), SLICE_ARG(out.exp), text.buf);
	}
	str_release(&text);
	arena_free(&arena);
}

int
main(int argc, char **argv)
{
	static char bytes[1 << 20], line[65536];
	FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
	struct slice zone = { bytes, 0 };

	if (file == NULL) {
		fprintf(stderr, "usage: spf ZONE < CASES\n");
		return 64;
	}
	zone.n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	while (fgets(line, sizeof(line), stdin) != NULL)
		spf_case(slice_first(slice_of(line), strcspn(line, "\n")),
		    zone);
	return 0;
}
