/* remote.c - a verb that runs at another node
 *
 * In     words; frames
 * Out    what the verb says, and its exit status
 * Holds  a connection
 * Trusts nothing: a frame is bounded, and shorter than it says is the end
 * Spec   doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

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
    const char *const *words, const char *before, bool *out_is_cut)
{
	int fd, status;
	struct err err;
	FILE *from;

	*out_is_cut = false;
	fd = nodes_ask(conf->run_dir, node, NODES_VERB, NULL, &err);
	if (fd < 0 || remote_send(fd, words, &err) < 0) {
		fprintf(stderr, "%s%s\n", before, err.text);
		return fd < 0 && err_is_denied(&err) ? EX_NOPERM :
		    NODES_SILENT;
	}
	from = fdopen(fd, "r");
	status = from == NULL ? -1 : remote_hear(from);
	if (from != NULL)
		fclose(from);
	if (status >= 0)
		return status;
	fflush(stdout);
	*out_is_cut = true;
	fprintf(stderr, "%sits answer was cut off\n", before);
	return NODES_SILENT;
}
