/* client_lab.h - a client, a scripted server and a message, for tests of the
 * client; each test program has one of each
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_CLIENT_LAB_H
#define ZM_TESTS_CLIENT_LAB_H

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/transports/script.h"
#include "transports/smtp/client.h"

#define LAB static __attribute__((unused))

enum {
	RCPTS_MAX = 1001,
	ANSWER_MS = 20000	/* an answer that comes: on any machine */
};

LAB struct conf conf = {
	.host = "me.test",
	.timeouts = {
		.connect_ms = ANSWER_MS, .greeting_ms = ANSWER_MS,
		.helo_ms = ANSWER_MS, .mail_ms = ANSWER_MS,
		.rcpt_ms = ANSWER_MS, .data_start_ms = ANSWER_MS,
		.data_block_ms = ANSWER_MS, .data_end_ms = ANSWER_MS,
		.quit_ms = 500,		/* nothing hangs on its answer */
	},
};

LAB struct smtp_client client;
LAB struct arena *arena;
LAB struct control_job job;
LAB struct control_rcpt rcpts[RCPTS_MAX];
LAB struct verdict verdicts[RCPTS_MAX];
LAB struct script script;
LAB int body_fd;
LAB char host[64];

LAB void
body_set(const char *bytes, size_t n)
{
	char path[] = "/tmp/zm-client-XXXXXX";

	if (body_fd > 0)
		close(body_fd);
	body_fd = mkstemp(path);
	cr_assert_geq(body_fd, 0);
	unlink(path);
	cr_assert_eq(write(body_fd, bytes, n), (ssize_t)n);
}

LAB void
setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	arena = arena_new();
	client_init(&client, &conf, false);
	body_set("envelope\nhello\n", 15);
	job = (struct control_job){
		.sender = SLICE("a@src.test"),
		.header = SLICE("Subject: s\n"),
		.body_offset = 9, .size_bytes = 18, .rcpts = rcpts,
		.rcpt_count = 1,
	};
	for (size_t i = 0; i < RCPTS_MAX; i++) {
		rcpts[i] = (struct control_rcpt){ .offset = (uint32_t)i };
		rcpts[i].user = slice_of(arena_printf(arena, "r%zu@x.test", i));
	}
}

LAB void
teardown(void)
{
	client_release(&client);
	arena_free(&arena);
	close(body_fd);
	body_fd = 0;
}

LAB void
listen_to(const char *text)
{
	script_start(&script, text);
	snprintf(host, sizeof(host), "[127.0.0.1]:%u", script.port);
	job.host = slice_of(host);
}

LAB void
deliver(size_t count)
{
	job.rcpt_count = count;
	for (size_t i = 0; i < count; i++)
		verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.9.9", "test",
		    "untouched");
	client_deliver(&client, arena, &job, body_fd, verdicts);
}

LAB void
end(void)
{
	client_release(&client);
	script_join(&script);
}

/* One pipelined transaction of so many recipients; the answer to its dot. */
LAB void
transaction_add(struct str *text, int count, int part)
{
	str_adds(text, "< MAIL\n");
	for (int i = 0; i < count; i++)
		str_adds(text, "< RCPT\n");
	str_adds(text, "< DATA\n> 250 mail\n");
	for (int i = 0; i < count; i++)
		str_adds(text, "> 250 rcpt\n");
	str_addf(text, "> 354 go\n.\n> 250 part %d\n", part);
}

/* The first recipient's verdict; words: how its text begins. */
LAB void
expect_verdict(const char *name, enum verdict_kind kind, const char *status,
    const char *words)
{
	cr_expect_eq(verdicts[0].kind, kind, "%s: %s %s", name,
	    verdict_names[verdicts[0].kind], verdicts[0].text);
	cr_expect_str_eq(verdicts[0].status, status, "%s: %s", name,
	    verdicts[0].text);
	cr_expect(slice_starts(slice_of(verdicts[0].text), words), "%s: %s",
	    name, verdicts[0].text);
}

#define HELLO "> 220 mx.test\n< EHLO me.test\n> 250 mx.test\n"
#define PIPE_HELLO \
	"> 220 mx.test\n< EHLO me.test\n> 250-mx.test\n> 250 PIPELINING\n"
#define OK_TO(command) "< " command "\n> 250 ok\n"

#endif
