/* mail_content.c - header and body on their way out
 *
 * In     the header of the control file, the body file from its offset on
 * Out    wire form on the connection: after DATA with the final dot in the
 *        last write, or in chunks
 * Holds  one piece of the body, the client's; one chunk
 * Trusts the file to be what it is; a read error never ends in a dot or in
 *        a last chunk
 * Spec   RFC 5321 sections 4.1.1.4 and 4.5.2; RFC 3030 section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "grammar/smtp/crlf.h"
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"

enum { CHUNKS_AHEAD = 2 };

/* The file cannot be read: hang up, or the peer would take the part that it
 * has for the whole. */
static enum mail_progress
content_body_broken(struct mail *mail)
{
	struct verdict verdict;

	verdict_set(&verdict, VERDICT_DEFERRED, "4.3.0", "smtp",
	    "cannot read the message: %s", strerror(errno));
	mail_settle_picked(mail, &verdict);
	client_drop(mail->client);
	return BROKEN;
}

static enum mail_progress
content_line_broken(struct mail *mail, enum peer_result result,
    const struct err *err)
{
	struct verdict verdict;

	client_broken(mail->client, result, err, "sending the message",
	    &verdict);
	mail_settle_picked(mail, &verdict);
	return BROKEN;
}

static enum mail_progress
content_flush(struct mail *mail)
{
	struct err err;
	enum peer_result result = client_flush(mail->client,
	    mail->client->conf->timeouts.data_block_ms, &err);

	if (mail->client->said_as != NULL)
		mail->client->said_as = "";	/* once is enough */

	return result == PEER_OK ? GO_ON : content_line_broken(mail, result,
	    &err);
}

/* ---- a message in pieces ----------------------------------------------- */

struct pieces {			/* content, LF line ends (or binary) */
	struct mail	*mail;
	uint64_t	 offset;
	bool		 is_begun, is_over;
	struct str	 text;		/* of a header or a conversion */
};

static void
content_init_pieces(struct pieces *pieces, struct mail *mail)
{
	*pieces = (struct pieces){ .mail = mail,
	    .offset = mail->job->body_offset, .text = STR_INIT };
	if (mail->down != NULL)
		mime_down_again(mail->down);
}

static void
content_header_piece(struct pieces *pieces, struct slice *out)
{
	struct mail *mail = pieces->mail;
	struct slice header = mail->job->header;

	pieces->is_begun = true;
	str_reset(&pieces->text);
	if (mail->down != NULL) {
		mime_down_header(mail->down, header, &pieces->text);
	} else {
		str_add_slice(&pieces->text, header);
		if (header.n > 0 && header.p[header.n - 1] != '\n')
			str_addc(&pieces->text, '\n');
		str_addc(&pieces->text, '\n');
	}
	*out = str_slice(&pieces->text);
}

/* The next piece; empty ones mean nothing.  1; 0 it is over; -1 errno. */
static int
content_next_piece(struct pieces *pieces, struct slice *out)
{
	struct mime_down *down = pieces->mail->down;
	size_t bytes;
	char *piece;
	ssize_t n;

	if (!pieces->is_begun) {
		content_header_piece(pieces, out);
		return 1;
	}
	if (pieces->is_over)
		return 0;
	bytes = client_piece(pieces->mail->client,
	    pieces->mail->job->size_bytes, &piece);
	n = fd_read_at(pieces->mail->body_fd, piece, bytes, pieces->offset);
	if (n < 0)
		return -1;
	pieces->offset += (uint64_t)n;
	pieces->is_over = (size_t)n < bytes;
	*out = (struct slice){ piece, (size_t)n };
	if (down == NULL)
		return 1;
	str_reset(&pieces->text);
	mime_down_body(down, *out, &pieces->text);
	if (pieces->is_over)
		mime_down_end(down, &pieces->text);
	*out = str_slice(&pieces->text);
	return 1;
}

/* ---- DATA -------------------------------------------------------------- */

/* A piece is flushed only when another follows it: what is left when the
 * body ends leaves together with the dot. */
