/* batch.c - a message in the form that a mailer wants
 *
 * In     a job, its recipients, a mailer's flags
 * Out    bytes for the program's standard input
 * Holds  one piece of the body
 * Trusts nothing: no address can end a line of a batch
 * Spec   zmailer-sm(8); batch SMTP: RFC 2442
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "grammar/message/header.h"
#include "transports/frame/content.h"
#include "transports/sm/batch.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 * 1024 };

struct writer {
	const struct mailer	*mailer;
	int			 fd;
	struct str		 out;
	bool			 at_line_start, doubles_dots;
};

static int
batch_flush(struct writer *writer, struct err *err)
{
	if (fd_write_all(writer->fd, writer->out.buf, writer->out.len) != 0)
		return err_sys(err, "write the message");
	str_reset(&writer->out);
	return 0;
}

static void
batch_end_line(struct writer *writer)
{
	str_adds(&writer->out, mailer_has(writer->mailer, 'R') ? "\r\n" :
	    "\n");
	writer->at_line_start = true;
}

/* Text of the message, with what the flags ask for line by line. */
static void
batch_text(struct writer *writer, struct slice text)
{
	bool strips = mailer_has(writer->mailer, '7');
	bool quotes = mailer_has(writer->mailer, 'E');

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (writer->at_line_start && writer->doubles_dots && c == '.')
			str_addc(&writer->out, '.');
		if (writer->at_line_start && quotes &&
		    slice_starts(slice_from(text, i), "From "))
			str_addc(&writer->out, '>');
		if (c == '\n') {
			batch_end_line(writer);
			continue;
		}
		writer->at_line_start = false;
		str_addc(&writer->out, strips ? (char)(c & 0x7f) : c);
	}
}

/* A line of our own: controls in values become '_'. */
static void
batch_line(struct writer *writer, const char *before, struct slice value,
    const char *after)
{
	str_adds(&writer->out, before);
	for (size_t i = 0; i < value.n; i++)
		str_addc(&writer->out, (unsigned char)value.p[i] < ' ' ||
		    value.p[i] == 127 ? '_' : value.p[i]);
	str_adds(&writer->out, after);
	batch_end_line(writer);
}

/* ---- envelope ---------------------------------------------------------- */

static void
batch_rcpt_to(struct writer *writer, const struct mailer *mailer,
    const struct control_rcpt *rcpt)
{
	struct str more = STR_INIT;

	str_adds(&more, ">");
	if (mailer->is_bb && rcpt->notify != DSN_NOTIFY_DEFAULT) {
		str_adds(&more, " NOTIFY=");
		dsn_notify_add(&more, rcpt->notify);
	}
	if (mailer->is_bb && rcpt->orcpt.n > 0)
		str_addf(&more, " ORCPT=" SLICE_FMT, SLICE_ARG(rcpt->orcpt));
	batch_line(writer, "RCPT TO:<", rcpt->user, more.buf);
	str_release(&more);
}

static void
batch_begin_commands(struct writer *writer, const struct batch *batch)
{
	const struct mailer *mailer = batch->mailer;
	const struct control_job *job = batch->job;
	bool is_esmtp = mailer_has(mailer, 'B');
	struct str more = STR_INIT;

	if (mailer_has(mailer, 'H') || is_esmtp)
		batch_line(writer, is_esmtp ? "EHLO " : "HELO ",
		    slice_of(batch->host), "");
	str_adds(&more, ">");
	if (is_esmtp)
		str_addf(&more, " SIZE=%llu",
		    (unsigned long long)job->size_bytes);
	if (is_esmtp && job->bodytype.n > 0)
		str_addf(&more, " BODY=" SLICE_FMT, SLICE_ARG(job->bodytype));
	if (mailer->is_bb && job->ret != DSN_RET_DEFAULT)
		str_addf(&more, " RET=%s", dsn_ret_name(job->ret));
	if (mailer->is_bb && job->envid.n > 0)
		str_addf(&more, " ENVID=" SLICE_FMT, SLICE_ARG(job->envid));
	batch_line(writer, "MAIL FROM:<", job->sender, more.buf);
	for (size_t i = 0; i < batch->rcpt_count; i++)
		batch_rcpt_to(writer, mailer, batch->rcpts[i]);
	batch_line(writer, "DATA", SLICE(""), "");
	str_release(&more);
}

