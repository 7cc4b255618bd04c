/* remote.c - a verb that runs at another node
 *
 * In     words; frames
 * Out    what the verb says, and its exit status
 * Holds  a connection
 * Trusts nothing: a frame is bounded, and shorter than it says is the end; all
 *        of it has a deadline
 * Spec   doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/nodes_ask.h"
#include "tools/nodes/internal.h"

#include "base/banned.h"

static int
remote_send(int fd, const char *const *words, struct err *err)
{
	struct str line = STR_INIT;
	int result = 0;

	for (size_t i = 0; words[i] != NULL; i++) {
		str_adds(&line, words[i]);
		str_addc(&line, '\0');
	}
	if (memchr(line.buf, '\n', line.len) != NULL ||
	    line.len >= NODES_WORDS_BYTES_MAX)
		result = err_set(err, "the words are too long, or more than "
		    "one line");
	str_addc(&line, '\n');
	for (struct slice rest = str_slice(&line); result == 0 && rest.n > 0;) {
		ssize_t n = send(fd, rest.p, rest.n, MSG_NOSIGNAL);

		if (n <= 0)
			result = err_sys(err, "it hung up");
		else
			rest = slice_from(rest, (size_t)n);
	}
	str_release(&line);
	return result;
}

struct remote_link {
	int		fd;
	int64_t		until_ms;	/* steady */
};

/* Is there something to read before the deadline?  A node that says a byte now
 * and then does not move it. */
static bool
remote_wait(const struct remote_link *link)
{
	struct pollfd ready = { .fd = link->fd, .events = POLLIN };
	int64_t left_ms;

	while ((left_ms = link->until_ms - clock_steady_ms()) > 0) {
		int n = poll(&ready, 1, (int)left_ms);

		if (n > 0 || (n < 0 && errno != EINTR))
			return n > 0;
	}
	errno = ETIMEDOUT;
	return false;
}

/* cookie_read_function_t: the bytes of a stream. */
static ssize_t
remote_read(void *cookie, char *bytes, size_t n)
{
	const struct remote_link *link = cookie;

	return remote_wait(link) ? read(link->fd, bytes, n) : -1;
}

/* What a terminal would obey, and no verb says: controls, of UTF-8 too.  The
 * other machine may be in wrong hands, who reads is an administrator. */
static void
remote_disarm(char *bytes, size_t n, unsigned char *last)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if ((byte < ' ' && byte != '\n' && byte != '\t') ||
		    byte == 0x7f || (*last == 0xc2 && byte >= 0x80 &&
		    byte <= 0x9f))
			bytes[i] = '?';
		*last = byte;
	}
}

/* N bytes of the stream to that file.  -1: it ended before. */
static int
remote_copy(FILE *from, FILE *to, size_t n, unsigned char *last)
{
	char piece[4096];

	while (n > 0) {
		size_t some = fread(piece, 1, n < sizeof(piece) ? n :
		    sizeof(piece), from);

		if (some == 0)
			return -1;
		remote_disarm(piece, some, last);
		(void)fwrite(piece, 1, some, to);
		n -= some;
	}
	return 0;
}

/* returns the exit status, -1: none came. */
static int
remote_hear(FILE *from)
{
	unsigned char last[] = { [NODES_OUT] = 0, [NODES_ERR] = 0 };
	char line[64];

	while (fgets(line, sizeof(line), from) != NULL) {
		struct slice text = slice_of(line);
		enum nodes_frame kind;
		size_t number;

		if (!slice_ends(text, "\n") || nodes_frame_parse(slice_first(
		    text, text.n - 1), &kind, &number) < 0)
			return -1;
		if (kind == NODES_EXIT)
			return (int)number;
		if (remote_copy(from, kind == NODES_OUT ? stdout : stderr,
		    number, &last[kind]) < 0)
			return -1;
	}
	return -1;
}

int
nodes_remote(const struct conf *conf, const char *node,
    const char *const *words, const char *before, int64_t for_ms,
    bool *out_is_cut)
{
	struct remote_link link = { .until_ms = clock_steady_ms() + for_ms };
	int status;
	struct err err;
	FILE *from;

	*out_is_cut = false;
	link.fd = nodes_ask(conf->run_dir, node, NODES_VERB, NULL, &err);
	if (link.fd < 0 || remote_send(link.fd, words, &err) < 0) {
		fprintf(stderr, "%s%s\n", before, err.text);
		return link.fd < 0 && err_is_denied(&err) ? EX_NOPERM :
		    NODES_SILENT;
	}
	from = fopencookie(&link, "r",
	    (cookie_io_functions_t){ .read = remote_read });
	status = from == NULL ? -1 : remote_hear(from);
	if (from != NULL)
		fclose(from);
	close(link.fd);
	if (status >= 0)
		return status;
	fflush(stdout);
	*out_is_cut = true;
	fprintf(stderr, "%s%s\n", before, clock_steady_ms() >= link.until_ms ?
	    "it did not come to an end in time" : "its answer was cut off");
	return NODES_SILENT;
}
