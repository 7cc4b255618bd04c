/* ask.c - a verb has itself answered
 *
 * In     a command line
 * Out    what the process that answers says; its exit status
 * Holds  a connection and two pipes while it waits
 * Spec   answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "io/ipc.h"
#include "io/unix_socket.h"
#include "tools/answers/answers.h"

#include "base/banned.h"

enum { ASK_STATUS, ASK_OUT, ASK_ERR, ASK_ENDS, PIECE_BYTES = 65536 };

static int
answers_send(int fd, const char *const *words, const int ends[2],
    struct err *err)
{
	struct str line = STR_INIT;
	int result = 0;

	for (size_t i = 0; words[i] != NULL; i++) {
		str_adds(&line, words[i]);
		str_addc(&line, '\0');
	}
	if (memchr(line.buf, '\n', line.len) != NULL ||
	    line.len >= ANSWERS_BYTES_MAX)
		result = err_set(err, "the words are too long, or more than "
		    "one line");
	str_addc(&line, '\n');
	if (result == 0 && ipc_send(fd, str_slice(&line), ends, 2) < 0)
		result = err_sys(err, "ask who answers");
	str_release(&line);
	return result;
}

/* To a file, or into a text that is not NULL.  False: it is at its end. */
static bool
answers_copy(int from, FILE *to, struct str *into)
{
	char piece[PIECE_BYTES];
	ssize_t n = read(from, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return true;
	if (n > 0 && into != NULL)
		str_add(into, piece, (size_t)n);
	else if (n > 0 && (fwrite(piece, 1, (size_t)n, to) != (size_t)n ||
	    fflush(to) != 0))
		return false;		/* nobody reads it */
	return n > 0;
}

/* Whatever is said, until both pipes and the connection are at their end.
 * returns the exit status, -1: none came. */
static int
answers_hear(struct pollfd fds[ASK_ENDS], struct str *out)
{
	char status[32] = "";
	size_t have = 0;
	int left = ASK_ENDS;
	unsigned number;

	while (left > 0) {
		if (poll(fds, ASK_ENDS, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < ASK_ENDS; i++) {
			ssize_t n;

			if (fds[i].fd < 0 || fds[i].revents == 0)
				continue;
			if (i != ASK_STATUS && answers_copy(fds[i].fd,
			    i == ASK_OUT ? stdout : stderr,
			    i == ASK_OUT ? out : NULL))
				continue;
			n = i != ASK_STATUS ? 0 : read(fds[i].fd,
			    status + have, sizeof(status) - 1 - have);
			if (n > 0) {
				have += (size_t)n;
				continue;
			}
			close(fds[i].fd);
			fds[i].fd = -1;
			left--;
		}
	}
	return sscanf(status, "exit %u", &number) == 1 && number < 256 ?
	    (int)number : -1;
}

static int
answers_ask(int fd, const char *const *words, struct str *collected)
{
	int out[2] = { -1, -1 }, said[2] = { -1, -1 }, status;
	struct err err;

	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0) {
		err_sys(&err, "pipe");
		return verb_failed(words[0], &err, EX_UNAVAILABLE);
	}
	if (answers_send(fd, words, (int[]){ out[1], said[1] }, &err) < 0)
		return verb_failed(words[0], &err, EX_UNAVAILABLE);
	close(out[1]);
	close(said[1]);
	status = answers_hear((struct pollfd[ASK_ENDS]){
	    [ASK_STATUS] = { .fd = fd, .events = POLLIN },
	    [ASK_OUT] = { .fd = out[0], .events = POLLIN },
	    [ASK_ERR] = { .fd = said[0], .events = POLLIN } }, collected);
	if (status >= 0)
		return status;
	fprintf(stderr, "zmailer: %s: the answer was cut off: too many ask "
	    "at once, or it took more than %d s\n", words[0],
	    ANSWERS_FOR_S);
	return EX_TEMPFAIL;
}

bool
answers_collect(const struct conf *conf, const char *dir,
    const char *const *words, struct str *out, int *out_status)
{
	struct err err;
	int fd;

	if (answers_asker() != NULL || geteuid() == 0 ||
	    access(dir, R_OK | X_OK) == 0 || errno != EACCES)
		return false;
	fd = unix_socket_connect_in(conf->run_dir, ANSWERS_NAME, 0, &err);
	if (fd < 0)
		return false;
	*out_status = answers_ask(fd, words, out);
	return true;
}

bool
answers_have(const struct conf *conf, const char *dir,
    const struct arguments *arguments, int *out_status)
{
	return answers_collect(conf, dir,
	    (const char *const *)arguments->argv, NULL, out_status);
}
