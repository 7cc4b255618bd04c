/* fuzz_message_file.c - a whole message file through the router's pure part
 *
 * What can be planned must be a control file that reads back as it was
 * meant: no byte of a message can make a line of it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>

#include "router/message/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char conf_text[] = "host mx.test\n"
    "table aliases {\n"
    "\tteam ann, b@far.test, |/bin/cat\n"
    "\towner-team boss\n"
    "\ta b\n"
    "\tb a\n"
    "\t@all.test @far.test\n"
    "}\n"
    "table routes { .old.test error!gone  away\n gate.test smtp!relay }\n"
    "domain mx.test all.test { users any }\n"
    "routes <routes>\n"
    "header-repair own\n"
    "limit expansion 100\nlimit received 5\nlimit header 4K\n";

static struct router *
the_router(void)
{
	static struct router *router;
	struct conf_report report;
	struct arena *arena;
	struct conf *conf;

	if (router != NULL)
		return router;
	arena = arena_new();
	conf = conf_parse("fuzz", SLICE(conf_text), arena, &report);
	if (conf == NULL) {
		struct str text = STR_INIT;

		conf_report_print(&report, "fuzz", &text);
		fputs(text.buf, stderr);
		abort();
	}
	arena_free(&arena);
	router = router_new(conf);
	return router;
}

/* "-" stands for an empty field: a user of that name is written in quotes. */
static bool
is_user_meant(struct slice meant, struct slice read)
{
	return slice_equal(meant, read) ||
	    (slice_is(meant, "-") && slice_is(read, "\"-\""));
}

/* Each recipient that reads back is one that was meant. */
static bool
is_placed(const struct rcpts *rcpts, const struct control_rcpt *rcpt)
{
	for (size_t i = 0; i < rcpts->held; i++)
		if (is_user_meant(rcpts->list[i].user, rcpt->user) &&
		    slice_equal(rcpts->list[i].channel, rcpt->channel))
			return true;
	return rcpts->is_streaming;
}

static void
check(struct message *message, struct slice file)
{
	struct arena *arena = arena_new();
	struct control_file control;
	struct err err;
	size_t rcpts = 0;

	if (control_file_parse(arena, str_slice(&message->control_text),
	    &control, &err) !=
	    0)
		abort();
	for (size_t i = 0; i < control.group_count; i++)
		rcpts += control.groups[i].rcpt_count;
	if (rcpts != message->rcpts.count || rcpts == 0 ||
	    control.body_offset > file.n)
		abort();
	for (size_t i = 0; i < control.group_count; i++) {
		struct control_group *group = &control.groups[i];

		if (!slice_equal(group->header, str_slice(&message->header)))
			abort();
		for (size_t k = 0; k < group->rcpt_count; k++)
			if (!is_placed(&message->rcpts, &group->rcpts[k]))
				abort();
	}
	arena_free(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct message message;
	struct slice file = { (const char *)data, size };
	struct err err;

	if (message.arena == NULL)
		message_init(&message);
	message_reset(&message);
	if (message_route(&message, the_router(), file, 4711, NULL, &err) ==
	    MESSAGE_ROUTED)
		check(&message, file);
	return 0;
}
