/* ask.c - router --ask: answers on stdout, as the verify process gives them
 *
 * In     questions, one a line; the configuration
 * Out    answers
 * Holds  tables and accounts it looked up
 * Trusts nobody: an address is anybody's
 * Spec   check.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/mem.h"
#include "router/ask/ask.h"
#include "router/ask/bytes.h"
#include "router/ask/check.h"
#include "router/ask/explain.h"

#include "base/banned.h"

bool
ask_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "--ask") == 0;
}

/* "way ADDRESS TAB SENDER TAB CLIENT TAB USER": the lines of `router --route
 * --json` for it, and an empty one. */
static void
ask_answer_way(struct router *router, struct arena *arena, struct slice line,
    struct str *out)
{
	struct explain_as as = { .is_json = true, .is_brief = true };
	struct slice address = line;

	if (slice_cut(&line, '\t', &address) &&
	    slice_cut(&line, '\t', &as.from) &&
	    slice_cut(&line, '\t', &as.ip))
		as.user = line;
	(void)explain_address(router, arena, &as, address, out);
}

static void
ask_answer_lines(const struct conf *conf)
{
	struct router *router = router_new(conf);
	struct arena *arena = arena_new();
	struct str out = STR_INIT;
	size_t capacity = 0;
	struct message message;
	struct slice asked;
	char *line = NULL;
	ssize_t n;

	message_init(&message);

	while ((n = getline(&line, &capacity, stdin)) > 0) {
		str_reset(&out);
		asked = slice_trim((struct slice){ line, (size_t)n });
		if (slice_starts(asked, "way "))
			ask_answer_way(router, arena, slice_from(asked, 4),
			    &out);
		else if (slice_starts(asked, "bytes "))
			bytes_answer(router, &message, slice_from(asked, 6),
			    &out);
		else
			router_check_line(router, arena, asked, &out);
		puts(out.buf);
		fflush(stdout);
		arena_reset(arena);
	}
	message_release(&message);
	mem_free(&line);
	str_release(&out);
	arena_free(&arena);
	router_free(&router);
}

int
ask_run(void)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *conf = conf_load(NULL, arena, &report);

	arena_free(&arena);
	if (conf == NULL)
		return EX_CONFIG;
	ask_answer_lines(conf);
	conf_free(&conf);
	return EX_OK;
}