static enum mail_progress
content_dotted(struct mail *mail)
{
	struct str *out = &mail->client->peer.out;
	struct dot_writer writer = DOT_WRITER_INIT;
	enum mail_progress progress = GO_ON;
	struct pieces pieces;
	struct slice text;
	int got;

	content_init_pieces(&pieces, mail);
	mail->client->said_as = "(the message)";
	while ((got = content_next_piece(&pieces, &text)) > 0) {
		if (text.n > 0 && out->len >= PEER_OUT_BYTES)
			progress = content_flush(mail);
		if (progress != GO_ON)
			break;
		dot_write(out, text, &writer);
	}
	if (progress == GO_ON && got < 0)
		progress = content_body_broken(mail);
	if (progress == GO_ON) {
		dot_write_end(out, &writer);
		progress = content_flush(mail);
	}
	mail->client->said_as = NULL;
	str_release(&pieces.text);
	return progress;
}

/* ---- BDAT -------------------------------------------------------------- */

static void
content_add_wire(struct mail *mail, struct str *out, struct slice text,
    bool is_header, bool *after_cr)
{
	if (mail->is_binary && !is_header)
		str_add_slice(out, text);
	else
		crlf_write(out, text, after_cr);
}

static void
content_add_chunk(struct str *out, struct slice chunk, bool is_last)
{
	str_addf(out, "BDAT %zu%s\r\n", chunk.n, is_last ? " LAST" : "");
	str_add_slice(out, chunk);
}

/* A chunk is sent when the next one begins, so that the last is known to be
 * it; two may be on their way. */
static enum mail_progress
content_send_chunk(struct mail *mail, struct str *chunk, unsigned *waiting,
    bool is_last)
{
	enum mail_progress progress = GO_ON;

	while (progress == GO_ON && *waiting >= (is_last ? 1 :
	    CHUNKS_AHEAD)) {
		progress = mail_hear_chunk(mail);
		--*waiting;
	}
	if (progress != GO_ON)
		return progress;
	content_add_chunk(&mail->client->peer.out, str_slice(chunk), is_last);
	str_reset(chunk);
	*waiting += !is_last;
	return content_flush(mail);
}

static enum mail_progress
content_chunked(struct mail *mail)
{
	struct str chunk = STR_INIT;
	enum mail_progress progress = GO_ON;
	bool after_cr = false, is_header = true;
	struct pieces pieces;
	unsigned waiting = 0;
	struct slice text;
	int got;

	content_init_pieces(&pieces, mail);
	while (progress == GO_ON &&
	    (got = content_next_piece(&pieces, &text)) > 0) {
		content_add_wire(mail, &chunk, text, is_header, &after_cr);
		is_header = false;
		if (chunk.len >= FORM_CHUNK_BYTES)
			progress = content_send_chunk(mail, &chunk, &waiting,
			    false);
	}
	if (progress == GO_ON && got < 0)
		progress = content_body_broken(mail);
	if (progress == GO_ON)
		progress = content_send_chunk(mail, &chunk, &waiting, true);
	/* replies to chunks already sent belong to nobody any more */
	if (progress == OVER && waiting > 0)
		client_quit(mail->client);
	str_release(&pieces.text);
	str_release(&chunk);
	return progress;
}

enum mail_progress
mail_content_in_one(struct mail *mail)
{
	struct str chunk = STR_INIT;
	bool after_cr = false, is_header = true;
	struct pieces pieces;
	struct slice text;
	int got;

	content_init_pieces(&pieces, mail);
	while ((got = content_next_piece(&pieces, &text)) > 0) {
		content_add_wire(mail, &chunk, text, is_header, &after_cr);
		is_header = false;
	}
	if (got == 0)
		content_add_chunk(&mail->client->peer.out, str_slice(&chunk),
		    true);
	str_release(&pieces.text);
	str_release(&chunk);
	return got == 0 ? GO_ON : content_body_broken(mail);
}

enum mail_progress
mail_content(struct mail *mail)
{
	return mail->is_chunked ? content_chunked(mail) :
	    content_dotted(mail);
}
