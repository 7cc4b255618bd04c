/* bsmtp.c - sendmail -bS, rsmtp: batch SMTP on standard input
 *
 * In     commands and messages, LF or CR LF, dots doubled
 * Out    the same, command by command, to a server of our own (-bs), which
 *        has all the checks and the promise of its 250; reports for what it
 *        refuses
 * Holds  one transaction's recipients; a header's worth of its message
 * Trusts nothing of the batch; the server is our own
 * Spec   RFC 2442; sendmail(1), -bS
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "grammar/smtp/reply.h"
#include "tools/sendmail/bsmtp.h"

#include "base/banned.h"

enum { READ_BYTES = 65536 };

struct source {			/* bytes of a descriptor, line by line */
	int		 fd;
	bool		 is_eof;
	size_t		 used;
	struct str	 raw;
};

struct batch {
	const struct conf	*conf;
	struct source		 in, peer;
	struct bsmtp_transaction now;
	bool			 has_hello, is_broken;	/* no more server */
	unsigned		 taken, told;	/* messages; reports */
	int			 status;	/* the worst so far */
};

/* ---- lines ------------------------------------------------------------- */

static bool
source_fill(struct source *source)
{
	ssize_t n;

	str_consume(&source->raw, source->used);
	source->used = 0;
	do
		n = read(source->fd, str_room(&source->raw, READ_BYTES),
		    READ_BYTES);
	while (n < 0 && errno == EINTR);
	source->is_eof = n <= 0;
	source->raw.len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* The next line without its end, or as much of it as fits (then is_cut, and
 * the rest comes as a line of its own).  false: there is none; an unfinished
 * last line is none. */
static bool
line_next(struct source *source, struct slice *out, bool *out_is_cut)
{
	for (;;) {
		struct slice rest = slice_from(str_slice(&source->raw),
		    source->used);
		size_t n = slice_find(rest, '\n');

		*out_is_cut = n == rest.n && n >= BSMTP_LINE_BYTES_MAX;
		if (n < rest.n || *out_is_cut) {
			n = *out_is_cut ? BSMTP_LINE_BYTES_MAX : n;
			*out = slice_first(rest, n);
			source->used += n + !*out_is_cut;
			if (!*out_is_cut && n > 0 && out->p[n - 1] == '\r')
				out->n--;
			return true;
		}
		if (source->is_eof || !source_fill(source))
			return false;
	}
}

/* ---- the server -------------------------------------------------------- */

static void
bsmtp_say(struct batch *batch, struct slice text)
{
	if (!batch->is_broken)
		batch->is_broken = fd_write_all(batch->peer.fd, text.p,
		    text.n) != 0;
}

/* One reply in words, "550 5.1.1 no such user", in the arena.  A server
 * that is gone has said 451. */
static struct slice
bsmtp_hear(struct batch *batch)
{
	struct str words = STR_INIT;
	struct slice result;
	struct reply reply;
	struct err err;
	int got = 0;

	while (!batch->is_broken && got == 0) {
		struct slice unread = slice_from(str_slice(&batch->peer.raw),
		    batch->peer.used);

		got = unread.n > 0 ? reply_parse(unread, &reply, &err) : 0;
		if (got == 1) {
			batch->peer.used += reply.bytes;
			reply_add_text(&words, &reply);
		}
		batch->is_broken = got < 0 ||
		    (got == 0 && !source_fill(&batch->peer));
	}
	if (batch->is_broken)
		str_adds(&words, "451 4.3.0 the server of this batch is gone");
	result = slice_copy(batch->now.arena, str_slice(&words));
	str_release(&words);
	return result;
}

static struct slice
bsmtp_command(struct batch *batch, struct slice line)
{
	bsmtp_say(batch, line);
	bsmtp_say(batch, SLICE("\r\n"));
	return bsmtp_hear(batch);
}

static bool
is_good(struct slice reply)
{
	return reply.n > 0 && reply.p[0] == '2';
}

/* ---- a transaction ----------------------------------------------------- */

static void
transaction_begin(struct batch *batch)
{
	struct arena *arena = batch->now.arena;

	str_release(&batch->now.header);
	arena_reset(arena);
	batch->now = (struct bsmtp_transaction){ .arena = arena,
	    .header = STR_INIT };
}

/* What stands in < > after the colon. */
static struct slice
bsmtp_address_of(struct slice line)
{
	struct slice rest = slice_from(line, slice_find(line, ':') + 1);
	size_t end;

	rest = slice_trim(rest);
	if (rest.n == 0 || rest.p[0] != '<')
		return slice_first(rest, slice_find(rest, ' '));
	rest = slice_from(rest, 1);
	end = slice_find(rest, '>');
	return slice_first(rest, end);
}

static void
refused_add(struct batch *batch, struct slice rcpt, struct slice reply)
{
	struct bsmtp_transaction *t = &batch->now;

	if (t->refused_count == BSMTP_REFUSED_MAX)
		return;
	t->refused = arena_grow(t->arena, t->refused, t->refused_count,
	    sizeof(*t->refused));
	t->refused[t->refused_count++] = (struct bsmtp_refused){ rcpt, reply };
}

static void
bsmtp_take_mail(struct batch *batch, struct slice line)
{
	struct bsmtp_transaction *t = &batch->now;

	if (t->is_open)		/* the one before never came to its DATA */
		(void)bsmtp_command(batch, SLICE("RSET"));
	transaction_begin(batch);
	if (!batch->has_hello)
		(void)bsmtp_command(batch, SLICE("EHLO localhost"));
	batch->has_hello = true;
	t->is_open = true;
	t->sender = slice_copy(t->arena, bsmtp_address_of(line));
	t->mail_reply = bsmtp_command(batch, line);
	t->is_mail_refused = !is_good(t->mail_reply);
}

static void
take_rcpt(struct batch *batch, struct slice line)
{
	struct bsmtp_transaction *t = &batch->now;
	struct slice rcpt = slice_copy(t->arena, bsmtp_address_of(line)), reply;

	if (!t->is_open)
		return;
	reply = t->is_mail_refused ? t->mail_reply : bsmtp_command(batch, line);
	if (!is_good(reply)) {
		refused_add(batch, rcpt, reply);
		return;
	}
	t->accepted = arena_grow(t->arena, t->accepted, t->accepted_count,
	    sizeof(*t->accepted));
	t->accepted[t->accepted_count++] = rcpt;
}

/* ---- its message ------------------------------------------------------- */

static void
header_keep(struct bsmtp_transaction *t, struct slice line, bool is_cut)
{
	if (!is_cut && line.n == 0)
		t->is_header_over = true;
	if (t->is_header_over ||
	    t->header.len + line.n >= BSMTP_HEADER_BYTES_MAX)
		return;
	str_add_slice(&t->header, line);
	str_adds(&t->header, is_cut ? "" : "\n");
}

/* Up to the dot.  false: the batch ends before. */
static bool
text_pass(struct batch *batch, bool is_sent)
{
	struct str out = STR_INIT;
	bool is_cut = false, was_cut = false, is_over = false;
	struct slice line;

	while (!is_over && line_next(&batch->in, &line, &is_cut)) {
		is_over = !was_cut && !is_cut && slice_is(line, ".");
		if (!is_over)
			header_keep(&batch->now, line, is_cut);
		was_cut = is_cut;
		str_add_slice(&out, line);
		str_adds(&out, is_cut ? "" : "\r\n");
		if (is_sent && (is_over || out.len >= READ_BYTES))
			bsmtp_say(batch, str_slice(&out));
		if (out.len >= READ_BYTES)
			str_reset(&out);
	}
	str_release(&out);
	return is_over;
}

static void
bsmtp_settle(struct batch *batch, struct slice reply)
{
	struct bsmtp_transaction *t = &batch->now;
	int status;

	if (is_good(reply))
		batch->taken++;
	else
		for (size_t i = 0; i < t->accepted_count; i++)
			refused_add(batch, t->accepted[i], reply);
	if (t->refused_count == 0)
		return;
	/* nothing was taken, and it may be later: all of it may come again */
	if (batch->taken + batch->told == 0 && reply.p[0] == '4') {
		batch->status = EX_TEMPFAIL;
		return;
	}
	status = bsmtp_report(batch->conf, t);
	batch->told += status == EX_OK;
	if (status != EX_OK)
		batch->status = batch->taken + batch->told == 0 ? status :
		    EX_DATAERR;
}

static void
take_data(struct batch *batch)
{
	struct bsmtp_transaction *t = &batch->now;
	struct slice reply = t->refused_count > 0 ?
	    t->refused[0].reply : SLICE("503 5.5.1 there is no recipient");
	bool is_sent = false;

	if (t->accepted_count > 0) {
		reply = bsmtp_command(batch, SLICE("DATA"));
		is_sent = reply.p[0] == '3';
	}
	if (!text_pass(batch, is_sent)) {
		fprintf(stderr, "sendmail: the batch ends within a message, "
		    "which was not taken\n");
		batch->status = batch->taken + batch->told == 0 ?
		    EX_TEMPFAIL : EX_DATAERR;
		batch->is_broken = true;	/* no word may look like
						 * more of the message */
		return;
	}
	if (is_sent)
		reply = bsmtp_hear(batch);
	bsmtp_settle(batch, reply);
	if (!is_sent)
		(void)bsmtp_command(batch, SLICE("RSET"));
	transaction_begin(batch);
}

/* ---- the batch --------------------------------------------------------- */

static bool
is_verb(struct slice line, const char *verb)
{
	size_t n = strlen(verb);

	return slice_is_nocase(slice_first(line, n), verb) &&
	    (line.n == n || line.p[n] == ' ' || line.p[n] == '\t');
}

/* false: it is over. */
static bool
bsmtp_take_line(struct batch *batch, struct slice line)
{
	if (is_verb(line, "MAIL")) {
		bsmtp_take_mail(batch, line);
	} else if (is_verb(line, "RCPT")) {
		take_rcpt(batch, line);
	} else if (is_verb(line, "DATA")) {
		take_data(batch);
		return batch->status == EX_OK || batch->status == EX_DATAERR;
	} else if (is_verb(line, "RSET")) {
		transaction_begin(batch);
		(void)bsmtp_command(batch, SLICE("RSET"));
	} else if (is_verb(line, "HELO") || is_verb(line, "EHLO")) {
		batch->has_hello = is_good(bsmtp_command(batch, line));
	} else if (is_verb(line, "QUIT")) {
		return false;
	} else if (is_verb(line, "BDAT")) {
		fprintf(stderr, "sendmail: BDAT has no place in a batch\n");
		batch->status = EX_DATAERR;
		return false;
	}
	return true;	/* VERB, TICK, NOOP ...: nothing to be done */
}

static void
batch_take(struct batch *batch)
{
	struct slice line;
	bool is_cut;

	if (!is_good(bsmtp_hear(batch))) {
		batch->status = EX_TEMPFAIL;
		return;
	}
	while (line_next(&batch->in, &line, &is_cut)) {
		if (is_cut) {
			fprintf(stderr, "sendmail: a command of the batch is "
			    "too long\n");
			batch->status = EX_DATAERR;
			return;
		}
		if (!bsmtp_take_line(batch, line))
			break;
	}
	(void)bsmtp_command(batch, SLICE("QUIT"));
}

static pid_t
server_start(const char *path, int *out_fd)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (dup2(ends[1], STDIN_FILENO) >= 0 &&
		    dup2(ends[1], STDOUT_FILENO) >= 0)
			execl(path, "smtpserver", "-bs", (char *)NULL);
		_exit(EX_UNAVAILABLE);
	}
	close(ends[1]);
	*out_fd = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

int
bsmtp_run(const struct conf *conf, const char *path, int in)
{
	struct batch batch = {
		.conf = conf, .in = { .fd = in, .raw = STR_INIT },
		.peer = { .fd = -1, .raw = STR_INIT },
		.now = { .arena = arena_new(), .header = STR_INIT },
		.status = EX_OK,
	};
	pid_t pid;

	signal(SIGPIPE, SIG_IGN);
	pid = server_start(path, &batch.peer.fd);
	if (pid < 0) {
		fprintf(stderr, "sendmail: %s: %s\n", path, strerror(errno));
		batch.status = EX_OSERR;
	} else {
		batch_take(&batch);
		close(batch.peer.fd);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	str_release(&batch.in.raw);
	str_release(&batch.peer.raw);
	str_release(&batch.now.header);
	arena_free(&batch.now.arena);
	return batch.status;
}
