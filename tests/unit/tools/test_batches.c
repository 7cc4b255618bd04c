/* test_batches.c - an order about thousands is given in batches of one pace
 *
 * The scheduler is the test's: it notes each request and answers as
 * doc/protocol/control.md has it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/json.h"
#include "mail/control_file/control_file.h"
#include "spool_case.h"

enum { MESSAGES = 2300, BATCHES = 3, UNTIL_S = 2000000000, STEP_S = 7 };

TestSuite(batches, .init = case_open, .fini = case_close, .timeout = 120);

/* ---- a scheduler ------------------------------------------------- */

static void
line_answer(int fd, const char *line, int notes)
{
	static int count;
	char text[256];
	int n = snprintf(text, sizeof(text), "\n");

	if (line[0] == '{') {
		dprintf(notes, "%s\n", line);
		n = snprintf(text, sizeof(text), "{\"done\":true,\"op\":"
		    "\"retry\",\"messages\":1,\"recipients\":1,\"until\":%d}"
		    "\n\n", UNTIL_S + STEP_S * count++);
	}
	if (write(fd, text, (size_t)n) != n)
		_exit(1);
}

static void
serve(int listener, int notes)
{
	char line[65536];

	for (;;) {
		int fd = accept(listener, NULL, NULL);
		FILE *file = fdopen(fd, "r");

		while (file != NULL && fgets(line, sizeof(line), file)) {
			line[strcspn(line, "\n")] = '\0';
			line_answer(fd, line, notes);
		}
		if (file != NULL)
			fclose(file);
	}
}

static pid_t
scheduler_start(FILE *notes)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	(void)mkdir(in.run, 0755);
	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%.90s/scheduler.sock", in.run);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	cr_assert_eq(listen(listener, 5), 0);
	pid = fork();
	if (pid == 0)
		serve(listener, fileno(notes));
	close(listener);
	return pid;
}

/* ---- its mail ---------------------------------------------------- */

static void
message_make(void)
{
	static const char text[] = "from <a@src.test>\nto <b@far.test>\n"
	    "env-end\n\nx\n";
	struct control_rcpt rcpt = { .channel = SLICE("smtp"),
	    .host = SLICE("far.test"), .user = SLICE("b@far.test"),
	    .uid = -2 };
	struct control_group group = { .sender = SLICE("a@src.test"),
	    .rcpts = &rcpt, .rcpt_count = 1 };
	struct control_file control = { .groups = &group, .group_count = 1,
	    .errors_to = SLICE("a@src.test") };
	struct draft draft, *one = &draft;
	struct str plan = STR_INIT;
	struct claim claim;
	char line[64];
	struct err err;

	cr_assert_eq(draft_open(spool, NULL, &draft, &err), 0);
	snprintf(line, sizeof(line), "id %s\n", draft.id);
	draft_write(&draft, line, strlen(line), &err);
	draft_write(&draft, text, sizeof(text) - 1, &err);
	cr_assert_eq(draft_sync(&one, 1, &err), 1);
	strlcpy(control.id, draft.id, sizeof(control.id));
	control.inode = draft.inode;
	control.body_offset = DRAFT_FIRST_LINE_BYTES + strlen(line) +
	    sizeof(text) - 1 - 2;
	cr_assert_eq(control_file_format(&control, &plan, &err), 0, "%s",
	    err.text);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0);
	snprintf(line, sizeof(line), "%ju", (uintmax_t)control.inode);
	cr_assert_eq(spool_claim(spool, 0, line, &claim, &err), 1);
	cr_assert_eq(spool_route(spool, &claim, str_slice(&plan), &err), 0);
	str_release(&plan);
}

static unsigned
ids_in(const char *line)
{
	const char *list = strstr(line, "\"ids\":");
	unsigned count = 1;

	cr_assert_not_null(list, "%.200s", line);
	for (const char *p = list; *p != '\0' && *p != ']'; p++)
		count += *p == ',';
	return count;
}

Test(batches, each_begins_where_the_one_before_it_ends)
{
	static const unsigned want[BATCHES] = { 1000, 1000, 300 };
	FILE *notes = tmpfile();
	static char line[65536];
	pid_t pid;

	for (int i = 0; i < MESSAGES; i++)
		message_make();
	pid = scheduler_start(notes);
	expect(WORDS("retry", "--yes", "--per-second", "100",
	    "from:@src.test", "state!=held"), EX_OK, "due now");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rewind(notes);
	for (int i = 0; i < BATCHES; i++) {
		cr_assert_not_null(fgets(line, sizeof(line), notes), "%d", i);
		cr_expect_eq(ids_in(line), want[i], "%d", i);
		cr_expect_eq(json_get_number(slice_of(line), "per_second"),
		    100);
		cr_expect_eq(json_get_number(slice_of(line), "start"),
		    i == 0 ? 0 : UNTIL_S + STEP_S * (i - 1), "%d", i);
	}
	cr_expect_null(fgets(line, sizeof(line), notes), "%s", line);
	fclose(notes);
}
