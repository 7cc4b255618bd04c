/* bdat.c - BDAT
 *
 *	bdat       = "BDAT" SP chunk-size [ SP "LAST" ] CRLF
 *	chunk-size = 1*20DIGIT
 *
 * RFC 3030 section 2.  The bytes follow the command whatever we think of
 * it: a refused chunk is read and dropped before the refusal is said.  When
 * their number cannot be told they would be taken for commands, so the
 * session ends there.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/session/receive.h"

#include "base/banned.h"

enum { CHUNK_DIGITS_MAX = 20 };

static bool
bdat_size_take(struct slice *args, struct chunk *out)
{
	struct slice digits = slice_first(*args, slice_find(*args, ' '));

	*args = slice_from(*args, digits.n);
	return digits.n <= CHUNK_DIGITS_MAX &&
	    slice_number(digits, 0, INT64_MAX, &out->left_bytes);
}

static void
bdat_refuse(struct chunk *chunk, int code, const char *status, const char *text)
{
	chunk->refusal = (struct refusal){ code, status, text };
}

/* May a chunk come now?  The first one opens the draft. */
static void
bdat_permit(struct session *session, struct chunk *chunk)
{
	struct transaction *t = session->transaction;
	struct session_answer answer;

	if (!keyword_is_on(session, EHLO_CHUNKING))
		bdat_refuse(chunk, 502, "5.5.1", "BDAT is not offered here");
	else if (!session->is_esmtp)
		bdat_refuse(chunk, 503, "5.5.1", "say EHLO first");
	else if (t == NULL)
		bdat_refuse(chunk, 503, "5.5.1", "say MAIL first");
	else if (t->rcpt_count == 0)
		bdat_refuse(chunk, 503, "5.5.1", "there is no recipient");
	else if (t->is_chunked && t->content.fault != CONTENT_GOOD)
		bdat_refuse(chunk, 503, "5.5.1",
		    "the message was refused: RSET");
	if (chunk->refusal.code != 0 || t->is_chunked)
		return;
	t->is_chunked = true;
	if (t->size_bytes == 0 && chunk->is_last)
		t->size_bytes = chunk->left_bytes;
	t->content.fault = receive_begin(session,
	    slice_is(t->envelope.bodytype, "BINARYMIME") ? CONTENT_BINARY :
	    CONTENT_TEXT);
	if (t->content.fault == CONTENT_GOOD)
		return;
	answer_fault(&answer, t->content.fault);
	bdat_refuse(chunk, answer.code, answer.status,
	    "it cannot be stored now, try later");
}

void
cmd_bdat(struct session *session, struct slice args, struct session_answer *out)
{
	struct chunk *chunk = &session->chunk;

	*chunk = (struct chunk){ 0 };
	if (!bdat_size_take(&args, chunk)) {
		session->is_out_of_step = true;
		answer_set(out, 501, "5.5.4",
		    "BDAT needs the number of bytes that follow");
		return;
	}
	chunk->bytes = chunk->left_bytes;
	chunk->is_last = slice_is_nocase(args, " LAST");
	if (args.n > 0 && !chunk->is_last)
		bdat_refuse(chunk, 501, "5.5.4",
		    "after the size only LAST may stand");
	else
		bdat_permit(session, chunk);
	out->code = 0;		/* after the chunk */
}