static void
batch_from_line(struct writer *writer, const struct batch *batch)
{
	struct str more = STR_INIT;
	struct slice sender = batch->job->sender;
	char date[CLOCK_TEXT_BYTES];

	clock_mbox(clock_wall_s(), date);
	str_addf(&more, " %s", date);
	if (mailer_has(batch->mailer, 'U'))
		str_addf(&more, " remote from %s", batch->host);
	batch_line(writer, "From ", sender.n > 0 ? sender :
	    SLICE("MAILER-DAEMON"), more.buf);
	str_release(&more);
}

static void
batch_envelope_fields(struct writer *writer, const struct batch *batch)
{
	const struct mailer *mailer = batch->mailer;

	if (mailer_has(mailer, 'P'))
		batch_line(writer, "Return-Path: <", batch->job->sender,
		    ">");
	if (mailer_has(mailer, 'e'))
		batch_line(writer, "X-Envelope-From: <",
		    batch->job->sender, ">");
	for (size_t i = 0; i < batch->rcpt_count; i++) {
		if (mailer_has(mailer, 'e'))
			batch_line(writer, "X-Envelope-To: <",
			    batch->rcpts[i]->user, ">");
		if (mailer_has(mailer, 'O') && batch->rcpts[i]->orcpt.n > 0)
			batch_line(writer, "X-Orcpt: ",
			    batch->rcpts[i]->orcpt, "");
	}
}

/* ---- the message ------------------------------------------------------- */

/* A mailer that writes Return-Path delivers: ours replaces what stood. */
static void
batch_header(struct writer *writer, const struct batch *batch)
{
	struct str header = STR_INIT;

	if (mailer_has(batch->mailer, 'P'))
		content_add_header(&header, batch->job->header);
	else
		str_add_slice(&header, batch->job->header);
	batch_text(writer, str_slice(&header));
	str_release(&header);
}

static int
batch_write_body(struct writer *writer, const struct batch *batch,
    struct err *err)
{
	char *piece = mem_alloc(1, PIECE_BYTES);
	uint64_t offset = batch->job->body_offset;
	int result = 0;
	ssize_t n;

	while (result == 0 && (n = fd_read_at(batch->body_fd, piece,
	    PIECE_BYTES, offset)) != 0) {
		const char *cut = n == PIECE_BYTES ?
		    memrchr(piece, '\n', (size_t)n) : NULL;

		if (n < 0) {
			result = err_sys(err, "read the message");
			break;
		}
		if (cut != NULL)	/* "From " is not split */
			n = cut - piece + 1;
		batch_text(writer, (struct slice){ piece, (size_t)n });
		offset += (uint64_t)n;
		result = batch_flush(writer, err);
	}
	mem_free(&piece);
	return result;
}

int
batch_write(const struct batch *batch, int fd, struct err *err)
{
	const struct mailer *mailer = batch->mailer;
	bool is_batch = mailer_has(mailer, 'b') || mailer_has(mailer, 'B');
	struct writer writer = { .mailer = mailer, .fd = fd,
	    .out = STR_INIT, .at_line_start = true,
	    .doubles_dots = is_batch || mailer_has(mailer, 'X') };
	int result;

	if (is_batch)
		batch_begin_commands(&writer, batch);
	else if (!mailer_has(mailer, 'n'))
		batch_from_line(&writer, batch);
	batch_envelope_fields(&writer, batch);
	batch_header(&writer, batch);
	if (!writer.at_line_start)
		batch_end_line(&writer);
	batch_end_line(&writer);
	result = batch_write_body(&writer, batch, err);
	if (result == 0 && !writer.at_line_start)
		batch_end_line(&writer);
	if (is_batch) {
		batch_line(&writer, ".", SLICE(""), "");
		batch_line(&writer, "QUIT", SLICE(""), "");
	}
	if (result == 0)
		result = batch_flush(&writer, err);
	str_release(&writer.out);
	return result;
}
