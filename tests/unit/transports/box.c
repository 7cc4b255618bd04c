/* box.c - a mailbox agent without a process, in a directory of its own
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/transports/box.h"

struct box box;

const char *
box_path_of(const char *name)
{
	static char path[8][300];
	static unsigned next;
	char *out = path[next++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", box.top, name);
	return out;
}

void
box_file_put(const char *name, const char *text)
{
	FILE *file = fopen(box_path_of(name), "w");

	cr_assert(file != NULL);
	fputs(text, file);
	fclose(file);
}

char *
box_file_get(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	if (file != NULL)
		fclose(file);
	return text;
}

unsigned
box_count_in(const char *name, char *out_path)
{
	DIR *dir = opendir(box_path_of(name));
	struct dirent *entry;
	unsigned count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (out_path != NULL)
			snprintf(out_path, 600, "%s/%s", box_path_of(name),
			    entry->d_name);
		count++;
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

void
box_body_set(const char *text)
{
	char path[] = "/tmp/zm-body-XXXXXX";

	if (box.body_fd > 0)
		close(box.body_fd);
	box.body_fd = mkstemp(path);
	unlink(path);
	cr_assert_eq(write(box.body_fd, text, strlen(text)),
	    (ssize_t)strlen(text));
	box.job.body_offset = 0;
	box.job.size_bytes = strlen(text) + box.job.header.n + 1;
}

/* returns 1 in the agent's place, ready to deliver as `kind` to name. */
void
box_start(enum conf_mailbox_kind kind, const char *name)
{
	struct err err;

	strcpy(box.top, "/tmp/zm-box-XXXXXX");
	cr_assert(mkdtemp(box.top) != NULL);
	snprintf(box.template, sizeof(box.template), "%s/%s", box.top, name);
	box.conf.host = "me.test";
	box.conf.mailbox_kind = kind;
	box.conf.mailbox_path = box.template;
	box.conf.forward_path = "";
	box.run.conf = &box.conf;
	box.run.arena = arena_new();
	box.job = (struct control_job){ .id = "01jd3x8k2mc4n7",
	    .sender = SLICE("a@src.test"),
	    .header = SLICE("Return-Path: <old@x>\nSubject: s\n"),
	    .rcpts = box.rcpts, .rcpt_count = 1 };
	for (int i = 0; i < 3; i++)
		box.rcpts[i] = (struct control_rcpt){ .channel = SLICE("local"),
		    .host = SLICE("-"), .user = SLICE("zm-alice"),
		    .uid = geteuid(), .offset = 100 + (uint32_t)i };
	box_body_set("hello\n");
	cr_assert_eq(mailbox_start(&box.run, &err), 0);
}

void
box_deliver(void)
{
	mailbox_job(&box.run, &box.job, box.body_fd, box.verdicts);
	mailbox_settle(&box.run);
}

void
box_finish(void)
{
	char command[200];

	mailbox_finish(&box.run);
	arena_free(&box.run.arena);
	snprintf(command, sizeof(command), "rm -rf '%s'", box.top);
	cr_expect_eq(system(command), 0);
}
