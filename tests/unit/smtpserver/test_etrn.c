/* test_etrn.c - the helper that tells the scheduler to start a queue
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "smtpserver/helper/etrn.h"

#include "base/banned.h"

static char dir[64];

/* A scheduler for one request: keeps it in a file, says answer. */
static pid_t
scheduler(const char *answer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char line[512];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), peer;
	ssize_t n;
	pid_t pid;

	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/scheduler.sock", dir);
	unlink(address.sun_path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)),
	    0);
	cr_assert_eq(listen(fd, 1), 0);
	pid = fork();
	if (pid == 0) {
		peer = accept(fd, NULL, NULL);
		n = recv(peer, line, sizeof(line) - 1, 0);
		line[n > 0 ? n : 0] = '\0';
		if (strcmp(line, "{\"v\":1,\"op\":\"etrn\","
		    "\"host\":\"@example.net\"}\n") != 0)
			_exit(1);
		(void)!write(peer, answer, strlen(answer));
		close(peer);
		_exit(0);
	}
	close(fd);
	return pid;
}

static void
dir_make(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/etrn.XXXXXX", base ? base : "/tmp");
	cr_assert_not_null(mkdtemp(dir));
}

static void
dir_remove(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/scheduler.sock", dir);
	unlink(path);
	rmdir(dir);
}

Test(etrn, answers, .init = dir_make, .fini = dir_remove)
{
	static const struct {
		const char	*answer;
		bool		 want;
		const char	*text;
	} rows[] = {
		{ "{\"done\":true,\"op\":\"etrn\",\"destinations\":1,"
		    "\"messages\":3,\"known\":true}\n\n", true, "started 3" },
		{ "{\"done\":true,\"op\":\"etrn\",\"destinations\":1,"
		    "\"messages\":3,\"suspended\":3,\"known\":true}\n\n",
		    true, "suspended" },
		{ "{\"done\":true,\"op\":\"etrn\",\"destinations\":1,"
		    "\"messages\":3,\"suspended\":1,\"known\":true}\n\n",
		    true, "started 3" },
		{ "{\"done\":true,\"op\":\"etrn\",\"destinations\":0,"
		    "\"messages\":0,\"known\":false}\n\n", true, "none" },
		{ "{\"error\":\"you may not\",\"code\":\"denied\"}\n\n", false,
		    "you may not" },
		{ "hello\n\n", false, "the scheduler talks nonsense" },
		{ "\n\n", false, "the scheduler talks nonsense" },
		{ "{\"done\":true", false, "the scheduler has closed" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT;
		pid_t pid = scheduler(rows[i].answer);
		int status;

		cr_expect_eq(etrn_ask(dir, SLICE("@example.net"), &text),
		    rows[i].want, "%s", rows[i].answer);
		cr_expect_str_eq(text.buf, rows[i].text);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_expect_eq(status, 0, "not what was to be asked");
		str_release(&text);
	}
}

Test(etrn, nobody_there, .init = dir_make, .fini = dir_remove)
{
	struct str text = STR_INIT;

	cr_expect_not(etrn_ask(dir, SLICE("example.net"), &text));
	cr_expect_not_null(strstr(text.buf, "No such file"), "%s", text.buf);
	str_release(&text);
}
