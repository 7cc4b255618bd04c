/* test_sink.c - the sink takes everything, and fails as it is asked to
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/zmailer/sink/sink.h"

static struct sink sink;
static unsigned port;
static int listener;
static pid_t pid;

static void
on_client(void *context, unsigned ready)
{
	sink_accept(&sink, listener);
}

static void
on_term(void *context)
{
	loop_stop(sink.loop);
}

/* The sink in a process of its own. */
static void
start(void)
{
	struct err err;

	listener = sink_listen(0, &port, &err);
	cr_assert_geq(listener, 0, "%s", err.text);
	pid = fork();
	if (pid == 0) {
		struct watch *watch;

		signal(SIGPIPE, SIG_IGN);
		sink.loop = loop_new();
		watch = loop_watch(sink.loop, listener, LOOP_READ, on_client,
		    NULL);
		loop_signal(sink.loop, SIGTERM, on_term, NULL);
		loop_run(sink.loop);
		watch_free(&watch);
		sink_release(&sink);
		loop_free(&sink.loop);
		_exit((int)sink.messages);
	}
	close(listener);
}

/* returns how many messages it had taken. */
static int
stop(void)
{
	int status;

	kill(pid, SIGTERM);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "the sink died: %x", (unsigned)status);
	return WEXITSTATUS(status);
}

static int
client(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct timeval patience = { 60, 0 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	cr_assert_eq(connect(fd, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	return fd;
}

/* Say all of text, hear all of the answer. */
static char *
talk(const char *text)
{
	static char heard[65536];
	size_t n = 0;
	ssize_t got;
	int fd = client();

	cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
	do {
		got = recv(fd, heard + n, sizeof(heard) - 1 - n, 0);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
	heard[n] = '\0';
	return heard;
}

#define TO(local) "EHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<" local "@c>\r\n"
#define MESSAGE "DATA\r\nSubject: s\r\n\r\n..hello\r\n.\r\nQUIT\r\n"

static const struct { const char *say, *hear; } rows[] = {
	{ TO("bob") MESSAGE, "250 2.1.0 ok\r\n250 2.1.5 ok\r\n"
	    "354 end with a dot\r\n250 2.0.0 sink took it as 1\r\n221 " },
	{ TO("550") "QUIT\r\n", "550 5.0.0 refused" },
	{ TO("450") "QUIT\r\n", "450 4.0.0 refused" },
	{ TO("421") "QUIT\r\n", "421 4.0.0 the sink closes" },
	{ TO("drop") "QUIT\r\n", "250 2.1.0 ok\r\n" },
	{ TO("slow") "QUIT\r\n", "250 2.1.5 ok, at last\r\n221 " },
	{ TO("greylist") "RCPT TO:<greylist@c>\r\nRCPT TO:<greylist@d>\r\n"
	    "QUIT\r\n", "450 4.7.1 greylisted, come again\r\n"
	    "250 2.1.5 ok\r\n450 4.7.1 greylisted" },
	{ TO("data-554") MESSAGE, "554 5.0.0 refused after all" },
	{ TO("data-drop") MESSAGE, "354 end with a dot\r\n" },
	{ "RCPT TO:<a@b>\r\nQUIT\r\n", "503 5.5.1 MAIL" },
	{ "MAIL FROM:<a@b>\r\nMAIL FROM:<a@b>\r\nQUIT\r\n", "503 5.5.1 there" },
	{ "MAIL FROM:a@b>\r\nQUIT\r\n", "501 5.1.3" },
	{ "MAIL FROM:<a@b>\r\nDATA\r\nQUIT\r\n", "554 5.5.1" },
	{ "WHAT\r\nQUIT\r\n", "500 5.5.1" },
	{ "\x01\x02\r\nQUIT\r\n", "500 5.5.2" },
};

Test(sink, does_as_it_is_told)
{
	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *heard = talk(rows[i].say);

		cr_expect(strstr(heard, rows[i].hear), "%s\n%s", rows[i].say,
		    heard);
	}
	cr_expect_eq(stop(), 2);	/* bob's, and the one not owned up to */
}

Test(sink, timeout_never_answers_again)
{
	static const char text[] = TO("timeout") "RSET\r\nNOOP\r\n";
	char heard[4096];
	ssize_t got, n = 0;
	int fd;

	start();
	fd = client();
	cr_assert_gt(send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL), 0);
	shutdown(fd, SHUT_WR);
	do {
		got = recv(fd, heard + n, sizeof(heard) - 1 - (size_t)n, 0);
		n += got > 0 ? got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	heard[n] = '\0';
	cr_expect(strstr(heard, "250 2.1.0 ok\r\n"));
	cr_expect(strstr(heard, "2.1.5") == NULL);
	cr_expect(strstr(heard, "2.0.0") == NULL);
	close(fd);
	stop();
}

Test(sink, lmtp_answers_for_each)
{
	const char *heard;

	sink.is_lmtp = true;
	start();
	heard = talk("LHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<bob@c>\r\n"
	    "RCPT TO:<data-452@c>\r\nRCPT TO:<eve@c>\r\n" MESSAGE);
	cr_expect(strstr(heard, "250 2.0.0 sink took it as 1\r\n"
	    "452 4.0.0 refused after all, as asked\r\n"
	    "250 2.0.0 sink took it as 1\r\n"), "%s", heard);
	stop();
}

Test(sink, saves_what_it_takes)
{
	char top[] = "/tmp/zm-sink-XXXXXX", path[100], text[200] = "";
	FILE *file;

	cr_assert(mkdtemp(top) != NULL);
	sink.dir = top;
	start();
	talk(TO("bob") MESSAGE);
	talk(TO("data-554") MESSAGE);
	stop();
	snprintf(path, sizeof(path), "%s/000001.eml", top);
	file = fopen(path, "r");
	cr_assert(file != NULL);
	cr_expect_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	cr_expect_str_eq(text, "Subject: s\n\n.hello\n");
	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(rmdir(top), 0, "something else was left");
}

Test(sink, an_endless_line_ends_the_session)
{
	static char line[100000];
	char heard[1000];
	ssize_t n = 0, got;
	int fd;

	start();
	memset(line, 'x', sizeof(line));
	fd = client();
	(void)send(fd, line, sizeof(line), MSG_NOSIGNAL);
	while ((got = recv(fd, heard + n, sizeof(heard) - (size_t)n, 0)) > 0)
		n += got;
	cr_expect_leq(got, 0);
	close(fd);
	cr_expect(strstr(talk("QUIT\r\n"), "221 "));
	stop();
}
